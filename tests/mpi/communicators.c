/* Communicators: duplicates, communicators of groups, names, numbers, hints;
   many at once, and many one after another. */
#include "numbers.h"
#include "test.h"

enum { MOST = 64 };

static int compared(MPI_Comm a, MPI_Comm b) {
  int result = -1;
  MPI_Comm_compare(a, b, &result);
  return result;
}

static int sum_on(MPI_Comm comm, int value) {
  int sum = 0;
  MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, comm);
  return sum;
}

/* A message that was sent on one communicator is not received on another. */
static void apart(MPI_Comm a, MPI_Comm b) {
  int me, n, in_a = -1, in_b = -1;
  MPI_Comm_rank(a, &me);
  MPI_Comm_size(a, &n);
  int left = (me + n - 1) % n, right = (me + 1) % n;
  int on_a = 1000 + me, on_b = 2000 + me;
  MPI_Request requests[4];
  MPI_Isend(&on_a, 1, MPI_INT, right, 5, a, &requests[0]);
  MPI_Isend(&on_b, 1, MPI_INT, right, 5, b, &requests[1]);
  MPI_Irecv(&in_b, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, b, &requests[2]);
  MPI_Irecv(&in_a, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, a, &requests[3]);
  MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
  if (in_a != 1000 + left || in_b != 2000 + left) {
    fail("messages of two communicators: %d and %d", in_a, in_b);
  }
}

static void duplicates(void) {
  MPI_Comm dup, again, other;
  int n, inter;
  MPI_Comm_dup(MPI_COMM_WORLD, &dup);
  MPI_Comm_dup(dup, &again);
  MPI_Comm_dup_with_info(again, MPI_INFO_NULL, &other);
  if (compared(dup, dup) != MPI_IDENT ||
      compared(MPI_COMM_WORLD, dup) != MPI_CONGRUENT ||
      compared(again, other) != MPI_CONGRUENT) {
    fail("comparing duplicates");
  }
  if (compared(MPI_COMM_WORLD, MPI_COMM_SELF) !=
      (size == 1 ? MPI_CONGRUENT : MPI_UNEQUAL)) {
    fail("comparing with MPI_COMM_SELF");
  }
  if (ERRORS_COMPARE) { /* not of an intra-communicator, by the standard */
    MPI_Comm_remote_size(dup, &n);
  } else {
    n = 0;
  }
  MPI_Comm_test_inter(dup, &inter);
  mix_number((uint64_t)n);
  if (inter) {
    fail("a duplicate is no inter-communicator");
  }
  apart(dup, again);
  MPI_Comm_free(&dup);
  if (dup != MPI_COMM_NULL) {
    fail("a freed communicator is not MPI_COMM_NULL");
  }
  apart(MPI_COMM_WORLD, other);
  mix_number((uint64_t)sum_on(again, rank));
  MPI_Comm_disconnect(&other);
  MPI_Comm_free(&again);
  report("duplicates");
}

static void nonblocking(void) {
  MPI_Comm dup[3];
  MPI_Request requests[3];
  for (int i = 0; i < 3; i++) {
    MPI_Comm_idup(i ? MPI_COMM_WORLD : MPI_COMM_SELF, &dup[i], &requests[i]);
  }
  MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
  apart(dup[1], dup[2]);
  if (sum_on(dup[0], 3) != 3) {
    fail("a duplicate of MPI_COMM_SELF");
  }
  for (int i = 0; i < 3; i++) {
    MPI_Comm_free(&dup[i]);
  }
}

static MPI_Group group_of(int first, int step, int *n) {
  MPI_Group all, g;
  int ranks[MOST];
  *n = 0;
  for (int i = first; i < size; i += step) {
    ranks[(*n)++] = i;
  }
  /* Backwards, that ranks differ. */
  for (int i = 0; i < *n / 2; i++) {
    int other = ranks[i];
    ranks[i] = ranks[*n - 1 - i];
    ranks[*n - 1 - i] = other;
  }
  MPI_Comm_group(MPI_COMM_WORLD, &all);
  MPI_Group_incl(all, *n, ranks, &g);
  MPI_Group_free(&all);
  return g;
}

static void check_made(MPI_Comm comm, MPI_Group g, const char *what) {
  MPI_Group mine;
  int me, in_group, result, n;
  MPI_Group_rank(g, &in_group);
  if ((comm == MPI_COMM_NULL) != (in_group == MPI_UNDEFINED)) {
    fail("%s: who is in", what);
  }
  if (comm == MPI_COMM_NULL) {
    return;
  }
  MPI_Comm_rank(comm, &me);
  MPI_Comm_size(comm, &n);
  MPI_Comm_group(comm, &mine);
  MPI_Group_compare(mine, g, &result);
  if (me != in_group || result != MPI_IDENT) {
    fail("%s: rank %d, not %d", what, me, in_group);
  }
  mix_number((uint64_t)sum_on(comm, rank));
  mix_number((uint64_t)n);
  MPI_Group_free(&mine);
}

static void of_groups(void) {
  for (int step = 1; step <= 3; step++) {
    MPI_Comm comm, other;
    int n;
    /* One group for all, */
    MPI_Group g = group_of(step == 1 ? 0 : 1, step, &n);
    if (n > 0) {
      MPI_Comm_create(MPI_COMM_WORLD, g, &comm);
      check_made(comm, g, "MPI_Comm_create");
      if (comm != MPI_COMM_NULL) {
        MPI_Comm_free(&comm);
      }
      MPI_Group_free(&g);
    }
    /* one for each class of ranks, */
    g = group_of(rank % step, step, &n);
    MPI_Comm_create(MPI_COMM_WORLD, g, &comm);
    check_made(comm, g, "MPI_Comm_create of several");
    /* and without the others; the same group and tag may come again. */
    for (int i = 0; i < 3; i++) {
      MPI_Comm_create_group(MPI_COMM_WORLD, g, 3 + i % 2, &other);
      check_made(other, g, "MPI_Comm_create_group");
      apart(comm, other);
      MPI_Comm_free(&other);
    }
    MPI_Comm_free(&comm);
    MPI_Group_free(&g);
  }
  report("groups");
}

static void alone(void) {
  MPI_Comm comm;
  MPI_Comm_create_group(MPI_COMM_WORLD, MPI_GROUP_EMPTY, 1, &comm);
  if (comm != MPI_COMM_NULL) {
    fail("a communicator of nobody");
  }
  MPI_Comm_create(MPI_COMM_WORLD, MPI_GROUP_EMPTY, &comm);
  if (comm != MPI_COMM_NULL) {
    fail("a communicator of an empty group");
  }
}

static void names(void) {
  char name[MPI_MAX_OBJECT_NAME], longest[2 * MPI_MAX_OBJECT_NAME];
  int n;
  MPI_Comm dup, parent;
  MPI_Comm_get_name(MPI_COMM_WORLD, name, &n);
  printf("rank %d: '%s' %d\n", rank, name, n);
  MPI_Comm_get_name(MPI_COMM_SELF, name, &n);
  printf("rank %d: '%s' %d\n", rank, name, n);
  MPI_Comm_dup(MPI_COMM_WORLD, &dup);
  MPI_Comm_get_name(dup, name, &n);
  printf("rank %d: '%s' %d\n", rank, name, n);
  memset(longest, 'x', sizeof(longest));
  longest[sizeof(longest) - 1] = 0;
  MPI_Comm_set_name(dup, longest);
  MPI_Comm_get_name(dup, name, &n);
  printf("rank %d: '%s' %d\n", rank, name, n);
  MPI_Comm_free(&dup);
  MPI_Comm_get_parent(&parent);
  if (parent != MPI_COMM_NULL) {
    fail("a parent");
  }
}

static void numbers(void) {
  MPI_Comm dup;
  MPI_Comm_dup(MPI_COMM_WORLD, &dup);
  MPI_Fint number = MPI_Comm_c2f(dup);
  if (MPI_Comm_f2c(number) != dup || MPI_Comm_c2f(dup) != number) {
    fail("Fortran's number of a communicator");
  }
  if (MPI_Comm_f2c(MPI_Comm_c2f(MPI_COMM_WORLD)) != MPI_COMM_WORLD ||
      MPI_Comm_f2c(MPI_Comm_c2f(MPI_COMM_SELF)) != MPI_COMM_SELF ||
      MPI_Comm_f2c(MPI_Comm_c2f(MPI_COMM_NULL)) != MPI_COMM_NULL) {
    fail("Fortran's numbers of constants");
  }
  MPI_Comm_free(&dup);
}

/* What Open MPI 5 says of its own engine is not compared, nor what becomes of
   hints that nobody knows: it forgets them. */
static bool compares(const char *key) {
#if defined OMPI_MAJOR_VERSION && OMPI_MAJOR_VERSION < 5
  return key;
#else
  return strncmp(key, "mpi_", 4) == 0;
#endif
}

static void print_hints(MPI_Comm comm, const char *what) {
  MPI_Info used;
  int n;
  MPI_Comm_get_info(comm, &used);
  MPI_Info_get_nkeys(used, &n);
  for (int i = 0; i < n; i++) {
    char key[MPI_MAX_INFO_KEY + 1], value[100];
    int found;
    MPI_Info_get_nthkey(used, i, key);
    MPI_Info_get(used, key, 99, value, &found);
    if (compares(key)) {
      printf("rank %d: %s: %s = %s\n", rank, what, key, value);
    }
  }
  MPI_Info_free(&used);
}

static void hints(void) {
  if (!ERRORS_COMPARE) {
    return; /* which ones are kept is each MPI's own matter */
  }
  MPI_Comm dup, again, typed;
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "tests_own_key", "own value");
  MPI_Info_set(info, "mpi_assert_no_any_source", "true");
  print_hints(MPI_COMM_WORLD, "world");
  MPI_Comm_dup(MPI_COMM_WORLD, &dup);
  MPI_Comm_set_info(dup, info);
  print_hints(dup, "set");
  MPI_Comm_dup(dup, &again);
  print_hints(again, "dup");
  MPI_Comm_free(&dup);
  MPI_Comm_dup_with_info(again, info, &dup);
  print_hints(dup, "dup_with_info");
  MPI_Comm_split_type(again, MPI_COMM_TYPE_SHARED, 0, info, &typed);
  print_hints(typed, "split_type");
  MPI_Info_free(&info);
  MPI_Comm_free(&dup);
  MPI_Comm_free(&again);
  MPI_Comm_free(&typed);
}

/* It lives as long as something is under way on it. */
static void freed_early(void) {
  MPI_Comm dup;
  MPI_Request requests[2];
  int in = -1, left = (rank + size - 1) % size, right = (rank + 1) % size;
  MPI_Comm_dup(MPI_COMM_WORLD, &dup);
  MPI_Irecv(&in, 1, MPI_INT, left, 1, dup, &requests[0]);
  MPI_Isend(&rank, 1, MPI_INT, right, 1, dup, &requests[1]);
  MPI_Comm_free(&dup);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  if (in != left) {
    fail("a message on a freed communicator: %d", in);
  }
}

/* Rows and columns at once: every rank is in two communicators, and ranks are
   in calls on different ones. */
static void rows_and_columns(void) {
  MPI_Comm row, column, all;
  int width = size < 4 ? size : 3;
  MPI_Comm_split(MPI_COMM_WORLD, rank / width, rank, &row);
  MPI_Comm_split(MPI_COMM_WORLD, rank % width, rank, &column);
  MPI_Comm_dup(MPI_COMM_WORLD, &all);
  long x = rank + 1;
  for (int i = 0; i < 30; i++) {
    long sum;
    MPI_Comm on = i % 3 == 2 ? all : (i + rank / width) % 2 ? row : column;
    /* Rows and columns in the same order for those who share one: */
    if (i % 3 != 2) {
      on = i % 2 ? row : column;
    }
    MPI_Allreduce(&x, &sum, 1, MPI_LONG, MPI_SUM, on);
    x = sum % 1000003 + rank;
    if (i % 10 == 0) {
      MPI_Bcast(&x, 1, MPI_LONG, 0, i % 20 ? row : column);
    }
  }
  mix_number((uint64_t)x);
  MPI_Comm_free(&row);
  MPI_Comm_free(&column);
  MPI_Comm_free(&all);
  report("rows and columns");
}

/* Ranks of one half are through long before the others. */
static void at_different_speeds(void) {
  MPI_Comm half;
  long x = rank;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &half);
  for (int i = 0; i < (rank % 2 ? 60 : 5); i++) {
    long sum;
    MPI_Allreduce(&x, &sum, 1, MPI_LONG, MPI_SUM, half);
    x = sum % 1000003;
  }
  mix_number((uint64_t)x);
  mix_number((uint64_t)sum_on(MPI_COMM_WORLD, (int)x));
  MPI_Comm_free(&half);
  report("speeds");
}

static void many(void) {
  enum { KEPT = 30 };
  MPI_Comm kept[KEPT];
  for (int i = 0; i < KEPT; i++) {
    MPI_Comm_dup(i ? kept[i - 1] : MPI_COMM_WORLD, &kept[i]);
  }
  if (sum_on(kept[KEPT - 1], 1) != size) {
    fail("a duplicate of many duplicates");
  }
  for (int i = 0; i < KEPT; i++) {
    MPI_Comm_free(&kept[i * 7 % KEPT]);
  }
  for (int i = 0; i < 60; i++) {
    MPI_Comm dup, part;
    MPI_Comm_dup(MPI_COMM_WORLD, &dup);
    MPI_Comm_split(dup, rank % 2, 0, &part);
    MPI_Comm_free(&dup);
    MPI_Comm_free(&part);
  }
}

static void class_of(int code, const char *what) {
  int class;
  MPI_Error_class(code, &class);
  printf("rank %d: %s: class %d\n", rank, what, class);
}

static void errors(void) {
  MPI_Comm comm = MPI_COMM_NULL, world = MPI_COMM_WORLD, self = MPI_COMM_SELF;
  char name[MPI_MAX_OBJECT_NAME];
  int n;
  MPI_Info info;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  class_of(MPI_Comm_free(&comm), "free null");
  class_of(MPI_Comm_free(&world), "free the world");
  class_of(MPI_Comm_free(&self), "free self");
  class_of(MPI_Comm_disconnect(&world), "disconnect the world");
  class_of(MPI_Comm_dup(MPI_COMM_NULL, &comm), "dup null");
  class_of(MPI_Comm_dup(self, NULL), "dup to nowhere");
  class_of(MPI_Comm_dup_with_info(self, (MPI_Info)0, &comm), "dup, no info");
  class_of(MPI_Comm_create(self, MPI_GROUP_NULL, &comm), "create, null");
  class_of(MPI_Comm_create(MPI_COMM_NULL, MPI_GROUP_EMPTY, &comm),
           "create on null");
  class_of(MPI_Comm_create_group(self, MPI_GROUP_EMPTY, -1, &comm), "tag -1");
  class_of(MPI_Comm_compare(self, MPI_COMM_NULL, &n), "compare null");
  class_of(MPI_Comm_compare(self, self, NULL), "compare to nowhere");
  class_of(MPI_Comm_size(MPI_COMM_NULL, &n), "size null");
  class_of(MPI_Comm_rank(self, NULL), "rank to nowhere");
  class_of(MPI_Comm_remote_size(MPI_COMM_NULL, &n), "remote size null");
  class_of(MPI_Comm_test_inter(self, NULL), "test_inter to nowhere");
  class_of(MPI_Comm_set_name(MPI_COMM_NULL, "x"), "name null");
  class_of(MPI_Comm_set_name(self, NULL), "no name");
  class_of(MPI_Comm_get_name(self, NULL, &n), "get no name");
  class_of(MPI_Comm_get_name(MPI_COMM_NULL, name, &n), "get null's name");
  class_of(MPI_Comm_set_info(self, MPI_INFO_NULL), "null hints");
  class_of(MPI_Comm_get_info(MPI_COMM_NULL, &info), "hints of null");
  class_of(MPI_Comm_get_parent(NULL), "parent to nowhere");
}

int main(int argc, char **argv) {
  begin(&argc, &argv);
  duplicates();
  nonblocking();
  of_groups();
  alone();
  names();
  numbers();
  hints();
  freed_early();
  rows_and_columns();
  at_different_speeds();
  many();
  if (ERRORS_COMPARE) {
    errors();
  }
  return end();
}
