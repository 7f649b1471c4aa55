#define _GNU_SOURCE
#include "mpi/job/job_load.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "base/failure.h"
#include "base/need.h"
#include "context/calls/allocate.h"
#include "context/calls/create.h"
#include "context/context.h"
#include "context/image/image.h"
#include "context/image/image_place.h"
#include "context/image/original.h"
#include "context/residency/residency.h"
#include "disk/choice.h"
#include "interpose/dlfcn.h"
#include "mpi/object/environment.h"
#include "mpi_below/launcher.h"
#include "mpi_below/link.h"
#include "mpi_below/real.h"
#include "os/native.h"
#include "vp/vp.h"

int job_load_open(struct job_setup *job) {
  return link_check_order(*(void **)&real.Init, &job->error) ||
         image_open(&job->program, "/proc/self/exe", &job->error) ||
         image_find_libraries(job->program, job->options.shared, &job->error) ||
         original_start(job->program, &job->error);
}

static size_t count(char *const *words) {
  size_t n = 0;
  while (words[n]) {
    n++;
  }
  return n;
}

static char **copy_words(char *const *words) {
  const size_t n = count(words);
  char **copy = need_zalloc(n + 1, sizeof(*copy), "arguments");
  for (size_t i = 0; i < n; i++) {
    const size_t size = strlen(words[i]) + 1;
    copy[i] = memcpy(need_alloc(size, "arguments"), words[i], size);
  }
  return copy;
}

/* Where the rank may have to find them in another process. */
static char **keep(struct context *c, char *const *words) {
  const size_t n = count(words);
  char **const copy = context_alloc(c, (n + 1) * sizeof(*copy), 16);
  for (size_t i = 0; copy && i <= n; i++) {
    const size_t size = words[i] ? strlen(words[i]) + 1 : 0;
    copy[i] = words[i] ? context_alloc(c, size, 1) : NULL;
    if (words[i] && !copy[i]) {
      return NULL;
    }
    if (words[i]) {
      memcpy(copy[i], words[i], size);
    }
  }
  return copy;
}

/* Arguments and environment become part of the context. */
static int keep_words(struct vp *vp, char **argv, struct pems_error *error) {
  char **const words = vp->envp;
  context_acquire(vp->context);
  vp->argv = keep(vp->context, argv);
  vp->envp = keep(vp->context, words);
  context_release(vp->context);
  native_free(words);
  return vp->argv && vp->envp
             ? 0
             : failure(error, ENOMEM,
                       "arguments of rank %d: no room in its context: give %s",
                       vp->rank, vps.plan.more);
}

/* Addresses of what ranks open at run time, above those of contexts and below
   what the system gives. */
#define OPENED_PLACE ((uintptr_t)3 << 45)
#define OPENED_SIZE ((size_t)1 << 43)

static int begin_opening(const struct job_setup *job, struct vp *vp,
                         const char *dir) {
  const size_t room = OPENED_SIZE / (size_t)vps.plan.v;
  const uintptr_t place = OPENED_PLACE + room * (size_t)vp->rank;
  return dlfcn_begin(vp, image_wants_name() ? dir : NULL,
                     job->fixed ? (void *)place : NULL, room);
}

static int load_one(struct job_setup *job, struct vp *vp, int argc,
                    char **argv) {
  struct image image;
  char dir[PATH_MAX];
  choice_first_dir(job->options.disk, dir, sizeof(dir));
  image_place_open(vp->rank);
  int code = image_load(&image, job->program, vp->rank,
                        image_wants_name() ? dir : NULL, &job->error);
  code = code ? code : image_place_check(&image, vp->rank, &job->error);
  if (code) {
    return code;
  }
  vp->context = context_get(vp->index);
  vp->argc = argc;
  vp->argv = copy_words(argv);
  /* A dormant one gets another, in its world. */
  vp->envp = environment_of(0, vps.plan.v, vp->dormant ? 0 : vp->rank);
  if (!vp->envp) {
    return failure(&job->error, ENOMEM,
                   "out of memory: environment of rank %d: free memory",
                   vp->rank);
  }
  int bad = context_adopt(vp->context, &image, vp->rank, &job->error);
  bad = bad || !job->fixed ? bad : keep_words(vp, argv, &job->error);
  if (bad) {
    return bad;
  }
  return begin_opening(job, vp, dir) == 0
             ? 0
             : failure(&job->error, ENOMEM,
                       "out of memory: rank %d: free memory", vp->rank);
}

int job_load_all(struct job_setup *job, int argc, char **argv) {
  struct launcher_process process;
  vps.item = need_zalloc(vps.n, sizeof(*vps.item), "virtual processors");
  environment_start(job->counted && !launcher_process(&process));
  int code = job->fixed ? image_places_begin(job->program, CONTEXTS_PLACE,
                                             vps.plan.v, &job->error)
                        : 0;
  for (int i = 0; i < vps.n && !code; i++) {
    struct vp *vp = &vps.item[i];
    vp->index = i;
    vp->rank = vp_rank(i);
    vp->dormant = i >= vps.n - vps.dormant;
    code = load_one(job, vp, argc, argv);
  }
  image_places_end();
  return code;
}
