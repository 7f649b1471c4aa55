#include "wrappers/graph/pems_graph_job_report.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static double ratio(double a, double b) {
  return b > 0 ? a / b : 0;
}

/* Table 1: where the cycles of all threads went, in percent, and those of one
   operation. */
static void print_cycles(FILE *to, const struct pems_sched_counts *c) {
  const struct {
    const char *name;
    uint64_t cycles;
  } part[] = {{"good_work", c->good_work},
              {"useless_work", c->useless_work},
              {"enqueue", c->enqueue},
              {"dequeue", c->dequeue},
              {"failed_dequeue", c->failed_dequeue},
              {"other", c->other}};
  uint64_t total = 0;
  for (size_t i = 0; i < sizeof(part) / sizeof(*part); i++) {
    total += part[i].cycles;
  }
  for (size_t i = 0; i < sizeof(part) / sizeof(*part); i++) {
    fprintf(to, " %s_percent=%.2f", part[i].name,
            100 * ratio((double)part[i].cycles, (double)total));
  }
  fprintf(
      to,
      " cycles_per_enqueue=%.1f cycles_per_dequeue=%.1f cycles_per_task=%.1f"
      " cycles_per_second=%.0f",
      ratio((double)c->enqueue, (double)c->pushed),
      ratio((double)c->dequeue, (double)c->popped),
      ratio((double)total, (double)c->popped), c->cycles_per_second);
}

/* Table 6: the values of lmf, and which fraction of the tasks had been taken
   when it came to each but the first. */
static void print_changes(FILE *to, const struct pems_sched_counts *c) {
  fprintf(to, " lmf_changes=%zu lmf_sequence=0", c->change_count);
  for (size_t i = 0; i < c->change_count; i++) {
    fprintf(to, "-%d", c->changes[i].lmf);
  }
  if (c->change_count) {
    fprintf(to, " lmf_at=");
  }
  for (size_t i = 0; i < c->change_count; i++) {
    fprintf(to, "%s%.5f", i ? "," : "",
            ratio((double)c->changes[i].popped, (double)c->popped));
  }
}

static void print_rank(FILE *to, const struct pems_sched *sched) {
  struct pems_sched_rank_error r;
  struct pems_error error;
  if (pems_sched_rank_error(sched, &r, &error)) {
    graph_options_fail(&error);
  }
  fprintf(to,
          " rank_mean=%.2f rank_median=%" PRIu64 " rank_p99=%" PRIu64
          " rank_most=%" PRIu64 " inverted=%.4f",
          r.mean, r.median, r.p99, r.most,
          ratio((double)r.inverted, (double)r.pops));
}

static void print_spill(FILE *to, const struct pems_sched_counts *c,
                        uint64_t limit) {
  fprintf(to,
          " limit=%" PRIu64 " memory=%" PRIu64 " spilled=%" PRIu64
          " fetched=%" PRIu64 " waits=%" PRIu64 " bytes_written=%" PRIu64
          " bytes_read=%" PRIu64,
          limit, c->memory_most, c->spilled, c->fetched, c->waits,
          c->io.bytes_written, c->io.bytes_read);
}

void job_report(const struct job *job, const struct job_report *report) {
  FILE *const to = job->told;
  struct pems_sched_counts c;
  pems_sched_counts(job->sched, &c);
  fprintf(to,
          "RESULT program=%s graph=%s nodes=%" PRIu64 " edges=%" PRIu64
          " sched=%s threads=%d delta=%d repetition=%" PRIu64
          " seconds=%.6f cpu_seconds=%.6f tasks=%" PRIu64 " useless=%" PRIu64,
          job->program->name, report->graph, job->graph.nodes, job->graph.edges,
          pems_sched_kind(job->sched), pems_sched_threads(job->sched),
          report->delta, report->repetition, report->seconds, job->cpu_seconds,
          c.popped, c.useless);
  if (job->best) {
    fprintf(to, " work_ratio=%.4f", ratio((double)c.popped, (double)job->best));
  }
  fprintf(to,
          " failed=%" PRIu64 " synchronizing=%" PRIu64 " bags=%" PRIu64
          " stolen=%" PRIu64 " lmf=%d",
          c.failed, c.synchronizing, c.bags, c.stolen, c.lmf);
  if (job->program->report) {
    job->program->report(job, job->program->state);
  }
  if (report->measure) {
    print_cycles(to, &c);
    print_changes(to, &c);
  }
  if (report->rank) {
    print_rank(to, job->sched);
  }
  if (report->limit) {
    print_spill(to, &c, report->limit);
  }
  fprintf(to, "%s\n", job->verify ? " verified=1" : "");
  fflush(to);
}

static void print_place(FILE *to, const struct job *job) {
  struct rows_counts c;
  if (job->graph.edge) {
    fprintf(to, " mode=sweeping threads=%d", pems_sched_threads(job->sched));
    return;
  }
  rows_counts(job->rows, &c);
  fprintf(to,
          " mode=semi-external sweeps=%" PRIu64 " reads=%" PRIu64
          " bytes_read=%" PRIu64,
          c.sweeps, c.reads, c.bytes_read);
}

void job_report_swept(const struct job *job, const struct job_report *report) {
  FILE *const to = job->told;
  fprintf(to,
          "RESULT program=%s graph=%s nodes=%" PRIu64 " edges=%" PRIu64
          " repetition=%" PRIu64 " seconds=%.6f cpu_seconds=%.6f",
          job->program->name, report->graph, job->graph.nodes, job->graph.edges,
          report->repetition, report->seconds, job->cpu_seconds);
  print_place(to, job);
  job->program->report(job, job->program->state);
  fprintf(to, "%s\n", job->verify ? " verified=1" : "");
  fflush(to);
}

static int by_value(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

void job_summary(const struct job *job, const char *graph, double *seconds,
                 uint64_t n) {
  if (n < 2) {
    return;
  }
  FILE *const to = job->told;
  qsort(seconds, n, sizeof(*seconds), by_value);
  fprintf(to,
          "SUMMARY program=%s graph=%s sched=%s threads=%d repetitions=%" PRIu64
          " best_seconds=%.6f median_seconds=%.6f\n",
          job->program->name, graph, job_way(job),
          pems_sched_threads(job->sched), n, seconds[0],
          (seconds[(n - 1) / 2] + seconds[n / 2]) / 2);
}
