#define _GNU_SOURCE
#include "config.h"

#include "wrappers/plan_program.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/message.h"
#include "config/size.h"
#include "disk/contexts/dirs.h"
#include "wrappers/measure.h"
#include "wrappers/plan/dry_run.h"
#include "wrappers/plan/forecast.h"
#include "wrappers/plan_ask.h"
#include "wrappers/plan_print.h"
#include "wrappers/site.h"

/* As predict.c has it: contexts on average. */
#define SWAP_REQUEST (UINT64_C(512) << 10)

/* --- what is known before --- */

static void check_driver(const struct options *o) {
  const struct driver *const d = site_driver(o);
  if (d && d->map) {
    msg_fail(MSG_USAGE,
             "--pems-io: %s: the kernel decides what is moved: give another "
             "driver to predict",
             d->name);
  }
}

static void make_plan(struct plan_ask *a) {
  struct pems_error error;
  const int nprocs = a->o.procs ? a->o.procs : 1;
  machine_find(&a->machine, "");
  if (site_check_options(&a->o, nprocs, &error) ||
      disks_check(a->o.disk, &error)) {
    msg_fail(MSG_USAGE, "%s", error.text);
  }
  check_driver(&a->o);
  const struct plan_site site = site_here(&a->o, &a->machine);
  if (plan_make(&a->plan, &a->o, &a->machine, &site, &error)) {
    msg_fail(MSG_USAGE, "%s", error.text);
  }
  char k[32];
  snprintf(k, sizeof(k), "%d", a->plan.k);
  args_add(&a->options, args_join("--pems-k=", k, ""));
}

/* Without --pems-memory: dry runs whose contexts are all to be in memory may
   have what the machine has. */
static uint64_t all_memory(const struct plan_ask *a) {
  struct options o = a->o;
  struct plan p;
  struct pems_error error;
  o.memory = 0;
  const struct plan_site site = site_here(&o, &a->machine);
  const bool bad = plan_make(&p, &o, &a->machine, &site, &error);
  return bad || p.memory.memory < a->plan.memory.memory ? a->plan.memory.memory
                                                        : p.memory.memory;
}

static void choose_cases(struct plan_ask *a) {
  enum { CASES = 3 };
  const int least = a->plan.nprocs * a->plan.k;
  for (int i = 0; a->size && !a->n_sizes && i < CASES; i++) {
    a->sizes[i] = a->size >> (4 - i) ? a->size >> (4 - i) : (uint64_t)(i + 1);
  }
  a->sizes_chosen = a->size && !a->n_sizes;
  a->n_sizes = a->sizes_chosen ? CASES : a->n_sizes;
  for (int i = 0; !a->size && !a->n_ranks && i < CASES; i++) {
    a->ranks[i] = (uint64_t)a->plan.v >> (3 - i);
  }
  a->n_ranks = !a->size && !a->n_ranks ? CASES : a->n_ranks;
  for (int i = 0; i < a->n_ranks; i++) {
    if (a->ranks[i] < (uint64_t)least || a->ranks[i] > 65536) {
      msg_fail(MSG_USAGE,
               "--ranks: %" PRIu64 ": %d process%s with k=%d need %d or more: "
               "give others, or a size",
               a->ranks[i], a->plan.nprocs, a->plan.nprocs > 1 ? "es" : "",
               a->plan.k, least);
    }
  }
}

/* --- dry runs --- */

/* The pemsrun beside this program, else that of the PATH. */
static const char *find_pemsrun(void) {
  static char path[PATH_MAX];
  char self[PATH_MAX - 16] = "";
  const ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
  char *const slash = n > 0 ? strrchr(self, '/') : NULL;
  if (slash) {
    snprintf(path, sizeof(path), "%.*s/pemsrun", (int)(slash - self), self);
    if (access(path, X_OK) == 0) {
      return path;
    }
  }
  const char *const all = getenv("PATH");
  char copy[8192], *rest = NULL;
  snprintf(copy, sizeof(copy), "%s", all ? all : "");
  for (char *dir = strtok_r(copy, ":", &rest); dir;
       dir = strtok_r(NULL, ":", &rest)) {
    snprintf(path, sizeof(path), "%s/pemsrun", dir);
    if (access(path, X_OK) == 0) {
      return path;
    }
  }
  msg_fail(MSG_USAGE, "--plan: pemsrun: not found: put it into the PATH");
}

static void print_runs_head(void) {
  printf("\n%7s %14s %10s %10s %10s %10s %10s %10s %8s\n", "ranks", "size",
         "memory", "context", "supersteps", "read", "written", "processors",
         "seconds");
}

static void print_run(const struct dry_run *r) {
  char memory[16], context[16], read[16], written[16], size[32] = "-";
  if (r->asked.size) {
    snprintf(size, sizeof(size), "%" PRIu64, r->asked.size);
  }
  printf("%7d %14s %10s %10s %10.0f %10s %10s %10.2f %8.2f\n", r->asked.ranks,
         size, size_format(r->asked.memory, memory, 16),
         size_format((uint64_t)r->context, context, 16), r->supersteps,
         size_format((uint64_t)r->read, read, 16),
         size_format((uint64_t)r->written, written, 16), r->processor,
         r->seconds);
  fflush(stdout);
}

static void run_one(struct plan_ask *a, struct dry_run_case c,
                    struct dry_run *r) {
  const struct dry_run_job job = {.pemsrun = find_pemsrun(),
                                  .options = a->options.at,
                                  .program = a->program};
  struct pems_error error;
  if (dry_run(&job, &c, r, &error)) {
    msg_fail(MSG_FAILED, "%s", error.text);
  }
  print_run(r);
}

static int cases(const struct plan_ask *a) {
  return a->size ? a->n_sizes : a->n_ranks;
}

static struct dry_run_case case_of(const struct plan_ask *a, int i) {
  return (struct dry_run_case){.ranks = a->size ? a->plan.v : (int)a->ranks[i],
                               .size = a->size ? a->sizes[i] : 0};
}

/* The part of the contexts of the run asked about that fits in memory. */
static double part_of(const struct plan_ask *a, const struct forecast *f) {
  const struct forecast_case full = plan_ask_full(a);
  return full.room / (f->bytes_of_context * full.ranks);
}

/* The memory with which such a part of a dry run's contexts is in memory, and k
   contexts at least. */
static uint64_t tight_memory(struct plan_ask *a, const struct dry_run *known,
                             double part) {
  const struct forecast_case full = plan_ask_full(a);
  const int ranks = known->asked.ranks;
  const double room = part * known->context * ranks / full.processes;
  const double least = 1.2 * full.k * known->context;
  return forecast_memory(room > least ? room : least, 1, ranks,
                         plan_ask_room_dry, a);
}

/* The two largest: what is asked about is far from others. */
enum { TIGHT = 2 };

/* `known` tells how large contexts are in the same cases. Returns how many. */
static int run_tight(struct plan_ask *a, const struct dry_run *known, int n,
                     double part, struct dry_run *tight) {
  const int runs = n < TIGHT ? n : TIGHT;
  struct dry_run result[TIGHT];
  for (int i = 0; i < runs; i++) {
    struct dry_run_case c = case_of(a, cases(a) - runs + i);
    c.memory = tight_memory(a, &known[n - runs + i], part);
    run_one(a, c, &result[i]);
  }
  memcpy(tight, result, (size_t)runs * sizeof(*result));
  return runs;
}

/* Runs while all was in memory tell about how large contexts are, and so how
   much memory is to be had by those that tell it exactly: where these had much
   more or less than they should, they are run again. */
static struct forecast predict_moves(struct plan_ask *a,
                                     const struct dry_run *whole, int n,
                                     const struct forecast *before) {
  const struct forecast_case full = plan_ask_full(a);
  struct dry_run tight[TIGHT];
  const int runs = run_tight(a, whole, n, part_of(a, before), tight);
  const struct dry_run *const last = &tight[runs - 1];
  const struct forecast f = forecast_make(&full, whole, n, tight, runs);
  const double had = last->room / (last->context * last->asked.ranks);
  const double part = part_of(a, &f);
  if (f.in_memory || (had < 1.25 * part && had > part / 1.25)) {
    return f;
  }
  run_tight(a, tight, runs, part, tight);
  return forecast_make(&full, whole, n, tight, runs);
}

static struct forecast_shape find_shape(struct plan_ask *a,
                                        const struct forecast *f,
                                        const struct dry_run *whole) {
  const struct forecast_case full = plan_ask_full(a);
  if (!a->size) {
    return forecast_shape_of_ranks(f);
  }
  struct dry_run_case c = whole->asked;
  c.ranks = full.ranks / 2;
  if (c.ranks < full.processes * full.k) {
    return (struct forecast_shape){.fixed = f->bytes_of_context};
  }
  struct dry_run half;
  run_one(a, c, &half);
  return forecast_shape(f, &full, whole, &half);
}

/* Sizes that nobody gave may be too small for what they have in common with the
   run asked about: one of half its size in place of the smallest, if its
   contexts fit in memory. Half the size is a quarter of the data where these
   are a square. */
static bool add_larger(struct plan_ask *a, const struct forecast *f,
                       struct dry_run *whole, uint64_t memory) {
  const int n = cases(a);
  const double agree = 0.1;
  const uint64_t half = a->size / 2;
  const double needed = fit_at(&f->context, (double)half) * a->plan.v;
  if (!a->sizes_chosen || (f->off <= agree && !f->uneven) ||
      half <= a->sizes[n - 1] ||
      needed > plan_ask_room_dry(a, a->plan.v, memory) * a->plan.nprocs) {
    return false;
  }
  memmove(a->sizes, a->sizes + 1, (size_t)(n - 1) * sizeof(*a->sizes));
  memmove(whole, whole + 1, (size_t)(n - 1) * sizeof(*whole));
  a->sizes[n - 1] = half;
  struct dry_run_case c = case_of(a, n - 1);
  c.memory = memory;
  run_one(a, c, &whole[n - 1]);
  return true;
}

/* --- all of it --- */

/* Bytes per second of all disks together. */
static double measure_rate(const struct options *o) {
  struct pems_error error;
  double seconds;
  if (measure_disks(o, SWAP_REQUEST, false, &seconds, &error)) {
    msg_fail(MSG_FAILED, "%s", error.text);
  }
  return seconds > 0 ? disks_named(o->disk) / seconds : 0;
}

int plan_program(char **argv) {
  struct plan_ask a;
  struct dry_run whole[FORECAST_RUNS];
  plan_ask_read(&a, argv);
  make_plan(&a);
  choose_cases(&a);
  const struct forecast_case full = plan_ask_full(&a);
  const uint64_t memory = all_memory(&a);
  const int n = cases(&a);
  printf("dry runs of %s\n", a.program[0]);
  print_runs_head();
  for (int i = 0; i < n; i++) {
    struct dry_run_case c = case_of(&a, i);
    c.memory = memory;
    run_one(&a, c, &whole[i]);
  }
  struct forecast f = forecast_make(&full, whole, n, NULL, 0);
  if (add_larger(&a, &f, whole, memory)) {
    f = forecast_make(&full, whole, n, NULL, 0);
  }
  if (!f.in_memory) {
    f = predict_moves(&a, whole, n, &f);
  }
  const struct forecast_shape shape = find_shape(&a, &f, &whole[n - 1]);
  const double rate = a.rate > 0 ? a.rate : measure_rate(&a.o);
  plan_print_forecast(&a, &f, rate, a.rate <= 0);
  plan_print_advice(&a, &f, &shape);
  plan_print_assumptions(&a, &f, &shape, rate, a.rate <= 0);
  options_free(&a.o);
  return fflush(stdout) ? MSG_FAILED : 0;
}
