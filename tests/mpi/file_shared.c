/* Shared file pointers: each access its own part of the file, whoever comes
   first; ordered accesses by rank. */
#include "files.h"

enum { RECORD = 6, EACH = 20 };

static MPI_Offset shared_position(MPI_File f) {
  MPI_Offset at = -1;
  MPI_File_get_position_shared(f, &at);
  return at;
}

/* Records of all ranks in some order, none torn and none lost. */
static void check_records(MPI_File f) {
  const int n = size * EACH;
  int record[RECORD], *seen = calloc((size_t)n, sizeof(*seen));
  MPI_Status status;
  for (int i = 0; i < n; i++) {
    MPI_File_read_at(f, (MPI_Offset)i * RECORD, record, RECORD, MPI_INT,
                     &status);
    const int of = record[0], which = record[1];
    if (elements(&status, MPI_INT) != RECORD || of < 0 || of >= size ||
        which < 0 || which >= EACH || seen[of * EACH + which]++) {
      fail("record %d is torn, or there twice", i);
      break;
    }
    for (int j = 2; j < RECORD; j++) {
      if (record[j] != of * 1000 + which + j) {
        fail("record %d is torn", i);
      }
    }
  }
  free(seen);
}

static void write_records(MPI_File f) {
  int record[RECORD];
  for (int i = 0; i < EACH; i++) {
    record[0] = rank;
    record[1] = i;
    for (int j = 2; j < RECORD; j++) {
      record[j] = rank * 1000 + i + j;
    }
    if (i % 2) {
      MPI_File_write_shared(f, record, RECORD, MPI_INT, MPI_STATUS_IGNORE);
    } else {
      MPI_Request request;
      MPI_File_iwrite_shared(f, record, RECORD, MPI_INT, &request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    if (i == EACH / 2) {
      MPI_Barrier(MPI_COMM_WORLD);
    }
  }
}

/* All ranks together read each record once. */
static void read_records(MPI_File f) {
  int record[RECORD], mine = 0, all = 0, sum = 0, total = 0;
  MPI_Status status;
  for (int i = 0; i < EACH; i++) {
    if (i % 2) {
      MPI_File_read_shared(f, record, RECORD, MPI_INT, &status);
    } else {
      MPI_Request request;
      MPI_File_iread_shared(f, record, RECORD, MPI_INT, &request);
      MPI_Wait(&request, &status);
    }
    mine += elements(&status, MPI_INT);
    sum += record[0] * EACH + record[1];
  }
  MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Allreduce(&sum, &total, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  const int n = size * EACH;
  if (all != n * RECORD || total != n * (n - 1) / 2) {
    fail("read_shared: %d elements, sum %d", all, total);
  }
}

static void records(void) {
  MPI_File f = open_file(MPI_COMM_WORLD, MPI_MODE_CREATE | MPI_MODE_RDWR);
  MPI_File_set_view(f, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
  write_records(f);
  MPI_File_sync(f);
  MPI_Barrier(MPI_COMM_WORLD);
  if (shared_position(f) != (MPI_Offset)size * EACH * RECORD) {
    fail("position %lld", (long long)shared_position(f));
  }
  check_records(f);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_File_seek_shared(f, 0, MPI_SEEK_SET);
  read_records(f);
  MPI_File_close(&f);
  remove_file();
  report("records");
}

/* Rank r has r + 1 elements, or none in every third call. */
static int amount(int call) {
  return (rank + call) % 3 ? rank + 1 : 0;
}

static void ordered(void) {
  int out[64], in[64];
  MPI_Status status;
  MPI_File f = open_file(MPI_COMM_WORLD, MPI_MODE_CREATE | MPI_MODE_RDWR);
  MPI_File_set_view(f, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
  for (int call = 0; call < 8; call++) {
    for (int i = 0; i < 64; i++) {
      out[i] = call * 10000 + rank * 100 + i;
    }
    if (call % 2) {
      MPI_File_write_ordered_begin(f, out, amount(call), MPI_INT);
      MPI_File_write_ordered_end(f, out, &status);
    } else {
      MPI_File_write_ordered(f, out, amount(call), MPI_INT, &status);
    }
    if (elements(&status, MPI_INT) != amount(call)) {
      fail("write_ordered: %d elements", elements(&status, MPI_INT));
    }
  }
  MPI_File_sync(f);
  MPI_Barrier(MPI_COMM_WORLD);
  mix_number((uint64_t)shared_position(f));
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_File_seek_shared(f, 0, MPI_SEEK_SET);
  for (int call = 0; call < 8; call++) {
    memset(in, 0, sizeof(in));
    if (call % 2) {
      MPI_File_read_ordered(f, in, amount(call), MPI_INT, &status);
    } else {
      MPI_File_read_ordered_begin(f, in, amount(call), MPI_INT);
      MPI_File_read_ordered_end(f, in, &status);
    }
    for (int i = 0; i < amount(call); i++) {
      if (in[i] != call * 10000 + rank * 100 + i) {
        fail("read_ordered: call %d: element %d is %d", call, i, in[i]);
      }
    }
  }
  MPI_File_close(&f);
  mix_file();
  report("ordered");
}

/* Seeks, and a file that is appended to. */
static void seeks(void) {
  int one = rank;
  MPI_Offset end;
  MPI_File f = open_file(MPI_COMM_WORLD, MPI_MODE_RDWR);
  MPI_File_seek_shared(f, 8, MPI_SEEK_SET);
  mix_number((uint64_t)shared_position(f));
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_File_seek_shared(f, 4, MPI_SEEK_CUR);
  mix_number((uint64_t)shared_position(f));
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_File_seek_shared(f, 0, MPI_SEEK_END);
  MPI_File_get_size(f, &end);
  if (shared_position(f) != end) {
    fail("seek to the end: %lld", (long long)shared_position(f));
  }
  MPI_File_close(&f);
  f = open_file(MPI_COMM_WORLD, MPI_MODE_WRONLY | MPI_MODE_APPEND);
  MPI_File_write_ordered(f, &one, 1, MPI_INT, MPI_STATUS_IGNORE);
  MPI_File_close(&f);
  mix_file();
  report("seeks");
}

/* The view begins where the shared pointer is. */
static void sequential(void) {
  int word[2] = {rank, -rank};
  MPI_File f = open_file(MPI_COMM_WORLD, MPI_MODE_WRONLY | MPI_MODE_SEQUENTIAL);
  MPI_File_write_ordered(f, word, 2, MPI_INT, MPI_STATUS_IGNORE);
  MPI_File_set_view(f, MPI_DISPLACEMENT_CURRENT, MPI_INT, MPI_INT, "native",
                    MPI_INFO_NULL);
  MPI_File_close(&f);
  mix_file();
  report("sequential");
  remove_file();
}

int main(int argc, char **argv) {
  begin(&argc, &argv);
  name_file("shared");
  records();
  ordered();
  seeks();
  sequential();
  return end();
}
