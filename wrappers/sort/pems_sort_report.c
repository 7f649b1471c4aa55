#define _GNU_SOURCE
#include "wrappers/sort/pems_sort_report.h"
#include "config/size.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/counters.h"
#include "base/text.h"
#include "config/machine.h"
#include "config/options.h"
#include "os/clock.h"

#define SECOND UINT64_C(1000000000)
/* An estimate made earlier is too far off. */
#define ESTIMATE_SECONDS 1

/* --- progress --- */

/* Of what is done, which part belongs to the phase, and of how much of it. */
struct phase_share {
  const char *name;
  uint64_t done, todo; /* bytes; todo is 0 where it is not known */
};

static const char forming[] = "forming runs", merging[] = "merging";

static struct phase_share share_of(const struct sort_progress *p, uint64_t done,
                                   uint64_t todo) {
  const uint64_t half = todo / 2;
  if (p->merge) {
    return (struct phase_share){merging, done, todo};
  }
  if (todo == 0 || done <= half) {
    return (struct phase_share){forming, done, half};
  }
  return (struct phase_share){merging, done - half, todo - half};
}

static void add_time(struct text *t, uint64_t seconds) {
  const unsigned long long s = seconds;
  if (s >= 3600) {
    text_add(t, "%llu:%02llu:%02llu", s / 3600, s / 60 % 60, s % 60);
  } else {
    text_add(t, "%llu:%02llu", s / 60, s % 60);
  }
}

/* Bytes a second in this phase; the other one is taken to be as fast. */
static double rate_of(const struct sort_progress *p, uint64_t now,
                      uint64_t done) {
  const double seconds = (double)(now - p->phase_ns) / 1e9;
  return seconds > 0 ? (double)(done - p->phase_done) / seconds : 0;
}

/* What is done may be more than what was to do: where runs are merged in more
   than one pass. */
static void add_progress(struct text *t, const struct sort_progress *p,
                         uint64_t now, uint64_t done, uint64_t todo) {
  const struct phase_share share = share_of(p, done, todo);
  const double rate = rate_of(p, now, done);
  char size[16];
  text_add(t, "%s: %s", share.name,
           size_format(share.done, size, sizeof(size)));
  if (share.todo && done <= todo) {
    text_add(t, " of %s, %d %%", size_format(share.todo, size, sizeof(size)),
             (int)(100 * (double)done / (double)todo));
  }
  text_add(t, ", %s/s", size_format((uint64_t)rate, size, sizeof(size)));
  if (share.todo && done <= todo && rate > 0 &&
      now - p->phase_ns >= ESTIMATE_SECONDS * SECOND) {
    text_add(t, ", ");
    add_time(t, (uint64_t)((double)(todo - done) / rate + 0.5));
    text_add(t, " left");
  }
}

static void show(struct sort_progress *p, const struct text *t) {
  p->shown = write(STDERR_FILENO, t->buffer, t->used) > 0;
}

void sort_progress_tell(void *arg, uint64_t done, uint64_t todo) {
  struct sort_progress *const p = arg;
  const uint64_t now = clock_ns();
  const char *const phase = share_of(p, done, todo).name;
  char line[160];
  struct text t = text_in(line, sizeof(line));
  if (phase != p->phase) {
    p->phase = phase;
    p->phase_ns = p->told_done ? p->told_done_ns : p->began_ns;
    p->phase_done = p->told_done;
  }
  p->told_done = done;
  p->told_done_ns = now;
  if (now - p->shown_ns < (p->terminal ? SECOND / 10 : SECOND)) {
    return;
  }
  p->shown_ns = now;
  text_add(&t, "%spems-sort: ", p->terminal ? "\r" : "");
  add_progress(&t, p, now, done, todo);
  text_add(&t, "%s", p->terminal ? "\033[K" : "\n");
  show(p, &t);
}

void sort_progress_begin(struct sort_progress *p, bool merge) {
  const uint64_t now = clock_ns();
  *p = (struct sort_progress){.terminal = isatty(STDERR_FILENO),
                              .merge = merge,
                              .began_ns = now,
                              .shown_ns = now};
}

void sort_progress_clear(struct sort_progress *p) {
  static const char clear[] = "\r\033[K";
  if (p->terminal && p->shown &&
      write(STDERR_FILENO, clear, strlen(clear)) > 0) {
    p->shown = false;
  }
}

void sort_progress_end(struct sort_progress *p, uint64_t bytes) {
  const uint64_t ns = clock_ns() - p->began_ns;
  char line[160], size[16];
  struct text t = text_in(line, sizeof(line));
  text_add(&t, "pems-sort: sorted %s in ",
           size_format(bytes, size, sizeof(size)));
  add_time(&t, (ns + SECOND / 2) / SECOND);
  text_add(&t, ", %s/s\n",
           size_format((uint64_t)((double)bytes / ((double)(ns + 1) / 1e9)),
                       size, sizeof(size)));
  show(p, &t);
}

/* --- statistics --- */

static double rate(uint64_t bytes, double seconds) {
  return seconds > 0 ? (double)bytes / seconds / 1e6 : 0;
}

static void report_phase(const char *name, const struct pems_sort_phase *p,
                         uint64_t bytes) {
  fprintf(stderr,
          "RESULT pems-sort-phase name=%s seconds=%.3f MB_per_s=%.1f "
          "cpu_seconds=%.3f bytes_read=%llu bytes_written=%llu reads=%llu "
          "writes=%llu merged=%llu read_wait=%.3f write_wait=%.3f\n",
          name, p->seconds, rate(bytes, p->seconds), p->cpu_seconds,
          (unsigned long long)p->io.bytes_read,
          (unsigned long long)p->io.bytes_written,
          (unsigned long long)p->io.reads, (unsigned long long)p->io.writes,
          (unsigned long long)p->io.merged, (double)p->io.read_wait_ns / 1e9,
          (double)p->io.write_wait_ns / 1e9);
}

static void report_scan(const char *name, const struct sort_scan *s) {
  if (s->seconds > 0) {
    fprintf(stderr,
            "RESULT pems-sort-scan name=%s seconds=%.3f MB_per_s=%.1f "
            "bytes_read=%llu\n",
            name, s->seconds, rate(s->bytes, s->seconds),
            (unsigned long long)s->bytes);
  }
}

void sort_report(const struct sort_command *c,
                 const struct pems_sort_counts *counts,
                 const struct sort_scan *verify) {
  const struct pems_sort_counts *const n = counts;
  const uint64_t bytes = n->records * c->sort.record.size;
  const double seconds = n->form.seconds + n->merge.seconds;
  fprintf(stderr,
          "RESULT pems-sort records=%llu record=%zu bytes=%llu seconds=%.3f "
          "MB_per_s=%.1f cpu_seconds=%.3f runs=%llu passes=%d block=%zu "
          "disks=%d threads=%d read_buffers=%d prefetch_buffers=%d "
          "write_buffers=%d kernel=%s memory=%llu peak_rss=%llu\n",
          (unsigned long long)n->records, c->sort.record.size,
          (unsigned long long)bytes, seconds, rate(bytes, seconds),
          n->form.cpu_seconds + n->merge.cpu_seconds,
          (unsigned long long)n->runs, n->passes, n->block, n->disks,
          n->threads, n->read_buffers, n->prefetch_buffers, n->write_buffers,
          n->kernel ? n->kernel : "none", (unsigned long long)n->memory,
          (unsigned long long)machine_peak_rss());
  report_phase("form", &n->form, bytes);
  report_phase("merge", &n->merge, bytes);
  report_scan("verify", verify);
}
