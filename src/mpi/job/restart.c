#define _GNU_SOURCE
#include "mpi/job/restart.h"

#include "base/failure.h"
#include "base/lifeline.h"
#include "checkpoint/shelf.h"
#include "context/image/image.h"
#include "context/image/image_place.h"
#include "mpi/job/checkpoint_sizes.h"
#include "mpi_below/hooks.h"
#include "mpi_below/launcher.h"
#include "mpi_below/net.h"
#include "os/fixed.h"
#include "os/native.h"
#include "vp/vp.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static struct {
  bool fixed;
  bool restarts;
  char folder[PATH_MAX];
  struct manifest manifest;
  struct identity identity;
  uint64_t images;
  struct fixed_guards guards;
  int code; /* what was wrong, */
  struct pems_error error;
} restart;

bool restart_fixed(void) {
  return restart.fixed;
}

const struct manifest *restart_from(void) {
  return restart.restarts ? &restart.manifest : NULL;
}

const char *restart_folder(void) {
  return restart.restarts ? restart.folder : NULL;
}

const struct identity *restart_identity(void) {
  return &restart.identity;
}

/* Of this library, of the C library, and of the program. */
uint64_t restart_landmark(void) {
  extern char etext;
  return (uint64_t)(uintptr_t)&restart_landmark ^
         (uint64_t)(uintptr_t)&stdout << 1 ^ (uint64_t)(uintptr_t)&etext << 2;
}

/* --- at the start of the process ----------------------------------------- */

static int find(const char *dir) {
  int code = shelf_find(dir, restart.folder, &restart.error);
  code =
      code ? code
           : shelf_manifest(restart.folder, &restart.manifest, &restart.error);
  restart.restarts = !code;
  return code;
}

/* Without a limit the system would place things in another way. */
static uint64_t wanted_limit(void) {
  enum { USUAL = 1 << 30 };
  const uint64_t now = fixed_stack_limit();
  return restart.restarts                 ? restart.manifest.stack_limit
         : now == (uint64_t)RLIM_INFINITY ? USUAL
                                          : now;
}

/* A new start of the program inherits which signals are ignored, but nothing of
   one that UCX has taken when it was loaded. */
static int begin_anew(void) {
  launcher_take_back_hangup();
  return hooks_forbid();
}

static int fix_addresses(char **argv) {
  const uint64_t limit = wanted_limit();
  if (!fixed_possible()) {
    return failure(&restart.error, ENOTSUP,
                   "checkpoints: not on this kind of machine, nor with "
                   "sanitizers: leave out --pems-checkpoint");
  }
  if (fixed_is() && fixed_stack_limit() == limit && !hooks_installed()) {
    return 0;
  }
  const int code =
      begin_anew() == 0 ? fixed_again(argv, environ, limit) : errno;
  return failure(&restart.error, code,
                 "checkpoints: the system does not let programs have the same "
                 "addresses each time: %s: allow personality(2), and a stack "
                 "of %llu KiB (ulimit -s)",
                 strerror(code), (unsigned long long)limit >> 10);
}

/* What the program maps would be no memory of the rank's. Who has chosen that
   gets it. valgrind would be left behind: it gets what pemsrun has chosen. */
static void leave_memory(char **argv) {
  if (hooks_installed() && !hooks_chosen() && !image_wants_name() &&
      begin_anew() == 0) {
    (void)fixed_once_more(argv, environ);
  }
}

/* Of the C library's two numbers a rank has traces: in frames that are checked,
   and in addresses that are disguised (setjmp). So they are the same in all
   processes of a job, which do not know each other yet: made of pemsrun's
   secret where there is one. As usual, strings end before the first byte. */
static struct fixed_guards common_guards(const struct options *o) {
  const char *const cookie = getenv(LIFELINE_VARIABLE);
  const char *const text = cookie ? cookie : o->checkpoint;
  const uint64_t sum = manifest_sum(text, strcspn(text, ",")).sum;
  return (struct fixed_guards){sum & ~(uint64_t)0xff,
                               manifest_sum(&sum, sizeof(sum)).sum};
}

static int begin(const struct options *o, char **argv) {
  restart.fixed = o->checkpoint || o->restart;
  if (!restart.fixed) {
    leave_memory(argv);
    return 0;
  }
  int code = o->restart ? find(o->restart) : 0;
  code = code ? code : fix_addresses(argv);
  if (!code) {
    restart.guards =
        restart.restarts ? restart.manifest.guards : common_guards(o);
  }
  return code ? code : identity_find(&restart.identity, &restart.error);
}

__attribute__((no_stack_protector)) void restart_begin(int argc, char **argv,
                                                       char **envp) {
  struct options o;
  struct pems_error ignored;
  const size_t bytes = ((size_t)argc + 1) * sizeof(char *);
  char **const copy = native_alloc(bytes);
  if (!copy) {
    restart.code = failure(&restart.error, ENOMEM,
                           "out of memory: arguments: %zu bytes", bytes);
    return;
  }
  memcpy(copy, argv, bytes);
  /* What is wrong with them is told when all processes know each other. */
  if (options_parse(&o, &argc, copy, envp, &ignored) == 0) {
    restart.code = begin(&o, argv);
  }
  options_free(&o);
  native_free(copy);
  if (restart.fixed && !restart.code) {
    fixed_set_guards(restart.guards);
  }
}

/* --- is it the same? ------------------------------------------------------ */

static int read_identity(struct identity *was, struct pems_error *error) {
  char *text = NULL;
  int code = shelf_get(restart.folder, "identity", &restart.manifest.identity,
                       &text, error);
  FILE *const f = code ? NULL : fmemopen(text, strlen(text), "r");
  if (f) {
    code = identity_read(was, f, restart.folder, error);
    fclose(f);
  } else if (!code) {
    code = failure(error, ENOMEM, "out of memory: restart");
  }
  free(text);
  return code;
}

static int compare(struct job_setup *job) {
  struct identity was = {0};
  int code = read_identity(&was, &job->error);
  if (!code && identity_compare(&was, &restart.identity, &restart.error)) {
    code = failure(&job->error, EINVAL, "restart: %s: %s", restart.folder,
                   restart.error.text);
  }
  identity_free(&was);
  if (!code && restart.manifest.landmark != restart_landmark()) {
    code = failure(&job->error, EINVAL,
                   "restart: %s: the system places programs elsewhere than "
                   "where it was taken: restart on the same kernel",
                   restart.folder);
  }
  return code;
}

uint64_t restart_images(void) {
  return restart.images;
}

int restart_check_images(struct job_setup *job) {
  restart.images = image_place_size(job->program);
  return !restart.restarts || restart.images == restart.manifest.images
             ? 0
             : failure(&job->error, EINVAL,
                       "restart: %s: other libraries are shared: give the same "
                       "--pems-shared",
                       restart.folder);
}

/* The number of ranks and their stacks are those of the checkpoint. */
static int take_over(struct job_setup *job) {
  const struct manifest *const m = &restart.manifest;
  if (job->options.v && job->options.v != m->v) {
    return failure(&job->error, EINVAL,
                   "restart: %s: of %d ranks, not %d: leave out -n",
                   restart.folder, m->v, job->options.v);
  }
  job->options.v = m->v;
  job->options.stack = m->stack;
  return 0;
}

static int refuse_together(struct job_setup *job, const char *option) {
  return failure(&job->error, EINVAL,
                 "--pems-checkpoint: cannot be used with %s: leave one out",
                 option);
}

int restart_check(struct job_setup *job) {
  job->fixed = restart.fixed;
  if (restart.code) {
    job->error = restart.error;
    return restart.code;
  }
  if (!restart.fixed) {
    return 0;
  }
  if (job->options.tag) {
    return refuse_together(job, "--pems-tag");
  }
  if (job->options.universe) {
    return refuse_together(job, "--pems-universe");
  }
  if (!restart.restarts) {
    return 0;
  }
  int code =
      net_rank() == 0 ? shelf_is_free(restart.folder, true, &job->error) : 0;
  code = code ? code : compare(job);
  code = code ? code : take_over(job);
  return code ? code
              : shelf_look(restart.folder, &restart.manifest, &job->error);
}

static const char *argument(int i, int n, char *const *all) {
  return i < n ? all[i] : "none";
}

int restart_check_arguments(struct job_setup *job, int argc, char **argv) {
  const struct manifest *const m = &restart.manifest;
  int i = 1;
  if (!restart.restarts || argc <= 1) {
    return 0;
  }
  while (i < argc && i < m->arguments && strcmp(argv[i], m->argument[i]) == 0) {
    i++;
  }
  return i == argc && i == m->arguments
             ? 0
             : failure(&job->error, EINVAL,
                       "restart: %s: argument %d of the program was %s, and is "
                       "%s: leave them out",
                       restart.folder, i,
                       argument(i, m->arguments, m->argument),
                       argument(i, argc, argv));
}

/* Collective: do all processes go on from the same one? */
static int check_same(struct pems_error *error) {
  const struct manifest *const m = &restart.manifest;
  uint64_t first = net_rank() == 0 ? m->sum : 0;
  net_sum(&first, 1);
  return m->sum == first ? 0
                         : failure(error, EXDEV,
                                   "restart: %s: not the checkpoint that it is "
                                   "on the first host: name a directory that "
                                   "all hosts share",
                                   restart.folder);
}

int restart_verify(struct job_setup *job) {
  char path[PATH_MAX];
  int code = restart.restarts ? check_same(&job->error) : 0;
  for (int i = 0; restart.restarts && i < vps.n && !code; i++) {
    const int rank = vp_rank(i);
    shelf_rank(restart.folder, rank, path);
    code = checkpoint_verify(path, &restart.manifest.rank[rank], &job->error);
  }
  return code || !restart.restarts
             ? code
             : checkpoint_sizes_check(restart.folder, restart.manifest.sequence,
                                      &job->error);
}

int restart_cut(struct job_setup *job) {
  return restart.restarts
             ? checkpoint_sizes_cut(restart.folder, restart.manifest.sequence,
                                    &job->error)
             : 0;
}

void restart_end(void) {
  manifest_free(&restart.manifest);
  identity_free(&restart.identity);
}
