#include "tfp_job.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "settings.h"

static const char *const modes[] = {"sequential", "limit", "bulk", NULL};

struct options {
  struct settings_machine machine;
  struct dag dag;
  const char *mode;
  uint64_t block;
  int verify;
};

/* What is known of the numbers of all nodes. */
struct numbers {
  uint64_t sum;  /* of hashes, the same for the same numbers */
  uint64_t most; /* the largest number */
  uint64_t positive;
  uint64_t *kept; /* for --verify, or NULL */
};

static int take(void *arg, uint64_t first, const void *results, size_t n,
                struct pems_error *error) {
  struct numbers *const all = arg;
  const uint64_t *const number = results;
  (void)error;
  for (size_t i = 0; i < n; i++) {
    all->sum += key_mix((first + i) ^ key_mix(number[i]));
    all->most = number[i] > all->most ? number[i] : all->most;
    all->positive += number[i] > 0;
    if (all->kept) {
      all->kept[first + i] = number[i];
    }
  }
  return 0;
}

uint64_t *tfp_job_numbers(uint64_t n) {
  uint64_t *const number = calloc(n + 1, sizeof(*number));
  if (!number) {
    settings_fail(&(struct pems_error){ENOMEM, "no memory for --verify"});
  }
  return number;
}

static struct options read_options(int argc, char **argv,
                                   const struct tfp_job *job) {
  struct options o = {
      .machine = {.memory = 256 << 20}, .dag = DAG_DEFAULTS, .mode = "bulk"};
  const struct setting settings[] = {
      SETTINGS_MACHINE(&o.machine),
      SETTINGS_DAG(&o.dag),
      {"mode", SETTING_TEXT, &o.mode, "MODE     sequential, limit or bulk"},
      {"block", SETTING_SIZE, &o.block, "SIZE    of blocks on disk"},
      {"verify", SETTING_FLAG, &o.verify, "       against numbers in memory"},
      {0}};
  settings_read(argc, argv, job->usage, settings, &o.dag.path, 0, 1);
  return o;
}

static struct pems_tfp_options tfp_options(const struct tfp_job *job,
                                           struct options *o,
                                           struct numbers *numbers,
                                           struct pems_disks *disks) {
  return (struct pems_tfp_options){
      .mode = (enum pems_tfp_mode)settings_choice("mode", modes, o->mode),
      .nodes = o->dag.nodes,
      .message = job->message,
      .visit = job->visit,
      .result = sizeof(uint64_t),
      .take = take,
      .arg = numbers,
      .edges = dag_edges,
      .edges_arg = &o->dag,
      .edge = sizeof(struct dag_edge),
      .layer = dag_layer,
      .layer_arg = &o->dag,
      .memory = o->machine.memory,
      .threads = (int)o->machine.threads,
      .disks = disks,
      .block = o->block,
  };
}

static void report(const struct tfp_job *job, const struct options *o,
                   const struct pems_tfp_counts *c, const struct numbers *all) {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  printf(
      "RESULT app=%s mode=%s nodes=%" PRIu64 " edges=%" PRIu64
      " layers=%" PRIu64 " pieces=%" PRIu64 " messages=%" PRIu64
      " waiting=%" PRIu64 " memory=%" PRIu64 " threads=%d seconds=%.3f"
      " cpu_seconds=%.3f visit_seconds=%.3f bytes_read=%" PRIu64
      " bytes_written=%" PRIu64 " flushes=%" PRIu64 " received=%" PRIu64
      " rss=%" PRIu64 " sum=%016" PRIx64 " most=%" PRIu64 " positive=%" PRIu64,
      job->name, o->mode, c->nodes, c->edges, c->layers, c->pieces, c->messages,
      c->queue.most, o->machine.memory, c->queue.threads, c->seconds,
      settings_cpu_seconds(), c->visit_seconds, c->queue.io.bytes_read,
      c->queue.io.bytes_written, c->queue.flushes, c->received,
      (uint64_t)usage.ru_maxrss << 10, all->sum, all->most, all->positive);
}

int tfp_job(int argc, char **argv, const struct tfp_job *job) {
  struct options o = read_options(argc, argv, job);
  struct numbers numbers = {0};
  struct pems_tfp_counts counts;
  struct pems_error error;
  int right = 1;
  dag_open(&o.dag);
  numbers.kept = o.verify ? tfp_job_numbers(o.dag.nodes) : NULL;
  struct pems_disks *const disks = settings_disks(&o.machine);
  const struct pems_tfp_options options = tfp_options(job, &o, &numbers, disks);
  if (pems_tfp_run(&options, &counts, &error)) {
    settings_fail(&error);
  }
  pems_disks_close(disks);
  report(job, &o, &counts, &numbers);
  if (o.verify) {
    dag_rewind(&o.dag);
    right = job->right(&o.dag, numbers.kept);
    printf(" verified=%d", right);
  }
  printf("\n");
  free(numbers.kept);
  dag_close(&o.dag);
  return right ? EXIT_SUCCESS : EXIT_FAILURE;
}
