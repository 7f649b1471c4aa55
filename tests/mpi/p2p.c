/* Point-to-point messages: every way to send and to receive, types, sizes,
   places, order, wildcards, truncation. */
#define _GNU_SOURCE
#include "test.h"

#include <dlfcn.h>
#include <stdbool.h>

static struct shape shapes[SHAPES], predefined[PREDEFINED];
static uint64_t calls;
static char *attached;

enum way { SEND, SSEND, BSEND, ISEND, ISSEND, IBSEND, WAYS };

/* Starts a message; what has not ended is in *request. */
static void send_by(enum way way, const void *p, int n, MPI_Datatype type,
                    int to, int tag, MPI_Request *request) {
  const MPI_Comm w = MPI_COMM_WORLD;
  *request = MPI_REQUEST_NULL;
  switch (way) {
  case SEND:
    MPI_Send(p, n, type, to, tag, w);
    break;
  case SSEND:
    MPI_Ssend(p, n, type, to, tag, w);
    break;
  case BSEND:
    MPI_Bsend(p, n, type, to, tag, w);
    break;
  case ISEND:
    MPI_Isend(p, n, type, to, tag, w, request);
    break;
  case ISSEND:
    MPI_Issend(p, n, type, to, tag, w, request);
    break;
  default:
    MPI_Ibsend(p, n, type, to, tag, w, request);
  }
}

static void check_status(const MPI_Status *status, int source, int tag,
                         MPI_Datatype type, int n, const char *what) {
  int count, cancelled;
  MPI_Get_count(status, type, &count);
  MPI_Test_cancelled(status, &cancelled);
  if (status->MPI_SOURCE != source || status->MPI_TAG != tag || count != n ||
      cancelled) {
    fail("%s: status: source %d, tag %d, count %d; not %d, %d, %d", what,
         status->MPI_SOURCE, status->MPI_TAG, count, source, tag, n);
  }
}

/* A message from each rank to the next. With `early` the receive is posted
   before the send. */
static void ring(const struct shape *send, int n_send,
                 const struct shape *receive, int n_receive, enum way way,
                 int early, const struct rooms *rooms) {
  if (left_out()) {
    return;
  }
  calls++;
  const int next = (rank + 1) % size, previous = (rank + size - 1) % size;
  const int tag = (int)(calls % 1000);
  struct arena in = arena_make(send, n_send, (int)calls % 3, 3, rooms->a, ROOM);
  arena_put(&in, 0, n_send, seed_of(calls, rank, next));
  struct arena out =
      arena_make(receive, n_receive, (int)calls % 2, calls, rooms->b, ROOM);
  struct arena expected = arena_twin(&out);
  arena_put(&expected, 0, n_receive, seed_of(calls, previous, rank));
  MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  MPI_Status status;
  const bool blocking = way == SEND || way == SSEND;
  if (early || (blocking && rank % 2 == 0)) {
    MPI_Irecv(out.origin, n_receive, receive->type, previous, tag,
              MPI_COMM_WORLD, &requests[0]);
    send_by(way, in.origin, n_send, send->type, next, tag, &requests[1]);
    MPI_Wait(&requests[0], &status);
  } else if (blocking && size > 1) {
    MPI_Recv(out.origin, n_receive, receive->type, previous, tag,
             MPI_COMM_WORLD, &status);
    send_by(way, in.origin, n_send, send->type, next, tag, &requests[1]);
  } else {
    send_by(way, in.origin, n_send, send->type, next, tag, &requests[1]);
    MPI_Recv(out.origin, n_receive, receive->type, previous, tag,
             MPI_COMM_WORLD, &status);
  }
  MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
  check_status(&status, previous, tag, receive->type, n_receive, "ring");
  arena_check(&out, &expected, "ring");
  arena_free(&in);
}

static void types(const struct rooms *rooms) {
  for (int i = 0; i < PREDEFINED; i++) {
    ring(&predefined[i], i % 4, &predefined[i], i % 4, (enum way)(i % WAYS),
         i % 2, rooms);
  }
  for (int i = 0; i < SHAPES; i++) {
    for (int j = 0; j < SHAPES; j++) {
      ring(&shapes[i], count_of(&shapes[i], (i + j) % 4), &shapes[j],
           count_of(&shapes[j], (i + j) % 4), (enum way)((i + 2 * j) % WAYS),
           (i + j) % 2, rooms);
    }
  }
  report("types");
}

static void lengths(const struct rooms *rooms) {
  const struct shape byte = shape_of("byte", MPI_BYTE);
  for (int i = 0; i < SIZES; i++) {
    for (int way = 0; way < WAYS; way++) {
      ring(&byte, sizes[i], &byte, sizes[i], (enum way)way, (i + way) % 2,
           rooms);
    }
  }
  report("lengths");
}

/* Messages between two ranks stay in order, whatever their size; each takes the
   first receive that fits. */
static void order(void) {
  enum { N = 24 };
  const int next = (rank + 1) % size, previous = (rank + size - 1) % size;
  static int in[N][20000], out[N][20000];
  MPI_Request requests[2 * N];
  const int all = size == 1 ? 6 : N;
  for (int i = 0; i < all; i++) {
    const int n = i % 3 == 0 ? 3 : i % 3 == 1 ? 3000 : 20000;
    in[i][0] = rank * 1000 + i;
    in[i][n - 1] = i;
    MPI_Isend(in[i], n, MPI_INT, next, i % 2, MPI_COMM_WORLD, &requests[i]);
  }
  MPI_Status status;
  int evens = 0, odds = 1;
  for (int i = 0; i < all; i++) {
    /* By turns any tag, tag 1, tag 0 from anybody. */
    const int tag = i % 3 == 0 ? MPI_ANY_TAG : i % 3 == 1 ? 1 : 0;
    const bool left = tag == 1 ? odds < all : tag == 0 ? evens < all : 1;
    MPI_Recv(out[i], 20000, MPI_INT, i % 2 ? MPI_ANY_SOURCE : previous,
             left ? tag : MPI_ANY_TAG, MPI_COMM_WORLD, &status);
    int *wanted = status.MPI_TAG ? &odds : &evens;
    if (!left || tag == MPI_ANY_TAG) {
      const int first = evens < odds ? evens : odds;
      if (first < all && out[i][0] != previous * 1000 + first) {
        fail("order: any tag: %d, not %d", out[i][0] % 1000, first);
      }
    }
    if (out[i][0] != previous * 1000 + *wanted) {
      fail("order: %d from %d, not %d", out[i][0] % 1000, status.MPI_SOURCE,
           *wanted);
    }
    *wanted += 2;
  }
  MPI_Waitall(all, requests, MPI_STATUSES_IGNORE);
  report("order");
}

/* Posted receives of one source and of any are taken in the order of posting.
 */
static void posted(void) {
  enum { N = 12 };
  int in[N], out[N];
  MPI_Request requests[N];
  MPI_Status statuses[N];
  for (int i = 0; i < N; i++) {
    out[i] = -1;
    MPI_Irecv(&out[i], 1, MPI_INT, i % 3 == 1 ? MPI_ANY_SOURCE : rank,
              i % 4 == 3 ? MPI_ANY_TAG : 5, MPI_COMM_WORLD, &requests[i]);
  }
  for (int i = 0; i < N; i++) {
    in[i] = i;
    MPI_Send(&in[i], 1, MPI_INT, rank, 5, MPI_COMM_WORLD);
  }
  MPI_Waitall(N, requests, statuses);
  for (int i = 0; i < N; i++) {
    if (out[i] != i || statuses[i].MPI_SOURCE != rank) {
      fail("posted: receive %d: message %d", i, out[i]);
    }
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

/* All to rank 0, which takes what comes. */
static void wildcards(void) {
  enum { N = 20 };
  int seen[64][N] = {{0}}, data[2];
  if (rank == 0) {
    for (int i = 0; i < (size - 1) * N; i++) {
      MPI_Status status;
      MPI_Recv(data, 2, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD,
               &status);
      if (data[0] != status.MPI_SOURCE || data[1] != status.MPI_TAG) {
        fail("wildcards: status");
      }
      if (seen[data[0]][data[1]]++ ||
          (data[1] && !seen[data[0]][data[1] - 1])) {
        fail("wildcards: message %d of %d", data[1], data[0]);
      }
    }
  } else {
    for (int i = 0; i < N; i++) {
      data[0] = rank;
      data[1] = i;
      MPI_Send(data, 2, MPI_INT, 0, i, MPI_COMM_WORLD);
    }
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

/* Too long messages: an error, and nothing behind the buffer changes. Open MPI
   4.1 does write there, and has no error where a rank sends to itself. */
static void truncation(void) {
  if (!dlsym(RTLD_DEFAULT, "pems_main")) {
    return;
  }
  static const int lengths[] = {10, 2000, 60000, 400000};
  const int next = (rank + 1) % size, previous = (rank + size - 1) % size;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  for (int i = 0; i < 8; i++) {
    const int n = lengths[i / 2], early = i % 2;
    int code;
    int *in = calloc((size_t)n, sizeof(*in)),
        *out = calloc((size_t)n, sizeof(*out));
    for (int j = 0; j < n; j++) {
      in[j] = rank + j;
      out[j] = -7;
    }
    MPI_Request requests[2];
    MPI_Status status = {0};
    if (early) {
      MPI_Irecv(out, n / 2, MPI_INT, previous, 1, MPI_COMM_WORLD, &requests[1]);
    }
    MPI_Isend(in, n, MPI_INT, next, 1, MPI_COMM_WORLD, &requests[0]);
    if (early) {
      code = MPI_Wait(&requests[1], &status);
    } else {
      code =
          MPI_Recv(out, n / 2, MPI_INT, previous, 1, MPI_COMM_WORLD, &status);
    }
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    int class = code;
    MPI_Error_class(code, &class);
    if (class != MPI_ERR_TRUNCATE || status.MPI_SOURCE != previous ||
        status.MPI_TAG != 1) {
      fail("truncation: %d ints: class %d", n, class);
    }
    for (int j = 0; j < n / 2; j++) {
      if (out[j] != previous + j) {
        fail("truncation: %d ints: int %d", n, j);
      }
    }
    for (int j = n / 2; j < n; j++) {
      if (out[j] != -7) {
        fail("truncation: %d ints: behind the buffer, int %d", n, j);
      }
    }
    free(in);
    free(out);
  }
  /* Of several, each has an error of its own. */
  int in[4] = {1, 2, 3, 4}, out[4];
  MPI_Request requests[4];
  MPI_Status statuses[4];
  for (int i = 0; i < 2; i++) {
    MPI_Irecv(&out[2 * i], 1, MPI_INT, previous, i, MPI_COMM_WORLD,
              &requests[i]);
    MPI_Isend(in, 1 + i, MPI_INT, next, i, MPI_COMM_WORLD, &requests[2 + i]);
  }
  const int code = MPI_Waitall(4, requests, statuses);
  int class[4];
  for (int i = 0; i < 4; i++) {
    MPI_Error_class(statuses[i].MPI_ERROR, &class[i]);
  }
  if (code != MPI_ERR_IN_STATUS || class[0] || class[1] != MPI_ERR_TRUNCATE ||
      class[2] || class[3]) {
    fail("truncation: several: %d: %d %d %d %d", code, class[0], class[1],
         class[2], class[3]);
  }
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
  MPI_Barrier(MPI_COMM_WORLD);
}

static void exchange(const struct rooms *rooms) {
  const int next = (rank + 1) % size, previous = (rank + size - 1) % size;
  const struct shape byte = shape_of("byte", MPI_BYTE);
  for (int i = 0; i < SIZES; i++) {
    calls++;
    const int n = sizes[i];
    struct arena out = arena_make(&byte, n, i % 3, calls, rooms->a, ROOM);
    struct arena expected = arena_twin(&out);
    char *in = malloc((size_t)n + 1);
    stream(in, (size_t)n, seed_of(calls, rank, 0));
    arena_put(&expected, 0, n, seed_of(calls, previous, 0));
    MPI_Status status;
    if (i % 2) {
      MPI_Sendrecv(in, n, MPI_BYTE, next, 7, out.origin, n, MPI_BYTE, previous,
                   7, MPI_COMM_WORLD, &status);
    } else {
      arena_put(&out, 0, n, seed_of(calls, rank, 0));
      MPI_Sendrecv_replace(out.origin, n, MPI_BYTE, next, 7, previous, 7,
                           MPI_COMM_WORLD, &status);
    }
    check_status(&status, previous, 7, MPI_BYTE, n, "exchange");
    arena_check(&out, &expected, "exchange");
    free(in);
  }
  report("exchange");
}

/* MPICH 4.0 gives the request's status as zeros. */
enum { SAYS_NOBODY = !MPICH_4 };

static void nobody(void) {
  int n = 5, count;
  MPI_Status status;
  MPI_Request request;
  MPI_Send(&n, 1, MPI_INT, MPI_PROC_NULL, 3, MPI_COMM_WORLD);
  MPI_Ssend(&n, 1, MPI_INT, MPI_PROC_NULL, 3, MPI_COMM_WORLD);
  MPI_Recv(&n, 1, MPI_INT, MPI_PROC_NULL, 3, MPI_COMM_WORLD, &status);
  MPI_Get_count(&status, MPI_INT, &count);
  if (n != 5 || count || status.MPI_SOURCE != MPI_PROC_NULL ||
      status.MPI_TAG != MPI_ANY_TAG) {
    fail("nobody: receive");
  }
  MPI_Irecv(&n, 1, MPI_INT, MPI_PROC_NULL, 3, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, &status);
  if (status.MPI_SOURCE != MPI_PROC_NULL && SAYS_NOBODY) {
    fail("nobody: wait");
  }
  MPI_Sendrecv(&n, 1, MPI_INT, rank ? MPI_PROC_NULL : 0, 1, &count, 1, MPI_INT,
               rank ? MPI_PROC_NULL : 0, 1, MPI_COMM_WORLD, &status);
  if (rank == 0 && count != 5) {
    fail("nobody: to itself");
  }
}

/* Absolute addresses. */
static void bottom(void) {
  int a[3] = {rank, rank + 1, rank + 2}, b[5] = {0};
  int lengths[2] = {1, 2};
  MPI_Aint out[2], in[2];
  MPI_Datatype sent, received;
  MPI_Get_address(&a[0], &out[0]);
  MPI_Get_address(&a[1], &out[1]);
  MPI_Get_address(&b[0], &in[0]);
  MPI_Get_address(&b[3], &in[1]);
  MPI_Type_create_hindexed(2, lengths, out, MPI_INT, &sent);
  MPI_Type_create_hindexed(2, lengths, in, MPI_INT, &received);
  MPI_Type_commit(&sent);
  MPI_Type_commit(&received);
  MPI_Request requests[2];
  MPI_Irecv(MPI_BOTTOM, 1, received, (rank + size - 1) % size, 1,
            MPI_COMM_WORLD, &requests[0]);
  MPI_Isend(MPI_BOTTOM, 1, sent, (rank + 1) % size, 1, MPI_COMM_WORLD,
            &requests[1]);
  MPI_Type_free(&sent);
  MPI_Type_free(&received);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  const int from = (rank + size - 1) % size;
  if (b[0] != from || b[1] || b[2] || b[3] != from + 1 || b[4] != from + 2) {
    fail("bottom");
  }
}

static void self(void) {
  int in = 3, out = 0;
  MPI_Request request;
  MPI_Isend(&in, 1, MPI_INT, 0, 0, MPI_COMM_SELF, &request);
  MPI_Recv(&out, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_SELF,
           MPI_STATUS_IGNORE);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  if (out != 3) {
    fail("MPI_COMM_SELF");
  }
}

int main(int argc, char **argv) {
  begin(&argc, &argv);
  attached = malloc(3 << 20);
  MPI_Buffer_attach(attached, 3 << 20);
  make_shapes(shapes);
  make_predefined(predefined);
  run_everywhere(types);
  run_everywhere(lengths);
  run_everywhere(exchange);
  order();
  posted();
  wildcards();
  truncation();
  nobody();
  bottom();
  self();
  free_shapes(shapes);
  char *was;
  int bytes;
  MPI_Buffer_detach(&was, &bytes);
  if (was != attached || bytes != 3 << 20) {
    fail("the attached buffer");
  }
  free(attached);
  return end();
}
