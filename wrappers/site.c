#include "config.h"

#include "wrappers/site.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/failure.h"
#include "disk/choice.h"
#include "disk/contexts/dirs.h"
#include "disk/contexts/disk.h"
#include "mpi_below/flavour.h"
#include "report/trace.h"

const struct driver *site_driver(const struct options *o) {
  const char *args;
  const struct driver *const outer = driver_find(o->io ? o->io : "unix", &args);
  return outer ? driver_innermost(outer, args) : NULL;
}

int site_each_dir(const struct options *o,
                  int (*see)(const char *dir, void *data), void *data) {
  if (!o->disk) {
    return see(choice_default_dir(), data);
  }
  char *const copy = strdup(o->disk);
  char *rest = NULL;
  int status = copy ? 0 : -1;
  for (char *dir = copy ? strtok_r(copy, ",", &rest) : NULL; dir && status == 0;
       dir = strtok_r(NULL, ",", &rest)) {
    status = see(dir, data);
  }
  free(copy);
  return status;
}

/* What may follow the name of a driver that takes something, it says itself
   when it is opened; the others take nothing. */
static int check_driver(const char *io, struct pems_error *error) {
  const char *args;
  const struct driver *const driver = io ? driver_find(io, &args) : NULL;
  if (!io || (driver && (!args || driver->args))) {
    return 0;
  }
  if (driver) {
    return failure(error, EINVAL, "I/O driver: %s: give just --pems-io=%s", io,
                   driver->name);
  }
  size_t at = 0;
  char known[256] = "";
  for (int i = 0; drivers[i] && at < sizeof(known); i++) {
    at += (size_t)snprintf(known + at, sizeof(known) - at, "%s%s",
                           i ? ", " : "", drivers[i]->name);
  }
  return failure(error, EINVAL, "unknown driver: %s: give one of %s", io,
                 known);
}

int site_check_options(const struct options *o, int nprocs,
                       struct pems_error *error) {
  const int code = check_driver(o->io, error);
  if (code) {
    return code;
  }
  if (o->stripe % DISK_BLOCK) {
    return failure(error, EINVAL,
                   "--pems-stripe: %llu bytes: give a multiple of %d bytes",
                   (unsigned long long)o->stripe, DISK_BLOCK);
  }
  if (o->track == TRACK_FAULT && nprocs > 1) {
    return failure(
        error, EINVAL,
        "--pems-track=fault: with %d processes: it cannot be used with "
        "more than one: give --pems-track=auto",
        nprocs);
  }
  return 0;
}

static bool is_in_memory(const struct options *o) {
  const struct driver *const d = site_driver(o);
  return d && d->in_memory;
}

/* Free bytes for the contexts of a process, as the job will see them. */
static uint64_t free_space(const struct options *o, const struct machine *m,
                           int v_local) {
  return is_in_memory(o) ? m->available
                         : disks_free_for(o->disk, v_local, o->stripe);
}

struct plan_site site_here(const struct options *o, const struct machine *m) {
  const int nprocs = o->procs ? o->procs : 1;
  const int v_local = (o->v - 1) / nprocs + 1;
  return (struct plan_site){
      .nprocs = nprocs,
      .nprocs_host = nprocs,
      .disk_free = free_space(o, m, v_local),
      .file_most = is_in_memory(o) ? 0 : disks_file_most(o->disk),
      .on_disk = site_driver(o) && site_driver(o)->map,
      .base_rss = flavour_memory(),
      .report = o->report ? trace_memory(v_local) : 0,
  };
}

void site_clean_environment(void) {
  unsetenv("PEMS_CC");
  unsetenv("PEMS_CXX");
  unsetenv("PEMS_FC");
}
