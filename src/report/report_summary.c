/* The job's summary: for people, for programs, and as a table. */
#define _GNU_SOURCE
#include "config/size.h"
#include "report/report_parts.h"

#include "config/options.h"
#include "os/native.h"

#include <stdlib.h>

/* --- numbers --- */

static uint64_t sum_of(const uint64_t *x, int n) {
  uint64_t sum = 0;
  for (int i = 0; i < n; i++) {
    sum += x[i];
  }
  return sum;
}

static uint64_t total_time(const struct trace_sums *s) {
  return sum_of(s->time, TRACE_STATES);
}

/* With a slot: the rest is waiting. */
static uint64_t busy_time(const struct trace_sums *s) {
  return s->time[TRACE_COMPUTE] + s->time[TRACE_DELIVER] +
         s->time[TRACE_NETWORK] + s->time[TRACE_DISK];
}

/* Bytes to and from disks. */
static uint64_t disk_bytes(const struct trace_sums *s) {
  return s->bytes[TRACE_IN] + s->bytes[TRACE_OUT] + s->bytes[TRACE_WRITTEN] +
         s->bytes[TRACE_READ];
}

/* part / whole in units of 1 / scale, rounded. */
static uint64_t share(uint64_t part, uint64_t whole, uint64_t scale) {
  return whole
             ? (uint64_t)(((unsigned __int128)part * scale + whole / 2) / whole)
             : 0;
}

static uint64_t rate(uint64_t bytes, uint64_t ns) {
  return ns ? (uint64_t)((unsigned __int128)bytes * 1000000000 / ns) : 0;
}

static const char *size(uint64_t bytes, char *buf) {
  return size_format(bytes, buf, 16);
}

/* "   12.345 s" */
static void put_time(FILE *f, uint64_t ns) {
  const uint64_t ms = (ns + 500000) / 1000000;
  fprintf(f, "%8llu.%03llu s", (unsigned long long)(ms / 1000),
          (unsigned long long)(ms % 1000));
}

/* "  12.3 %" */
static void put_share(FILE *f, uint64_t part, uint64_t whole) {
  const uint64_t permille = share(part, whole, 1000);
  fprintf(f, "  %3llu.%llu %%", (unsigned long long)(permille / 10),
          (unsigned long long)(permille % 10));
}

/* --- A table --- */

void report_totals(FILE *f, const struct report_job *job) {
  fputs("# superstep supersteps begin_s end_s", f);
  report_columns(f);
  for (size_t i = 0; i < job->n_supersteps; i++) {
    const struct report_superstep *s = &job->superstep[i];
    fprintf(f, "%llu %llu ", (unsigned long long)s->first,
            (unsigned long long)s->supersteps);
    report_seconds(f, s->begin);
    fputc(' ', f);
    report_seconds(f, s->end);
    report_sums(f, &s->sums);
    fprintf(f, " %s\n", s->what);
  }
}

/* --- for people --- */

static void text_head(FILE *f, const struct report_job *job) {
  fprintf(f, "pems report: %d rank%s in %d process%s, %llu superstep%s,",
          job->ranks, job->ranks == 1 ? "" : "s", job->processes,
          job->processes == 1 ? "" : "es",
          (unsigned long long)report_job_supersteps(job),
          report_job_supersteps(job) == 1 ? "" : "s");
  put_time(f, job->end);
  fputc('\n', f);
  if (job->seen < job->processes) {
    fprintf(f,
            "Only the tables of %d of %d processes are in this folder: what "
            "follows is about those.\n",
            job->seen, job->processes);
  }
  for (int i = 0; i < trace_record.notes; i++) {
    fprintf(f, "  %-20s %s\n", trace_record.note[i].name,
            trace_record.note[i].value);
  }
  if (job->stride > 1) {
    fprintf(f,
            "Supersteps are summed %llu by %llu: they are too many to be kept "
            "one by one.\n",
            (unsigned long long)job->stride, (unsigned long long)job->stride);
  }
  if (job->dropped) {
    fprintf(f,
            "The end of the job is only in the sums: %llu intervals were too "
            "many for states, swaps and trace.\n",
            (unsigned long long)job->dropped);
  }
}

static void text_time(FILE *f, const struct report_job *job) {
  const uint64_t total = total_time(&job->sums);
  fputs("\nTime of all ranks together\n", f);
  for (int i = 0; i < TRACE_STATES; i++) {
    fprintf(f, "  %-20s", report_state_text[i]);
    put_time(f, job->sums.time[i]);
    put_share(f, job->sums.time[i], total);
    fputc('\n', f);
  }
}

static void text_bytes(FILE *f, const struct report_job *job) {
  static const char *const text[TRACE_BYTES] = {
      "contexts read",    "contexts written",   "messages in memory",
      "messages to disk", "messages from disk", "messages sent"};
  char a[16], b[16], c[16];
  fputs("\nBytes moved\n", f);
  for (int i = 0; i < TRACE_BYTES; i++) {
    const uint64_t n = job->sums.bytes[i];
    fprintf(f, "  %-20s %11s  %11s/s over the run", text[i], size(n, a),
            size(rate(n, job->end), b));
    if (i <= TRACE_OUT && n) {
      fprintf(f, "  %11s/s while %s", size(job->rate[i], c),
              i == TRACE_IN ? "reading" : "writing");
    }
    fputc('\n', f);
  }
}

/* The rank with the greatest (sign 1) or least (-1) share of busy time. */
static int extreme_rank(const struct report_job *job, int sign) {
  int found = -1;
  uint64_t best = 0;
  for (int i = 0; i < job->rank_size; i++) {
    const struct trace_sums *s = &job->rank[i].sums;
    const uint64_t x = share(busy_time(s), total_time(s), 1000000);
    if (job->rank[i].seen && (found < 0 || (sign > 0 ? x > best : x < best))) {
      found = i;
      best = x;
    }
  }
  return found;
}

static void text_rank(FILE *f, const struct report_job *job, const char *title,
                      int rank) {
  if (rank < 0) {
    return;
  }
  const struct trace_sums *s = &job->rank[rank].sums;
  fprintf(f, "  %-8s rank %4d", title, rank);
  put_time(f, busy_time(s));
  put_share(f, busy_time(s), total_time(s));
  fputs(" of its time, computing", f);
  put_time(f, s->time[TRACE_COMPUTE]);
  fputc('\n', f);
}

static void text_superstep(FILE *f, const struct report_superstep *s) {
  char buf[TRACE_BYTES][16];
  fprintf(f, "  %9llu  %-20.20s", (unsigned long long)s->first, s->what);
  for (int i = 0; i < TRACE_BYTES; i++) {
    fprintf(f, " %11s", size(s->sums.bytes[i], buf[i]));
  }
  put_time(f, s->end - s->begin);
  fputc('\n', f);
}

/* Most bytes first; among equals, those that took longest. */
static int by_io(const void *a, const void *b) {
  const struct report_superstep *const *x = a, *const *y = b;
  const uint64_t m = disk_bytes(&(*x)->sums), n = disk_bytes(&(*y)->sums);
  const uint64_t s = (*x)->end - (*x)->begin, t = (*y)->end - (*y)->begin;
  return m != n ? (m < n) - (m > n) : (s < t) - (s > t);
}

static int by_number(const void *a, const void *b) {
  const struct report_superstep *const *x = a, *const *y = b;
  return ((*x)->first > (*y)->first) - ((*x)->first < (*y)->first);
}

static void text_supersteps(FILE *f, const struct report_job *job) {
  enum { MOST = 24 };
  size_t n = job->n_supersteps;
  const struct report_superstep **list =
      native_alloc((n ? n : 1) * sizeof(*list));
  if (!list) {
    return; /* they are in totals.dat */
  }
  for (size_t i = 0; i < n; i++) {
    list[i] = &job->superstep[i];
  }
  qsort(list, n, sizeof(*list), by_io);
  fputs("\nSupersteps", f);
  if (n > MOST) {
    fprintf(f, ": the %d with the most I/O, else the longest (all: totals.dat)",
            MOST);
  }
  if (n && disk_bytes(&list[0]->sums)) {
    fprintf(f, "\n  most I/O: %llu, %s", (unsigned long long)list[0]->first,
            list[0]->what);
  }
  fputc('\n', f);
  n = n < MOST ? n : MOST;
  qsort(list, n, sizeof(*list), by_number);
  fprintf(f, "  %9s  %-20s", "number", "call");
  for (int i = 0; i < TRACE_BYTES; i++) {
    fprintf(f, " %11s", report_bytes[i]);
  }
  fputs("          time\n", f);
  for (size_t i = 0; i < n; i++) {
    text_superstep(f, list[i]);
  }
  native_free(list);
}

void report_text(FILE *f, const struct report_job *job) {
  text_head(f, job);
  text_time(f, job);
  text_bytes(f, job);
  fputs("\nRanks, time with a slot\n", f);
  text_rank(f, job, "busiest:", extreme_rank(job, 1));
  text_rank(f, job, "idlest:", extreme_rank(job, -1));
  text_supersteps(f, job);
}

/* --- for programs --- */

static void json_seconds(FILE *f, const char *name, uint64_t ns) {
  fprintf(f, "\"%s\":", name);
  report_seconds(f, ns);
}

/* Without braces around it. */
static void json_sums(FILE *f, const struct trace_sums *s) {
  fputs("\"time_s\":{", f);
  for (int i = 0; i < TRACE_STATES; i++) {
    fputs(i ? "," : "", f);
    json_seconds(f, report_state[i], s->time[i]);
  }
  fputs("},\"swap_s\":{", f);
  json_seconds(f, "in", s->moving[0]);
  fputc(',', f);
  json_seconds(f, "out", s->moving[1]);
  fputs("},\"bytes\":{", f);
  for (int i = 0; i < TRACE_BYTES; i++) {
    fprintf(f, "%s\"%s\":%llu", i ? "," : "", report_bytes[i],
            (unsigned long long)s->bytes[i]);
  }
  fputc('}', f);
}

static void json_notes(FILE *f) {
  fputs("\"notes\":{", f);
  for (int i = 0; i < trace_record.notes; i++) {
    fputs(i ? "," : "", f);
    report_string(f, trace_record.note[i].name);
    fputc(':', f);
    report_string(f, trace_record.note[i].value);
  }
  fputs("},\n", f);
}

static void json_head(FILE *f, const struct report_job *job) {
  fprintf(f,
          "{\"pems_report\":1,\"processes\":%d,\"processes_seen\":%d,"
          "\"ranks\":%d,\"supersteps\":%llu,\"supersteps_per_row\":%llu,"
          "\"intervals_dropped\":%llu,\"zero_ns\":%llu,\n",
          job->processes, job->seen, job->ranks,
          (unsigned long long)report_job_supersteps(job),
          (unsigned long long)job->stride, (unsigned long long)job->dropped,
          (unsigned long long)trace_record.zero);
  json_notes(f);
  fprintf(f, "\"rate_while_moving\":{\"in\":%llu,\"out\":%llu},\n",
          (unsigned long long)job->rate[0], (unsigned long long)job->rate[1]);
  fprintf(f, "\"busiest\":%d,\"idlest\":%d,\n", extreme_rank(job, 1),
          extreme_rank(job, -1));
  json_seconds(f, "seconds", job->end);
  fputc(',', f);
  json_sums(f, &job->sums);
}

static void json_rank(FILE *f, int rank, const struct report_rank *r) {
  fprintf(f, "{\"rank\":%d,", rank);
  json_seconds(f, "begin_s", r->begin);
  fputc(',', f);
  json_seconds(f, "end_s", r->end);
  fputc(',', f);
  json_sums(f, &r->sums);
  fputc('}', f);
}

static void json_superstep(FILE *f, const struct report_superstep *s) {
  fprintf(f, "{\"superstep\":%llu,\"supersteps\":%llu,\"call\":",
          (unsigned long long)s->first, (unsigned long long)s->supersteps);
  report_string(f, s->what);
  fputc(',', f);
  json_seconds(f, "begin_s", s->begin);
  fputc(',', f);
  json_seconds(f, "end_s", s->end);
  fputc(',', f);
  json_sums(f, &s->sums);
  fputc('}', f);
}

void report_json(FILE *f, const struct report_job *job) {
  const char *before = "";
  json_head(f, job);
  fputs(",\n\"by_rank\":[\n", f);
  for (int i = 0; i < job->rank_size; i++) {
    if (job->rank[i].seen) {
      fputs(before, f);
      json_rank(f, i, &job->rank[i]);
      before = ",\n";
    }
  }
  fputs("\n],\n\"by_superstep\":[\n", f);
  for (size_t i = 0; i < job->n_supersteps; i++) {
    fputs(i ? ",\n" : "", f);
    json_superstep(f, &job->superstep[i]);
  }
  fputs("\n]}\n", f);
}
