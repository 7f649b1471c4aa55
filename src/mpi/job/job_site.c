#define _GNU_SOURCE
#include "mpi/job/job_site.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "base/failure.h"
#include "base/message.h"
#include "base/need.h"
#include "checkpoint/manifest.h"
#include "context/calls/create.h"
#include "context/image/identity.h"
#include "disk/contexts/dirs.h"
#include "disk/contexts/disk.h"
#include "drivers/driver.h"
#include "mpi_below/net.h"
#include "os/native.h"
#include "report/trace.h"

const char *job_site_driver(const struct job_setup *job) {
  return job->options.io ? job->options.io : "unix";
}

const char *job_site_driver_used(const struct job_setup *job) {
  return job->disks ? disks_driver(job->disks) : job_site_driver(job);
}

const struct driver *job_site_innermost(const struct job_setup *job) {
  const char *args;
  const struct driver *driver = driver_find(job_site_driver(job), &args);
  return driver ? driver_innermost(driver, args) : NULL;
}

bool job_site_uses_disks(const struct job_setup *job) {
  const struct driver *driver = job_site_innermost(job);
  return !driver || !driver->in_memory;
}

static uint64_t free_space(const struct job_setup *job, int n) {
  return job_site_uses_disks(job)
             ? disks_free_for(job->options.disk, n, job->options.stripe)
             : job->machine.available;
}

/* Whether contexts go to disk though all fit in memory. */
static bool lies_on_disk(const struct job_setup *job) {
  const struct driver *driver = job_site_innermost(job);
  return (driver && driver->map) || getenv(CONTEXT_EVICT_ALWAYS);
}

static uint64_t report_memory(const struct job_setup *job, int n) {
  return job->options.report ? trace_memory(n) : 0;
}

struct plan_site job_site_for(const struct job_setup *job, int n) {
  static char in_memory[PATH_MAX];
  const uint64_t memory_free =
      job_site_uses_disks(job) ? disks_in_memory(job->options.disk, in_memory)
                               : 0;
  return (struct plan_site){
      .nprocs = net_size(),
      .nprocs_host = net_host_size(),
      .nprocs_cores = job->place_size,
      .disk_free = free_space(job, n),
      .file_most =
          job_site_uses_disks(job) ? disks_file_most(job->options.disk) : 0,
      .on_disk = lies_on_disk(job),
      .base_rss = machine_rss(),
      .report = report_memory(job, n),
      .memory_dir = *in_memory ? in_memory : NULL,
      .memory_free = memory_free,
  };
}

/* --- builds --- */

/* Host of a process and sums of what it runs, as all others get them. */
struct build {
  char host[64];
  uint64_t pems, path, program; /* sums */
};
enum { BUILD_WORDS = sizeof(struct build) / sizeof(uint64_t) };

static uint64_t sum_of(const char *text) {
  return manifest_sum(text, strlen(text)).sum;
}

/* Sums of what cannot be read are 0: it is taken for the same as all others. */
static void find_build(struct build *b) {
  const void *const program = (const void *)getauxval(AT_PHDR);
  struct identity pems = {0}, own = {0};
  *b = (struct build){0};
  (void)gethostname(b->host, sizeof(b->host) - 1);
  if (identity_find_one(&pems, (const void *)(uintptr_t)find_build, NULL) ==
          0 &&
      identity_find_one(&own, program, NULL) == 0 && pems.n && own.n) {
    b->pems = sum_of(pems.file->id);
    b->path = sum_of(own.file->path);
    b->program = sum_of(own.file->id);
  }
  identity_free(&pems);
  identity_free(&own);
}

static bool differ(uint64_t a, uint64_t b) {
  return a != b && a && b;
}

/* The first process that has the same path and another program. */
static int first_other(const struct build *all, int q) {
  int p = 0;
  while (p < q && (all[p].path != all[q].path ||
                   !differ(all[p].program, all[q].program))) {
    p++;
  }
  return p;
}

static int other_build(struct job_setup *job, const char *what,
                       const struct build *a, const struct build *b) {
  return failure(&job->error, EINVAL,
                 "another build of %s on host %s than on host %s: results may "
                 "be wrong: install the same on all hosts",
                 what, b->host, a->host);
}

/* Programs of other paths may differ. */
static int compare_builds(struct job_setup *job, const struct build *all) {
  for (int q = 1; q < net_size(); q++) {
    if (differ(all[q].pems, all[0].pems)) {
      return other_build(job, "pems", &all[0], &all[q]);
    }
    const int p = first_other(all, q);
    if (p < q) {
      return other_build(job, "the program", &all[p], &all[q]);
    }
  }
  return 0;
}

int job_site_check_builds(struct job_setup *job) {
  struct build mine;
  if (net_size() == 1) {
    return 0;
  }
  struct build *const all = need_zalloc(net_size(), sizeof(*all), "network");
  find_build(&mine);
  net_gather((const uint64_t *)&mine, (uint64_t *)all, BUILD_WORDS);
  int code = compare_builds(job, all);
  native_free(all);
  if (code && !job->options.strict) {
    if (net_rank() == 0) {
      msg_warn("%s", job->error.text);
    }
    code = 0;
  }
  return code;
}
