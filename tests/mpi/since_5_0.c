/* What MPI 5.0 added: handles as numbers, what a program tells the ABI of its
   Fortran compiler; and what else is in some MPIs only. */
#include "test.h"

#if defined MPI_ABI_VERSION || (defined MPICH_VERSION && MPI_VERSION >= 5)
#define HAS_NUMBERS
#endif

#ifdef HAS_NUMBERS
/* The object of the number of a handle is the same; `other` has another one. */
#define CHECK_NUMBER(to, from, handle, other)                                  \
  do {                                                                         \
    const int number = to(handle);                                             \
    if (from(number) != (handle) || number == to(other)) {                     \
      fail("%s: %d, %d", #to, number, to(other));                              \
    }                                                                          \
  } while (0)

#define CHECK_NUMBERS(to, from, handle, predefined)                            \
  CHECK_NUMBER(to, from, handle, predefined);                                  \
  CHECK_NUMBER(to, from, predefined, handle);                                  \
  printf("rank %d: %s of a predefined one: %d\n", rank, #to, to(predefined))

static void ignore(MPI_Comm *comm, int *code, ...) {
  (void)comm, (void)code;
}

static void communicators(void) {
  MPI_Comm comm;
  MPI_Group group;
  MPI_Errhandler handler;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &comm);
  MPI_Comm_group(comm, &group);
  MPI_Comm_create_errhandler(ignore, &handler);
  CHECK_NUMBERS(MPI_Comm_toint, MPI_Comm_fromint, comm, MPI_COMM_WORLD);
  CHECK_NUMBERS(MPI_Comm_toint, MPI_Comm_fromint, MPI_COMM_NULL, MPI_COMM_SELF);
  CHECK_NUMBERS(MPI_Group_toint, MPI_Group_fromint, group, MPI_GROUP_EMPTY);
  CHECK_NUMBERS(MPI_Group_toint, MPI_Group_fromint, group, MPI_GROUP_NULL);
  CHECK_NUMBERS(MPI_Errhandler_toint, MPI_Errhandler_fromint, handler,
                MPI_ERRORS_RETURN);
  MPI_Errhandler_free(&handler);
  MPI_Group_free(&group);
  MPI_Comm_free(&comm);
}

/* A request and a message that are there, and then not. */
static void messages(void) {
  MPI_Request request;
  MPI_Message message;
  int got = -1;
  MPI_Isend(&rank, 1, MPI_INT, (rank + 1) % size, 7, MPI_COMM_WORLD, &request);
  MPI_Mprobe(MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
  CHECK_NUMBERS(MPI_Request_toint, MPI_Request_fromint, request,
                MPI_REQUEST_NULL);
  CHECK_NUMBERS(MPI_Message_toint, MPI_Message_fromint, message,
                MPI_MESSAGE_NULL);
  CHECK_NUMBERS(MPI_Message_toint, MPI_Message_fromint, message,
                MPI_MESSAGE_NO_PROC);
  message = MPI_Message_fromint(MPI_Message_toint(message));
  MPI_Mrecv(&got, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
  request = MPI_Request_fromint(MPI_Request_toint(request));
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  printf("rank %d: by numbers: %d\n", rank, got);
}

static void add(void *in, void *out, int *n, MPI_Datatype *type) {
  (void)type;
  for (int i = 0; i < *n; i++) {
    ((int *)out)[i] += ((int *)in)[i];
  }
}

static void values(void) {
  MPI_Datatype type;
  MPI_Op op;
  MPI_Info info;
  int sum = -1;
  MPI_Type_contiguous(3, MPI_INT, &type);
  MPI_Op_create(add, 1, &op);
  MPI_Info_create(&info);
  CHECK_NUMBERS(MPI_Type_toint, MPI_Type_fromint, type, MPI_DOUBLE);
  CHECK_NUMBERS(MPI_Op_toint, MPI_Op_fromint, op, MPI_SUM);
  CHECK_NUMBERS(MPI_Info_toint, MPI_Info_fromint, info, MPI_INFO_NULL);
  CHECK_NUMBERS(MPI_Info_toint, MPI_Info_fromint, info, MPI_INFO_ENV);
  MPI_Allreduce(&rank, &sum, 1, MPI_Type_fromint(MPI_Type_toint(MPI_INT)),
                MPI_Op_fromint(MPI_Op_toint(op)),
                MPI_Comm_fromint(MPI_Comm_toint(MPI_COMM_WORLD)));
  printf("rank %d: sum by numbers: %d\n", rank, sum);
  MPI_Type_free(&type);
  MPI_Op_free(&op);
  MPI_Info_free(&info);
}

static void others(void) {
  MPI_Win win;
  MPI_Session session;
  MPI_Win_create(NULL, 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
  CHECK_NUMBERS(MPI_Win_toint, MPI_Win_fromint, win, MPI_WIN_NULL);
  CHECK_NUMBERS(MPI_Session_toint, MPI_Session_fromint, session,
                MPI_SESSION_NULL);
  MPI_Session_finalize(&session);
  MPI_Win_free(&win);
}

static void numbers(void) {
  communicators();
  messages();
  values();
  others();
}

static void class_of(const char *what, int code) {
  int class = code;
  MPI_Error_class(code, &class);
  printf("rank %d: %s: %s\n", rank, what,
         class == MPI_SUCCESS   ? "done"
         : class == MPI_ERR_ABI ? "MPI_ERR_ABI"
                                : "another error");
}

static void say_fortran(const char *when) {
  MPI_Info info = MPI_INFO_NULL;
  char value[16] = "";
  int yes = -7, no = -7, is_set = -7, flag = 0;
  MPI_Abi_get_fortran_booleans(sizeof(int), &yes, &no, &is_set);
  MPI_Abi_get_fortran_info(&info);
  if (info != MPI_INFO_NULL) {
    MPI_Info_get(info, "mpi_double_precision_size", 15, value, &flag);
    MPI_Info_free(&info);
  }
  printf("rank %d: %s: booleans %d: %d %d; info: %s\n", rank, when, is_set,
         is_set ? yes : 0, is_set ? no : 0, flag ? value : "none");
}

static MPI_Info make_facts(void) {
  MPI_Info facts;
  MPI_Info_create(&facts);
  MPI_Info_set(facts, "mpi_logical_size", "4");
  MPI_Info_set(facts, "mpi_integer_size", "4");
  MPI_Info_set(facts, "mpi_real_size", "4");
  MPI_Info_set(facts, "mpi_double_precision_size", "8");
  return facts;
}

/* Each rank tells it once, after others may have. */
static void fortran(void) {
  int yes = 1, no = 0;
  MPI_Info facts = make_facts();
  say_fortran("at first");
  class_of("booleans", MPI_Abi_set_fortran_booleans(sizeof(int), &yes, &no));
  class_of("again", MPI_Abi_set_fortran_booleans(sizeof(int), &yes, &no));
  class_of("info", MPI_Abi_set_fortran_info(facts));
  class_of("again", MPI_Abi_set_fortran_info(facts));
  say_fortran("at last");
  MPI_Info_free(&facts);
  int n = -1;
  MPI_Type_size(MPI_DOUBLE_PRECISION, &n);
  printf("rank %d: DOUBLE PRECISION: %d\n", rank, n);
}
#else
static void numbers(void) {
}

static void fortran(void) {
}
#endif

#if defined MPI_Session_c2f || (defined OPEN_MPI && OMPI_MAJOR_VERSION >= 5)
static void sessions(void) {
  MPI_Session session;
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
  const MPI_Fint number = MPI_Session_c2f(session);
  if (MPI_Session_f2c(number) != session ||
      number == MPI_Session_c2f(MPI_SESSION_NULL)) {
    fail("Session_c2f: %d", (int)number);
  }
  MPI_Session_finalize(&session);
}
#else
static void sessions(void) {
}
#endif

#if defined OPEN_MPI && OMPI_MAJOR_VERSION >= 5
/* Open MPI's own. */
static void hints(void) {
  MPI_Session session;
  MPI_Info info, told;
  char value[16] = "";
  int flag = -1;
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
  MPI_Info_create(&info);
  MPI_Info_set(info, "mpi_memory_alloc_kinds", "system");
  MPI_Info_set(info, "mine", "yes");
  const int code = MPI_Session_set_info(session, info);
  MPI_Info_free(&info);
  MPI_Session_get_info(session, &told);
  MPI_Info_get(told, "mine", sizeof(value) - 1, value, &flag);
  printf("rank %d: hints of a session: %d, mine: %d, %s\n", rank, code, flag,
         value);
  MPI_Info_free(&told);
  MPI_Session_finalize(&session);
}
#else
static void hints(void) {
}
#endif

#if MPI_VERSION >= 4 && !defined OPEN_MPI
static int extent(MPI_Datatype type, MPI_Aint *bytes, void *state) {
  (void)type, (void)state;
  *bytes = 4;
  return MPI_SUCCESS;
}

/* MPI's own, for large counts; most MPIs have no others. */
static void representation(void) {
  int class = -1;
  MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN);
  MPI_Error_class(MPI_Register_datarep_c(NULL, MPI_CONVERSION_FN_NULL_C,
                                         MPI_CONVERSION_FN_NULL_C, extent,
                                         NULL),
                  &class);
  if (class == MPI_SUCCESS) {
    fail("a data representation without a name");
  }
}
#else
static void representation(void) {
}
#endif

int main(int argc, char **argv) {
  begin(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  numbers();
  fortran();
  sessions();
  hints();
  representation();
  return end();
}
