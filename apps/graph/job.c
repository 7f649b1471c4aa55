#include "job.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph_file.h"
#include "job_generate.h"
#include "job_report.h"

enum { SETTINGS_MOST = 48, REPEAT_MOST = 10000 };

struct options {
  struct settings_machine machine;
  const char *graph, *places, *generate, *sched;
  uint64_t weights;
  uint64_t delta, chunk, queues, domains, repeat, seed;
  int both, load, measure, rank, verify;
};

static _Noreturn void fail_with(const char *before, const char *format,
                                va_list values) {
  struct pems_error error = {.code = EINVAL};
  const size_t n =
      (size_t)snprintf(error.text, sizeof(error.text), "%s", before);
  vsnprintf(error.text + n, sizeof(error.text) - n, format, values);
  settings_fail(&error);
}

_Noreturn void job_fail(const char *format, ...) {
  va_list values;
  va_start(values, format);
  fail_with("", format, values);
}

_Noreturn void job_differ(const struct job *job, const char *format, ...) {
  va_list values;
  char before[120];
  snprintf(before, sizeof(before),
           "not verified: %s with %d threads differs from the reference: ",
           pems_sched_kind(job->sched), pems_sched_threads(job->sched));
  va_start(values, format);
  fail_with(before, format, values);
}

void *job_memory(const char *what, uint64_t n, size_t size) {
  struct pems_error error;
  void *const memory = graph_memory(n * size, &error);
  if (!memory) {
    job_fail("no memory for %s: %" PRIu64 " times %zu bytes: take a smaller "
             "graph",
             what, n, size);
  }
  return memory;
}

/* --- options --- */

static void add_settings(struct setting *all, const struct setting *more) {
  size_t at = 0;
  while (all[at].name) {
    at++;
  }
  for (; more && more->name && at + 1 < SETTINGS_MOST; more++) {
    all[at++] = *more;
  }
}

static void read_options(int argc, char **argv, struct options *o,
                         const struct job_program *program) {
  struct setting all[SETTINGS_MOST] = {
      {"graph", SETTING_TEXT, &o->graph,
       "FILE    the graph: .csr, .gr, .mtx, .txt or .el"},
      {"places", SETTING_TEXT, &o->places,
       "FILE   coordinates for a .gr (the .co beside it)"},
      {"both", SETTING_FLAG, &o->both,
       "         add the reverse of each edge of a file"},
      {"weights", SETTING_COUNT, &o->weights,
       "N     random weights, 1 to N, where a file has none (all are 1)"},
      {"load", SETTING_FLAG, &o->load,
       "         read a .csr into memory, do not map it"},
      {"generate", SETTING_TEXT, &o->generate, JOB_GENERATE_HELP},
      {"sched", SETTING_TEXT, &o->sched,
       "NAME    pmod, obim, multiqueue, reld or spraylist"},
      {"threads", SETTING_COUNT, &o->machine.threads,
       "N     threads (one per core)"},
      {"chunk", SETTING_COUNT, &o->chunk,
       "N       obim, pmod: tasks in a chunk (64)"},
      {"domains", SETTING_COUNT, &o->domains,
       "N     obim, pmod: FIFOs per bag (NUMA domains)"},
      {"delta", SETTING_COUNT, &o->delta,
       "N       obim: shifts priorities right by N bits (0)"},
      {"queues", SETTING_COUNT, &o->queues,
       "C      multiqueue: queues per thread (4)"},
      {"memory", SETTING_SIZE, &o->machine.memory,
       "SIZE   pmod: memory for tasks, as 64M; the rest goes to disk"},
      {"disk", SETTING_DISK, &o->machine,
       "DIR      for that; again for more disks"},
      {"io", SETTING_TEXT, &o->machine.io,
       "DRIVER     unix, aio, uring, mmap or mem"},
      {"seed", SETTING_COUNT, &o->seed, "N        of what is random (1)"},
      {"repeat", SETTING_COUNT, &o->repeat, "N      run that often (1)"},
      {"measure", SETTING_FLAG, &o->measure,
       "      where the cycles went, and how lmf changed"},
      {"rank", SETTING_FLAG, &o->rank, "         measure rank errors"},
      {"verify", SETTING_FLAG, &o->verify,
       "       compare with a sequential algorithm"},
      {0}};
  add_settings(all, program->setting);
  settings_read(argc, argv, program->usage, all, NULL, 0, 0);
  if (!o->graph == !o->generate) {
    job_fail("graph: %s: give --graph FILE or --generate SPEC",
             o->graph ? "there are two" : "there is none");
  }
  if (o->weights > UINT32_MAX) {
    job_fail("weights: %" PRIu64 ": give at most %" PRIu32, o->weights,
             UINT32_MAX);
  }
  if (o->repeat < 1 || o->repeat > REPEAT_MOST) {
    job_fail("repeat: %" PRIu64 ": give 1 to %d", o->repeat, REPEAT_MOST);
  }
}

/* What does not fit is refused by pems_sched_new. */
static int to_int(uint64_t n) {
  return n > INT_MAX ? INT_MAX : (int)n;
}

static void make_sched(struct job *job, const struct options *o) {
  const struct pems_sched_options options = {
      .task = job->program->task,
      .seed = o->seed,
      .measure = o->measure,
      .log = o->rank,
      .chunk = to_int(o->chunk),
      .domains = to_int(o->domains),
      .delta = to_int(o->delta),
      .queues = to_int(o->queues),
      .memory = o->machine.memory,
      .scratch = {.path = o->machine.disks ? o->machine.disk : NULL,
                  .count = o->machine.disks,
                  .io = o->machine.io}};
  struct pems_error error;
  if (pems_sched_new(&job->sched, o->sched, to_int(job->threads), &options,
                     &error)) {
    settings_fail(&error);
  }
}

/* --- the graph --- */

static int read_graph(struct graph *g, const struct options *o,
                      struct pems_error *error) {
  const struct graph_read_options options = {
      .places = o->places,
      .both = o->both,
      .weights = {o->weights > 0, (uint32_t)o->weights},
      .seed = o->seed,
      .load = o->load,
      .notes = stderr};
  return graph_read(g, o->graph, &options, error);
}

static void get_graph(struct job *job, const struct options *o) {
  struct pems_error error;
  if (o->generate ? job_generate(&job->graph, o->generate, &error)
                  : read_graph(&job->graph, o, &error)) {
    settings_fail(&error);
  }
  if (!job->graph.nodes) {
    job_fail("graph: %s: it has no nodes", o->graph ? o->graph : o->generate);
  }
  if (job->program->places && !job->graph.place) {
    job_fail("graph: %s: it has no coordinates: give one with a .co file, or "
             "--generate road",
             o->graph ? o->graph : o->generate);
  }
}

static const char *name_of(const struct options *o) {
  const char *const slash = o->graph ? strrchr(o->graph, '/') : NULL;
  return o->generate ? o->generate : slash ? slash + 1 : o->graph;
}

uint32_t job_node(const struct job *job, const char *option, uint64_t given) {
  const struct graph *const g = &job->graph;
  uint64_t best = 0;
  if (given != JOB_ANY && given >= g->nodes) {
    job_fail("%s: %" PRIu64 ": the graph has nodes 0 to %" PRIu64, option,
             given, g->nodes - 1);
  }
  if (given != JOB_ANY) {
    return (uint32_t)given;
  }
  for (uint64_t v = 1; v < g->nodes; v++) {
    if (g->first[v + 1] - g->first[v] > g->first[best + 1] - g->first[best]) {
      best = v;
    }
  }
  return (uint32_t)best;
}

/* --- runs --- */

static double run_round(struct job *job) {
  const struct job_program *const program = job->program;
  const struct pems_sched_run_options options = {
      .run = program->run, .ahead = program->ahead, .arg = program->state};
  struct pems_error error;
  program->reset(job, program->state);
  const double start = settings_seconds(), cpu = settings_cpu_seconds();
  program->begin(job, program->state);
  if (pems_sched_run(job->sched, &options, &error)) {
    settings_fail(&error);
  }
  const double seconds = settings_seconds() - start;
  job->cpu_seconds += settings_cpu_seconds() - cpu;
  program->check(job, program->state);
  return seconds;
}

static double run_repetition(struct job *job) {
  double seconds = 0;
  job->best = 0;
  job->cpu_seconds = 0;
  for (job->round = 0; job->round < job->rounds; job->round++) {
    seconds += run_round(job);
  }
  return seconds;
}

static void run_all(struct job *job, const struct options *o) {
  double *const seconds = job_memory("times", o->repeat, sizeof(*seconds));
  struct job_report report = {.graph = name_of(o),
                              .delta = to_int(o->delta),
                              .measure = o->measure,
                              .rank = o->rank,
                              .limit = o->machine.memory};
  for (uint64_t i = 0; i < o->repeat; i++) {
    pems_sched_free(job->sched);
    make_sched(job, o);
    seconds[i] = run_repetition(job);
    report.repetition = i + 1;
    report.seconds = seconds[i];
    job_report(job, &report);
  }
  job_summary(job, report.graph, seconds, o->repeat);
  free(seconds);
}

int job_main(int argc, char **argv, const struct job_program *program) {
  struct options o = {.repeat = 1, .seed = 1};
  struct job job = {.program = program, .rounds = 1};
  read_options(argc, argv, &o, program);
  job.verify = o.verify;
  job.seed = o.seed;
  job.threads = o.machine.threads;
  /* What is wrong with the options is said before there is a graph. */
  if (program->options) {
    program->options(&job, program->state);
  }
  make_sched(&job, &o);
  get_graph(&job, &o);
  program->prepare(&job, program->state);
  run_all(&job, &o);
  program->end(program->state);
  pems_sched_free(job.sched);
  graph_free(&job.graph);
  return EXIT_SUCCESS;
}
