#include "wrappers/graph/pems_graph_job.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/message.h"
#include "digraph/digraph_file.h"
#include "os/clock.h"
#include "wrappers/graph/pems_graph_job_generate.h"
#include "wrappers/graph/pems_graph_job_report.h"

enum { OPTIONS_MOST = 44, REPEAT_MOST = 10000 };

struct options {
  const char *graph, *from, *places, *generate, *sched, *format, *weights;
  uint64_t task_memory;
  uint64_t delta, chunk, queues, domains, repeat, seed;
  int undirected, load, measure, rank, external;
};

_Noreturn void job_fail(const char *format, ...) {
  char text[600];
  va_list values;
  va_start(values, format);
  vsnprintf(text, sizeof(text), format, values);
  va_end(values);
  msg_fail(MSG_USAGE, "%s", text);
}

_Noreturn void job_differ(const struct job *job, const char *format, ...) {
  char text[600];
  va_list values;
  va_start(values, format);
  vsnprintf(text, sizeof(text), format, values);
  va_end(values);
  msg_fail(MSG_FAILED,
           "not verified: %s with %d threads differs from the reference: %s: "
           "this is a mistake in pems",
           job_way(job), pems_sched_threads(job->sched), text);
}

double job_seconds(void) {
  return (double)clock_ns() / 1e9;
}

double job_cpu_seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void *job_memory(const char *what, uint64_t n, size_t size) {
  struct pems_error error;
  void *const memory = digraph_memory(n * size, &error);
  if (!memory) {
    job_fail("no memory for %s: %" PRIu64 " times %zu bytes: take a smaller "
             "graph",
             what, n, size);
  }
  return memory;
}

/* --- options --- */

/* Options that say how tasks are scheduled, where there are none. */
static void check_swept(const struct options *o) {
  const struct {
    const char *name;
    int given;
  } all[] = {{"chunk", o->chunk > 0},
             {"domains", o->domains > 0},
             {"delta", o->delta > 0},
             {"queues", o->queues > 0},
             {"task-memory", o->task_memory > 0},
             {"measure", o->measure},
             {"rank", o->rank}};
  for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
    if (all[i].given) {
      job_fail("--%s: it is about tasks: give --sched NAME, too", all[i].name);
    }
  }
}

static void check_options(const struct options *o, const struct job *job) {
  if (!o->graph == !o->generate) {
    job_fail("graph: %s: give GRAPH or --generate SPEC",
             o->graph ? "there are two" : "there is none");
  }
  (void)graph_option_weights(o->weights);
  if (o->repeat < 1 || o->repeat > REPEAT_MOST) {
    job_fail("--repeat: %" PRIu64 ": give 1 to %d", o->repeat, REPEAT_MOST);
  }
  if (job->parents && !job->output) {
    job_fail("--parents: they are written only: give --output FILE, too");
  }
  if (o->external && (o->generate || job->verify || o->repeat > 1)) {
    job_fail("--semi-external: not with --generate, --verify and --repeat: "
             "leave these out");
  }
  if (job->swept) {
    check_swept(o);
  }
  (void)graph_result_format(o->format, job->output ? job->output : "");
}

static void read_options(int argc, char **argv, struct options *o,
                         struct job *job) {
  struct graph_machine *const m = &job->machine;
  struct graph_option all[OPTIONS_MOST] = {
      {"output", GRAPH_TEXT, &job->output, "FILE",
       "where results go, a line for each node or edge"},
      {"format", GRAPH_TEXT, &o->format, "text|csv|binary",
       "of that file; default: by the end of its name"},
      {"memory", GRAPH_SIZE, &m->memory, "SIZE",
       "memory to use; where edges need more, those of a\n.csr stay on disk; "
       "default: four fifths of what there is"},
      {"semi-external", GRAPH_FLAG, &o->external, NULL,
       "leave the edges of a .csr on disk"},
      {"from", GRAPH_TEXT, &o->from, "FORMAT",
       "of GRAPH; default: by the end of its name"},
      {"places", GRAPH_TEXT, &o->places, "FILE",
       "coordinates for a .gr (the .co beside it)"},
      {"undirected", GRAPH_FLAG, &o->undirected, NULL,
       "add the reverse of each edge of a file"},
      {"weights", GRAPH_TEXT, &o->weights, "L:M|M",
       "random weights, L (1) to M, where a file has none\n(all are 1)"},
      {"load", GRAPH_FLAG, &o->load, NULL,
       "read a .csr into memory, do not map it"},
      {"generate", GRAPH_TEXT, &o->generate, "SPEC", JOB_GENERATE_HELP},
      {"sched", GRAPH_TEXT, &o->sched, "NAME",
       "pmod, obim, multiqueue, reld or spraylist"},
      {"threads", GRAPH_COUNT, &m->threads, "N", "threads (one per core)"},
      {"chunk", GRAPH_COUNT, &o->chunk, "N",
       "obim, pmod: tasks in a chunk (64)"},
      {"domains", GRAPH_COUNT, &o->domains, "N",
       "obim, pmod: FIFOs per bag (NUMA domains)"},
      {"delta", GRAPH_COUNT, &o->delta, "N",
       "obim: shifts priorities right by N bits (0)"},
      {"queues", GRAPH_COUNT, &o->queues, "C",
       "multiqueue: queues per thread (4)"},
      {"task-memory", GRAPH_SIZE, &o->task_memory, "SIZE",
       "pmod: memory for tasks; the rest goes to disk"},
      GRAPH_OPTIONS_SCRATCH(m),
      {"seed", GRAPH_COUNT, &o->seed, "N", "of what is random (1)"},
      {"repeat", GRAPH_COUNT, &o->repeat, "N", "run that often (1)"},
      {"measure", GRAPH_FLAG, &o->measure, NULL,
       "where the cycles went, and how lmf changed"},
      {"rank", GRAPH_FLAG, &o->rank, NULL, "measure rank errors"},
      {"verify", GRAPH_FLAG, &job->verify, NULL,
       "compare with a sequential algorithm"},
      {0}};
  const struct graph_option parents[] = {
      {"parents", GRAPH_FLAG, &job->parents, NULL,
       "write the node before each on a path, too"},
      {0}};
  graph_options_add(all, OPTIONS_MOST, job->program->option);
  graph_options_add(all, OPTIONS_MOST,
                    job->program->columns_with_parents ? parents : NULL);
  graph_options_read(argc, argv, job->program->usage, all, &o->graph, 0, 1);
  job->swept = job->program->swept && !o->sched;
  check_options(o, job);
}

struct pems_sort_options job_sorter(const struct job *job, uint64_t others) {
  const uint64_t memory = job->machine.memory;
  return (struct pems_sort_options){
      .memory = memory > others ? memory - others : 1,
      .threads = graph_option_int(job->machine.threads),
      .scratch = graph_machine_scratch(&job->machine)};
}

static void make_sched(struct job *job, const struct options *o) {
  const struct pems_sched_options options = {
      .task = job->program->task,
      .seed = o->seed,
      .measure = o->measure,
      .log = o->rank,
      .chunk = graph_option_int(o->chunk),
      .domains = graph_option_int(o->domains),
      .delta = graph_option_int(o->delta),
      .queues = graph_option_int(o->queues),
      .memory = o->task_memory,
      .scratch = graph_machine_scratch(&job->machine)};
  struct pems_error error;
  if (pems_sched_new(&job->sched, o->sched,
                     graph_option_int(job->machine.threads), &options,
                     &error)) {
    graph_options_fail(&error);
  }
}

/* --- the graph --- */

/* Whether edges stay in the file: only where it is laid out for that. */
static int stays_outside(const struct job *job, const struct options *o) {
  struct stat is;
  if (!o->graph || stat(o->graph, &is) || !S_ISREG(is.st_mode)) {
    return o->external;
  }
  const uint64_t needed =
      (uint64_t)is.st_size / 10 * 11 * (uint64_t)job->program->copies;
  return o->external ||
         (needed > job->machine.memory &&
          digraph_format_of(o->graph, graph_option_format("from", o->from)) ==
              DIGRAPH_CSR);
}

static int read_graph(struct job *job, const struct options *o, int outside,
                      struct pems_error *error) {
  const struct digraph_read_options options = {
      .format = graph_option_format("from", o->from),
      .places = o->places,
      .both = o->undirected && !job->program->both_ways,
      .weights = graph_option_weights(o->weights),
      .seed = o->seed,
      .load = o->load,
      .outside = outside,
      .budget = {.memory = job->machine.memory},
      .notes = stderr};
  return digraph_read(&job->graph, o->graph, &options, error);
}

static void check_memory(const struct job *job) {
  const uint64_t each = sizeof(*job->graph.first) +
                        (job->graph.place ? sizeof(*job->graph.place) : 0) +
                        job->program->node_bytes +
                        (job->parents ? sizeof(uint32_t) : 0);
  const uint64_t needed = each * job->graph.nodes + 2 * ROWS_MEMORY;
  if (needed > job->machine.memory) {
    job_fail("--memory: %" PRIu64 " bytes: %" PRIu64 " nodes need %" PRIu64
             "M: give that much",
             job->machine.memory, job->graph.nodes, (needed >> 20) + 1);
  }
}

static void get_graph(struct job *job, const struct options *o) {
  struct pems_error error;
  const int outside = stays_outside(job, o);
  if (outside && job->verify) {
    job_fail("--verify: %s: needs the edges in memory: leave it out, or give "
             "more --memory",
             o->graph);
  }
  if (outside && job->program->swept && !job->swept) {
    job_fail("--sched: %s: tasks need the edges in memory: leave it out, or "
             "give more --memory",
             o->sched);
  }
  if (o->generate ? job_generate(&job->graph, o->generate, &error)
                  : read_graph(job, o, outside, &error)) {
    graph_options_fail(&error);
  }
  if (!job->graph.nodes) {
    job_fail("graph: %s: it has no nodes", o->graph ? o->graph : o->generate);
  }
  if (job->program->places && !job->graph.place) {
    job_fail("graph: %s: it has no coordinates: give one with a .co file, or "
             "--generate road",
             o->graph ? o->graph : o->generate);
  }
  if (outside) {
    check_memory(job);
  }
  if (rows_open(&job->rows, &job->graph, outside ? o->graph : NULL,
                job->machine.io, &error)) {
    graph_options_fail(&error);
  }
}

static const char *name_of(const struct options *o) {
  const char *const slash = o->graph ? strrchr(o->graph, '/') : NULL;
  return o->generate ? o->generate : slash ? slash + 1 : o->graph;
}

uint32_t job_node(const struct job *job, const char *option, uint64_t given) {
  const struct digraph *const g = &job->graph;
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
  const double start = job_seconds(), cpu = job_cpu_seconds();
  program->begin(job, program->state);
  if (pems_sched_run(job->sched, &options, &error)) {
    graph_options_fail(&error);
  }
  const double seconds = job_seconds() - start;
  job->cpu_seconds += job_cpu_seconds() - cpu;
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
                              .delta = graph_option_int(o->delta),
                              .measure = o->measure,
                              .rank = o->rank,
                              .limit = o->task_memory};
  job->program->prepare(job, job->program->state);
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

/* Algorithms that are no tasks; repeated only where edges are in memory. */
static void run_swept(struct job *job, const struct options *o) {
  const uint64_t n = job->graph.edge ? o->repeat : 1;
  double *const seconds = job_memory("times", n, sizeof(*seconds));
  struct job_report report = {.graph = name_of(o)};
  for (uint64_t i = 0; i < n; i++) {
    const double start = job_seconds(), cpu = job_cpu_seconds();
    job->program->external(job, job->program->state);
    seconds[i] = job_seconds() - start;
    job->cpu_seconds = job_cpu_seconds() - cpu;
    report.repetition = i + 1;
    report.seconds = seconds[i];
    if (job->verify) {
      job->program->check(job, job->program->state);
    }
    job_report_swept(job, &report);
  }
  job_summary(job, report.graph, seconds, n);
  free(seconds);
}

static void write_result(struct job *job, const struct options *o) {
  const struct job_program *const p = job->program;
  struct graph_result result;
  if (job->output) {
    graph_result_open(&result, job->output,
                      graph_result_format(o->format, job->output),
                      job->parents ? p->columns_with_parents : p->columns);
    p->write(job, p->state, &result);
    graph_result_close(&result);
  }
}

int job_main(int argc, char **argv, const struct job_program *program) {
  struct options o = {.repeat = 1, .seed = 1};
  struct job job = {.program = program, .rounds = 1};
  read_options(argc, argv, &o, &job);
  job.seed = o.seed;
  job.told = job.output && digraph_out_standard(job.output) ? stderr : stdout;
  graph_machine_complete(&job.machine);
  /* What is wrong with the options is said before there is a graph. */
  if (program->options) {
    program->options(&job, program->state);
  }
  graph_options_output(o.graph, job.output);
  make_sched(&job, &o);
  get_graph(&job, &o);
  if (job.graph.edge && !job.swept) {
    run_all(&job, &o);
  } else {
    run_swept(&job, &o);
  }
  write_result(&job, &o);
  program->end(program->state);
  pems_sched_free(job.sched);
  rows_close(job.rows);
  digraph_free(&job.graph);
  if (fflush(stdout)) {
    job_fail("standard output: %s: name another", strerror(errno));
  }
  return EXIT_SUCCESS;
}
