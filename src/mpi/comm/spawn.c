/* MPI_Comm_spawn, MPI_Comm_spawn_multiple: new ranks, of those that the job has
   room for (--pems-universe). The root takes them, starts them and tells each
   what it is; then it tells its group, as for MPI_Comm_accept, and parents and
   children make the inter-communicator without another word. */
#define _GNU_SOURCE
#include "base/message.h"
#include "base/need.h"
#include "mpi/comm/comm_make.h"
#include "mpi/comm/intercomm.h"
#include "mpi/comm/spawn_child.h"
#include "mpi/comm/spawn_program.h"
#include "mpi/comm/universe.h"
#include "mpi/object/check.h"
#include "mpi/object/comm_error.h"
#include "mpi_abi/functions.h"
#include "mpi_below/real.h"
#include "os/native.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* What the root is asked for: `count` commands. */
struct commands {
  int count;
  char *const *command;
  char **const *argv; /* or MPI_ARGVS_NULL */
  const int *maxprocs;
  const MPI_Info *info;
  struct spawn_program *program; /* what they run: the root's */
};

/* A call, on each rank. */
struct spawning {
  struct comm *local;
  int root;
  const char *function;
};

/* --- what a command says --- */

/* Space for the value of a key of info; NULL: it has none. */
static char *value_of(MPI_Info info, const char *key) {
  int n, flag = 0;
  if (info == MPI_INFO_NULL || real.Info_get_valuelen(info, key, &n, &flag) ||
      !flag) {
    return NULL;
  }
  char *value = need_alloc((size_t)n + 1, "info");
  real.Info_get(info, key, n, value, &flag);
  return value;
}

/* Where children run: `wdir` of info, relative to the root's own directory. */
struct place {
  char dir[PATH_MAX];
  bool named;
  bool there;
};

static struct place place_of(MPI_Info info) {
  struct place p = {.dir = "/"};
  struct stat s;
  char *wdir = value_of(info, "wdir");
  if (!getcwd(p.dir, sizeof(p.dir))) {
    strcpy(p.dir, "/");
  }
  const size_t n = strlen(p.dir);
  if (wdir && wdir[0] == '/') {
    snprintf(p.dir, sizeof(p.dir), "%s", wdir);
  } else if (wdir) {
    snprintf(p.dir + n, sizeof(p.dir) - n, "/%s", wdir);
  }
  p.named = wdir;
  p.there = stat(p.dir, &s) == 0 && S_ISDIR(s.st_mode);
  native_free(wdir);
  return p;
}

static bool is_runnable(const struct commands *c, int i, const char *function) {
  const struct place p = place_of(c->info[i]);
  if (p.named && !p.there) {
    msg_warn("%s: wdir: %s: no such directory: name another one", function,
             p.dir);
    return false;
  }
  char *path = value_of(c->info[i], "path");
  const struct spawn_program_search search = {
      function, path, p.dir, rank_me()->interpreter, rank_me()->library};
  const bool found = spawn_program_find(&c->program[i], c->command[i], &search);
  native_free(path);
  return found;
}

static int total_of(const struct commands *c) {
  long long n = 0;
  for (int i = 0; i < c->count; i++) {
    n += c->maxprocs[i];
  }
  return n < INT_MAX ? (int)n : INT_MAX;
}

/* An error class. */
static int check_commands(struct commands *c, const char *function) {
  if (c->count < 1 || !c->command || !c->maxprocs || !c->info) {
    return MPI_ERR_ARG;
  }
  for (int i = 0; i < c->count; i++) {
    if (!c->command[i] || c->maxprocs[i] < 1) {
      return MPI_ERR_ARG;
    }
  }
  c->program = need_zalloc(c->count, sizeof(*c->program), "commands");
  for (int i = 0; i < c->count; i++) {
    if (!is_runnable(c, i, function)) {
      return MPI_ERR_SPAWN;
    }
  }
  return MPI_SUCCESS;
}

/* --- the root --- */

/* Bytes of strings, each with its end. */
static size_t size_of(char *const *list) {
  size_t n = 0;
  for (; *list; list++) {
    n += strlen(*list) + 1;
  }
  return n;
}

/* Directory, command and arguments, each with its end; in child: how many
   bytes and arguments. */
static char *text_of(const struct commands *c, int i, const struct place *p,
                     struct spawn_child *child) {
  static char *const none[] = {NULL};
  const struct spawn_program *program = &c->program[i];
  char *const *argv =
      c->argv != MPI_ARGVS_NULL && c->argv[i] ? c->argv[i] : none;
  child->argc = program->n;
  child->bytes = strlen(p->dir) + 1 + size_of(argv);
  for (int j = 0; j < program->n; j++) {
    child->bytes += strlen(program->word[j]) + 1;
  }
  char *text = need_alloc(child->bytes, "arguments");
  char *at = stpcpy(text, p->dir) + 1;
  for (int j = 0; j < program->n; j++) {
    at = stpcpy(at, program->word[j]) + 1;
  }
  for (; *argv; argv++, child->argc++) {
    at = stpcpy(at, *argv) + 1;
  }
  return text;
}

/* Tells the ranks of command i, from `rank` on. */
static void tell_some(const struct spawning *s, const struct commands *c, int i,
                      struct spawn_child child, int rank) {
  const struct place p = place_of(c->info[i]);
  char *text = text_of(c, i, &p, &child);
  child.appnum = i;
  child.must_enter = p.named;
  for (int j = 0; j < c->maxprocs[i]; j++) {
    spawn_child_tell(&child, s->local->group, text, rank + j, s->function);
  }
  native_free(text);
}

static void start(const struct spawning *s, const struct commands *c,
                  const struct intercomm_maker *parents,
                  struct intercomm_maker *children) {
  const struct spawn_child child = {
      .parents = *parents,
      .world = team_derive(parents->team, parents->number,
                           (uint64_t)children->leader),
      .first = children->leader,
      .n = children->n};
  *children = spawn_child_maker(&child);
  universe_spawn(child.first, child.n);
  int rank = child.first;
  for (int i = 0; i < c->count; i++) {
    tell_some(s, c, i, child, rank);
    rank += c->maxprocs[i];
  }
}

/* An error class; else the ranks are in children->leader and n. */
static int take(const struct spawning *s, struct commands *c,
                struct intercomm_maker *children) {
  int code = check_commands(c, s->function);
  if (code) {
    return code;
  }
  const int n = total_of(c), first = universe_take(n, s->function);
  if (first < 0) {
    msg_warn("%s: %d more ranks: the job has room for %d in all: give more "
             "with --pems-universe",
             s->function, n, vp_ranks());
    return MPI_ERR_SPAWN;
  }
  *children = (struct intercomm_maker){.leader = first, .n = n};
  return MPI_SUCCESS;
}

/* Without children: the error class is in `team`, how many there should have
   been in `number`. */
static struct group *spawn(const struct spawning *s, struct commands *c,
                           const struct intercomm_maker *mine,
                           struct intercomm_maker *theirs) {
  const int code = take(s, c, theirs);
  if (code) {
    *theirs = (struct intercomm_maker){
        .team = (uint64_t)code,
        .number = code == MPI_ERR_SPAWN ? (uint64_t)total_of(c) : 0};
  } else {
    start(s, c, mine, theirs);
  }
  native_free(c->program);
  struct group *children =
      comm_group_needed(group_row(theirs->leader, theirs->n));
  intercomm_tell(s->local, theirs, children, s->function);
  return children;
}

/* --- all --- */

static void put_codes(int *codes, uint64_t n, int code) {
  for (uint64_t i = 0; codes != MPI_ERRCODES_IGNORE && i < n; i++) {
    codes[i] = code;
  }
}

static int finish(const struct spawning *s, const struct intercomm_maker *mine,
                  const struct intercomm_maker *theirs, struct group *children,
                  MPI_Comm *inter, int *codes) {
  if (theirs->n) {
    put_codes(codes, (uint64_t)theirs->n, MPI_SUCCESS);
    return intercomm_finish(s->local, mine, theirs, children, inter);
  }
  group_release(children);
  put_codes(codes, theirs->number, (int)theirs->team);
  *inter = MPI_COMM_NULL;
  return (int)theirs->team;
}

static int spawn_all(struct commands *c, int root, MPI_Comm comm,
                     MPI_Comm *inter, int *codes, const char *function) {
  const struct spawning s = {comm_of(comm), root, function};
  const int code = check_intra(comm)                    ? MPI_ERR_COMM
                   : !inter                             ? MPI_ERR_ARG
                   : root < 0 || root >= s.local->peers ? MPI_ERR_ROOT
                                                        : MPI_SUCCESS;
  if (code) {
    return comm_error(comm, code, function);
  }
  const struct intercomm_maker mine = {
      s.local->team->id, s.local->collectives++, s.local->group->world[root],
      s.local->group->n};
  struct intercomm_maker theirs = {.n = 0};
  struct group *children =
      s.local->rank == root ? spawn(&s, c, &mine, &theirs)
                            : intercomm_hear(s.local, root, &theirs, function);
  return comm_error(comm, finish(&s, &mine, &theirs, children, inter, codes),
                    function);
}

int pems_Comm_spawn(const char *command, char *argv[], int maxprocs,
                    MPI_Info info, int root, MPI_Comm comm, MPI_Comm *inter,
                    int codes[]) {
  char *const commands[] = {(char *)(uintptr_t)command};
  char **const argvs[] = {argv};
  struct commands c = {1, commands, argvs, &maxprocs, &info, NULL};
  return spawn_all(&c, root, comm, inter, codes, "MPI_Comm_spawn");
}

int pems_Comm_spawn_multiple(int count, char *commands[], char **argvs[],
                             const int maxprocs[], const MPI_Info infos[],
                             int root, MPI_Comm comm, MPI_Comm *inter,
                             int codes[]) {
  struct commands c = {count, commands, argvs, maxprocs, infos, NULL};
  return spawn_all(&c, root, comm, inter, codes, "MPI_Comm_spawn_multiple");
}
