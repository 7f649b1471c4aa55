/* MPI_Comm_spawn and MPI_Comm_spawn_multiple of this program itself: what
   parents and children see of each other, that they can talk, merge and part,
   and that children may spawn in their turn. tests/mpi/check.sh gives the job
   room for them by --pems-universe. */
#include "test.h"

#include <libgen.h>
#include <unistd.h>

static const char *program; /* with its directory */

/* Collective over both groups; `name` begins each line. */
static void talk(MPI_Comm inter, const char *name, int n, int me) {
  int there, out = 100 * n + me, in = -1, sum = -1, merged = -1;
  int *all;
  MPI_Comm both, twin;
  MPI_Comm_remote_size(inter, &there);
  MPI_Sendrecv(&out, 1, MPI_INT, me < there ? me : MPI_PROC_NULL, 7, &in, 1,
               MPI_INT, me < there ? me : MPI_PROC_NULL, 7, inter,
               MPI_STATUS_IGNORE);
  MPI_Allreduce(&out, &sum, 1, MPI_INT, MPI_SUM, inter);
  MPI_Comm_dup(inter, &twin);
  all = malloc((size_t)there * sizeof(*all));
  MPI_Allgather(&out, 1, MPI_INT, all, 1, MPI_INT, twin);
  printf("%s %d of %d: %d there: got %d, sum %d, last %d\n", name, me, n, there,
         in, sum, all[there - 1]);
  free(all);
  MPI_Comm_free(&twin);
  MPI_Intercomm_merge(inter, strncmp(name, "parent", 6) != 0, &both);
  MPI_Comm_size(both, &there);
  MPI_Comm_rank(both, &me);
  MPI_Allreduce(&me, &merged, 1, MPI_INT, MPI_SUM, both);
  printf("%s merged: %d of %d, sum %d\n", name, me, there, merged);
  MPI_Comm_free(&both);
}

static int attribute(int key) {
  int *value, flag;
  MPI_Comm_get_attr(MPI_COMM_WORLD, key, &value, &flag);
  return flag ? *value : -1;
}

/* Messages longer than any buffer, both ways, while contexts are away. */
static void exchange_much(MPI_Comm inter, int me) {
  enum { N = 300000 };
  int *out = malloc(N * sizeof(*out)), *in = malloc(N * sizeof(*in)), bad = 0;
  int there;
  MPI_Comm_remote_size(inter, &there);
  for (int i = 0; i < N; i++) {
    out[i] = i ^ me;
  }
  if (me < there) {
    MPI_Request r[2];
    MPI_Irecv(in, N, MPI_INT, me, 3, inter, &r[0]);
    MPI_Isend(out, N, MPI_INT, me, 3, inter, &r[1]);
    MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    for (int i = 0; i < N; i++) {
      bad += in[i] != (i ^ me);
    }
    printf("long messages: %d wrong\n", bad);
  }
  free(out);
  free(in);
}

/* --- children --- */

static void tell_arguments(int argc, char **argv, int me, int n) {
  char line[400] = "";
  for (int i = 1; i < argc; i++) {
    snprintf(line + strlen(line), sizeof(line) - strlen(line), " [%s]",
             argv[i]);
  }
  printf("child %d of %d:%s, number %d\n", me, n, line, attribute(MPI_APPNUM));
}

/* The last one spawns in its turn: grandchildren. */
static void spawn_again(int me, int n) {
  char *argv[] = {(char[]){"child"}, (char[]){"grandchild"}, NULL};
  MPI_Comm inter;
  int codes[2] = {-1, -1};
  if (me == n - 1) {
    MPI_Comm_spawn(program, argv, 2, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter,
                   codes);
    talk(inter, "parent of two", 1, 0);
    printf("grandchildren: codes %d %d\n", codes[0], codes[1]);
    MPI_Comm_disconnect(&inter);
  }
}

#ifdef OPEN_MPI
#define OWN_RANK "OMPI_COMM_WORLD_RANK"
#define OWN_SIZE "OMPI_COMM_WORLD_SIZE"
#else
#define OWN_RANK "PMI_RANK"
#define OWN_SIZE "PMI_SIZE"
#endif

/* The launcher's variables tell its number in its own world. */
static bool is_told(int me, int n) {
  const char *const its = getenv(OWN_RANK), *const all = getenv(OWN_SIZE);
  return its && all && atoi(its) == me && atoi(all) == n;
}

static int child(int argc, char **argv, MPI_Comm parent) {
  char name[MPI_MAX_OBJECT_NAME], dir[1000] = "";
  int me, n, length;
  MPI_Comm again;
  const char *what = argc > 2 ? argv[2] : "";
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &n);
  tell_arguments(argc, argv, me, n);
  if (!is_told(me, n)) {
    printf("child %d: " OWN_RANK " is %s\n", me, getenv(OWN_RANK));
  }
  MPI_Comm_get_name(MPI_COMM_WORLD, name, &length);
  if (strcmp(what, "where") == 0 && getcwd(dir, sizeof(dir))) {
    printf("child %d: in %s: %s\n", me, name, basename(dir));
  }
  talk(parent, "child", n, me);
  if (strcmp(what, "much") == 0) {
    exchange_much(parent, me);
  }
  MPI_Comm_disconnect(&parent);
  MPI_Comm_get_parent(&again);
  printf("child %d: %s\n", me, again == MPI_COMM_NULL ? "parted" : "held");
  if (strcmp(what, "again") == 0) {
    spawn_again(me, n);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}

/* --- parents --- */

static void one(MPI_Comm comm, int root, int n, const char *what,
                MPI_Info info) {
  char word[20];
  char *argv[] = {(char[]){"child"}, word, (char[]){"two words"}, (char[]){""},
                  NULL};
  MPI_Comm inter;
  int me, n_parents, codes[8];
  memset(codes, -1, sizeof(codes));
  snprintf(word, sizeof(word), "%s", what);
  MPI_Comm_rank(comm, &me);
  MPI_Comm_size(comm, &n_parents);
  /* Only the root's arguments count. */
  MPI_Comm_spawn(me == root ? program : "nothing", me == root ? argv : NULL, n,
                 me == root ? info : MPI_INFO_NULL, root, comm, &inter, codes);
  for (int i = 0; i < n; i++) {
    if (codes[i] != MPI_SUCCESS) {
      printf("rank %d: code %d: %d\n", me, i, codes[i]);
    }
  }
  talk(inter, "parent", n_parents, me);
  if (strcmp(what, "much") == 0) {
    exchange_much(inter, me);
  }
  MPI_Comm_disconnect(&inter);
}

static void several(void) {
  char *commands[2] = {(char *)program, (char *)program};
  char *first[] = {(char[]){"child"}, (char[]){"first"}, NULL};
  char *second[] = {(char[]){"child"}, (char[]){"second"}, NULL};
  char **argvs[2] = {first, second};
  const int maxprocs[2] = {1, 2};
  const MPI_Info infos[2] = {MPI_INFO_NULL, MPI_INFO_NULL};
  MPI_Comm inter;
  int codes[3] = {-1, -1, -1};
  MPI_Comm_spawn_multiple(2, commands, argvs, maxprocs, infos, 0,
                          MPI_COMM_WORLD, &inter, codes);
  talk(inter, "parent", size, rank);
  printf("rank %d: codes %d %d %d\n", rank, codes[0], codes[1], codes[2]);
  MPI_Comm_disconnect(&inter);
}

static void in_directory(void) {
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "wdir", "/usr/lib");
  one(MPI_COMM_WORLD, 0, 1, "where", info);
  MPI_Info_free(&info);
}

int main(int argc, char **argv) {
  static char file[1000];
  MPI_Comm parent;
  const ssize_t n = readlink("/proc/self/exe", file, sizeof(file) - 1);
  if (n <= 0) {
    return 1;
  }
  program = file;
  MPI_Init(&argc, &argv);
  MPI_Comm_get_parent(&parent);
  if (parent != MPI_COMM_NULL) {
    return child(argc, argv, parent);
  }
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  one(MPI_COMM_WORLD, size - 1, 2, "plain", MPI_INFO_NULL);
  if (rank == 0) { /* one at a time: Open MPI 4.1 hangs else */
    one(MPI_COMM_SELF, 0, 1, "self", MPI_INFO_NULL);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  one(MPI_COMM_WORLD, 0, 3, "again", MPI_INFO_NULL);
  one(MPI_COMM_WORLD, 0, size, "much", MPI_INFO_NULL);
  several();
  in_directory();
  MPI_Finalize();
  return 0;
}
