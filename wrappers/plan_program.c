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
#include "config/machine.h"
#include "config/options.h"
#include "config/plan.h"
#include "config/size.h"
#include "disk/contexts/dirs.h"
#include "wrappers/args.h"
#include "wrappers/measure.h"
#include "wrappers/plan/dry_run.h"
#include "wrappers/plan/forecast.h"
#include "wrappers/site.h"

/* As predict.c has it: contexts on average. */
#define SWAP_REQUEST (UINT64_C(512) << 10)
#define DEFAULT_V 32

struct ask {
  uint64_t size; /* --plan=SIZE, or 0: ranks vary */
  uint64_t sizes[FORECAST_RUNS - 1];
  int n_sizes;
  uint64_t ranks[FORECAST_RUNS - 1];
  int n_ranks;
  double rate;         /* --rate, or 0: to be measured */
  struct args all;     /* pemsrun's options, as given */
  struct args options; /* the same without those that dry runs choose */
  char **program;      /* and its arguments */
  struct options o;    /* what they say */
  struct machine machine;
  struct plan plan; /* of the run asked about */
};

/* --- the command line --- */

/* The value of NAME=VALUE, "" of NAME, NULL if the argument is another. */
static const char *value_of(const char *argument, const char *name) {
  const size_t n = strlen(name);
  if (strncmp(argument, name, n) != 0) {
    return NULL;
  }
  return argument[n] == '=' ? argument + n + 1 : argument[n] ? NULL : "";
}

static const struct option_spec *spec_of(const char *argument) {
  if (strncmp(argument, "--pems-", 7) != 0) {
    return NULL;
  }
  const char *const name = argument + 7;
  for (const struct option_spec *s = option_specs; s->name; s++) {
    if (strlen(s->name) == strcspn(name, "=") &&
        strncmp(s->name, name, strlen(s->name)) == 0) {
      return s;
    }
  }
  return NULL;
}

static bool is_count(const char *argument) {
  return strcmp(argument, "-n") == 0 || strcmp(argument, "-np") == 0;
}

/* Does the option take the next word? */
static bool takes_next(const char *argument) {
  const struct option_spec *const s = spec_of(argument);
  return is_count(argument) || (s && s->operand && !strchr(argument, '='));
}

bool plan_program_asked(char **argv) {
  for (int i = 1; argv[i] && argv[i][0] == '-' && strcmp(argv[i], "--"); i++) {
    if (value_of(argv[i], "--plan")) {
      return true;
    }
    if (takes_next(argv[i]) && argv[i + 1]) {
      i++;
    }
  }
  return false;
}

static uint64_t read_size(const char *argument, const char *text) {
  uint64_t size;
  if (size_parse(text, &size) || size == 0) {
    msg_fail(MSG_USAGE, "%s: give a number, 1 or more, such as 512M", argument);
  }
  return size;
}

static int read_list(const char *argument, const char *text, uint64_t *list) {
  char copy[512], *rest = NULL;
  int n = 0;
  snprintf(copy, sizeof(copy), "%s", text);
  for (char *word = strtok_r(copy, ",", &rest); word;
       word = strtok_r(NULL, ",", &rest)) {
    if (n == FORECAST_RUNS - 1) {
      msg_fail(MSG_USAGE, "%s: give at most %d", argument, FORECAST_RUNS - 1);
    }
    list[n++] = read_size(argument, word);
  }
  if (n < 2) {
    msg_fail(MSG_USAGE, "%s: give two or more, separated by commas", argument);
  }
  return n;
}

/* Options that a dry run has others of: its memory is a part, and what is given
   in bytes would be too much of it. */
static bool is_chosen(const struct option_spec *s) {
  static const char *const chosen[] = {"v", "memory", "context", "sigma",
                                       "k", "report", "stats",   "progress"};
  for (size_t i = 0; i < sizeof(chosen) / sizeof(*chosen); i++) {
    if (strcmp(s->name, chosen[i]) == 0) {
      return true;
    }
  }
  return false;
}

/* Takes argv[i], of pemsrun, as one word. Returns how many words it had. */
static int take_option(struct ask *a, char **argv, int i) {
  const struct option_spec *const s = spec_of(argv[i]);
  const bool next = takes_next(argv[i]);
  if (!s && !is_count(argv[i])) {
    msg_fail(MSG_USAGE, "%s: unexpected with --plan: see pemsinfo --help",
             argv[i]);
  }
  if (next && !argv[i + 1]) {
    msg_fail(MSG_USAGE, "%s: no value: give one behind it", argv[i]);
  }
  const char *const name = s ? argv[i] : "--pems-v";
  char *const word = args_join(name, next ? "=" : "", next ? argv[i + 1] : "");
  args_add(&a->all, word);
  if (s && !is_chosen(s)) {
    args_add(&a->options, word);
  }
  return next ? 2 : 1;
}

static int take(struct ask *a, char **argv, int i) {
  const char *value = value_of(argv[i], "--plan");
  if (value) {
    a->size = *value ? read_size(argv[i], value) : 0;
  } else if ((value = value_of(argv[i], "--sizes"))) {
    a->n_sizes = read_list(argv[i], value, a->sizes);
  } else if ((value = value_of(argv[i], "--ranks"))) {
    a->n_ranks = read_list(argv[i], value, a->ranks);
  } else if ((value = value_of(argv[i], "--rate"))) {
    a->rate = (double)read_size(argv[i], value);
  } else {
    return take_option(a, argv, i);
  }
  return 1;
}

static bool has_place(char *const *program) {
  for (char *const *word = program + 1; *word; word++) {
    if (strchr(*word, '@')) {
      return true;
    }
  }
  return false;
}

static void check_program(const struct ask *a) {
  if (!a->program[0]) {
    msg_fail(MSG_USAGE, "--plan: no program: give one, with its arguments");
  }
  for (char **word = a->program + 1; *word; word++) {
    if (strncmp(*word, "--pems-", 7) == 0) {
      msg_fail(MSG_USAGE, "--plan: %s: give it before the program", *word);
    }
  }
  if (a->size && !has_place(a->program)) {
    msg_fail(MSG_USAGE,
             "--plan: %" PRIu64 ": no @ in the program's arguments: put one "
             "where the size is",
             a->size);
  }
  if (a->size ? a->n_ranks : a->n_sizes) {
    msg_fail(MSG_USAGE, "--%s: not with%s a size: give --%s",
             a->size ? "ranks" : "sizes", a->size ? "" : "out",
             a->size ? "sizes" : "ranks, or --plan=SIZE");
  }
}

static void read_options(struct ask *a) {
  extern char **environ;
  struct pems_error error;
  struct args all = {0};
  args_add(&all, "pemsinfo");
  for (int i = 0; i < a->all.n; i++) {
    args_add(&all, a->all.at[i]);
  }
  if (options_parse(&a->o, &all.n, all.at, environ, &error)) {
    msg_fail(MSG_USAGE, "%s", error.text);
  }
  free(all.at);
  if (!a->o.v) {
    a->o.v = DEFAULT_V;
  }
}

static void read_command_line(struct ask *a, char **argv) {
  int i = 1;
  *a = (struct ask){0};
  while (argv[i] && argv[i][0] == '-') {
    if (strcmp(argv[i], "--") == 0) {
      i++;
      break;
    }
    i += take(a, argv, i);
  }
  a->program = argv + i;
  check_program(a);
  read_options(a);
}

/* --- what is known before --- */

/* Of a process, 0 if that is too little. With or without the report that dry
   runs write. */
static double room_of(struct ask *a, int ranks, uint64_t memory, bool report) {
  static char folder[] = "report";
  struct options o = a->o;
  struct plan p;
  struct pems_error error;
  o.v = ranks;
  o.k = a->plan.k < ranks ? a->plan.k : ranks;
  o.memory = memory;
  o.context = o.sigma = 0;
  o.report = report ? folder : a->o.report;
  const struct plan_site site = site_here(&o, &a->machine);
  return plan_make(&p, &o, &a->machine, &site, &error) ? 0 : (double)p.resident;
}

static double room_here(void *data, int ranks, uint64_t memory) {
  return room_of(data, ranks, memory, false);
}

static double room_dry(void *data, int ranks, uint64_t memory) {
  return room_of(data, ranks, memory, true);
}

static void check_driver(const struct options *o) {
  const struct driver *const d = site_driver(o);
  if (d && d->map) {
    msg_fail(MSG_USAGE,
             "--pems-io: %s: the kernel decides what is moved: give another "
             "driver to predict",
             d->name);
  }
}

static void make_plan(struct ask *a) {
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

static struct forecast_case full_of(const struct ask *a) {
  return (struct forecast_case){.ranks = a->plan.v,
                                .processes = a->plan.nprocs,
                                .k = a->plan.k,
                                .size = a->size,
                                .room =
                                    (double)a->plan.resident * a->plan.nprocs};
}

/* Without --pems-memory: dry runs whose contexts are all to be in memory may
   have what the machine has. */
static uint64_t all_memory(const struct ask *a) {
  struct options o = a->o;
  struct plan p;
  struct pems_error error;
  o.memory = 0;
  const struct plan_site site = site_here(&o, &a->machine);
  const bool bad = plan_make(&p, &o, &a->machine, &site, &error);
  return bad || p.memory.memory < a->plan.memory.memory ? a->plan.memory.memory
                                                        : p.memory.memory;
}

static void choose_cases(struct ask *a) {
  enum { CASES = 3 };
  const int least = a->plan.nprocs * a->plan.k;
  for (int i = 0; a->size && !a->n_sizes && i < CASES; i++) {
    a->sizes[i] = a->size >> (4 - i) ? a->size >> (4 - i) : (uint64_t)(i + 1);
  }
  a->n_sizes = a->size && !a->n_sizes ? CASES : a->n_sizes;
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
  printf("\n%7s %14s %10s %10s %10s %10s %10s %9s\n", "ranks", "size", "memory",
         "context", "supersteps", "read", "written", "seconds");
}

static void print_run(const struct dry_run *r) {
  char memory[16], context[16], read[16], written[16], size[32] = "-";
  if (r->asked.size) {
    snprintf(size, sizeof(size), "%" PRIu64, r->asked.size);
  }
  printf("%7d %14s %10s %10s %10.0f %10s %10s %9.2f\n", r->asked.ranks, size,
         size_format(r->asked.memory, memory, 16),
         size_format((uint64_t)r->context, context, 16), r->supersteps,
         size_format((uint64_t)r->read, read, 16),
         size_format((uint64_t)r->written, written, 16), r->seconds);
  fflush(stdout);
}

static void run_one(struct ask *a, struct dry_run_case c, struct dry_run *r) {
  const struct dry_run_job job = {.pemsrun = find_pemsrun(),
                                  .options = a->options.at,
                                  .program = a->program};
  struct pems_error error;
  if (dry_run(&job, &c, r, &error)) {
    msg_fail(MSG_FAILED, "%s", error.text);
  }
  print_run(r);
}

static int cases(const struct ask *a) {
  return a->size ? a->n_sizes : a->n_ranks;
}

static struct dry_run_case case_of(const struct ask *a, int i) {
  return (struct dry_run_case){.ranks = a->size ? a->plan.v : (int)a->ranks[i],
                               .size = a->size ? a->sizes[i] : 0};
}

/* The part of the contexts of the run asked about that fits in memory. */
static double part_of(const struct ask *a, const struct forecast *f) {
  const struct forecast_case full = full_of(a);
  return full.room / (f->bytes_of_context * full.ranks);
}

/* The memory with which such a part of a dry run's contexts is in memory, and k
   contexts at least. */
static uint64_t tight_memory(struct ask *a, const struct dry_run *known,
                             double part) {
  const struct forecast_case full = full_of(a);
  const int ranks = known->asked.ranks;
  const double room = part * known->context * ranks / full.processes;
  const double least = 1.2 * full.k * known->context;
  return forecast_memory(room > least ? room : least, 1, ranks, room_dry, a);
}

enum {
  TIGHT = 2
}; /* the two largest: what is asked about is far from others */

/* `known` tells how large contexts are in the same cases. Returns how many. */
static int run_tight(struct ask *a, const struct dry_run *known, int n,
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
static struct forecast predict_moves(struct ask *a, const struct dry_run *whole,
                                     int n, const struct forecast *before) {
  const struct forecast_case full = full_of(a);
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

static struct forecast_shape find_shape(struct ask *a, const struct forecast *f,
                                        const struct dry_run *whole) {
  const struct forecast_case full = full_of(a);
  if (!a->size) {
    return forecast_shape_of_ranks(f, &full);
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

/* --- what comes of it --- */

static const char *size(double bytes, char text[16]) {
  return size_format((uint64_t)bytes, text, 16);
}

static void print_steps(const struct forecast *f) {
  char read[16], written[16];
  if (!f->steps) {
    return;
  }
  printf("\n%9s %-24s %10s %10s\n", "superstep", "begins with", "read",
         "written");
  for (int i = 0; i < f->steps; i++) {
    printf("%9d %-24s %10s %10s\n", i, f->step[i].call,
           size(f->step[i].read, read), size(f->step[i].written, written));
  }
}

static void print_forecast(const struct ask *a, const struct forecast *f,
                           double rate, bool measured) {
  const struct forecast_case full = full_of(a);
  const double steps = f->supersteps > 0 ? f->supersteps : 1;
  const double slots = (double)full.k * full.processes;
  char x[16], y[16], z[16];
  printf("\nprediction for %d ranks", full.ranks);
  if (a->size) {
    printf(" and size %" PRIu64, a->size);
  }
  printf("\n%-10s %s of each rank (%s)\n", "context",
         size(f->bytes_of_context, x), fit_text(&f->context));
  printf("%-10s %s for contexts of all processes: %s\n", "memory",
         size(full.room, x),
         f->in_memory ? "all fit"
         : f->ahead   ? "not all fit; those that run next are read ahead"
                      : "fewer than k + 2 fit: nothing is read ahead");
  printf("%-10s %.0f\n", "supersteps", f->supersteps);
  printf("%-10s %s in all, %s per superstep\n", "read", size(f->read, x),
         size(f->read / steps, y));
  printf("%-10s %s in all, %s per superstep\n", "written", size(f->written, x),
         size(f->written / steps, y));
  printf("%-10s %s by the bound of Lemma 7.1.3, where all contexts are moved\n",
         "PEMS2", size(f->pems2, x));
  printf("%-10s %s to other processes\n", "sent", size(f->sent, x));
  printf("%-10s %.4g s at %s/s, %s\n", "disk",
         rate > 0 ? (f->read + f->written) / rate : 0, size(rate, z),
         measured ? "measured here" : "as given");
  printf("%-10s %.4g s\n", "computing", f->computing / slots);
  printf("%-10s %.4g from start to end\n", "seconds",
         forecast_seconds(f, &full, rate));
  print_steps(f);
}

static void print_command(const struct ask *a, int ranks) {
  char memory[24];
  const uint64_t bytes = a->plan.memory.memory;
  if (bytes % (1 << 20)) {
    snprintf(memory, sizeof(memory), "%" PRIu64, bytes);
  } else {
    snprintf(memory, sizeof(memory), "%" PRIu64 "M", bytes >> 20);
  }
  printf("pemsrun -n %d", ranks);
  for (int i = 0; i < a->options.n; i++) {
    printf(" %s", a->options.at[i]);
  }
  printf(" --pems-memory=%s ...\n", memory);
}

static void print_advice(struct ask *a, const struct forecast *f,
                         const struct forecast_shape *shape) {
  const struct forecast_case full = full_of(a);
  char x[16], y[16];
  const int ranks =
      forecast_ranks(shape, &full, a->plan.memory.memory, room_here, a);
  const int own = (full.ranks - 1) / full.processes + 1;
  const int few = full.k + 2 < own ? full.k + 2 : own;
  const uint64_t ahead =
      forecast_memory(f->bytes_of_context, few, full.ranks, room_here, a);
  const uint64_t all =
      forecast_memory(f->bytes_of_context, own, full.ranks, room_here, a);
  puts("\nrecommended");
  if (f->in_memory || f->ahead || ranks == 0) {
    print_command(a, full.ranks);
  } else {
    print_command(a, ranks);
    printf(
        "           k + 2 = %d contexts of %s fit then; with -n %d they have "
        "%s, and need --pems-memory=%s\n",
        full.k + 2, size(forecast_context(shape, ranks), x), full.ranks,
        size(f->bytes_of_context, y), ahead ? size((double)ahead, x) : "?");
  }
  if (!f->ahead && ranks == 0) {
    printf("           with --pems-memory=%s, k + 2 contexts fit; more ranks "
           "would not make them smaller\n",
           ahead ? size((double)ahead, x) : "?");
  }
  if (!f->in_memory && all) {
    printf("           with --pems-memory=%s nothing is moved\n",
           size((double)all, x));
  }
}

static void print_assumptions(const struct ask *a, const struct forecast *f,
                              const struct forecast_shape *shape) {
  puts("\nassumptions");
  printf("- what grows with the %s grows on as it did in the dry runs (off by "
         "%.1f %% at most there)\n",
         a->size ? "size" : "number of ranks", f->off * 100);
  puts(
      "- in the dry runs as large a part of the contexts was in memory as will "
      "be; what remains on disk is V - m contexts");
  puts("- disks do what they did when measured, computing takes as long per "
       "rank as in the dry runs, and k ranks compute at once");
  printf("- with more ranks, contexts %s\n",
         shape->divided > 0 ? "become smaller: the data are divided among them"
                            : "stay as large");
  if (!f->steps && !f->in_memory) {
    puts("- supersteps of dry runs are not alike, or too many to be listed");
  }
  if (a->o.context || a->o.sigma) {
    puts("- --pems-context and --pems-sigma do not hold in dry runs");
  }
}

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
  struct ask a;
  struct dry_run whole[FORECAST_RUNS];
  read_command_line(&a, argv);
  make_plan(&a);
  choose_cases(&a);
  const struct forecast_case full = full_of(&a);
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
  if (!f.in_memory) {
    f = predict_moves(&a, whole, n, &f);
  }
  const struct forecast_shape shape = find_shape(&a, &f, &whole[n - 1]);
  const double rate = a.rate > 0 ? a.rate : measure_rate(&a.o);
  print_forecast(&a, &f, rate, a.rate <= 0);
  print_advice(&a, &f, &shape);
  print_assumptions(&a, &f, &shape);
  options_free(&a.o);
  return fflush(stdout) ? MSG_FAILED : 0;
}
