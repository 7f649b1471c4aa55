/* What MPI 4.0 and 4.1 added to requests: messages both ways in one, duplicates
   with hints, status of several without ending them. */
#include "test.h"

#if MPI_VERSION >= 4 || defined MPI_SESSION_NULL
#define MPI_4_1 (10 * MPI_VERSION + MPI_SUBVERSION >= 41)

static int next, previous;

static int value_of(int from, int i) {
  return from * 1000 + i;
}

static void check_status(const char *what, const MPI_Status *status, int from,
                         int tag, int n) {
  int count = -1;
  MPI_Get_count(status, MPI_INT, &count);
  if (status->MPI_SOURCE != from || status->MPI_TAG != tag || count != n) {
    fail("%s: from %d, tag %d, %d numbers", what, status->MPI_SOURCE,
         status->MPI_TAG, count);
  }
}

/* Around the ring, with other sizes and tags both ways. */
static void exchange(int n, int wild) {
  int *out = malloc((size_t)n * sizeof(*out)),
      *in = malloc((size_t)(n + 7) * sizeof(*in));
  for (int i = 0; i < n; i++) {
    out[i] = value_of(rank, i);
    in[i] = -1;
  }
  MPI_Request r = MPI_REQUEST_NULL;
  MPI_Status status;
  const int tag = wild ? MPI_ANY_TAG : n % 100 + previous;
  MPI_Isendrecv(out, n, MPI_INT, next, n % 100 + rank, in, n + 7, MPI_INT,
                wild ? MPI_ANY_SOURCE : previous, tag, MPI_COMM_WORLD, &r);
  if (r == MPI_REQUEST_NULL) {
    fail("exchange: no request");
  }
  MPI_Wait(&r, &status);
  check_status("exchange", &status, previous, n % 100 + previous, n);
  for (int i = 0; i < n; i++) {
    if (in[i] != value_of(previous, i)) {
      fail("exchange of %d: %d at %d", n, in[i], i);
      break;
    }
  }
  MPI_Barrier(MPI_COMM_WORLD); /* what is wild takes no other's */
  free(in);
  free(out);
}

static void replace(int n) {
  int *both = malloc((size_t)n * sizeof(*both)), done = 0;
  for (int i = 0; i < n; i++) {
    both[i] = value_of(rank, i);
  }
  MPI_Request r;
  MPI_Status status;
  MPI_Isendrecv_replace(both, n, MPI_INT, next, 5, previous, 5, MPI_COMM_WORLD,
                        &r);
  while (!done) {
    MPI_Test(&r, &done, &status);
  }
  check_status("replace", &status, previous, 5, n);
  for (int i = 0; i < n; i++) {
    if (both[i] != value_of(previous, i)) {
      fail("replace of %d: %d at %d", n, both[i], i);
      break;
    }
  }
  free(both);
}

/* Many at once, and with nobody on one side or both. */
static void many(void) {
  enum { N = 20 };
  int out[N], in[N];
  MPI_Request r[N];
  MPI_Status status[N];
  for (int i = 0; i < N; i++) {
    out[i] = value_of(rank, i);
    in[i] = -1;
    MPI_Isendrecv(&out[i], 1, MPI_INT, i % 4 == 1 ? MPI_PROC_NULL : next, i,
                  &in[i], 1, MPI_INT, i % 4 == 1 ? MPI_PROC_NULL : previous, i,
                  MPI_COMM_WORLD, &r[i]);
  }
  MPI_Waitall(N, r, status);
  for (int i = 0; i < N; i++) {
    if (i % 4 == 1) {
      check_status("with nobody", &status[i], MPI_PROC_NULL, MPI_ANY_TAG, 0);
    } else {
      check_status("many", &status[i], previous, i, 1);
    }
    if (in[i] != (i % 4 == 1 ? -1 : value_of(previous, i))) {
      fail("many: %d at %d", in[i], i);
    }
  }
}

static void shapes_both_ways(void) {
  struct shape shapes[SHAPES];
  make_shapes(shapes);
  for (int i = 0; i < SHAPES; i++) {
    const struct shape *from = &shapes[i], *to = &shapes[(i + 3) % SHAPES];
    char out[2048], in[2048];
    stream(out, sizeof(out), seed_of((uint64_t)i, rank, next));
    memset(in, 0x33, sizeof(in));
    MPI_Request r;
    MPI_Isendrecv(out + 900, count_of(from, 2), from->type, next, i, in + 900,
                  count_of(to, 2), to->type, previous, i, MPI_COMM_WORLD, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    mix(in, sizeof(in));
  }
  report("shapes");
  free_shapes(shapes);
}

static void duplicate(void) {
  MPI_Comm made;
  MPI_Request r;
  MPI_Info info, got;
  char value[8] = "";
  int flag = 0, same = -1;
  MPI_Info_create(&info);
  MPI_Info_set(info, "mpi_assert_no_any_source", "true");
  MPI_Comm_idup_with_info(MPI_COMM_WORLD, info, &made, &r);
  MPI_Wait(&r, MPI_STATUS_IGNORE);
  MPI_Comm_compare(made, MPI_COMM_WORLD, &same);
  MPI_Comm_get_info(made, &got);
  MPI_Info_get(got, "mpi_assert_no_any_source", 7, value, &flag);
  if (same != MPI_CONGRUENT || !flag || strcmp(value, "true") != 0) {
    fail("a duplicate: %d, hint %d %s", same, flag, value);
  }
  int sum = 0;
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, made);
  if (sum != size * (size - 1) / 2) {
    fail("a duplicate: sum %d", sum);
  }
  MPI_Info_free(&got);
  MPI_Info_free(&info);
  MPI_Comm_free(&made);
}

static void expect_hint(MPI_Comm comm, const char *key, const char *wanted) {
  MPI_Info info;
  char value[8] = "";
  int flag = 0;
  MPI_Comm_get_info(comm, &info);
  MPI_Info_get(info, key, 7, value, &flag);
  if (!flag != !wanted || (wanted && strcmp(value, wanted) != 0)) {
    fail("hint %s: %s", key, flag ? value : "none");
  }
  MPI_Info_free(&info);
}

/* Kept, changed, and not inherited. */
static void hints(void) {
  const char *const keys[] = {
      "mpi_assert_no_any_tag", "mpi_assert_exact_length",
      "mpi_assert_strict_persistent_collective_ordering"};
  MPI_Comm made, copy;
  MPI_Info info;
  MPI_Comm_dup(MPI_COMM_WORLD, &made);
  for (int i = 0; i < 3; i++) {
    if (strlen(keys[i]) >= MPI_MAX_INFO_KEY) {
      continue; /* Open MPI 5 cannot name it */
    }
    expect_hint(made, keys[i], NULL);
    MPI_Info_create(&info);
    MPI_Info_set(info, keys[i], "true");
    MPI_Comm_set_info(made, info);
    expect_hint(made, keys[i], "true");
    MPI_Info_set(info, keys[i], "false");
    MPI_Comm_set_info(made, info);
    expect_hint(made, keys[i], "false");
    MPI_Info_free(&info);
  }
  MPI_Comm_dup(made, &copy);
  expect_hint(copy, keys[0], NULL);
  MPI_Comm_free(&copy);
  MPI_Comm_free(&made);
}

#if MPI_4_1
/* Asks for what is not there, then for what is, and ends it. */
static void look(void) {
  enum { N = 4 };
  int in[N] = {-1, -1, -1, -1}, out[N], flag = 1, index = 7, count = 7, at[N];
  MPI_Request r[N];
  MPI_Status status[N];
  for (int i = 0; i < N; i++) {
    MPI_Irecv(&in[i], 1, MPI_INT, previous, i, MPI_COMM_WORLD, &r[i]);
  }
  MPI_Request_get_status_any(N, r, &index, &flag, status);
  MPI_Request_get_status_some(N, r, &count, at, status);
  if (flag || count) {
    fail("look: any %d, some %d: too early", flag, count);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  out[2] = value_of(rank, 2);
  MPI_Send(&out[2], 1, MPI_INT, next, 2, MPI_COMM_WORLD);
  do {
    MPI_Request_get_status_any(N, r, &index, &flag, status);
  } while (!flag);
  check_status("look: any", status, previous, 2, 1);
  MPI_Request_get_status_all(N, r, &flag, status);
  MPI_Request_get_status_some(N, r, &count, at, status);
  if (index != 2 || flag || count != 1 || at[0] != 2 ||
      r[2] == MPI_REQUEST_NULL) {
    fail("look: any %d, all %d, some %d", index, flag, count);
  }
  check_status("look: some", status, previous, 2, 1);
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; i < N; i++) {
    out[i] = value_of(rank, i);
    if (i != 2) {
      MPI_Send(&out[i], 1, MPI_INT, next, i, MPI_COMM_WORLD);
    }
  }
  do {
    MPI_Request_get_status_all(N, r, &flag, status);
  } while (!flag);
  for (int i = 0; i < N; i++) {
    check_status("look: all", &status[i], previous, i, 1);
  }
  MPI_Waitall(N, r, status);
  for (int i = 0; i < N; i++) {
    check_status("look: end", &status[i], previous, i, 1);
    if (in[i] != value_of(previous, i)) {
      fail("look: %d at %d", in[i], i);
    }
  }
  MPI_Request_get_status_any(N, r, &index, &flag, status);
  MPI_Request_get_status_some(N, r, &count, at, status);
  if (!flag || index != MPI_UNDEFINED || count != MPI_UNDEFINED) {
    fail("look: nothing: any %d, some %d", index, count);
  }
  MPI_Request_get_status_all(N, r, &flag, MPI_STATUSES_IGNORE);
  if (!flag) {
    fail("look: all of nothing");
  }
}

static void statuses(void) {
  MPI_Status status;
  int source = -1, tag = -1, error = -1;
  MPI_Status_set_source(&status, 3);
  MPI_Status_set_tag(&status, 4);
  MPI_Status_set_error(&status, MPI_ERR_TAG);
  MPI_Status_get_source(&status, &source);
  MPI_Status_get_tag(&status, &tag);
  MPI_Status_get_error(&status, &error);
  if (source != 3 || tag != 4 || error != MPI_ERR_TAG ||
      status.MPI_SOURCE != 3) {
    fail("a status: %d %d %d", source, tag, error);
  }
}
#endif

static void infos(int argc, char **argv) {
  MPI_Info info;
  char value[20] = "";
  int flag = 0, n = 3;
  MPI_Info_create(&info);
  MPI_Info_set(info, "colour", "yellow");
  MPI_Info_get_string(info, "colour", &n, value, &flag);
  if (!flag || n != 7 || strcmp(value, "ye") != 0) {
    fail("a string cut: %d %s", n, value);
  }
  n = 0;
  MPI_Info_get_string(info, "colour", &n, NULL, &flag);
  n += !flag;
  MPI_Info_get_string(info, "colour", &n, value, &flag);
  if (n != 7 || strcmp(value, "yellow") != 0) {
    fail("a string: %d %s", n, value);
  }
  MPI_Info_get_string(info, "shape", &n, value, &flag);
  if (flag) {
    fail("a key that is not there");
  }
  MPI_Info_free(&info);
  MPI_Info_create_env(argc, argv, &info);
  n = sizeof(value);
  MPI_Info_get_string(info, "thread_level", &n, value, &flag);
  if (flag && strcmp(value, "MPI_THREAD_SINGLE") != 0) {
    fail("the environment: %s", value);
  }
  MPI_Info_free(&info);
}

int main(int argc, char **argv) {
  begin(&argc, &argv);
  next = (rank + 1) % size;
  previous = (rank + size - 1) % size;
  for (int i = 0; i < 4; i++) {
    exchange(1, i % 2);
    exchange(1000, i % 2);
    exchange(100000, i % 2);
    replace(1);
    replace(100000);
  }
  many();
  shapes_both_ways();
  duplicate();
  hints();
#if MPI_4_1
  look();
  statuses();
#endif
  infos(argc, argv);
  return end();
}
#else
int main(void) {
  puts("this MPI is older than MPI 4.0");
  return 77;
}
#endif
