#include "wrappers/predict.h"
#include "config/size.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/cost.h"
#include "disk/contexts/disk.h"
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

static int complain(char *err, size_t err_size, const char *argument,
                    const char *what) {
  snprintf(err, err_size, "%s: %s", argument, what);
  return -1;
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

static int read_what(struct predict *p, const char *argument, char *err,
                     size_t err_size) {
  const char *value = value_of(argument, "predict");
  if (value) {
    for (int i = 0; i < ALGORITHMS; i++) {
      p->of[i] |= !*value || !strcmp(value, algorithms[i].name);
    }
    return predict_asked(p) ? 1
                            : complain(err, err_size, argument,
                                       "give one of psrs|alltoallv, or none");
  }
  value = value_of(argument, "measure");
  if (!value) {
    return 0;
  }
  p->network = !strcmp(value, "network");
  p->measure = !p->network;
  return !*value || p->network
             ? 1
             : complain(err, err_size, argument, "give network, or nothing");
}

/* --hosts, --cores, --D. */
static int read_count(struct predict *p, const char *argument, char *err,
                      size_t err_size) {
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
    if (size_parse(value, &x) || x < 1 || x > 65536) {
      return complain(err, err_size, argument, "give a number from 1 to 65536");
    }
    *counts[i].field = (int)x;
    return 1;
  }
  return 0;
}

static int read_parameter(struct predict *p, const char *argument, char *err,
                          size_t err_size) {
  for (int i = 0; i < PARAMETERS; i++) {
    const char *const value = value_of(argument, parameters[i].name);
    if (!value) {
      continue;
    }
    if (parse_seconds(value, parameters[i].per_byte, &p->x[i])) {
      return complain(err, err_size, argument,
                      parameters[i].per_byte
                          ? "give seconds per byte, such as 0.5n, or 2G/s"
                          : "give seconds, such as 20u or 3m");
    }
    return 1;
  }
  return 0;
}

static int read_elements(struct predict *p, const char *argument, char *err,
                         size_t err_size) {
  const char *const value = value_of(argument, "n");
  if (!value) {
    return 0;
  }
  if (size_parse(value, &p->n) || !p->n) {
    return complain(err, err_size, argument,
                    "give a number of elements, 1 or more");
  }
  return 1;
}

/* How many arguments it took: 0 or 1, or -1. */
static int read_one(struct predict *p, const char *argument, char *err,
                    size_t err_size) {
  static int (*const readers[])(struct predict *, const char *, char *,
                                size_t) = {read_what, read_elements, read_count,
                                           read_parameter};
  int taken = 0;
  for (size_t i = 0; i < sizeof(readers) / sizeof(*readers) && !taken; i++) {
    taken = readers[i](p, argument, err, err_size);
  }
  return taken;
}

int predict_read(struct predict *p, int *argc, char **argv, char *err,
                 size_t err_size) {
  int to = 1;
  *p = (struct predict){0};
  const char *alone = NULL;
  for (int i = 0; i < PARAMETERS; i++) {
    p->x[i] = -1;
  }
  for (int i = 1; i < *argc; i++) {
    const int taken = read_one(p, argv[i], err, err_size);
    if (taken < 0) {
      return -1;
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
    return complain(err, err_size, alone, "give --predict or --measure, too");
  }
  if (predict_asked(p) && !p->n) {
    return complain(err, err_size, "--predict", "give --n=N, the elements");
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
static int find_network(double x[PARAMETERS], int nprocs, char *err,
                        size_t err_size) {
  double g = 0, l = 0;
  if (x[PARAMETER_g] >= 0 && x[PARAMETER_l] >= 0) {
    return 0;
  }
  if (nprocs > 1 && measure_network(&g, &l, err, err_size)) {
    return -1;
  }
  if (x[PARAMETER_g] < 0) {
    x[PARAMETER_g] = g;
  }
  if (x[PARAMETER_l] < 0) {
    x[PARAMETER_l] = l;
  }
  return 0;
}

/* Measures and prints all but c, x[i] being negative where not given. */
static int find_parameters(double x[PARAMETERS], const struct options *o,
                           uint64_t message, int nprocs, char *err,
                           size_t err_size) {
  const char *source[PARAMETERS];
  for (int i = 0; i < PARAMETERS; i++) {
    source[i] = x[i] < 0 ? "measured here" : "given";
  }
  if (find_network(x, nprocs, err, err_size)) {
    return -1;
  }
  if (x[PARAMETER_L] < 0) {
    x[PARAMETER_L] = measure_turn();
  }
  if (x[PARAMETER_G] < 0 &&
      measure_disks(o, message, 1, &x[PARAMETER_G], err, err_size)) {
    return -1;
  }
  if (x[PARAMETER_S] < 0 &&
      measure_disks(o, SWAP_REQUEST, 0, &x[PARAMETER_S], err, err_size)) {
    return -1;
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
static int check_driver(const struct options *o, char *err, size_t err_size) {
  const struct driver *const d = site_driver(o);
  if (!d || !d->map) {
    return 0;
  }
  snprintf(err, err_size,
           "--pems-io: %s: the kernel decides what is moved: give another "
           "driver to measure or predict",
           d->name);
  return -1;
}

static int measure(const struct predict *p, const struct options *o, char *err,
                   size_t err_size) {
  double x[PARAMETERS];
  memcpy(x, p->x, sizeof(x));
  if (find_parameters(x, o, USUAL_MESSAGE, 2, err, err_size)) {
    return -1;
  }
  for (int i = 0; i < ALGORITHMS; i++) {
    print_computing(algorithms[i].name,
                    algorithms[i].measure(UINT64_MAX, o->v));
  }
  return 0;
}

/* --- predicting --- */

static int check_job(const struct predict *p, const struct plan *plan,
                     char *err, size_t err_size) {
  char needed[16], there[16];
  if (p->hosts > plan->nprocs) {
    snprintf(err, err_size,
             "--hosts: %d with %d process%s: give at most as many hosts",
             p->hosts, plan->nprocs, plan->nprocs > 1 ? "es" : "");
    return -1;
  }
  const double mu = 8.0 * (double)p->n / plan->v;
  if (mu <= (double)plan->mu) {
    return 0;
  }
  size_format((uint64_t)mu, needed, sizeof(needed));
  size_format(plan->mu, there, sizeof(there));
  snprintf(err, err_size,
           "--n: %llu elements: a rank needs %s, and its context is %s: give "
           "more ranks (-n) or more --pems-memory",
           (unsigned long long)p->n, needed, there);
  return -1;
}

static struct cost_job job_of(const struct predict *p, const struct plan *plan,
                              const struct options *o,
                              const struct machine *m) {
  return (struct cost_job){.n = (double)p->n,
                           .v = plan->v,
                           .nprocs = plan->nprocs,
                           .k = plan->k,
                           .per_host = per_host(p, plan->nprocs),
                           .cores = m->cores,
                           .disks = p->disks ? p->disks : disks_named(o->disk),
                           .alpha = plan->alpha ? plan->alpha : plan->v_local,
                           .resident = (double)plan->resident,
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
                   char *err, size_t err_size) {
  const uint64_t share = p->n / (uint64_t)plan->v;
  double x[PARAMETERS];
  memcpy(x, p->x, sizeof(x));
  if (check_job(p, plan, err, err_size) ||
      find_parameters(x, o, 4 * share / (uint64_t)plan->v, plan->nprocs, err,
                      err_size)) {
    return -1;
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
                const struct plan *plan, const struct machine *m, char *err,
                size_t err_size) {
  const bool asked = predict_asked(p);
  if (!asked && !p->measure) {
    return 0;
  }
  if (check_driver(o, err, err_size)) {
    return -1;
  }
  return asked ? predict(p, o, plan, m, err, err_size)
               : measure(p, o, err, err_size);
}
