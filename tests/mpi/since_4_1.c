/* Small things that MPI 4.1 and 5.0 added: types by their parts, error classes
   that go, hardware, statuses of Fortran 2008, numbers of handles, the ABI. */
#include "test.h"

#define SINCE(version) (MPI_VERSION * 10 + MPI_SUBVERSION >= (version))

static void addresses(void) {
#if SINCE(31)
  static char bytes[100];
  MPI_Aint a, b;
  MPI_Get_address(bytes + 10, &a);
  MPI_Get_address(bytes + 73, &b);
  printf("rank %d: from one to the other: %ld, %ld\n", rank,
         (long)MPI_Aint_diff(b, a), (long)MPI_Aint_diff(a, b));
#endif
}

#if SINCE(41)
/* Sends the pair of this rank to all, and takes the greatest. */
static void pair_of(MPI_Datatype value, MPI_Datatype index, const char *what) {
  MPI_Datatype pair = MPI_DATATYPE_NULL;
  MPI_Type_get_value_index(value, index, &pair);
  char name[MPI_MAX_OBJECT_NAME] = "";
  int n = 0;
  if (pair != MPI_DATATYPE_NULL) {
    MPI_Type_get_name(pair, name, &n);
  }
  printf("rank %d: %s: %s\n", rank, what, n ? name : "none");
}

static void pairs(void) {
  pair_of(MPI_FLOAT, MPI_INT, "float and int");
  pair_of(MPI_DOUBLE, MPI_INT, "double and int");
  pair_of(MPI_LONG, MPI_INT, "long and int");
  pair_of(MPI_INT, MPI_INT, "two ints");
  pair_of(MPI_SHORT, MPI_INT, "short and int");
  pair_of(MPI_LONG_DOUBLE, MPI_INT, "long double and int");
  struct {
    double value;
    int index;
  } mine = {(rank * 7) % 5, rank}, greatest = {-1, -1};
  MPI_Datatype type;
  MPI_Type_get_value_index(MPI_DOUBLE, MPI_INT, &type);
  MPI_Allreduce(&mine, &greatest, 1, type, MPI_MAXLOC, MPI_COMM_WORLD);
  printf("rank %d: greatest: %g at %d\n", rank, greatest.value, greatest.index);
}

static void error_classes(void) {
  int class = -1, code = -1, of = -1, n = -1;
  char text[MPI_MAX_ERROR_STRING] = "";
  MPI_Add_error_class(&class);
  MPI_Add_error_code(class, &code);
  MPI_Add_error_string(code, "something of ours");
  MPI_Error_class(code, &of);
  MPI_Error_string(code, text, &n);
  printf("rank %d: its class: %d, '%s'\n", rank, of == class, text);
  MPI_Remove_error_string(code);
  MPI_Error_string(code, text, &n);
  printf("rank %d: %d characters after it was removed\n", rank, n);
  const int removed = MPI_Remove_error_code(code);
  printf("rank %d: removed: %d %d\n", rank, removed,
         MPI_Remove_error_class(class));
}

/* What it says is the machine's matter. */
static void hardware(void) {
  MPI_Info info = MPI_INFO_NULL;
  int n = -1;
  const int code = MPI_Get_hw_resource_info(&info);
  if (code || info == MPI_INFO_NULL || MPI_Info_get_nkeys(info, &n) || n < 0) {
    fail("Get_hw_resource_info: code %d, %d keys", code, n);
  } else {
    MPI_Info_free(&info);
  }
}
#else
static void pairs(void) {
}

static void error_classes(void) {
}

static void hardware(void) {
}
#endif

/* The header of the ABI has nothing of Fortran, not even MPI_Fint. */
#if !defined MPI_ABI_VERSION &&                                                \
    (SINCE(50) || defined MPI_F08_STATUS_SIZE ||                               \
     (defined OPEN_MPI && OMPI_MAJOR_VERSION >= 5))
#define HAS_F08_STATUS
#endif

#ifdef HAS_F08_STATUS
/* There and back, by Fortran's old array, too. */
static void statuses(void) {
  MPI_Status first, last;
  MPI_F08_status f08, again;
  MPI_Fint old[MPI_F_STATUS_SIZE];
  int n = -1;
  MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % size, 5, &n, 1, MPI_INT,
               (rank + size - 1) % size, 5, MPI_COMM_WORLD, &first);
  first.MPI_ERROR = MPI_SUCCESS;
  memset(&last, 0, sizeof(last));
  MPI_Status_c2f08(&first, &f08);
  MPI_Status_f082f(&f08, old);
  MPI_Status_f2f08(old, &again);
  MPI_Status_f082c(&again, &last);
  MPI_Get_count(&last, MPI_INT, &n);
  printf("rank %d: from %d with tag %d: %d\n", rank, last.MPI_SOURCE,
         last.MPI_TAG, n);
}
#else
static void statuses(void) {
}
#endif

#ifdef MPI_ABI_VERSION
#define HAS_ABI
#elif defined MPICH_VERSION && SINCE(50)
#define HAS_ABI
#endif

#ifdef HAS_ABI
static void abi(void) {
  int major = -1, minor = -1, is_set = -1, yes = -1, no = -1, n = -1;
  MPI_Info info = MPI_INFO_NULL;
  MPI_Abi_get_version(&major, &minor);
  printf("rank %d: ABI %d.%d\n", rank, major, minor);
  MPI_Abi_get_info(&info);
  MPI_Info_get_nkeys(info, &n);
  printf("rank %d: %d keys of the ABI\n", rank, n);
  MPI_Info_free(&info);
  MPI_Abi_get_fortran_booleans(sizeof(yes), &yes, &no, &is_set);
  if (is_set) {
    printf("rank %d: Fortran's booleans: %d, %d\n", rank, yes, no);
  }
}

static void numbers(void) {
  MPI_File file = MPI_FILE_NULL;
  if (MPI_File_fromint(MPI_File_toint(MPI_FILE_NULL)) != MPI_FILE_NULL) {
    fail("the number of no file");
  }
  MPI_File_open(MPI_COMM_SELF, "/dev/null", MPI_MODE_RDONLY, MPI_INFO_NULL,
                &file);
  const int number = MPI_File_toint(file);
  if (MPI_File_fromint(number) != file) {
    fail("the number of a file: %d", number);
  }
  MPI_File_close(&file);
}
#else
static void abi(void) {
}

static void numbers(void) {
}
#endif

int main(int argc, char **argv) {
  begin(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  addresses();
  pairs();
  error_classes();
  hardware();
  statuses();
  abi();
  numbers();
  return end();
}
