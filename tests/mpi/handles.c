/* Handles of datatypes, operations and the like as Fortran's numbers; codes of
   the program's own; statuses made by hand. */
#include "numbers.h"
#include "test.h"

static MPI_Comm team; /* the world in reverse order */
static int me, calls, last;

static void add_twice(void *in, void *inout, int *n, MPI_Datatype *type) {
  const int *a = in;
  int *b = inout;
  (void)type;
  for (int i = 0; i < *n; i++) {
    b[i] += 2 * a[i];
  }
}

static void operations(void) {
  MPI_Op op, back;
  MPI_Op_create(add_twice, 1, &op);
  const MPI_Fint number = MPI_Op_c2f(op);
  back = MPI_Op_f2c(number);
  if (back != op || MPI_Op_c2f(back) != number) {
    fail("an operation's number");
  }
  if (MPI_Op_f2c(MPI_Op_c2f(MPI_SUM)) != MPI_SUM ||
      MPI_Op_f2c(MPI_Op_c2f(MPI_OP_NULL)) != MPI_OP_NULL) {
    fail("numbers of predefined operations");
  }
  int one = 1, sum = 0;
  MPI_Reduce_local(&one, &sum, 1, MPI_INT, back);
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_Op_f2c(MPI_Op_c2f(MPI_SUM)), team);
  if (sum != size) {
    fail("a sum by number: %d", sum);
  }
  MPI_Op_free(&back);
}

static void datatypes(void) {
  MPI_Datatype type, back;
  const int left = (me + size - 1) % size;
  int out[8], in[8] = {0};
  MPI_Type_vector(4, 1, 2, MPI_INT, &type);
  MPI_Type_commit(&type);
  const MPI_Fint number = MPI_Type_c2f(type);
  back = MPI_Type_f2c(number);
  if (back != type) {
    fail("a datatype's number");
  }
  if (MPI_Type_f2c(MPI_Type_c2f(MPI_DOUBLE)) != MPI_DOUBLE ||
      MPI_Type_f2c(MPI_Type_c2f(MPI_DATATYPE_NULL)) != MPI_DATATYPE_NULL) {
    fail("numbers of predefined datatypes");
  }
  for (int i = 0; i < 8; i++) {
    out[i] = 10 * me + i;
  }
  MPI_Sendrecv(out, 1, back, (me + 1) % size, 1, in, 1, type, left, 1, team,
               MPI_STATUS_IGNORE);
  for (int i = 0; i < 8; i++) {
    if (in[i] != (i % 2 ? 0 : 10 * left + i)) {
      fail("by number: %d at %d", in[i], i);
    }
  }
  MPI_Type_free(&back);
}

static void infos(void) {
  MPI_Info info, back;
  char value[8] = "";
  int there = 0;
  MPI_Info_create(&info);
  MPI_Info_set(info, "key", "value");
  back = MPI_Info_f2c(MPI_Info_c2f(info));
  MPI_Info_get(back, "key", 7, value, &there);
  if (back != info || !there || strcmp(value, "value") != 0) {
    fail("an info's number");
  }
  if (MPI_Info_f2c(MPI_Info_c2f(MPI_INFO_NULL)) != MPI_INFO_NULL) {
    fail("the number of MPI_INFO_NULL");
  }
  MPI_Info_free(&back);
}

static void note(MPI_Comm *comm, int *code, ...) {
  int same = -1;
  MPI_Comm_compare(*comm, team, &same);
  calls += same == MPI_IDENT;
  last = *code;
}

/* Numbers of ranks may differ: nothing of them is printed. */
static void own_codes(void) {
  int class = -1, code = -1, of = -1, length = -1, there = 0, *used = NULL;
  char text[MPI_MAX_ERROR_STRING] = "";
  MPI_Add_error_class(&class);
  MPI_Add_error_code(class, &code);
  MPI_Add_error_string(class, "our class");
  MPI_Add_error_string(code, "our code");
  if (class <= MPI_ERR_LASTCODE || code <= class) {
    fail("class %d, code %d", class, code);
  }
  MPI_Error_class(code, &of);
  if (of != class) {
    fail("code %d is of class %d", code, of);
  }
  MPI_Error_string(code, text, &length);
  if (strcmp(text, "our code") != 0 || length != 8) {
    fail("code: \"%s\"", text);
  }
  MPI_Error_string(class, text, &length);
  if (strcmp(text, "our class") != 0 || length != 9) {
    fail("class: \"%s\"", text);
  }
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &used, &there);
  if (!there || (ERRORS_COMPARE && *used < code)) {
    fail("MPI_LASTUSEDCODE: %d", there ? *used : -1);
  }
  MPI_Errhandler handler, back;
  MPI_Comm_create_errhandler(note, &handler);
  back = MPI_Errhandler_f2c(MPI_Errhandler_c2f(handler));
  if (back != handler || MPI_Errhandler_f2c(MPI_Errhandler_c2f(
                             MPI_ERRORS_RETURN)) != MPI_ERRORS_RETURN) {
    fail("an error handler's number");
  }
  MPI_Comm_set_errhandler(team, back);
  MPI_Errhandler_free(&handler);
  MPI_Comm_call_errhandler(team, code);
  if (calls != 1 || last != code) {
    fail("handler: %d calls, the last with %d", calls, last);
  }
}

static void refusals(void) {
  int class = 0;
  MPI_Datatype type;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Error_class(MPI_Register_datarep(NULL, NULL, NULL, NULL, NULL), &class);
  if (class != MPI_ERR_ARG) {
    fail("a data representation without a name: class %d", class);
  }
  MPI_Error_class(MPI_Type_match_size(MPI_TYPECLASS_REAL, 3, &type), &class);
  if (class != MPI_ERR_ARG) {
    fail("a real of 3 bytes: class %d", class);
  }
  MPI_Error_class(MPI_Add_error_class(NULL), &class);
  if (class != MPI_ERR_ARG) {
    fail("no place for a class: class %d", class);
  }
}

/* What a receive says, in Fortran's form and back. */
static void statuses(void) {
  MPI_Status status, back;
  MPI_Fint words[sizeof(MPI_Status) / sizeof(MPI_Fint)];
  int out[5] = {1, 2, 3, 4, 5}, in[9], n = -1, cancelled = -1;
  const int left = (me + size - 1) % size;
  MPI_Sendrecv(out, 5, MPI_INT, (me + 1) % size, 17, in, 9, MPI_INT, left, 17,
               team, &status);
  MPI_Status_c2f(&status, words);
  memset(&back, 0x55, sizeof(back));
  MPI_Status_f2c(words, &back);
  MPI_Get_count(&back, MPI_INT, &n);
  MPI_Test_cancelled(&back, &cancelled);
  if (back.MPI_SOURCE != left || back.MPI_TAG != 17 || n != 5 || cancelled) {
    fail("a status: from %d, tag %d, %d numbers", back.MPI_SOURCE, back.MPI_TAG,
         n);
  }
  MPI_Count many = -1;
  const MPI_Count huge = (MPI_Count)3 << 31;
  MPI_Status_set_elements_x(&back, MPI_INT, huge);
  MPI_Get_elements_x(&back, MPI_INT, &many);
  MPI_Get_count(&back, MPI_INT, &n);
  if (many != huge || n != MPI_UNDEFINED) {
    fail("a huge status: %lld, %d", (long long)many, n);
  }
  MPI_Status_set_cancelled(&back, 1);
  MPI_Status_c2f(&back, words);
  MPI_Status_f2c(words, &status);
  MPI_Test_cancelled(&status, &cancelled);
  MPI_Get_elements_x(&status, MPI_CHAR, &many);
  if (!cancelled || many != 4 * huge) {
    fail("a status by hand: %d, %lld", cancelled, (long long)many);
  }
}

static void on_window(MPI_Win *win, int *code, ...) {
  (void)win, (void)code;
  calls++;
}

static void windows(void) {
  MPI_Win win, back;
  MPI_Errhandler handler, got = MPI_ERRHANDLER_NULL;
  int cell = -1, number = 50 + me;
  MPI_Win_create(&cell, sizeof(cell), sizeof(cell), MPI_INFO_NULL, team, &win);
  back = MPI_Win_f2c(MPI_Win_c2f(win));
  if (back != win || MPI_Win_f2c(MPI_Win_c2f(MPI_WIN_NULL)) != MPI_WIN_NULL) {
    fail("a window's number");
  }
  MPI_Win_get_errhandler(win, &got);
  if (got != MPI_ERRORS_ARE_FATAL) {
    fail("a window's first handler");
  }
  MPI_Win_create_errhandler(on_window, &handler);
  MPI_Win_set_errhandler(back, handler);
  MPI_Win_get_errhandler(win, &got);
  if (got != handler) {
    fail("a window's handler");
  }
  MPI_Errhandler_free(&got);
  calls = 0;
  MPI_Win_call_errhandler(win, MPI_ERR_RANK);
  if (calls != 1) {
    fail("a window's handler: %d calls", calls);
  }
  MPI_Win_fence(0, back);
  MPI_Put(&number, 1, MPI_INT, (me + 1) % size, 0, 1, MPI_INT, back);
  MPI_Win_fence(0, back);
  if (cell != 50 + (me + size - 1) % size) {
    fail("put by number: %d", cell);
  }
  MPI_Errhandler_free(&handler);
  MPI_Win_free(&back);
}

int main(int argc, char **argv) {
  begin(&argc, &argv);
  MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &team);
  MPI_Comm_rank(team, &me);
  operations();
  datatypes();
  infos();
  own_codes();
  refusals();
  statuses();
  if (size > 1) { /* Open MPI 4.1 makes no windows for one rank alone */
    windows();
  }
  MPI_Comm_free(&team);
  return end();
}
