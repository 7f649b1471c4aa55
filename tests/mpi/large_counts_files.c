/* The functions of files for large counts: each pair of one that writes and one
   that reads brings back the same data, and the statuses of MPI_X. */
#include "files.h"

#if MPI_VERSION >= 4
enum { N = 500, BYTES = N * sizeof(int) };

static int out[N], in[N], call;
static MPI_File file;

/* What this call of a rank writes. */
static void fill(int of) {
  stream(out, sizeof(out), seed_of((uint64_t)call, of, 0));
}

static MPI_Offset place(int of) {
  return (MPI_Offset)of * BYTES;
}

static int next(void) {
  return (rank + 1) % size;
}

/* Between one that writes and others that read. */
static void meet(void) {
  MPI_File_sync(file);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_File_sync(file);
}

static void begin_pair(void) {
  MPI_File_seek(file, place(rank), MPI_SEEK_SET);
  fill(rank);
  memset(in, 0, sizeof(in));
}

static void turn(void) {
  meet();
  MPI_File_seek(file, place(next()), MPI_SEEK_SET);
}

/* In `in` is what `of` has written in this call. */
static void end_pair(const char *what, int of, const MPI_Status *status) {
  MPI_Count n = -1;
  fill(of);
  if (memcmp(in, out, sizeof(in)) != 0) {
    fail("%s: other bytes", what);
  }
  MPI_Get_count_c(status, MPI_INT, &n);
  if (n != N) {
    fail("%s: %lld elements", what, (long long)n);
  }
  mix(in, sizeof(in));
  report(what);
  call++;
  MPI_Barrier(MPI_COMM_WORLD);
}

static void single(void) {
  MPI_Status status;
  MPI_Request request;
  begin_pair();
  MPI_File_write_c(file, out, N, MPI_INT, &status);
  turn();
  MPI_File_read_c(file, in, N, MPI_INT, &status);
  end_pair("write, read", next(), &status);
  begin_pair();
  MPI_File_iwrite_c(file, out, N, MPI_INT, &request);
  MPI_Wait(&request, &status);
  turn();
  MPI_File_iread_c(file, in, N, MPI_INT, &request);
  MPI_Wait(&request, &status);
  end_pair("iwrite, iread", next(), &status);
  begin_pair();
  MPI_File_write_at_c(file, place(rank), out, N, MPI_INT, &status);
  turn();
  MPI_File_read_at_c(file, place(next()), in, N, MPI_INT, &status);
  end_pair("write_at, read_at", next(), &status);
  begin_pair();
  MPI_File_iwrite_at_c(file, place(rank), out, N, MPI_INT, &request);
  MPI_Wait(&request, &status);
  turn();
  MPI_File_iread_at_c(file, place(next()), in, N, MPI_INT, &request);
  MPI_Wait(&request, &status);
  end_pair("iwrite_at, iread_at", next(), &status);
}

static void collective(void) {
  MPI_Status status;
  MPI_Request request;
  begin_pair();
  MPI_File_write_all_c(file, out, N, MPI_INT, &status);
  turn();
  MPI_File_read_all_c(file, in, N, MPI_INT, &status);
  end_pair("write_all, read_all", next(), &status);
  begin_pair();
  MPI_File_iwrite_all_c(file, out, N, MPI_INT, &request);
  MPI_Wait(&request, &status);
  turn();
  MPI_File_iread_all_c(file, in, N, MPI_INT, &request);
  MPI_Wait(&request, &status);
  end_pair("iwrite_all, iread_all", next(), &status);
  begin_pair();
  MPI_File_write_at_all_c(file, place(rank), out, N, MPI_INT, &status);
  turn();
  MPI_File_read_at_all_c(file, place(next()), in, N, MPI_INT, &status);
  end_pair("write_at_all, read_at_all", next(), &status);
  begin_pair();
  MPI_File_iwrite_at_all_c(file, place(rank), out, N, MPI_INT, &request);
  MPI_Wait(&request, &status);
  turn();
  MPI_File_iread_at_all_c(file, place(next()), in, N, MPI_INT, &request);
  MPI_Wait(&request, &status);
  end_pair("iwrite_at_all, iread_at_all", next(), &status);
}

static void split(void) {
  MPI_Status status;
  begin_pair();
  MPI_File_write_all_begin_c(file, out, N, MPI_INT);
  MPI_File_write_all_end(file, out, &status);
  turn();
  MPI_File_read_all_begin_c(file, in, N, MPI_INT);
  MPI_File_read_all_end(file, in, &status);
  end_pair("write_all_begin, read_all_begin", next(), &status);
  begin_pair();
  MPI_File_write_at_all_begin_c(file, place(rank), out, N, MPI_INT);
  MPI_File_write_at_all_end(file, out, &status);
  turn();
  MPI_File_read_at_all_begin_c(file, place(next()), in, N, MPI_INT);
  MPI_File_read_at_all_end(file, in, &status);
  end_pair("write_at_all_begin, read_at_all_begin", next(), &status);
}

/* In the order of ranks, which is that of their places. */
static void rewind_shared(void) {
  meet();
  MPI_File_seek_shared(file, 0, MPI_SEEK_SET);
}

static void ordered(void) {
  MPI_Status status;
  rewind_shared();
  begin_pair();
  MPI_File_write_ordered_c(file, out, N, MPI_INT, &status);
  rewind_shared();
  MPI_File_read_ordered_c(file, in, N, MPI_INT, &status);
  end_pair("write_ordered, read_ordered", rank, &status);
  rewind_shared();
  begin_pair();
  MPI_File_write_ordered_begin_c(file, out, N, MPI_INT);
  MPI_File_write_ordered_end(file, out, &status);
  rewind_shared();
  MPI_File_read_ordered_begin_c(file, in, N, MPI_INT);
  MPI_File_read_ordered_end(file, in, &status);
  end_pair("write_ordered_begin, read_ordered_begin", rank, &status);
}

/* One after the other, so that it is known who has which part. */
static void by_turns(void (*access)(void)) {
  for (int i = 0; i < size; i++) {
    if (i == rank) {
      access();
    }
    MPI_File_sync(file);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  rewind_shared();
}

static MPI_Status shared_status;

static void write_shared(void) {
  MPI_File_write_shared_c(file, out, N, MPI_INT, &shared_status);
}

static void read_shared(void) {
  MPI_File_read_shared_c(file, in, N, MPI_INT, &shared_status);
}

static void iwrite_shared(void) {
  MPI_Request request;
  MPI_File_iwrite_shared_c(file, out, N, MPI_INT, &request);
  MPI_Wait(&request, &shared_status);
}

static void iread_shared(void) {
  MPI_Request request;
  MPI_File_iread_shared_c(file, in, N, MPI_INT, &request);
  MPI_Wait(&request, &shared_status);
}

static void shared(void) {
  rewind_shared();
  begin_pair();
  by_turns(write_shared);
  by_turns(read_shared);
  end_pair("write_shared, read_shared", rank, &shared_status);
  begin_pair();
  by_turns(iwrite_shared);
  by_turns(iread_shared);
  end_pair("iwrite_shared, iread_shared", rank, &shared_status);
}

int main(int argc, char **argv) {
  begin(&argc, &argv);
  name_file("large_counts");
  file = open_file(MPI_COMM_WORLD, MPI_MODE_CREATE | MPI_MODE_RDWR);
  single();
  collective();
  split();
  ordered();
  shared();
  MPI_File_close(&file);
  mix_file();
  report("the file");
  remove_file();
  return end();
}
#else
int main(int argc, char **argv) {
  begin(&argc, &argv);
  if (rank == 0) {
    printf("no large counts in this MPI\n");
  }
  return end();
}
#endif
