/* Views: filetypes with holes, of all constructors that partition a file among
   ranks; etypes, displacements, representations. */
#include "files.h"

#include <stdbool.h>

enum { N = 240 }; /* ints of each rank */

static int data[N], back[N];

static MPI_Datatype strided(void) {
  MPI_Datatype piece, type;
  MPI_Type_contiguous(4, MPI_INT, &piece);
  MPI_Type_create_resized(piece, 0, (MPI_Aint)size * 16, &type);
  MPI_Type_free(&piece);
  return type;
}

static MPI_Datatype vector(void) {
  MPI_Datatype type, all;
  MPI_Type_vector(6, 5, 5 * size, MPI_INT, &type);
  MPI_Type_create_resized(type, 0, (MPI_Aint)6 * 5 * size * 4, &all);
  MPI_Type_free(&type);
  return all;
}

static MPI_Datatype subarray(void) {
  MPI_Datatype type;
  const int full[2] = {12, 20 * size}, part[2] = {12, 20},
            start[2] = {0, 20 * rank};
  MPI_Type_create_subarray(2, full, part, start, MPI_ORDER_C, MPI_INT, &type);
  return type;
}

static MPI_Datatype darray(void) {
  MPI_Datatype type;
  const int sizes2[2] = {size * 6, 40},
            how[2] = {MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_NONE},
            arguments[2] = {2, MPI_DISTRIBUTE_DFLT_DARG}, grid[2] = {size, 1};
  MPI_Type_create_darray(size, rank, 2, sizes2, how, arguments, grid,
                         MPI_ORDER_C, MPI_INT, &type);
  return type;
}

static MPI_Datatype indexed(void) {
  MPI_Datatype type, all;
  int places[2] = {3 * rank, 3 * size + 2 * rank}, lengths[2] = {3, 2};
  MPI_Type_indexed(2, lengths, places, MPI_INT, &type);
  MPI_Type_create_resized(type, 0, (MPI_Aint)5 * size * 4, &all);
  MPI_Type_free(&type);
  return all;
}

typedef MPI_Datatype make(void);
static const struct kind {
  const char *name;
  make *make;
  int shift; /* bytes from one rank's part to the next one's, by displacement */
} kinds[] = {
    {"strided", strided, 16},  {"vector", vector, 20},
    {"subarray", subarray, 0}, {"darray", darray, 0},
    {"indexed", indexed, 0},
};
enum { KINDS = sizeof(kinds) / sizeof(kinds[0]) };

static void check(const char *kind, const char *what,
                  const MPI_Status *status) {
  if (memcmp(data, back, sizeof(data)) != 0) {
    fail("%s: %s: other data", kind, what);
  }
  if (elements(status, MPI_INT) != N) {
    fail("%s: %s: %d elements", kind, what, elements(status, MPI_INT));
  }
  memset(back, 0, sizeof(back));
}

static void try_kind(const struct kind *kind, MPI_Offset displacement,
                     bool together) {
  MPI_Datatype type = kind->make(), etype, filetype;
  MPI_Status status;
  MPI_Offset at = -1, bytes = -1;
  char representation[MPI_MAX_DATAREP_STRING];
  MPI_Type_commit(&type);
  MPI_File f = open_file(MPI_COMM_WORLD, MPI_MODE_CREATE | MPI_MODE_RDWR);
  displacement += (MPI_Offset)rank * kind->shift;
  MPI_File_set_view(f, displacement, MPI_INT, type, "native", MPI_INFO_NULL);
  stream(data, sizeof(data), seed_of(together, rank, 3));
  if (together) {
    MPI_File_write_all(f, data, N / 2, MPI_INT, &status);
    MPI_File_write_at_all(f, N / 2, data + N / 2, N - N / 2, MPI_INT, &status);
    MPI_File_read_at_all(f, 0, back, N, MPI_INT, &status);
  } else {
    MPI_File_write(f, data, N / 2, MPI_INT, &status);
    MPI_File_write_at(f, N / 2, data + N / 2, N - N / 2, MPI_INT, &status);
    MPI_File_read_at(f, 0, back, N, MPI_INT, &status);
  }
  check(kind->name, "read", &status);
  MPI_File_get_position(f, &at);
  MPI_File_get_byte_offset(f, at, &bytes);
  mix_number((uint64_t)at);
  mix_number((uint64_t)bytes);
  MPI_File_get_view(f, &at, &etype, &filetype, representation);
  if (at != displacement || etype != MPI_INT ||
      strcmp(representation, "native")) {
    fail("%s: get_view", kind->name);
  }
  int integers, addresses, types, combiner;
  MPI_Type_get_envelope(filetype, &integers, &addresses, &types, &combiner);
  if (combiner != MPI_COMBINER_NAMED) {
    MPI_Type_free(&filetype);
  }
  MPI_Type_free(&type);
  MPI_File_close(&f);
  mix_file();
  report(kind->name);
  remove_file();
}

/* From memory with holes to a file with holes. */
static void both(void) {
  MPI_Datatype type = vector(), memory;
  int out[2 * N], in[2 * N];
  MPI_Type_commit(&type);
  MPI_Type_vector(N, 1, 2, MPI_INT, &memory);
  MPI_Type_commit(&memory);
  stream(out, sizeof(out), seed_of(7, rank, 0));
  memset(in, 0, sizeof(in));
  MPI_File f = open_file(MPI_COMM_WORLD, MPI_MODE_CREATE | MPI_MODE_RDWR);
  MPI_File_set_view(f, 12 + 20 * rank, MPI_INT, type, "native", MPI_INFO_NULL);
  MPI_File_write_all(f, out, 1, memory, MPI_STATUS_IGNORE);
  MPI_File_read_at_all(f, 0, in, 1, memory, MPI_STATUS_IGNORE);
  for (int i = 0; i < 2 * N; i++) {
    if (in[i] != (i % 2 ? 0 : out[i])) {
      fail("both: element %d", i);
      break;
    }
  }
  MPI_File_close(&f);
  MPI_Type_free(&type);
  MPI_Type_free(&memory);
  mix_file();
  report("both");
}

/* A view of doubles, then bytes again, then another representation. */
static void representations(void) {
  double x = rank + 0.5, y = 0;
  MPI_Aint extent = 0;
  MPI_File f = open_file(MPI_COMM_WORLD, MPI_MODE_RDWR);
  MPI_File_set_view(f, 0, MPI_DOUBLE, MPI_DOUBLE, "external32", MPI_INFO_NULL);
  MPI_File_get_type_extent(f, MPI_DOUBLE, &extent);
  mix_number((uint64_t)extent);
  MPI_File_write_at(f, rank, &x, 1, MPI_DOUBLE, MPI_STATUS_IGNORE);
  MPI_File_sync(f);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_File_read_at(f, (rank + 1) % size, &y, 1, MPI_DOUBLE, MPI_STATUS_IGNORE);
  if (y != (rank + 1) % size + 0.5) {
    fail("external32: %g", y);
  }
  if (class_of(MPI_File_set_view(f, 0, MPI_INT, MPI_INT, "strange",
                                 MPI_INFO_NULL)) !=
      MPI_ERR_UNSUPPORTED_DATAREP) {
    fail("an unknown representation");
  }
  MPI_File_close(&f);
  mix_file();
  report("representations");
  remove_file();
}

int main(int argc, char **argv) {
  begin(&argc, &argv);
  name_file("views");
  for (int i = 0; i < KINDS; i++) {
    try_kind(&kinds[i], 0, false);
    try_kind(&kinds[i], 100, true);
  }
  both();
  representations();
  return end();
}
