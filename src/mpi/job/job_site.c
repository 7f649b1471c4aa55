#include "mpi/job/job_site.h"

#include <limits.h>
#include <stdlib.h>

#include "context/calls/create.h"
#include "disk/contexts/dirs.h"
#include "disk/contexts/disk.h"
#include "drivers/driver.h"
#include "mpi_below/net.h"
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
