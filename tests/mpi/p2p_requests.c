/* Requests: waiting and testing for one, some, any and all, persistent ones,
   cancelling, freeing, generalized requests. */
#define _GNU_SOURCE
#include "numbers.h"
#include "test.h"

#include <dlfcn.h>

static int next, previous;

enum { N = 12 };

/* A token to the next rank and from the previous one: the others are further
   when it returns than they were before. */
static void hand_on(void) {
  MPI_Barrier(MPI_COMM_WORLD);
}

static int value_of(int from, int i) {
  return from * 1000 + i;
}

/* N messages around the ring; starts[i] is what the i-th request receives. */
static void start(MPI_Request *receives, MPI_Request *sends, int *in, int *out,
                  int n) {
  for (int i = 0; i < n; i++) {
    in[i] = -1;
    MPI_Irecv(&in[i], 1, MPI_INT, previous, i, MPI_COMM_WORLD, &receives[i]);
  }
  for (int i = n - 1; i >= 0; i--) {
    out[i] = value_of(rank, i);
    MPI_Isend(&out[i], 1, MPI_INT, next, i, MPI_COMM_WORLD, &sends[i]);
  }
}

static void check(const int *in, int i, const MPI_Status *status) {
  if (in[i] != value_of(previous, i)) {
    fail("message %d: %d", i, in[i]);
  }
  if (status && (status->MPI_SOURCE != previous || status->MPI_TAG != i)) {
    fail("message %d: status %d %d", i, status->MPI_SOURCE, status->MPI_TAG);
  }
}

static void wait_all(int ignored) {
  MPI_Request r[N], s[N];
  MPI_Status statuses[N];
  int in[N], out[N];
  start(r, s, in, out, N);
  MPI_Waitall(N, r, ignored ? MPI_STATUSES_IGNORE : statuses);
  MPI_Waitall(N, s, MPI_STATUSES_IGNORE);
  for (int i = 0; i < N; i++) {
    check(in, i, ignored ? NULL : &statuses[i]);
    if (r[i] != MPI_REQUEST_NULL || s[i] != MPI_REQUEST_NULL) {
      fail("waitall: request %d", i);
    }
  }
}

static void wait_any(int test) {
  MPI_Request r[N], s[N];
  MPI_Status status;
  int in[N], out[N], seen[N] = {0}, index, flag = 1;
  start(r, s, in, out, N);
  for (int i = 0; i < N; i++) {
    if (test) {
      do {
        MPI_Testany(N, r, &index, &flag, &status);
      } while (!flag);
    } else {
      MPI_Waitany(N, r, &index, &status);
    }
    if (index < 0 || index >= N || seen[index]++ ||
        r[index] != MPI_REQUEST_NULL) {
      fail("any: index %d", index);
      return;
    }
    check(in, index, &status);
  }
  MPI_Waitany(N, r, &index, &status);
  if (index != MPI_UNDEFINED || status.MPI_SOURCE != MPI_ANY_SOURCE ||
      status.MPI_TAG != MPI_ANY_TAG) {
    fail("waitany of nothing: %d", index);
  }
  MPI_Testany(N, r, &index, &flag, &status);
  if (index != MPI_UNDEFINED || !flag) {
    fail("testany of nothing: %d", index);
  }
  MPI_Waitall(N, s, MPI_STATUSES_IGNORE);
}

static void wait_some(int test) {
  MPI_Request r[N], s[N];
  MPI_Status statuses[N];
  int in[N], out[N], indices[N], seen[N] = {0}, count, done = 0;
  start(r, s, in, out, N);
  while (done < N) {
    if (test) {
      MPI_Testsome(N, r, &count, indices, statuses);
    } else {
      MPI_Waitsome(N, r, &count, indices, statuses);
    }
    if (count == MPI_UNDEFINED || (!test && count < 1)) {
      fail("some: %d", count);
      return;
    }
    for (int i = 0; i < count; i++) {
      if (seen[indices[i]]++) {
        fail("some: %d twice", indices[i]);
      }
      check(in, indices[i], &statuses[i]);
    }
    done += count;
  }
  MPI_Waitsome(N, r, &count, indices, statuses);
  if (count != MPI_UNDEFINED) {
    fail("waitsome of nothing: %d", count);
  }
  MPI_Testsome(N, r, &count, indices, statuses);
  if (count != MPI_UNDEFINED) {
    fail("testsome of nothing: %d", count);
  }
  MPI_Waitall(N, s, MPI_STATUSES_IGNORE);
}

static void test_all(void) {
  MPI_Request r[N], s[N];
  MPI_Status statuses[N];
  int in[N], out[N], flag;
  start(r, s, in, out, N);
  do {
    MPI_Testall(N, r, &flag, statuses);
  } while (!flag);
  for (int i = 0; i < N; i++) {
    check(in, i, &statuses[i]);
  }
  for (int i = 0; i < N; i++) {
    do {
      MPI_Test(&s[i], &flag, MPI_STATUS_IGNORE);
    } while (!flag);
  }
  MPI_Testall(N, r, &flag, statuses);
  if (!flag) {
    fail("testall of nothing");
  }
  MPI_Test(&r[0], &flag, statuses);
  if (!flag || statuses[0].MPI_SOURCE != MPI_ANY_SOURCE) {
    fail("test of nothing");
  }
}

/* A receive that cannot have ended yet is not reported. */
static void not_yet(void) {
  MPI_Request r;
  MPI_Status status;
  int in = -1, out = rank, flag, index;
  MPI_Irecv(&in, 1, MPI_INT, previous, 99, MPI_COMM_WORLD, &r);
  MPI_Test(&r, &flag, &status);
  if (flag) {
    fail("test: too early");
  }
  MPI_Testall(1, &r, &flag, &status);
  if (flag) {
    fail("testall: too early");
  }
  MPI_Testany(1, &r, &index, &flag, &status);
  if (flag || index != MPI_UNDEFINED) {
    fail("testany: too early");
  }
  MPI_Testsome(1, &r, &flag, &index, &status);
  if (flag) {
    fail("testsome: too early");
  }
  MPI_Request_get_status(r, &flag, &status);
  if (flag) {
    fail("get_status: too early");
  }
  hand_on();
  MPI_Send(&out, 1, MPI_INT, next, 99, MPI_COMM_WORLD);
  do {
    MPI_Request_get_status(r, &flag, &status);
  } while (!flag);
  if (r == MPI_REQUEST_NULL || status.MPI_SOURCE != previous ||
      in != previous) {
    fail("get_status");
  }
  MPI_Wait(&r, &status);
  if (r != MPI_REQUEST_NULL || status.MPI_SOURCE != previous) {
    fail("wait after get_status");
  }
}

static void persistent(void) {
  enum { ROUNDS = 6, LARGE = 40000 };
  int *in = malloc(LARGE * sizeof(*in)), *out = malloc(LARGE * sizeof(*out));
  char *attached = malloc(1 << 20);
  MPI_Buffer_attach(attached, 1 << 20);
  for (int way = 0; way < 5; way++) { /* Open MPI fails at 5 */
    const int n = way < 3 ? 10 : LARGE;
    MPI_Request r[2];
    MPI_Status status[2];
    MPI_Recv_init(in, n, MPI_INT, way % 2 ? MPI_ANY_SOURCE : previous, way,
                  MPI_COMM_WORLD, &r[0]);
    if (way % 3 == 0) {
      MPI_Send_init(out, n, MPI_INT, next, way, MPI_COMM_WORLD, &r[1]);
    } else if (way % 3 == 1) {
      MPI_Ssend_init(out, n, MPI_INT, next, way, MPI_COMM_WORLD, &r[1]);
    } else {
      MPI_Bsend_init(out, n, MPI_INT, next, way, MPI_COMM_WORLD, &r[1]);
    }
    for (int i = 0; i < ROUNDS; i++) {
      int flag;
      MPI_Test(&r[i % 2], &flag, &status[0]);
      if (!flag || status[0].MPI_TAG != MPI_ANY_TAG) {
        fail("persistent: an inactive one is not done");
      }
      in[0] = in[n - 1] = -1;
      out[0] = value_of(rank, i);
      out[n - 1] = way;
      if (i % 2) {
        MPI_Startall(2, r);
      } else {
        MPI_Start(&r[0]);
        MPI_Start(&r[1]);
      }
      MPI_Waitall(2, r, status);
      if (in[0] != value_of(previous, i) || in[n - 1] != way ||
          status[0].MPI_SOURCE != previous || r[0] == MPI_REQUEST_NULL) {
        fail("persistent: way %d, round %d: %d", way, i, in[0]);
      }
    }
    MPI_Request_free(&r[0]);
    MPI_Request_free(&r[1]);
    if (r[0] != MPI_REQUEST_NULL) {
      fail("persistent: free");
    }
  }
  int bytes;
  MPI_Buffer_detach(&attached, &bytes);
  free(attached);
  free(in);
  free(out);
}

static void cancel(void) {
  MPI_Request r;
  MPI_Status status;
  int in = -1, out = rank, cancelled, count;
  MPI_Irecv(&in, 1, MPI_INT, previous, 77, MPI_COMM_WORLD, &r);
  MPI_Cancel(&r);
  MPI_Wait(&r, &status);
  MPI_Test_cancelled(&status, &cancelled);
  if (!cancelled || in != -1) {
    fail("cancel: a receive");
  }
  hand_on();
  /* The next receive takes the message that the first would have. */
  MPI_Irecv(&in, 1, MPI_INT, previous, 77, MPI_COMM_WORLD, &r);
  MPI_Send(&out, 1, MPI_INT, next, 77, MPI_COMM_WORLD);
  MPI_Wait(&r, &status);
  MPI_Test_cancelled(&status, &cancelled);
  MPI_Get_count(&status, MPI_INT, &count);
  if (cancelled || in != previous || count != 1) {
    fail("cancel: the next receive");
  }
  hand_on();
  MPI_Recv_init(&in, 1, MPI_INT, previous, 78, MPI_COMM_WORLD, &r);
  for (int i = 0; i < 2; i++) {
    MPI_Start(&r);
    MPI_Cancel(&r);
    MPI_Wait(&r, &status);
    MPI_Test_cancelled(&status, &cancelled);
    if (!cancelled || r == MPI_REQUEST_NULL) {
      fail("cancel: a persistent receive");
    }
  }
  MPI_Request_free(&r);
}

/* Sends that nobody receives; Open MPI 4.1 cannot withdraw them. */
static void cancel_sends(void) {
  enum { LARGE = 100000 };
  if (!dlsym(RTLD_DEFAULT, "pems_main")) {
    return;
  }
  int *out = calloc(LARGE, sizeof(*out)), cancelled, flag, in = -1;
  MPI_Request r;
  MPI_Status status;
  for (int i = 0; i < 4; i++) {
    if (i % 2) {
      MPI_Isend(out, LARGE, MPI_INT, next, 55, MPI_COMM_WORLD, &r);
    } else {
      MPI_Issend(out, 1, MPI_INT, next, 55, MPI_COMM_WORLD, &r);
    }
    if (i / 2) {
      hand_on();
    }
    MPI_Cancel(&r);
    MPI_Wait(&r, &status);
    MPI_Test_cancelled(&status, &cancelled);
    if (!cancelled) {
      fail("cancel: send %d", i);
    }
    hand_on();
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &status);
    if (flag) {
      fail("cancel: send %d was received", i);
    }
    hand_on();
  }
  /* Too late: it is received already. */
  MPI_Irecv(&in, 1, MPI_INT, previous, 56, MPI_COMM_WORLD, &r);
  hand_on();
  out[0] = rank;
  MPI_Request s;
  MPI_Issend(out, 1, MPI_INT, next, 56, MPI_COMM_WORLD, &s);
  MPI_Wait(&r, MPI_STATUS_IGNORE);
  hand_on();
  MPI_Cancel(&s);
  MPI_Wait(&s, &status);
  MPI_Test_cancelled(&status, &cancelled);
  if (cancelled || in != previous) {
    fail("cancel: a send that was received");
  }
  free(out);
}

/* Requests that are freed before they are done go on. */
static void let_go(void) {
  enum { LARGE = 100000 };
  int *in = calloc(LARGE, sizeof(*in)), *out = calloc(LARGE, sizeof(*out));
  MPI_Request r;
  for (int i = 0; i < 4; i++) {
    const int n = i % 2 ? LARGE : 5;
    out[0] = value_of(rank, i);
    out[n - 1] = i;
    MPI_Isend(out, n, MPI_INT, next, i, MPI_COMM_WORLD, &r);
    MPI_Request_free(&r);
    if (r != MPI_REQUEST_NULL) {
      fail("let go: handle");
    }
    MPI_Recv(in, n, MPI_INT, previous, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (in[0] != value_of(previous, i) || in[n - 1] != i) {
      fail("let go: message %d", i);
    }
    hand_on();
  }
  free(in);
  free(out);
}

/* --- generalized --- */

struct work {
  int queried, freed, cancelled;
  char *memory;
};

static int query(void *state, MPI_Status *status) {
  struct work *w = state;
  w->queried++;
  if (!w->memory) {
    w->memory = malloc(1000);
  }
  MPI_Status_set_elements(status, MPI_INT, 7);
  MPI_Status_set_cancelled(status, w->cancelled > 0);
  status->MPI_SOURCE = 42;
  status->MPI_TAG = 43;
  return MPI_SUCCESS;
}

static int release(void *state) {
  struct work *w = state;
  w->freed++;
  free(w->memory);
  w->memory = NULL;
  return MPI_SUCCESS;
}

static int withdraw(void *state, int complete) {
  struct work *w = state;
  if (!complete) {
    w->cancelled++;
  }
  return MPI_SUCCESS;
}

static void generalized(void) {
  struct work w = {0};
  MPI_Request r;
  MPI_Status status;
  int flag, count, cancelled;
  MPI_Grequest_start(query, release, withdraw, &w, &r);
  MPI_Test(&r, &flag, &status);
  if (flag || w.queried) {
    fail("generalized: too early");
  }
  MPI_Grequest_complete(r);
  MPI_Wait(&r, &status);
  MPI_Get_count(&status, MPI_INT, &count);
  MPI_Test_cancelled(&status, &cancelled);
  if (r != MPI_REQUEST_NULL || count != 7 || cancelled ||
      status.MPI_SOURCE != 42 || status.MPI_TAG != 43) {
    fail("generalized: status %d %d %d", count, status.MPI_SOURCE,
         status.MPI_TAG);
  }
  if (w.queried != 1 || w.freed != 1) {
    fail("generalized: queried %d, freed %d", w.queried, w.freed);
  }
  MPI_Grequest_start(query, release, withdraw, &w, &r);
  MPI_Cancel(&r);
  MPI_Grequest_complete(r);
  do {
    MPI_Test(&r, &flag, &status);
  } while (!flag);
  MPI_Test_cancelled(&status, &cancelled);
  if (!cancelled || w.freed != 2) {
    fail("generalized: cancel");
  }
  MPI_Grequest_start(query, release, withdraw, &w, &r);
  MPI_Request keep = r;
  MPI_Request_free(&r);
  MPI_Grequest_complete(keep);
  if (w.freed != 3) {
    fail("generalized: free: %d", w.freed);
  }
}

static void fortran(void) {
  MPI_Request r;
  int in = -1, out = rank;
  MPI_Irecv(&in, 1, MPI_INT, previous, 5, MPI_COMM_WORLD, &r);
  const MPI_Fint f = MPI_Request_c2f(r);
  if (MPI_Request_c2f(r) != f || MPI_Request_f2c(f) != r) {
    fail("fortran: request");
  }
  if (MPI_Request_f2c(MPI_Request_c2f(MPI_REQUEST_NULL)) != MPI_REQUEST_NULL) {
    fail("fortran: null");
  }
  MPI_Send(&out, 1, MPI_INT, next, 5, MPI_COMM_WORLD);
  r = MPI_Request_f2c(f);
  MPI_Wait(&r, MPI_STATUS_IGNORE);
  if (in != previous) {
    fail("fortran: message");
  }
}

/* Nothing at all, and handles of nothing among others. */
static void empty(void) {
  MPI_Request r[3] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  MPI_Status statuses[3];
  int flag, count, index, in = -1, out = rank;
  MPI_Waitall(0, NULL, MPI_STATUSES_IGNORE);
  MPI_Testall(0, NULL, &flag, MPI_STATUSES_IGNORE);
  MPI_Wait(&r[0], &statuses[0]);
  MPI_Get_count(&statuses[0], MPI_INT, &count);
  if (!flag || count || statuses[0].MPI_SOURCE != MPI_ANY_SOURCE) {
    fail("empty: status");
  }
  MPI_Irecv(&in, 1, MPI_INT, previous, 6, MPI_COMM_WORLD, &r[1]);
  MPI_Send(&out, 1, MPI_INT, next, 6, MPI_COMM_WORLD);
  MPI_Waitall(3, r, statuses);
  if (statuses[1].MPI_SOURCE != previous ||
      statuses[0].MPI_TAG != MPI_ANY_TAG ||
      statuses[2].MPI_SOURCE != MPI_ANY_SOURCE || in != previous) {
    fail("empty: waitall");
  }
  MPI_Irecv(&in, 1, MPI_INT, previous, 6, MPI_COMM_WORLD, &r[2]);
  MPI_Send(&out, 1, MPI_INT, next, 6, MPI_COMM_WORLD);
  MPI_Waitany(3, r, &index, &statuses[0]);
  if (index != 2) {
    fail("empty: waitany: %d", index);
  }
}

/* MPICH 4.0 gives the requests' statuses as zeros. */
enum { FIRST = MPICH_4 ? 2 : 0 };

/* The datatype of messages of no elements. */
#ifdef OPEN_MPI
#define OF_NOTHING MPI_INT
#else
#define OF_NOTHING MPI_DATATYPE_NULL
#endif

static void nothing(void) {
  MPI_Request r[2];
  MPI_Status status[2];
  int n = -1;
  MPI_Irecv(NULL, 0, OF_NOTHING, previous, 11, MPI_COMM_WORLD, &r[0]);
  MPI_Issend(NULL, 0, OF_NOTHING, next, 11, MPI_COMM_WORLD, &r[1]);
  MPI_Waitall(2, r, status);
  MPI_Get_count(&status[0], MPI_BYTE, &n);
  printf("rank %d: nothing from %d: %d bytes\n", rank, status[0].MPI_SOURCE, n);
  MPI_Recv_init(NULL, 0, OF_NOTHING, previous, 12, MPI_COMM_WORLD, &r[0]);
  MPI_Start(&r[0]);
  MPI_Send(NULL, 0, OF_NOTHING, next, 12, MPI_COMM_WORLD);
  MPI_Wait(&r[0], &status[0]);
  printf("rank %d: nothing with tag %d\n", rank, status[0].MPI_TAG);
  MPI_Request_free(&r[0]);
}

/* Messages to nobody, in MPICH without a datatype, too. */
static void nobody(void) {
  MPI_Request r[2];
  MPI_Status status[3];
  memset(status, 0x55, sizeof(status));
  MPI_Irecv(NULL, 0, OF_NOTHING, MPI_PROC_NULL, 10, MPI_COMM_WORLD, &r[0]);
  MPI_Isend(NULL, 0, OF_NOTHING, MPI_PROC_NULL, 10, MPI_COMM_WORLD, &r[1]);
  MPI_Waitall(2, r, status);
  MPI_Send(NULL, 0, OF_NOTHING, MPI_PROC_NULL, 10, MPI_COMM_WORLD);
  MPI_Recv(NULL, 0, OF_NOTHING, MPI_PROC_NULL, 10, MPI_COMM_WORLD, &status[2]);
  for (int i = FIRST; i < 3; i += 2) {
    if (status[i].MPI_SOURCE != MPI_PROC_NULL ||
        status[i].MPI_TAG != MPI_ANY_TAG) {
      fail("message %d of nobody: %d %d", i, status[i].MPI_SOURCE,
           status[i].MPI_TAG);
    }
  }
}

int main(int argc, char **argv) {
  begin(&argc, &argv);
  next = (rank + 1) % size;
  previous = (rank + size - 1) % size;
  for (int i = 0; i < 2; i++) {
    wait_all(i);
    wait_any(i);
    wait_some(i);
  }
  test_all();
  not_yet();
  persistent();
  cancel();
  cancel_sends();
  let_go();
  generalized();
  fortran();
  empty();
  nothing();
  nobody();
  return end();
}
