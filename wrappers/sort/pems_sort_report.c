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
/* Sorts that take less than that show nothing on a terminal. */
#define SHOWN_NS (5 * SECOND)

/* --- progress --- */

static void add_left(struct text *t, double passed, double share) {
  const unsigned long long left =
      (unsigned long long)(passed * (1 - share) / share + 0.5);
  if (passed < ESTIMATE_SECONDS || share <= 0) {
    return;
  }
  if (left >= 3600) {
    text_add(t, ", %llu:%02llu:%02llu left", left / 3600, left / 60 % 60,
             left % 60);
  } else {
    text_add(t, ", %llu:%02llu left", left / 60, left % 60);
  }
}

/* `todo` is less than `done` where runs are merged in more than one pass, 0
   where it is not known. */
static void add_progress(struct text *t, double passed, uint64_t done,
                         uint64_t todo) {
  char size[16];
  const double share = todo ? (double)done / (double)todo : 0;
  const double each = passed > 0 ? (double)done / passed : 0;
  if (todo && done <= todo) {
    text_add(t, "%d %%", (int)(100 * share));
  } else {
    text_add(t, "%s moved", size_format(done, size, sizeof(size)));
  }
  text_add(t, ", %s/s", size_format((uint64_t)each, size, sizeof(size)));
  if (todo && done <= todo) {
    add_left(t, passed, share);
  }
}

void sort_progress_tell(void *arg, uint64_t done, uint64_t todo) {
  struct sort_progress *const p = arg;
  const uint64_t now = clock_ns();
  char line[160];
  struct text t = text_in(line, sizeof(line));
  if (now - p->told_ns < (p->terminal ? SECOND / 10 : SECOND) ||
      (p->terminal && now - p->began_ns < SHOWN_NS)) {
    return;
  }
  p->told_ns = now;
  text_add(&t, "%spems-sort: ", p->terminal ? "\r" : "");
  add_progress(&t, (double)(now - p->began_ns) / 1e9, done, todo);
  text_add(&t, "%s", p->terminal ? "\033[K" : "\n");
  p->shown = true;
  if (write(STDERR_FILENO, line, t.used) < 0) {
    p->shown = false;
  }
}

bool sort_progress_begin(struct sort_progress *p, int wanted) {
  const uint64_t now = clock_ns();
  *p = (struct sort_progress){
      .terminal = isatty(STDERR_FILENO), .began_ns = now, .told_ns = now};
  return p->terminal || wanted;
}

void sort_progress_end(struct sort_progress *p) {
  static const char clear[] = "\r\033[K";
  if (p->terminal && p->shown &&
      write(STDERR_FILENO, clear, strlen(clear)) > 0) {
    p->shown = false;
  }
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
