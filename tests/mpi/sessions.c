/* Sessions: MPI without MPI_Init, in turns and at once; what they tell;
   communicators of groups. */
#include "test.h"

#if MPI_VERSION >= 4 || defined MPI_SESSION_NULL
#include <strings.h>

static int told, last;

static void note(MPI_Session *session, int *code, ...) {
  (void)session;
  told++;
  MPI_Error_class(*code, &last);
}

static void on_comm(MPI_Comm *comm, int *code, ...) {
  (void)comm;
  told += 100;
  MPI_Error_class(*code, &last);
}

static void check_sets(MPI_Session s) {
  int n = 0, world = 0, self = 0;
  MPI_Session_get_num_psets(s, MPI_INFO_NULL, &n);
  for (int i = 0; i < n; i++) {
    char name[MPI_MAX_PSET_NAME_LEN], cut[5];
    int length = 0, short_length = sizeof(cut);
    MPI_Session_get_nth_pset(s, MPI_INFO_NULL, i, &length, NULL);
    const int whole = length;
    MPI_Session_get_nth_pset(s, MPI_INFO_NULL, i, &length, name);
    MPI_Session_get_nth_pset(s, MPI_INFO_NULL, i, &short_length, cut);
    if (length != whole || (int)strlen(name) + 1 != whole ||
        strncmp(name, cut, 4) != 0 || cut[4]) {
      fail("set %d: %s, %d, %d", i, name, whole, length);
    }
    world += strcasecmp(name, "mpi://WORLD") == 0;
    self += strcasecmp(name, "mpi://SELF") == 0;
  }
  if (world != 1 || self != 1) {
    fail("sets: %d of the world, %d of one", world, self);
  }
}

static MPI_Comm comm_of_set(MPI_Session s, const char *set, const char *tag) {
  MPI_Group group;
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Info info;
  char value[16] = "";
  int n, flag = 0;
  MPI_Group_from_session_pset(s, set, &group);
  MPI_Group_size(group, &n);
  MPI_Session_get_pset_info(s, set, &info);
  MPI_Info_get(info, "mpi_size", 15, value, &flag);
  if (!flag || atoi(value) != n) {
    fail("%s: %d members, %s", set, n, flag ? value : "no size");
  }
  MPI_Info_free(&info);
  MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, MPI_ERRORS_RETURN,
                             &comm);
  MPI_Group_free(&group);
  return comm;
}

static void ring(const char *what, MPI_Comm comm) {
  int me, n, got = -1, sum = -1;
  MPI_Comm_rank(comm, &me);
  MPI_Comm_size(comm, &n);
  MPI_Sendrecv(&me, 1, MPI_INT, (me + 1) % n, 3, &got, 1, MPI_INT,
               (me + n - 1) % n, 3, comm, MPI_STATUS_IGNORE);
  MPI_Allreduce(&me, &sum, 1, MPI_INT, MPI_SUM, comm);
  if (got != (me + n - 1) % n || sum != n * (n - 1) / 2) {
    fail("%s: %d of %d: %d, sum %d", what, me, n, got, sum);
  }
}

/* Not initialized by that. */
static void alone(const char *level) {
  MPI_Session s = MPI_SESSION_NULL;
  MPI_Info info, got;
  char value[32] = "";
  int flag = 0, initialized = -1;
  MPI_Info_create(&info);
  MPI_Info_set(info, "thread_level", level);
  MPI_Info_set(info, "mpi_memory_alloc_kinds", "system,cuda,mpi");
  if (MPI_Session_init(info, MPI_ERRORS_RETURN, &s) || s == MPI_SESSION_NULL) {
    printf("FAIL: no session\n");
    exit(1);
  }
  MPI_Info_free(&info);
  MPI_Comm world = comm_of_set(s, "mpi://WORLD", "world"),
           self = comm_of_set(s, "mpi://SELF", "self");
  MPI_Comm_rank(world, &rank);
  MPI_Comm_size(world, &size);
  MPI_Initialized(&initialized);
  if (initialized) {
    fail("initialized by a session");
  }
  check_sets(s);
  ring("world", world);
  int n = 0;
  MPI_Comm_size(self, &n);
  if (n != 1) {
    fail("self: %d", n);
  }
  MPI_Session_get_info(s, &got);
  MPI_Info_get(got, "thread_level", 31, value, &flag);
  if (!flag || strncmp(value, "MPI_THREAD_", 11) != 0) {
    fail("level: %s", value);
  }
  MPI_Info_get(got, "mpi_memory_alloc_kinds", 31, value, &flag);
  if (!flag || strcmp(value, "mpi,system") != 0) {
    fail("kinds of memory: %s", flag ? value : "none");
  }
  MPI_Info_free(&got);
  /* Data that are on disk while it waits. */
  int *all = malloc((size_t)size * 1000 * sizeof(*all)), *mine;
  mine = calloc(1000, sizeof(*mine));
  mine[999] = rank;
  MPI_Allgather(mine, 1000, MPI_INT, all, 1000, MPI_INT, world);
  for (int i = 0; i < size; i++) {
    if (all[i * 1000 + 999] != i) {
      fail("gathered: %d at %d", all[i * 1000 + 999], i);
    }
  }
  free(all);
  free(mine);
  MPI_Comm_free(&world);
  MPI_Comm_free(&self);
  MPI_Session_finalize(&s);
  if (s != MPI_SESSION_NULL) {
    fail("finalized: no null handle");
  }
}

/* Threads are a matter of the process: what it has, each session has. */
static void as_much_as_before(void) {
  MPI_Session more, s;
  MPI_Info info;
  char value[32] = "";
  int flag = 0;
  MPI_Info_create(&info);
  MPI_Info_set(info, "thread_level", "MPI_THREAD_MULTIPLE");
  MPI_Session_init(info, MPI_ERRORS_RETURN, &more);
  MPI_Info_free(&info);
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &s);
  MPI_Session_get_info(s, &info);
  MPI_Info_get(info, "thread_level", 31, value, &flag);
  if (strcmp(value, "MPI_THREAD_MULTIPLE") != 0) {
    fail("level of another session: %s", value);
  }
  MPI_Info_free(&info);
  MPI_Session_finalize(&s);
  MPI_Session_finalize(&more);
}

static void handlers(MPI_Session s) {
  MPI_Errhandler handler, got;
  MPI_Group group;
  MPI_Session_get_errhandler(s, &got);
  if (got != MPI_ERRORS_RETURN) {
    fail("a session's first handler");
  }
  MPI_Session_create_errhandler(note, &handler);
  MPI_Session_set_errhandler(s, handler);
  MPI_Session_get_errhandler(s, &got);
  if (got != handler) {
    fail("a session's handler");
  }
  MPI_Errhandler_free(&got);
  told = 0;
  MPI_Session_call_errhandler(s, MPI_ERR_OTHER);
  if (told != 1 || last != MPI_ERR_OTHER) {
    fail("handler: %d calls, class %d", told, last);
  }
  if (!MPI_Group_from_session_pset(s, "mpi://NOBODY", &group) || told != 2) {
    fail("handler: a set that is not there: %d calls", told);
  }
  MPI_Errhandler_free(&handler);
}

/* Several at once, with one tag and others; the second made of half of them,
   in the reverse order. */
static void of_groups(MPI_Session s) {
  MPI_Group world, odd, reverse;
  MPI_Comm a, b, c;
  MPI_Errhandler handler;
  MPI_Group_from_session_pset(s, "mpi://WORLD", &world);
  int range[1][3] = {{rank % 2, size - 1, 2}}, back[1][3] = {{size - 1, 0, -1}};
  MPI_Group_range_incl(world, 1, range, &odd);
  MPI_Group_range_incl(world, 1, back, &reverse);
  MPI_Comm_create_errhandler(on_comm, &handler);
  MPI_Comm_create_from_group(odd, "odd", MPI_INFO_NULL, handler, &a);
  MPI_Comm_create_from_group(odd, "odd", MPI_INFO_NULL, MPI_ERRORS_RETURN, &b);
  MPI_Comm_create_from_group(reverse, "back", MPI_INFO_NULL, MPI_ERRORS_RETURN,
                             &c);
  ring("odd", a);
  ring("odd again", b);
  ring("back", c);
  int me;
  MPI_Comm_rank(c, &me);
  if (me != size - 1 - rank) {
    fail("back: %d", me);
  }
  /* Messages on one are none on the other. */
  int got = -1, flag = 1;
  MPI_Comm_rank(a, &me);
  MPI_Request r;
  MPI_Isend(&rank, 1, MPI_INT, me, 9, a, &r);
  MPI_Iprobe(me, 9, b, &flag, MPI_STATUS_IGNORE);
  MPI_Recv(&got, 1, MPI_INT, me, 9, a, MPI_STATUS_IGNORE);
  MPI_Wait(&r, MPI_STATUS_IGNORE);
  if (flag || got != rank) {
    fail("two of one group: %d %d", flag, got);
  }
  told = 0;
  MPI_Comm_call_errhandler(a, MPI_ERR_OTHER);
  if (told != 100 || last != MPI_ERR_OTHER) {
    fail("a handler from the start: %d", told);
  }
  MPI_Comm_free(&a);
  MPI_Comm_free(&b);
  MPI_Comm_free(&c);
  MPI_Errhandler_free(&handler);
  MPI_Group_free(&odd);
  MPI_Group_free(&reverse);
  MPI_Group_free(&world);
}

static void two_groups(MPI_Session s) {
  if (size < 2) {
    return;
  }
  MPI_Group world, own, other;
  MPI_Group_from_session_pset(s, "mpi://WORLD", &world);
  const int low = size / 2, first = rank < low;
  int left[1][3] = {{0, low - 1, 1}}, right[1][3] = {{low, size - 1, 1}};
  MPI_Group_range_incl(world, 1, first ? left : right, &own);
  MPI_Group_range_incl(world, 1, first ? right : left, &other);
  for (int i = 0; i < 2; i++) {
    MPI_Comm inter, merged;
    int me, n_remote = -1, is = 0, in = -1;
    MPI_Group_rank(own, &me);
    MPI_Intercomm_create_from_groups(own, 0, other, 0, "bridge", MPI_INFO_NULL,
                                     MPI_ERRORS_RETURN, &inter);
    MPI_Comm_test_inter(inter, &is);
    MPI_Comm_remote_size(inter, &n_remote);
    if (!is || n_remote != (first ? size - low : low)) {
      fail("bridge: %d, %d on the other side", is, n_remote);
    }
    if (me == 0) {
      MPI_Sendrecv(&rank, 1, MPI_INT, 0, 1, &in, 1, MPI_INT, 0, 1, inter,
                   MPI_STATUS_IGNORE);
      if (in != (first ? low : 0)) {
        fail("bridge: %d", in);
      }
    }
    MPI_Intercomm_merge(inter, !first, &merged);
    ring("merged", merged);
    MPI_Comm_free(&merged);
    MPI_Comm_free(&inter);
  }
  MPI_Group_free(&own);
  MPI_Group_free(&other);
  MPI_Group_free(&world);
}

int main(int argc, char **argv) {
  setvbuf(stdout, NULL, _IOLBF, 1024);
  alone("MPI_THREAD_SINGLE");
  alone("MPI_THREAD_FUNNELED");
  begin(&argc, &argv);
  MPI_Session s;
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &s);
  check_sets(s);
  handlers(s);
  of_groups(s);
  two_groups(s);
  as_much_as_before();
  MPI_Session_finalize(&s);
  return end();
}
#else
int main(void) {
  puts("this MPI is older than MPI 4.0");
  return 77;
}
#endif
