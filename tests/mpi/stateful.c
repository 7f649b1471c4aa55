/* What MPICH 5's library for Fortran makes operations and error handlers by:
   functions that get a state besides. The states are in the memory of each
   rank, as those of that library are. */
#include "test.h"

#include <unistd.h>

#if defined MPICH_NUMVERSION && MPICH_NUMVERSION >= 50000000 &&                \
    !defined MPI_ABI_VERSION
struct weight {
  int times;
  int calls;
  int destroyed;
};

/* a + times * b, whoever calls it: of large counts, too. */
static void add(void *in, void *inout, MPI_Count n, MPI_Datatype type,
                void *state) {
  struct weight *const w = state;
  const int *const a = in;
  int *const b = inout;
  if (type != MPI_INT) {
    fail("an operation of another datatype");
  }
  w->calls++;
  for (MPI_Count i = 0; i < n; i++) {
    b[i] += w->times * a[i];
  }
}

static void destroy_nothing(void *state) {
  (void)state;
}

static void destroy_weight(void *state) {
  ((struct weight *)state)->destroyed++;
}

/* Others may need the operation until they have left the calls: it goes when
   this rank makes or frees another one. */
static void await_destruction(struct weight *w) {
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; i < 60000 && !w->destroyed; i++) {
    MPI_Op op;
    MPIX_Op_create_x(add, destroy_nothing, 1, w, &op);
    MPI_Op_free(&op);
    usleep(1000);
  }
}

/* Enough that each is combined in several pieces. */
enum { LONG = 300000 };

static void operations(void) {
  struct weight *const once = calloc(1, sizeof(*once));
  struct weight *const twice = calloc(1, sizeof(*twice));
  int *const mine = malloc(sizeof(int) * LONG);
  int *const sum = calloc(LONG, sizeof(int));
  MPI_Op plain, weighted;
  once->times = 1;
  twice->times = 2;
  MPIX_Op_create_x(add, destroy_weight, 1, once, &plain);
  MPIX_Op_create_x(add, destroy_weight, 0, twice, &weighted);
  for (int i = 0; i < LONG; i++) {
    mine[i] = rank + i % 7;
  }
  MPI_Allreduce(mine, sum, LONG, MPI_INT, plain, MPI_COMM_WORLD);
  for (int i = 0; i < LONG; i++) {
    if (sum[i] != size * (size - 1) / 2 + size * (i % 7)) {
      fail("the sum at %d: %d", i, sum[i]);
      break;
    }
  }
  const int a[] = {1, 2, 3};
  int b[] = {10, 20, 30};
  MPI_Reduce_local(a, b, 3, MPI_INT, weighted);
  if (b[0] != 12 || b[1] != 24 || b[2] != 36 || twice->calls != 1) {
    fail("of this rank alone: %d %d %d, calls: %d", b[0], b[1], b[2],
         twice->calls);
  }
  MPI_Exscan(mine, sum, 10, MPI_INT, plain, MPI_COMM_WORLD);
  if (rank > 0 && sum[1] != rank * (rank - 1) / 2 + rank) {
    fail("exscan: %d", sum[1]);
  }
  MPI_Op_free(&plain);
  MPI_Op_free(&weighted);
  await_destruction(once);
  if (once->destroyed != 1 || twice->destroyed != 1) {
    fail("destroyed: %d, %d", once->destroyed, twice->destroyed);
  }
  free(once);
  free(twice);
  free(mine);
  free(sum);
}

struct noted {
  int calls;
  int class;
  uintptr_t handle;
};

static void note(struct noted *n, uintptr_t handle, int code) {
  n->calls++;
  n->handle = handle;
  MPI_Error_class(code, &n->class);
}

static void of_comm(MPI_Comm comm, int code, void *state) {
  note(state, (uintptr_t)comm, code);
}

static void of_win(MPI_Win win, int code, void *state) {
  note(state, (uintptr_t)win, code);
}

static void of_file(MPI_File file, int code, void *state) {
  note(state, (uintptr_t)file, code);
}

static void of_session(MPI_Session session, int code, void *state) {
  note(state, (uintptr_t)session, code);
}

static void expect(const char *what, struct noted *n, uintptr_t handle,
                   int class) {
  if (n->calls != 1 || n->class != class || n->handle != handle) {
    fail("the handler of a %s: %d calls, class %d, %s handle", what, n->calls,
         n->class, n->handle == handle ? "the" : "another");
  }
  free(n);
}

/* By errors that MPI finds, and by the program's own calls of a handler; a
   handler that is freed stays with what has it. */
static void handlers(void) {
  struct noted *of[6];
  MPI_Errhandler handler;
  MPI_Comm comm, copy;
  MPI_Win win;
  MPI_File file;
  MPI_Session session;
  for (int i = 0; i < 6; i++) {
    of[i] = calloc(1, sizeof(*of[i]));
  }
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPIX_Comm_create_errhandler_x(of_comm, destroy_nothing, of[0], &handler);
  MPI_Comm_set_errhandler(comm, handler);
  MPI_Errhandler_free(&handler);
  MPI_Barrier(comm);
  MPI_Send(NULL, 0, MPI_INT, size + 1, 0, comm);
  expect("communicator", of[0], (uintptr_t)comm, MPI_ERR_RANK);

  MPIX_Comm_create_errhandler_x(of_comm, destroy_nothing, of[1], &handler);
  MPI_Comm_set_errhandler(comm, handler);
  MPI_Errhandler_free(&handler);
  MPI_Comm_dup(comm, &copy);
  MPI_Comm_call_errhandler(copy, MPI_ERR_OTHER);
  expect("copy", of[1], (uintptr_t)copy, MPI_ERR_OTHER);

  MPI_Win_create(&size, sizeof(size), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPIX_Win_create_errhandler_x(of_win, destroy_nothing, of[2], &handler);
  MPI_Win_set_errhandler(win, handler);
  MPI_Win_call_errhandler(win, MPI_ERR_DISP);
  expect("window", of[2], (uintptr_t)win, MPI_ERR_DISP);
  MPI_Errhandler_free(&handler);

  char name[100];
  snprintf(name, sizeof(name), "stateful.%d", rank);
  MPI_File_open(MPI_COMM_SELF, name,
                MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                MPI_INFO_NULL, &file);
  MPIX_File_create_errhandler_x(of_file, destroy_nothing, of[3], &handler);
  MPI_File_set_errhandler(file, handler);
  MPI_Errhandler_free(&handler);
  MPI_File_call_errhandler(file, MPI_ERR_IO);
  expect("file", of[3], (uintptr_t)file, MPI_ERR_IO);

  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
  MPIX_Session_create_errhandler_x(of_session, destroy_nothing, of[4],
                                   &handler);
  MPI_Session_set_errhandler(session, handler);
  MPI_Errhandler_free(&handler);
  MPI_Session_call_errhandler(session, MPI_ERR_ARG);
  expect("session", of[4], (uintptr_t)session, MPI_ERR_ARG);

  /* One of Fortran's that is set, asked for, and set again. */
  MPIX_Comm_create_errhandler_x(of_comm, destroy_nothing, of[5], &handler);
  MPI_Comm_set_errhandler(comm, handler);
  MPI_Errhandler_free(&handler);
  MPI_Comm_get_errhandler(comm, &handler);
  MPI_Comm_set_errhandler(copy, handler);
  MPI_Errhandler_free(&handler);
  MPI_Comm_call_errhandler(copy, MPI_ERR_TAG);
  expect("second one", of[5], (uintptr_t)copy, MPI_ERR_TAG);

  MPI_Session_finalize(&session);
  MPI_File_close(&file);
  MPI_Win_free(&win);
  MPI_Comm_free(&copy);
  MPI_Comm_free(&comm);
}
/* What MPICH's C++ bindings have set on a communicator, in order to throw
   exceptions themselves; what MPI_Comm_get_errhandler gives they free. */
static void exceptions(void) {
  MPI_Comm comm;
  MPI_Errhandler handler;
  int class = MPI_SUCCESS;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(comm, MPIR_ERRORS_THROW_EXCEPTIONS);
  MPI_Error_class(MPI_Send(NULL, 0, MPI_INT, size + 1, 0, comm), &class);
  if (class != MPI_ERR_RANK) {
    fail("an error of class %d", class);
  }
  for (int i = 0; i < 2; i++) {
    MPI_Comm_get_errhandler(comm, &handler);
    if (handler != MPIR_ERRORS_THROW_EXCEPTIONS ||
        MPI_Errhandler_free(&handler) != MPI_SUCCESS) {
      fail("the handler of the C++ bindings");
    }
  }
  MPI_Comm_free(&comm);
}
#else
static void operations(void) {
}

static void exceptions(void) {
}

static void handlers(void) {
}
#endif

int main(int argc, char **argv) {
  begin(&argc, &argv);
  operations();
  handlers();
  exceptions();
  return end();
}
