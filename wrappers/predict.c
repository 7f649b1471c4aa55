#include "wrappers/predict.h"
#include "base/failure.h"
#include "config/size.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/cost.h"
#include "config/measured.h"
#include "disk/choice.h"
#include "disk/contexts/dirs.h"
#include "wrappers/measure.h"
#include "wrappers/site.h"

#define USUAL_MESSAGE (UINT64_C(256) << 10)
/* On average, since free and unchanged memory is left out of contexts. */
#define SWAP_REQUEST (UINT64_C(512) << 10)

/* --- arguments --- */

static const struct {
  const char *name, *what;
  bool per_byte;
} parameters[PARAMETERS] = {
    [PARAMETER_g] = {"g", "from process to process", true},
    [PARAMETER_l] = {"l", "a network superstep without bytes", false},
    [PARAMETER_G] = {"G", "messages to and from one disk", true},
    [PARAMETER_S] = {"S", "contexts to and from one disk", true},
    [PARAMETER_L] = {"L", "a superstep per rank of a process", false},
    [PARAMETER_c] = {"c", "computing per element on one core", false},
};

static const struct algorithm {
  const char *name;
  struct measure_computing (*measure)(uint64_t share, int v);
  struct cost (*thesis)(const struct cost_job *, const struct cost_machine *);
  struct cost (*pems)(const struct cost_job *, const struct cost_machine *);
} algorithms[ALGORITHMS] = {
    {"psrs", measure_psrs, cost_psrs_thesis, cost_psrs},
    {"alltoallv", measure_alltoallv, cost_alltoallv_thesis, cost_alltoallv},
};

bool predict_asked(const struct predict *p) {
  bool asked = false;
  for (int i = 0; i < ALGORITHMS; i++) {
    asked |= p->of[i];
  }
  return asked;
}

static int complain(struct pems_error *error, const char *argument,
                    const char *what) {
  return failure(error, EINVAL, "%s: %s", argument, what);
}

/* "2G/s": seconds per byte; "0.5n", "20u", "3m", "1e-9": seconds. */
static int parse_seconds(const char *text, bool per_byte, double *x) {
  static const char units[] = "num";
  static const double unit[] = {1e-9, 1e-6, 1e-3};
  char rate[32], *end;
  uint64_t bytes;
  const size_t n = strlen(text);
  if (per_byte && n > 2 && n < sizeof(rate) && !strcmp(text + n - 2, "/s")) {
    snprintf(rate, sizeof(rate), "%.*s", (int)n - 2, text);
    if (size_parse(rate, &bytes) || bytes == 0) {
      return -1;
    }
    *x = 1 / (double)bytes;
    return 0;
  }
  *x = strtod(text, &end);
  const char *const suffix = *end ? strchr(units, *end) : NULL;
  if (suffix && end > text) {
    *x *= unit[suffix - units], end++;
  }
  return end == text || *end || !isfinite(*x) || *x < 0 ? -1 : 0;
}

/* The value of --NAME=VALUE, "" of --NAME, or NULL if it is another. */
static const char *value_of(const char *argument, const char *name) {
  const size_t n = strlen(name);
  if (strncmp(argument, "--", 2) || strncmp(argument + 2, name, n)) {
    return NULL;
  }
  const char *const rest = argument + 2 + n;
  return *rest == '=' ? rest + 1 : *rest ? NULL : rest;
}

/* Each of these sets *taken if the argument is one of its own. */
static int read_what(struct predict *p, const char *argument, bool *taken,
                     struct pems_error *error) {
  const char *value = value_of(argument, "predict");
  if (value) {
    *taken = true;
    for (int i = 0; i < ALGORITHMS; i++) {
      p->of[i] |= !*value || !strcmp(value, algorithms[i].name);
    }
    return predict_asked(p) ? 0
                            : complain(error, argument,
                                       "give one of psrs|alltoallv, or none");
  }
  value = value_of(argument, "measure");
  if (!value) {
    return 0;
  }
  *taken = true;
  p->network = !strcmp(value, "network");
  p->measure = !p->network;
  return !*value || p->network
             ? 0
             : complain(error, argument, "give network, or nothing");
}

/* --hosts, --cores, --D. */
static int read_count(struct predict *p, const char *argument, bool *taken,
                      struct pems_error *error) {
  const struct {
    const char *name;
    int *field;
  } counts[] = {{"hosts", &p->hosts}, {"cores", &p->cores}, {"D", &p->disks}};
  for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++) {
    uint64_t x;
    const char *const value = value_of(argument, counts[i].name);
    if (!value) {
      continue;
    }
    *taken = true;
    if (size_parse(value, &x) || x < 1 || x > 65536) {
      return complain(error, argument, "give a number from 1 to 65536");
    }
    *counts[i].field = (int)x;
    return 0;
  }
  return 0;
}

static int read_parameter(struct predict *p, const char *argument, bool *taken,
                          struct pems_error *error) {
  for (int i = 0; i < PARAMETERS; i++) {
    const char *const value = value_of(argument, parameters[i].name);
    if (!value) {
      continue;
    }
    *taken = true;
    if (parse_seconds(value, parameters[i].per_byte, &p->x[i])) {
      return complain(error, argument,
                      parameters[i].per_byte
                          ? "give seconds per byte, such as 0.5n, or 2G/s"
                          : "give seconds, such as 20u or 3m");
    }
    return 0;
  }
  return 0;
}

static int read_elements(struct predict *p, const char *argument, bool *taken,
                         struct pems_error *error) {
  const char *const value = value_of(argument, "n");
  if (!value) {
    return 0;
  }
  *taken = true;
  if (size_parse(value, &p->n) || !p->n) {
    return complain(error, argument, "give a number of elements, 1 or more");
  }
  return 0;
}

static int read_one(struct predict *p, const char *argument, bool *taken,
                    struct pems_error *error) {
  static int (*const readers[])(struct predict *, const char *, bool *,
                                struct pems_error *) = {
      read_what, read_elements, read_count, read_parameter};
  int code = 0;
  *taken = false;
  for (size_t i = 0; i < sizeof(readers) / sizeof(*readers) && !*taken; i++) {
    code = readers[i](p, argument, taken, error);
  }
  return code;
}

int predict_read(struct predict *p, int *argc, char **argv,
                 struct pems_error *error) {
  int to = 1;
  *p = (struct predict){0};
  const char *alone = NULL;
  for (int i = 0; i < PARAMETERS; i++) {
    p->x[i] = -1;
  }
  for (int i = 1; i < *argc; i++) {
    bool taken;
    const int code = read_one(p, argv[i], &taken, error);
    if (code) {
      return code;
    }
    if (taken) {
      alone = argv[i];
    } else {
      argv[to++] = argv[i];
    }
  }
  *argc = to;
  argv[to] = NULL;
  if (alone && !predict_asked(p) && !p->measure && !p->network) {
    return complain(error, alone, "give --predict or --measure, too");
  }
  if (predict_asked(p) && !p->n) {
    return complain(error, "--predict", "give --n=N, the elements");
  }
  return 0;
}

static int per_host(const struct predict *p, int nprocs) {
  return p->hosts ? (nprocs - 1) / p->hosts + 1 : 1;
}

void predict_adapt(const struct predict *p, struct machine *m,
                   struct plan_site *site) {
  if (!predict_asked(p)) {
    return;
  }
  if (p->cores) {
    m->cores = p->cores;
  }
  site->nprocs_host = per_host(p, site->nprocs);
  site->disk_free = UINT64_C(1) << 60;
}

/* --- measuring --- */

/* With few digits: "0.52 ns". */
static void print_parameter(int i, double x, const char *source) {
  const char *unit = "ns";
  double scaled = x * 1e9;
  if (scaled >= 1e6) {
    unit = "ms";
    scaled = x * 1e3;
  } else if (scaled >= 1e3) {
    unit = "us";
    scaled = x * 1e6;
  }
  printf("%-10s %.4g %s%s, %s: %s\n", parameters[i].name, scaled, unit,
         parameters[i].per_byte ? " per byte" : "", source, parameters[i].what);
}

static void print_computing(const char *name, struct measure_computing c) {
  printf(
      "c %-8s %.4g ns, measured here: computing per element, %.4g before the "
      "exchange\n",
      name, (c.first + c.last) * 1e9, c.first * 1e9);
}

/* g and l come together; one process needs none. */
static int find_network(double x[PARAMETERS], int nprocs,
                        struct pems_error *error) {
  double g = 0, l = 0;
  if (x[PARAMETER_g] >= 0 && x[PARAMETER_l] >= 0) {
    return 0;
  }
  const int code = nprocs > 1 ? measure_network(&g, &l, error) : 0;
  if (code) {
    return code;
  }
  if (x[PARAMETER_g] < 0) {
    x[PARAMETER_g] = g;
  }
  if (x[PARAMETER_l] < 0) {
    x[PARAMETER_l] = l;
  }
  return 0;
}

/* For reports to compare with. One that cannot be kept is missed there only. */
static void keep_rate(const struct options *o, double seconds_per_byte) {
  if (seconds_per_byte > 0) {
    const double rate = disks_named(o->disk) / seconds_per_byte;
    (void)measured_keep(o->io ? o->io : "unix",
                        o->disk ? o->disk : choice_default_dir(),
                        (uint64_t)rate);
  }
}

/* Measures and prints all but c, x[i] being negative where not given. */
static int find_parameters(double x[PARAMETERS], const struct options *o,
                           uint64_t message, int nprocs,
                           struct pems_error *error) {
  const char *source[PARAMETERS];
  for (int i = 0; i < PARAMETERS; i++) {
    source[i] = x[i] < 0 ? "measured here" : "given";
  }
  int code = find_network(x, nprocs, error);
  if (code) {
    return code;
  }
  if (x[PARAMETER_L] < 0) {
    x[PARAMETER_L] = measure_turn();
  }
  if (x[PARAMETER_G] < 0) {
    code = measure_disks(o, message, true, &x[PARAMETER_G], error);
  }
  if (!code && x[PARAMETER_S] < 0) {
    code = measure_disks(o, SWAP_REQUEST, false, &x[PARAMETER_S], error);
    keep_rate(o, code ? 0 : x[PARAMETER_S]);
  }
  if (code) {
    return code;
  }
  puts("\nparameters (as in the thesis, B.4)");
  for (int i = 0; i < PARAMETERS; i++) {
    if (x[i] >= 0 && (nprocs > 1 || (i != PARAMETER_g && i != PARAMETER_l))) {
      print_parameter(i, x[i], source[i]);
    }
  }
  return 0;
}

/* Where the kernel decides what moves there is nothing to measure. */
static int check_driver(const struct options *o, struct pems_error *error) {
  const struct driver *const d = site_driver(o);
  if (!d || !d->map) {
    return 0;
  }
  return failure(
      error, EINVAL,
      "--pems-io: %s: the kernel decides what is moved: give another "
      "driver to measure or predict",
      d->name);
}

static int measure(const struct predict *p, const struct options *o,
                   struct pems_error *error) {
  double x[PARAMETERS];
  memcpy(x, p->x, sizeof(x));
  const int code = find_parameters(x, o, USUAL_MESSAGE, 2, error);
  if (code) {
    return code;
  }
  for (int i = 0; i < ALGORITHMS; i++) {
    print_computing(algorithms[i].name,
                    algorithms[i].measure(UINT64_MAX, o->v));
  }
  return 0;
}

/* --- predicting --- */

static int check_job(const struct predict *p, const struct plan *plan,
                     struct pems_error *error) {
  char needed[16], there[16];
  if (p->hosts > plan->nprocs) {
    return failure(error, EINVAL,
                   "--hosts: %d with %d process%s: give at most as many hosts",
                   p->hosts, plan->nprocs, plan->nprocs > 1 ? "es" : "");
  }
  const double mu = 8.0 * (double)p->n / plan->v;
  if (mu <= (double)plan->mu) {
    return 0;
  }
  size_format((uint64_t)mu, needed, sizeof(needed));
  size_format(plan->mu, there, sizeof(there));
  return failure(
      error, EINVAL,
      "--n: %llu elements: a rank needs %s, and its context is %s: give "
      "more ranks (-n) or more --pems-memory",
      (unsigned long long)p->n, needed, there);
}

static struct cost_job job_of(const struct predict *p, const struct plan *plan,
                              const struct options *o,
                              const struct machine *m) {
  return (struct cost_job){
      .n = (double)p->n,
      .v = plan->v,
      .nprocs = plan->nprocs,
      .k = plan->k,
      .per_host = per_host(p, plan->nprocs),
      .cores = m->cores,
      .disks = p->disks ? p->disks : disks_named(o->disk),
      .alpha = plan->alpha ? plan->alpha : plan->v_local,
      .resident = (double)(plan->resident + memory_plan_lent(&plan->memory)),
      .sigma = (double)plan->memory.sigma};
}

/* How long the cores compute, as given or measured. */
static void set_computing(struct cost_job *job, double given,
                          const struct algorithm *a, uint64_t share) {
  struct measure_computing c = {given / 2, given / 2};
  if (given < 0) {
    c = a->measure(share, job->v);
    print_computing(a->name, c);
  }
  job->first = c.first;
  job->last = c.last;
}

static void print_cost(const char *what, const char *by, struct cost c) {
  printf("%-10s %-7s %9.2f %9.2f %9.2f %9.2f %10.0f %10.0f %10.0f\n", what, by,
         c.seconds, c.computing, c.disk, c.network, c.read / 1e6,
         c.written / 1e6, c.sent / 1e6);
}

static void print_job(const struct cost_job *job) {
  char room[16];
  const double ranks = (double)job->v / job->nprocs * job->per_host;
  size_format((uint64_t)(ranks * 8 * job->n / job->v), room, sizeof(room));
  printf("\n%.0f elements of 4 bytes, %d ranks, %d process%s, %d on a host\n",
         job->n, job->v, job->nprocs, job->nprocs > 1 ? "es" : "",
         job->per_host);
  printf("a host: %d core%s, %d disk%s, %s for contexts\n", job->cores,
         job->cores > 1 ? "s" : "", job->disks, job->disks > 1 ? "s" : "",
         room);
}

static void print_costs(const struct predict *p, const struct cost_job *job,
                        const struct cost_machine *m) {
  print_job(job);
  printf("%-18s %9s %9s %9s %9s %10s %10s %10s\n", "", "seconds", "computing",
         "disk", "network", "MB read", "MB written", "MB sent");
  for (int i = 0; i < ALGORITHMS; i++) {
    if (p->of[i]) {
      print_cost(algorithms[i].name, "thesis",
                 algorithms[i].thesis(&job[i], m));
      print_cost(algorithms[i].name, "pems", algorithms[i].pems(&job[i], m));
    }
  }
}

static int predict(const struct predict *p, const struct options *o,
                   const struct plan *plan, const struct machine *machine,
                   struct pems_error *error) {
  const uint64_t share = p->n / (uint64_t)plan->v;
  double x[PARAMETERS];
  memcpy(x, p->x, sizeof(x));
  int code = check_job(p, plan, error);
  if (!code) {
    code = find_parameters(x, o, 4 * share / (uint64_t)plan->v, plan->nprocs,
                           error);
  }
  if (code) {
    return code;
  }
  const struct cost_machine m = {.g = x[PARAMETER_g],
                                 .l = x[PARAMETER_l],
                                 .G = x[PARAMETER_G],
                                 .S = x[PARAMETER_S],
                                 .L = x[PARAMETER_L] * plan->v / plan->nprocs};
  struct cost_job job[ALGORITHMS];
  for (int i = 0; i < ALGORITHMS; i++) {
    job[i] = job_of(p, plan, o, machine);
    if (p->of[i]) {
      set_computing(&job[i], x[PARAMETER_c], &algorithms[i], share);
    }
  }
  print_costs(p, job, &m);
  return 0;
}

int predict_run(const struct predict *p, const struct options *o,
                const struct plan *plan, const struct machine *m,
                struct pems_error *error) {
  const bool asked = predict_asked(p);
  if (!asked && !p->measure) {
    return 0;
  }
  const int code = check_driver(o, error);
  if (code) {
    return code;
  }
  return asked ? predict(p, o, plan, m, error) : measure(p, o, error);
}
