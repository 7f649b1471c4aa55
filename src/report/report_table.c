/* The tables of one process. */
#include "report/report_parts.h"

#include "os/native.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A word of a table: no blanks. */
static void put_word(FILE *f, const char *s) {
  for (; *s; s++) {
    fputc(*s == ' ' ? '_' : *s, f);
  }
}

/* --- tables --- */

static int compare_begins(const void *a, const void *b) {
  const struct trace_transfer *x = a, *y = b;
  return (x->begin > y->begin) - (x->begin < y->begin);
}

/* For how long something was read or written by this process, and how many
   bytes: transfers of several VPs may overlap. 0 or ENOMEM. */
static int busy(bool out, uint64_t *ns, uint64_t *bytes) {
  const struct trace_record *r = &trace_record;
  size_t n = 0;
  for (int i = 0; i < r->n; i++) {
    n += r->vp[i].transfers.n;
  }
  struct trace_transfer *all = native_alloc((n ? n : 1) * sizeof(*all));
  *ns = *bytes = 0;
  if (!all) {
    return ENOMEM;
  }
  n = 0;
  for (int i = 0; i < r->n; i++) {
    struct trace_cursor c = trace_walk(&r->vp[i].transfers);
    for (const struct trace_transfer *t; (t = trace_next_transfer(&c));) {
      if (!(t->bytes & TRACE_IS_OUT) == !out) {
        all[n++] = *t;
        *bytes += t->bytes & ~TRACE_IS_OUT;
      }
    }
  }
  qsort(all, n, sizeof(*all), compare_begins);
  uint64_t until = 0;
  for (size_t i = 0; i < n; i++) {
    const uint64_t from = all[i].begin > until ? all[i].begin : until;
    if (all[i].end > from) {
      *ns += all[i].end - from;
      until = all[i].end;
    }
  }
  native_free(all);
  return 0;
}

static uint64_t longest_stride(void) {
  uint64_t stride = 1;
  for (int i = 0; i < trace_record.n; i++) {
    if (trace_record.vp[i].stride > stride) {
      stride = trace_record.vp[i].stride;
    }
  }
  return stride;
}

static int put_header(FILE *f, int process, int processes) {
  const struct trace_record *r = &trace_record;
  uint64_t end = 0, dropped = 0;
  for (int i = 0; i < r->n; i++) {
    end = r->vp[i].since > end ? r->vp[i].since : end;
    dropped += r->vp[i].intervals.dropped + r->vp[i].transfers.dropped;
  }
  fprintf(f, "# pems-report 1 process %d of %d\n", process, processes);
  fprintf(f, "# ranks %d first %d stride %llu dropped %llu\n", r->n,
          r->first_rank, (unsigned long long)longest_stride(),
          (unsigned long long)dropped);
  fputs("# end ", f);
  report_seconds(f, trace_since_zero(end));
  int code = 0;
  for (int out = 0; out < 2 && !code; out++) {
    uint64_t ns, bytes;
    fputs(out ? " writing " : " reading ", f);
    code = busy(out, &ns, &bytes);
    report_seconds(f, ns);
    fprintf(f, " %llu", (unsigned long long)bytes);
  }
  fprintf(f, "\n# zero %llu (ns since 1970-01-01 UTC)\n",
          (unsigned long long)r->zero);
  return code;
}

void report_columns(FILE *f) {
  for (int i = 0; i < TRACE_STATES; i++) {
    fprintf(f, " %s_s", report_state[i]);
  }
  fputs(" in_s out_s", f);
  for (int i = 0; i < TRACE_BYTES; i++) {
    fprintf(f, " %s_B", report_bytes[i]);
  }
  fputs(" call\n", f);
}

void report_sums(FILE *f, const struct trace_sums *s) {
  for (int i = 0; i < TRACE_STATES; i++) {
    fputc(' ', f);
    report_seconds(f, s->time[i]);
  }
  for (int i = 0; i < 2; i++) {
    fputc(' ', f);
    report_seconds(f, s->moving[i]);
  }
  for (int i = 0; i < TRACE_BYTES; i++) {
    fprintf(f, " %llu", (unsigned long long)s->bytes[i]);
  }
}

static void put_row(FILE *f, int vp, size_t i) {
  const struct trace_vp *v = &trace_record.vp[vp];
  /* The last row ends with the VP's last superstep. */
  const uint64_t first = i * v->stride;
  const uint64_t left = v->superstep + 1 - first;
  fprintf(f, "%d %llu %llu ", trace_record.first_rank + vp,
          (unsigned long long)first,
          (unsigned long long)(left < v->stride ? left : v->stride));
  report_seconds(f, trace_since_zero(v->row[i].begin));
  fputc(' ', f);
  report_seconds(f, trace_since_zero(trace_row_end(v, i)));
  report_sums(f, &v->row[i].sums);
  fputc(' ', f);
  put_word(f, v->row[i].what);
  fputc('\n', f);
}

int report_supersteps(FILE *f, int process, int processes) {
  const int code = put_header(f, process, processes);
  fputs("# rank superstep supersteps begin_s end_s", f);
  report_columns(f);
  for (int i = 0; i < trace_record.n; i++) {
    for (size_t j = 0; j < trace_record.vp[i].n_rows; j++) {
      put_row(f, i, j);
    }
    /* An empty line, so that gnuplot draws a line for each rank. */
    fputc('\n', f);
  }
  return code;
}

static void put_interval(FILE *f, int rank, const struct trace_interval *t,
                         uint64_t end) {
  if (end <= t->begin) {
    return;
  }
  fprintf(f, "%d ", rank);
  report_seconds(f, trace_since_zero(t->begin));
  fputc(' ', f);
  report_seconds(f, trace_since_zero(end));
  fprintf(f, " %u %s %u\n", t->state, report_state[t->state], t->superstep);
}

void report_states(FILE *f) {
  fputs("# rank begin_s end_s state name superstep\n", f);
  for (int i = 0; i < trace_record.n; i++) {
    const struct trace_vp *v = &trace_record.vp[i];
    struct trace_cursor c = trace_walk(&v->intervals);
    const struct trace_interval *t = trace_next_interval(&c);
    while (t) {
      const struct trace_interval *next = trace_next_interval(&c);
      put_interval(f, trace_record.first_rank + i, t,
                   trace_interval_end(v, next));
      t = next;
    }
  }
}

void report_swaps(FILE *f) {
  fputs("# rank begin_s end_s out bytes_B\n", f);
  for (int i = 0; i < trace_record.n; i++) {
    struct trace_cursor c = trace_walk(&trace_record.vp[i].transfers);
    for (const struct trace_transfer *t; (t = trace_next_transfer(&c));) {
      fprintf(f, "%d ", trace_record.first_rank + i);
      report_seconds(f, trace_since_zero(t->begin));
      fputc(' ', f);
      report_seconds(f, trace_since_zero(t->end));
      fprintf(f, " %d %llu\n", (t->bytes & TRACE_IS_OUT) != 0,
              (unsigned long long)(t->bytes & ~TRACE_IS_OUT));
    }
  }
}
