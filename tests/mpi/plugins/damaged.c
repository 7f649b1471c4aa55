/* Opens files that are cut off or damaged: each is refused with a reason, or
   works. Prints how many were. Arguments: a plug-in, and a folder to write to.
 */
#include <mpi.h>

#include <dlfcn.h>
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *bytes;
static long size;
static int rank, refused, opened, silent;

static void read_file(const char *path) {
  FILE *f = fopen(path, "rb");
  if (!f || fseek(f, 0, SEEK_END) != 0) {
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  size = ftell(f);
  rewind(f);
  bytes = malloc((size_t)size);
  if (fread(bytes, 1, (size_t)size, f) != (size_t)size) {
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  fclose(f);
}

static void try_it(const char *dir, long n) {
  static int serial;
  char path[4096];
  snprintf(path, sizeof(path), "%s/damaged-%d-%d.so", dir, rank, serial++);
  FILE *f = fopen(path, "wb");
  if (!f || fwrite(bytes, 1, (size_t)n, f) != (size_t)n || fclose(f) != 0) {
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  void *handle = dlopen(path, RTLD_NOW);
  if (handle) {
    opened++;
    dlclose(handle);
  } else {
    const char *why = dlerror();
    refused++;
    silent += !why || !*why;
  }
  remove(path);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  read_file(argv[1]);
  /* Cut off anywhere within what is loaded. */
  for (long n = rank; n < size / 2; n += size / 40 + 1) {
    try_it(argv[2], n);
  }
  /* One byte of the headers differs. */
  for (long at = rank; at < 64; at += 3) {
    const char was = bytes[at];
    bytes[at] = (char)(was ^ 0x55);
    try_it(argv[2], size);
    bytes[at] = was;
  }
  /* A segment that ends behind the end. */
  for (long at = 64 + 32; at < 64 + 56 * 4; at += 56) {
    const char was = bytes[at + 3];
    bytes[at + 3] = 0x7f;
    try_it(argv[2], size);
    bytes[at + 3] = was;
  }
  /* A dynamic section that is said to be longer than it is, and thread-local
     data that nobody has room for: ld.so does not look there. */
  for (long at = 64; at < 64 + 56L * bytes[56]; at += 56) {
    const int type = bytes[at];
    const long size_at = type == PT_DYNAMIC ? at + 40 : at + 46;
    const char was = bytes[size_at];
    if (type == PT_DYNAMIC || type == PT_TLS) {
      bytes[size_at] = (char)0xff;
      try_it(argv[2], size);
      bytes[size_at] = was;
    }
  }
  try_it(argv[2], size);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  printf("refused many: %d, opened some: %d, without a reason: %d\n",
         refused > 20, opened > 0, silent);
  return 0;
}
