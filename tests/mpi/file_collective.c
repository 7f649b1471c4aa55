/* Collective accesses: plain, split, nonblocking; sizes; communicators of some
   ranks. */
#include "files.h"

enum { N = 3000 };

static int data[N], back[N];

static void fill(int call, int of) {
  stream(data, sizeof(data), seed_of(call, of, 0));
}

static void check(int call, int of, const MPI_Status *status,
                  const char *what) {
  fill(call, of);
  if (memcmp(data, back, sizeof(data)) != 0) {
    fail("%s: other bytes", what);
  }
  if (elements(status, MPI_INT) != N) {
    fail("%s: %d elements", what, elements(status, MPI_INT));
  }
  memset(back, 0, sizeof(back));
}

static MPI_Offset place(int of) {
  return (MPI_Offset)of * (int)sizeof(data);
}

/* What a collective call wrote, the next one of the other kind reads. */
static void plain(MPI_File f) {
  const int next = (rank + 1) % size;
  MPI_Status status;
  fill(1, rank);
  MPI_File_write_at_all(f, place(rank), data, N, MPI_INT, &status);
  MPI_File_read_at_all(f, place(next), back, N, MPI_INT, &status);
  check(1, next, &status, "read_at_all");
  MPI_File_seek(f, place(next), MPI_SEEK_SET);
  fill(2, rank);
  MPI_File_write_all(f, data, N, MPI_INT, &status);
  MPI_File_seek(f, place(rank), MPI_SEEK_SET);
  MPI_File_read_all(f, back, N, MPI_INT, &status);
  check(2, (rank + size - 1) % size, &status, "read_all");
}

/* Rank 0 sees what all have written, as it does where it writes for them. */
static void interleaved(MPI_File f) {
  MPI_Datatype every;
  MPI_Offset bytes = 0;
  MPI_Type_vector(N, 1, size, MPI_INT, &every);
  MPI_Type_commit(&every);
  MPI_File_set_view(f, rank * (MPI_Offset)sizeof(int), MPI_INT, every, "native",
                    MPI_INFO_NULL);
  MPI_File_write_all(f, data, N, MPI_INT, MPI_STATUS_IGNORE);
  MPI_File_get_size(f, &bytes);
  if (rank == 0 && bytes != place(size)) {
    fail("get_size after write_all: %lld bytes", (long long)bytes);
  }
  MPI_File_set_view(f, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
  MPI_File_set_size(f, 0);
  MPI_Type_free(&every);
}

static void split(MPI_File f) {
  const int next = (rank + 1) % size;
  MPI_Status status;
  fill(3, rank);
  MPI_File_write_at_all_begin(f, place(rank), data, N, MPI_INT);
  MPI_File_write_at_all_end(f, data, &status);
  if (elements(&status, MPI_INT) != N) {
    fail("write_at_all_end: %d elements", elements(&status, MPI_INT));
  }
  MPI_File_sync(f);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_File_read_at_all_begin(f, place(next), back, N, MPI_INT);
  MPI_File_read_at_all_end(f, back, &status);
  check(3, next, &status, "read_at_all_end");
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_File_seek(f, place(rank), MPI_SEEK_SET);
  fill(4, rank);
  MPI_File_write_all_begin(f, data, N, MPI_INT);
  MPI_File_write_all_end(f, data, MPI_STATUS_IGNORE);
  MPI_File_sync(f);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_File_seek(f, place(next), MPI_SEEK_SET);
  MPI_File_read_all_begin(f, back, N, MPI_INT);
  MPI_File_read_all_end(f, back, &status);
  check(4, next, &status, "read_all_end");
  MPI_Barrier(MPI_COMM_WORLD);
}

static void nonblocking(MPI_File f) {
  const int next = (rank + 1) % size;
  MPI_Request request;
  MPI_Status status;
  fill(5, rank);
  MPI_File_iwrite_at_all(f, place(rank), data, N, MPI_INT, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_File_sync(f);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_File_iread_at_all(f, place(next), back, N, MPI_INT, &request);
  MPI_Wait(&request, &status);
  check(5, next, &status, "iread_at_all");
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_File_seek(f, place(rank), MPI_SEEK_SET);
  fill(6, rank);
  MPI_File_iwrite_all(f, data, N, MPI_INT, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_File_sync(f);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_File_seek(f, place(next), MPI_SEEK_SET);
  MPI_File_iread_all(f, back, N, MPI_INT, &request);
  MPI_Wait(&request, &status);
  check(6, next, &status, "iread_all");
}

static void resize(MPI_File f) {
  MPI_Offset now = -1;
  MPI_File_set_size(f, place(size) / 2);
  MPI_File_get_size(f, &now);
  mix_number((uint64_t)now);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_File_set_size(f, place(size) * 2);
  MPI_File_get_size(f, &now);
  mix_number((uint64_t)now);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_File_preallocate(f, place(size));
  MPI_File_get_size(f, &now);
  mix_number((uint64_t)now);
}

/* Halves of the ranks have files of their own at the same time. */
static void halves(void) {
  MPI_Comm half;
  int low[2] = {0, 0}, all[64], n;
  char common[sizeof(path)];
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
  MPI_Comm_rank(half, &low[0]);
  MPI_Comm_size(half, &n);
  memcpy(common, path, sizeof(path));
  snprintf(path + strlen(path), 20, ".%d", rank % 2);
  MPI_File f = open_file(half, MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_RDWR |
                                   MPI_MODE_DELETE_ON_CLOSE);
  low[1] = rank;
  MPI_Comm_free(&half); /* the file keeps what it needs */
  MPI_File_write_at_all(f, 8 * low[0], low, 2, MPI_INT, MPI_STATUS_IGNORE);
  MPI_File_sync(f);
  MPI_File_read_at_all(f, 0, all, 2 * n, MPI_INT, MPI_STATUS_IGNORE);
  mix(all, 8 * (size_t)n);
  MPI_Group group;
  int members;
  MPI_File_get_group(f, &group);
  MPI_Group_size(group, &members);
  MPI_Group_free(&group);
  if (members != n) {
    fail("get_group: %d members", members);
  }
  MPI_File_close(&f);
  memcpy(path, common, sizeof(path));
}

int main(int argc, char **argv) {
  begin(&argc, &argv);
  name_file("collective");
  MPI_File f = open_file(MPI_COMM_WORLD, MPI_MODE_CREATE | MPI_MODE_RDWR);
  interleaved(f);
  plain(f);
  split(f);
  nonblocking(f);
  MPI_File_close(&f);
  mix_file();
  report("data");
  f = open_file(MPI_COMM_WORLD, MPI_MODE_RDWR);
  resize(f);
  MPI_File_close(&f);
  report("sizes");
  remove_file();
  halves();
  report("halves");
  return end();
}
