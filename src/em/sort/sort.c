#include "em/sort/sort.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/extensible.h"
#include "base/failure.h"
#include "base/limit.h"
#include "config/options.h"
#include "config/size.h"
#include "em/core/bisect.h"
#include "em/core/defaults.h"
#include "os/clock.h"

/* Less than this is not tried: 2^50 is more than any. */
#define LEAST_MEMORY ((uint64_t)16 << 10)
#define MOST_MEMORY ((uint64_t)1 << 50)

/* --- options --- */

static int check_options(const struct pems_sort_options *o,
                         struct pems_error *error) {
  const int failed = pems_record_check(&o->record, error);
  if (failed) {
    return failed;
  }
  if (o->block % PEMS_DISK_UNIT || (o->block && o->block < o->record.size)) {
    return failure(error, EINVAL,
                   "block size: %zu bytes: give a multiple of %d that holds a "
                   "record",
                   o->block, PEMS_DISK_UNIT);
  }
  if (o->threads < 0 || o->threads > 1024) {
    return failure(error, EINVAL, "threads: %d: give 1 to 1024", o->threads);
  }
  if (o->merge_threads < 0 || o->merge_threads > 1024) {
    return failure(error, EINVAL, "merge_threads: %d: give 1 to 1024",
                   o->merge_threads);
  }
  if (o->write_buffers < 0 || o->read_buffers < 0 || o->prefetch_buffers < 0) {
    return failure(error, EINVAL, "buffers: a negative number: give 0 or more");
  }
  if ((unsigned)o->runs > PEMS_RUNS_LONG ||
      (unsigned)o->deal > PEMS_DEAL_RANDOM ||
      (unsigned)o->fetch > PEMS_FETCH_NAIVE) {
    return failure(error, EINVAL,
                   "runs, deal or fetch: no such value: see pems/sort.h");
  }
  return 0;
}

/* The options with what pems chooses where the user does not. */
static struct pems_sort_options chosen(const struct pems_sort_options *given) {
  struct pems_sort_options o = *given;
  if (!o.memory) {
    o.memory = defaults_memory();
  }
  if (!o.threads) {
    o.threads = defaults_threads();
  }
  if (!o.merge_threads) {
    o.merge_threads = o.threads;
  }
  if (!o.merge_memory) {
    o.merge_memory = o.memory;
  }
  return o;
}

static int too_small(const struct pems_sort_options *o,
                     struct pems_error *error) {
  char given[16];
  size_format(o->memory < o->merge_memory ? o->memory : o->merge_memory, given,
              sizeof(given));
  return failure(
      error, ENOMEM,
      "memory for sorting: %s: give %lluK or more (fewer threads or a "
      "smaller block need less)",
      given, (unsigned long long)pems_sort_least_memory(o) / 1024);
}

/* True if sorting works with these options: by this plan. */
static bool works(const struct pems_sort_options *o,
                  const struct kernel *kernel, int disks,
                  struct sort_plan *plan) {
  struct sort_merge_plan merge;
  if (sort_plan(plan, o, kernel, disks)) {
    return false;
  }
  const uint64_t runs = o->count ? (o->count - 1) / plan->run_records + 1 : 2;
  const uint64_t blocks =
      o->count ? o->count / sort_per_block(o, plan->block) + runs : 2;
  return runs == 1 || sort_merge_plan(&merge, o, kernel, disks, plan->block,
                                      (size_t)runs, blocks) == 0;
}

static int disks_of(const struct pems_sort_options *o) {
  return o->disks           ? pems_disks_count(o->disks)
         : o->scratch.count ? o->scratch.count
                            : 1;
}

/* More than were expected, in bytes, that do not make a sorter slow. */
#define UNEXPECTED ((uint64_t)64 << 10)

uint64_t sort_room(const struct pems_sort_options *o) {
  return o->count ? o->count + UNEXPECTED / o->record.size + 1 : 0;
}

int sort_options(struct pems_sort_options *o,
                 const struct pems_sort_options *given,
                 struct pems_error *error) {
  return extensible_copy(o, sizeof(*o), given, sizeof(*o), "sort options",
                         error);
}

/* In so many units of memory: for a file, and for a sorter. */
static bool works_in(const void *options, uint64_t units) {
  struct pems_sort_options o = *(const struct pems_sort_options *)options;
  const struct kernel *const kernel = kernel_find(&o.record, o.kernel);
  const int disks = disks_of(&o);
  struct sort_plan plan;
  o.memory = o.merge_memory = units * PEMS_DISK_UNIT;
  if (!works(&o, kernel, disks, &plan)) {
    return false;
  }
  o.count = sort_room(&o);
  return works(&o, kernel, disks, &plan);
}

uint64_t pems_sort_least_memory(const struct pems_sort_options *options) {
  struct pems_sort_options o;
  if (sort_options(&o, options, NULL) || check_options(&o, NULL)) {
    return 0;
  }
  o = chosen(&o);
  if (!kernel_find(&o.record, o.kernel)) {
    return 0;
  }
  return PEMS_DISK_UNIT * bisect_least(works_in, &o,
                                       LEAST_MEMORY / PEMS_DISK_UNIT,
                                       MOST_MEMORY / PEMS_DISK_UNIT);
}

static const char *kernel_names[8]; /* NULL at the end */

static void name_kernels(void) {
  const size_t most = sizeof(kernel_names) / sizeof(*kernel_names) - 1;
  for (size_t i = 0; kernels[i] && i < most; i++) {
    kernel_names[i] = kernels[i]->name;
  }
}

const char *const *pems_sort_kernels(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, name_kernels);
  return kernel_names;
}

/* --- beginning and end --- */

int sort_open_disks(struct sort *s, struct pems_error *error) {
  s->disks = s->o.disks;
  if (s->disks) {
    return 0;
  }
  s->own_disks = 1;
  return pems_disks_open(&s->disks, &s->o.scratch, error);
}

static int prepare(struct sort *s, struct pems_error *error) {
  const int failed = sort_open_disks(s, error);
  if (failed) {
    return failed;
  }
  if (!works(&s->o, s->kernel, pems_disks_count(s->disks), &s->plan)) {
    return too_small(&s->o, error);
  }
  return sort_team(s, s->o.threads, error);
}

int sort_begin(struct sort *s, const struct pems_sort_options *options,
               struct pems_error *error) {
  *s = (struct sort){0};
  int failed = check_options(options, error);
  if (failed) {
    return failed;
  }
  s->o = chosen(options);
  s->kernel = kernel_choose(&s->o.record, s->o.kernel, error);
  if (!s->kernel) {
    return EINVAL;
  }
  failed = prepare(s, error);
  if (failed) {
    if (s->own_disks) {
      pems_disks_close(s->disks);
    }
    return failed;
  }
  memory_init(&s->memory, s->o.memory);
  memory_keep(&s->memory, true);
  runs_init(&s->runs, &s->memory, s->disks, s->plan.block, s->o.record.size);
  s->counts = (struct pems_sort_counts){
      .block = s->plan.block,
      .disks = pems_disks_count(s->disks),
      .threads = s->o.threads,
      .kernel = s->kernel->name,
  };
  return 0;
}

void sort_end(struct sort *s) {
  runs_clear(&s->runs);
  team_free(s->team);
  memory_destroy(&s->memory);
  if (s->own_disks) {
    pems_disks_close(s->disks);
  }
}

int sort_team(struct sort *s, int k, struct pems_error *error) {
  if (s->team && team_size(s->team) == k) {
    return 0;
  }
  team_free(s->team);
  s->team = NULL;
  const int failed = team_new(&s->team, k);
  char advice[LIMIT_TEXT];
  return failed
             ? failure(
                   error, failed, "threads: %d: %s: %s", k, strerror(failed),
                   limit_advice(advice, LIMIT_THREAD, failed, 0, "use fewer"))
             : 0;
}

/* --- phases --- */

void sort_phase_begin(struct sort *s, uint64_t memory) {
  memory_limit(&s->memory, memory);
  s->began_ns = clock_ns();
  s->cpu_before = team_cpu_ns(s->team);
  pems_disks_counts(s->disks, &s->io_before);
}

void sort_add_io(struct pems_disk_counts *to,
                 const struct pems_disk_counts *before,
                 const struct pems_disk_counts *after) {
  to->reads += after->reads - before->reads;
  to->writes += after->writes - before->writes;
  to->merged += after->merged - before->merged;
  to->bytes_read += after->bytes_read - before->bytes_read;
  to->bytes_written += after->bytes_written - before->bytes_written;
}

void sort_phase_end(struct sort *s, struct pems_sort_phase *phase) {
  struct pems_disk_counts now;
  pems_disks_counts(s->disks, &now);
  sort_add_io(&phase->io, &s->io_before, &now);
  phase->seconds += (double)(clock_ns() - s->began_ns) / 1e9;
  phase->cpu_seconds += (double)(team_cpu_ns(s->team) - s->cpu_before) / 1e9;
  s->counts.memory = memory_most(&s->memory);
}
