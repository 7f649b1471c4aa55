/* The record as a trace for chrome://tracing and https://ui.perfetto.dev: one
   process for each process of the job; for each VP a track with supersteps and
   states, and one with transfers of its context; and rates as counters. */
#define _GNU_SOURCE
#include "report/report_parts.h"

#include "os/native.h"

/* Process 0 and thread 0 mean something else to the viewer. */
static int pid_of(int process) {
  return process + 1;
}
static int tid_of(int rank, bool transfers) {
  return 2 * rank + 1 + transfers;
}

/* Events are separated by commas, the first follows nothing. */
struct chrome {
  FILE *f;
  int pid;
  bool any;
};

static void begin_event(struct chrome *c, const char *type) {
  fprintf(c->f, "%s{\"ph\":\"%s\",\"pid\":%d", c->any ? ",\n" : "", type,
          c->pid);
  c->any = true;
}

/* Names a process or thread in the viewer. */
static void put_name(struct chrome *c, const char *what, int tid,
                     const char *format, int number) {
  char name[64];
  snprintf(name, sizeof(name), format, number);
  begin_event(c, "M");
  fprintf(c->f, ",\"tid\":%d,\"name\":\"%s_name\",\"args\":{\"name\":", tid,
          what);
  report_string(c->f, name);
  fputs("}}", c->f);
  begin_event(c, "M");
  fprintf(c->f,
          ",\"tid\":%d,\"name\":\"%s_sort_index\",\"args\":{\"sort_index\":"
          "%d}}",
          tid, what, tid);
}

/* Leaves the object open. */
static void begin_slice(struct chrome *c, int tid, uint64_t begin, uint64_t end,
                        const char *name) {
  begin_event(c, "X");
  fprintf(c->f, ",\"tid\":%d,\"ts\":", tid);
  report_micros(c->f, trace_since_zero(begin));
  fputs(",\"dur\":", c->f);
  report_micros(c->f, trace_since_zero(end) - trace_since_zero(begin));
  fputs(",\"name\":", c->f);
  report_string(c->f, name);
}

/* Before the states: the viewer takes slices that begin at one time as
   nested in the order in which they stand. */
static void put_supersteps(struct chrome *c, const struct trace_vp *v,
                           int tid) {
  for (size_t i = 0; i < v->n_rows; i++) {
    const struct trace_row *row = &v->row[i];
    begin_slice(c, tid, row->begin, trace_row_end(v, i), row->what);
    fprintf(c->f, ",\"args\":{\"superstep\":%llu",
            (unsigned long long)(i * v->stride));
    if (v->stride > 1) {
      fprintf(c->f, ",\"supersteps\":%llu", (unsigned long long)v->stride);
    }
    for (int k = 0; k < TRACE_BYTES; k++) {
      fprintf(c->f, ",\"%s_bytes\":%llu", report_bytes[k],
              (unsigned long long)row->sums.bytes[k]);
    }
    fputs("}}", c->f);
  }
}

static void put_states(struct chrome *c, const struct trace_vp *v, int tid) {
  struct trace_cursor cursor = trace_walk(&v->intervals);
  const struct trace_interval *t = trace_next_interval(&cursor);
  while (t) {
    const struct trace_interval *next = trace_next_interval(&cursor);
    const uint64_t end = trace_interval_end(v, next);
    if (end > t->begin) {
      begin_slice(c, tid, t->begin, end, report_state_text[t->state]);
      fputc('}', c->f);
    }
    t = next;
  }
}

static void put_transfers(struct chrome *c, const struct trace_vp *v, int tid) {
  struct trace_cursor cursor = trace_walk(&v->transfers);
  for (const struct trace_transfer *t; (t = trace_next_transfer(&cursor));) {
    begin_slice(c, tid, t->begin, t->end,
                t->bytes & TRACE_IS_OUT ? "swap out" : "swap in");
    fprintf(c->f, ",\"args\":{\"bytes\":%llu}}",
            (unsigned long long)(t->bytes & ~TRACE_IS_OUT));
  }
}

/* Rates: bytes in each of so many equal parts of the time, read and written. */
enum { PARTS = 1000 };

/* A transfer's bytes go evenly to the parts that it lies in. */
static void spread(uint64_t *parts, uint64_t length,
                   const struct trace_transfer *t) {
  const uint64_t begin = trace_since_zero(t->begin);
  const uint64_t end = trace_since_zero(t->end);
  const uint64_t bytes = t->bytes & ~TRACE_IS_OUT;
  uint64_t at = begin, given = 0;
  do {
    const uint64_t part = at / length < PARTS ? at / length : PARTS - 1;
    const uint64_t stop = part == PARTS - 1 || end < (part + 1) * length
                              ? end
                              : (part + 1) * length;
    const uint64_t until = end == begin
                               ? bytes
                               : (uint64_t)((unsigned __int128)bytes *
                                            (stop - begin) / (end - begin));
    parts[part] += until - given;
    given = until;
    at = stop;
  } while (at < end);
}

static void put_counter(struct chrome *c, uint64_t at, uint64_t in,
                        uint64_t out) {
  begin_event(c, "C");
  fputs(",\"ts\":", c->f);
  report_micros(c->f, at);
  fprintf(c->f,
          ",\"name\":\"contexts, MB/s\",\"args\":{\"read\":%llu,"
          "\"written\":%llu}}",
          (unsigned long long)in, (unsigned long long)out);
}

static void put_rates(struct chrome *c, uint64_t end) {
  const uint64_t length = end / PARTS + 1; /* ns */
  uint64_t *parts[2];
  parts[0] = native_zalloc(2 * PARTS, sizeof(uint64_t));
  if (!parts[0]) {
    return; /* a picture the less */
  }
  parts[1] = parts[0] + PARTS;
  for (int i = 0; i < trace_record.n; i++) {
    struct trace_cursor cursor = trace_walk(&trace_record.vp[i].transfers);
    for (const struct trace_transfer *t; (t = trace_next_transfer(&cursor));) {
      spread(parts[(t->bytes & TRACE_IS_OUT) != 0], length, t);
    }
  }
  for (uint64_t i = 0; i < PARTS; i++) {
    /* Bytes per ns are GB/s. */
    put_counter(c, i * length, parts[0][i] * 1000 / length,
                parts[1][i] * 1000 / length);
  }
  put_counter(c, end, 0, 0);
  native_free(parts[0]);
}

void report_chrome(FILE *f, int process) {
  struct chrome c = {f, pid_of(process), false};
  uint64_t end = 0;
  fprintf(f,
          "{\"displayTimeUnit\":\"ms\",\"otherData\":{\"zero\":\"%llu ns since "
          "1970-01-01 UTC\"},\"traceEvents\":[\n",
          (unsigned long long)trace_record.zero);
  put_name(&c, "process", 0, "process %d", process);
  for (int i = 0; i < trace_record.n; i++) {
    const struct trace_vp *v = &trace_record.vp[i];
    const int rank = trace_record.first_rank + i;
    put_name(&c, "thread", tid_of(rank, false), "rank %d", rank);
    put_name(&c, "thread", tid_of(rank, true), "rank %d, swaps", rank);
    put_supersteps(&c, v, tid_of(rank, false));
    put_states(&c, v, tid_of(rank, false));
    put_transfers(&c, v, tid_of(rank, true));
    end = v->since > end ? v->since : end;
  }
  put_rates(&c, trace_since_zero(end));
  fputs("\n]}\n", f);
}
