#define _GNU_SOURCE
#include "mpi/job/job_load.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

#include "base/failure.h"
#include "base/need.h"
#include "context/calls/create.h"
#include "context/context.h"
#include "context/image/image.h"
#include "context/image/original.h"
#include "disk/choice.h"
#include "interpose/dlfcn.h"
#include "mpi_below/link.h"
#include "mpi_below/real.h"
#include "vp/vp.h"

int job_load_open(struct job_setup *job) {
  return link_check_order(*(void **)&real.Init, &job->error) ||
         image_open(&job->program, "/proc/self/exe", &job->error) ||
         image_find_libraries(job->program, job->options.shared, &job->error) ||
         original_start(job->program, &job->error);
}

static char **copy_arguments(int argc, char **argv) {
  char **copy = need_zalloc(argc + 1, sizeof(*copy), "arguments");
  for (int i = 0; i < argc; i++) {
    const size_t n = strlen(argv[i]) + 1;
    copy[i] = memcpy(need_alloc(n, "arguments"), argv[i], n);
  }
  return copy;
}

static int load_one(struct job_setup *job, struct vp *vp, int argc,
                    char **argv) {
  struct image image;
  char dir[PATH_MAX];
  choice_first_dir(job->options.disk, dir, sizeof(dir));
  const int code = image_load(&image, job->program, vp->rank,
                              image_wants_name() ? dir : NULL, &job->error);
  if (code) {
    return code;
  }
  vp->context = context_get(vp->index);
  vp->argc = argc;
  vp->argv = copy_arguments(argc, argv);
  const int bad = context_adopt(vp->context, &image, vp->rank, &job->error);
  if (bad) {
    return bad;
  }
  return dlfcn_begin(vp, image_wants_name() ? dir : NULL) == 0
             ? 0
             : failure(&job->error, ENOMEM,
                       "out of memory: rank %d: free memory", vp->rank);
}

int job_load_all(struct job_setup *job, int argc, char **argv) {
  vps.item = need_zalloc(vps.n, sizeof(*vps.item), "virtual processors");
  int code = 0;
  for (int i = 0; i < vps.n && !code; i++) {
    struct vp *vp = &vps.item[i];
    vp->index = i;
    vp->rank = vp_rank(i);
    vp->dormant = i >= vps.n - vps.dormant;
    code = load_one(job, vp, argc, argv);
  }
  return code;
}
