/* Wrong calls: the error class of each, by the window's error handler. */
#include "test.h"

static int handled;
static void count(MPI_Win *win, int *code, ...) {
  (void)win, (void)code;
  handled++;
}

static void show(const char *what, int code) {
  int class = code;
  if (code != MPI_SUCCESS) {
    MPI_Error_class(code, &class);
  }
  printf("rank %d: %s: %d\n", rank, what, class);
}

static void accesses(MPI_Win win) {
  int x = 0, y = 0;
  MPI_Datatype uncommitted;
  MPI_Type_contiguous(2, MPI_INT, &uncommitted);
  MPI_Win_fence(0, win);
  show("put: count", MPI_Put(&x, -1, MPI_INT, 0, 0, 1, MPI_INT, win));
  show("put: target count", MPI_Put(&x, 1, MPI_INT, 0, 0, -1, MPI_INT, win));
  show("put: rank", MPI_Put(&x, 1, MPI_INT, size, 0, 1, MPI_INT, win));
  show("put: negative rank", MPI_Put(&x, 1, MPI_INT, -77, 0, 1, MPI_INT, win));
  show("put: displacement", MPI_Put(&x, 1, MPI_INT, 0, -1, 1, MPI_INT, win));
  show("put: type", MPI_Put(&x, 1, MPI_DATATYPE_NULL, 0, 0, 1, MPI_INT, win));
  show("put: target type",
       MPI_Put(&x, 1, MPI_INT, 0, 0, 1, MPI_DATATYPE_NULL, win));
  show("get: not committed",
       MPI_Get(&x, 1, uncommitted, 0, 0, 1, MPI_INT, win));
  show("get: beyond the end", MPI_Get(&x, 1, MPI_INT, 0, 10, 1, MPI_INT, win));
  show("get: nobody",
       MPI_Get(&x, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, win));
  show("accumulate: no operation",
       MPI_Accumulate(&x, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_NO_OP, win));
  show("accumulate: null",
       MPI_Accumulate(&x, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_OP_NULL, win));
  show("accumulate: bits of a double",
       MPI_Accumulate(&x, 1, MPI_DOUBLE, 0, 0, 1, MPI_DOUBLE, MPI_BAND, win));
  show("accumulate: two types",
       MPI_Accumulate(&x, 1, MPI_INT, 0, 0, 1, MPI_FLOAT, MPI_SUM, win));
  show("get_accumulate: rank",
       MPI_Get_accumulate(&x, 1, MPI_INT, &y, 1, MPI_INT, size, 0, 1, MPI_INT,
                          MPI_SUM, win));
  show("fetch_and_op: rank",
       MPI_Fetch_and_op(&x, &y, MPI_INT, size, 0, MPI_SUM, win));
  show("compare_and_swap: rank",
       MPI_Compare_and_swap(&x, &x, &y, MPI_INT, -9, 0, win));
  MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
  MPI_Type_free(&uncommitted);
}

static void epochs(MPI_Win win) {
  int x = 0, flag, other = (rank + 1) % size;
  MPI_Group all, one;
  MPI_Win_get_group(win, &all);
  MPI_Group_incl(all, 1, &other, &one);
  show("put: no epoch", MPI_Put(&x, 1, MPI_INT, 0, 0, 1, MPI_INT, win));
  show("get: no epoch", MPI_Get(&x, 1, MPI_INT, 0, 0, 1, MPI_INT, win));
  show("unlock: not locked", MPI_Win_unlock(0, win));
  show("unlock_all: not locked", MPI_Win_unlock_all(win));
  show("wait: not posted", MPI_Win_wait(win));
  show("test: not posted", MPI_Win_test(win, &flag));
  show("flush: not locked", MPI_Win_flush(0, win));
  show("flush_all: not locked", MPI_Win_flush_all(win));
  show("fence: assertion", MPI_Win_fence(1 << 20, win));
  show("lock: type", MPI_Win_lock(4711, 0, 0, win));
  show("lock: rank", MPI_Win_lock(MPI_LOCK_SHARED, size, 0, win));
  show("lock: assertion", MPI_Win_lock(MPI_LOCK_SHARED, 0, 1 << 20, win));
  show("unlock: rank", MPI_Win_unlock(-1, win));
  MPI_Win_lock(MPI_LOCK_SHARED, other, 0, win);
  show("get: locked another",
       MPI_Get(&x, 1, MPI_INT, rank, 0, 1, MPI_INT, win));
  show("fence: while locked", MPI_Win_fence(0, win));
  MPI_Win_unlock(other, win);
  MPI_Win_lock_all(0, win);
  show("lock_all: twice", MPI_Win_lock_all(0, win));
  show("fence: while all are locked", MPI_Win_fence(0, win));
  show("start: while all are locked", MPI_Win_start(one, 0, win));
  MPI_Win_unlock_all(win);
  MPI_Win_post(one, MPI_MODE_NOCHECK, win);
  show("post: twice", MPI_Win_post(one, 0, win));
  MPI_Win_start(one, MPI_MODE_NOCHECK, win);
  show("start: twice", MPI_Win_start(one, 0, win));
  show("lock: in an epoch", MPI_Win_lock(MPI_LOCK_SHARED, other, 0, win));
  show("get: not in the group",
       MPI_Get(&x, 1, MPI_INT, rank, 0, 1, MPI_INT, win));
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_complete(win);
  MPI_Win_wait(win);
  MPI_Group_free(&all);
  MPI_Group_free(&one);
}

static void making(void) {
  int x[4];
  MPI_Win win = MPI_WIN_NULL;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  show("create: size",
       MPI_Win_create(x, -1, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
  show("create: unit",
       MPI_Win_create(x, 4, 0, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
  show("create: communicator",
       MPI_Win_create(x, 4, 1, MPI_INFO_NULL, MPI_COMM_NULL, &win));
  show("free: none", MPI_Win_free(&win));
  show("fence: none", MPI_Win_fence(0, MPI_WIN_NULL));
  show("put: none", MPI_Put(x, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_WIN_NULL));
  show("lock: none", MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, MPI_WIN_NULL));
  show("set_name: none", MPI_Win_set_name(MPI_WIN_NULL, "x"));
}

static void others(MPI_Win win) {
  int x = 0, unit;
  MPI_Aint bytes;
  void *base;
  MPI_Errhandler handler;
  show("attach: no dynamic window", MPI_Win_attach(win, &x, sizeof(x)));
  show("detach: no dynamic window", MPI_Win_detach(win, &x));
  show("shared_query: not shared",
       MPI_Win_shared_query(win, 0, &bytes, &unit, &base));
  show("set_errhandler", MPI_Win_set_errhandler(win, MPI_ERRHANDLER_NULL));
  show("set_info", MPI_Win_set_info(win, MPI_INFO_NULL));
  show("attribute: keyval", MPI_Win_delete_attr(win, MPI_KEYVAL_INVALID));
  MPI_Win_create_errhandler(count, &handler);
  MPI_Win_set_errhandler(win, handler);
  MPI_Errhandler_free(&handler);
  show("handled", MPI_Win_unlock(0, win));
  show("called", MPI_Win_call_errhandler(win, MPI_ERR_OTHER));
  printf("rank %d: handled %d\n", rank, handled);
  MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
}

static void lockless(void) {
  int x = 0;
  MPI_Info info;
  MPI_Win win;
  MPI_Info_create(&info);
  MPI_Info_set(info, "no_locks", "true");
  MPI_Win_create(&x, sizeof(x), 1, info, MPI_COMM_WORLD, &win);
  MPI_Info_free(&info);
  MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
  show("lock: no_locks", MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win));
  show("lock_all: no_locks", MPI_Win_lock_all(0, win));
  MPI_Win_free(&win);
}

static void dynamic(void) {
  int x[1000], y = 0;
  MPI_Win win;
  MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
  MPI_Win_attach(win, x, sizeof(x));
  show("attach: again", MPI_Win_attach(win, x + 10, sizeof(y)));
  MPI_Win_detach(win, x);
  show("attach: nothing", MPI_Win_attach(win, NULL, sizeof(y)));
  MPI_Win_free(&win);
}

int main(int argc, char **argv) {
  begin(&argc, &argv);
  int memory[4] = {0};
  MPI_Win win;
  MPI_Win_create(memory, sizeof(memory), sizeof(int), MPI_INFO_NULL,
                 MPI_COMM_WORLD, &win);
  MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
  accesses(win);
  epochs(win);
  making();
  others(win);
  lockless();
  dynamic();
  MPI_Win_free(&win);
  return end();
}
