#define _GNU_SOURCE
#include "wrappers/pemstop_view.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "config/size.h"

typedef unsigned long long ull;

/* --- reading --- */

static int by_process(const void *a, const void *b) {
  const struct job_status *const x = a, *const y = b;
  return (x->process > y->process) - (x->process < y->process);
}

int view_read(struct view *v, char *text) {
  char *rest = NULL;
  *v = (struct view){0};
  for (char *line = strtok_r(text, "\n", &rest); line;
       line = strtok_r(NULL, "\n", &rest)) {
    struct job_status *const more =
        realloc(v->process, ((size_t)v->n + 1) * sizeof(*more));
    if (!more) {
      view_free(v);
      return -1;
    }
    v->process = more;
    v->n += job_status_read(&more[v->n], line) == 0;
  }
  if (v->n > 0) {
    qsort(v->process, (size_t)v->n, sizeof(*v->process), by_process);
  }
  return 0;
}

void view_free(struct view *v) {
  free(v->process);
  *v = (struct view){0};
}

/* --- lines --- */

struct page {
  FILE *f;
  int columns, lines; /* left; lines < 0: any number */
  const char *newline;
};

__attribute__((format(printf, 2, 3))) static void put(struct page *p,
                                                      const char *format, ...) {
  char line[512];
  va_list args;
  if (p->lines == 0) {
    return;
  }
  va_start(args, format);
  vsnprintf(line, sizeof(line), format, args);
  va_end(args);
  fprintf(p->f, "%.*s%s", p->columns, line, p->newline);
  p->lines -= p->lines > 0;
}

/* "[#####.....]" */
static const char *bar(char *text, int width, ull part, ull whole) {
  const int full =
      whole
          ? (int)((double)(part < whole ? part : whole) * width / (double)whole)
          : 0;
  text[0] = '[';
  for (int i = 0; i < width; i++) {
    text[i + 1] = i < full ? '#' : '.';
  }
  strcpy(text + width + 1, "]");
  return text;
}

static void add_process(struct job_status *sum, const struct job_status *s) {
  sum->n += s->n;
  sum->computing += s->computing;
  sum->slot += s->slot;
  sum->context += s->context;
  sum->others += s->others;
  sum->done += s->done;
  sum->resident += s->resident;
  sum->budget += s->budget;
  sum->supersteps += s->supersteps;
  sum->read += s->read;
  sum->written += s->written;
  sum->sent += s->sent;
}

static struct job_status sum_of(const struct view *v) {
  struct job_status sum = {0};
  sum.step = UINT64_MAX;
  for (int i = 0; i < v->n; i++) {
    const struct job_status *const s = &v->process[i];
    add_process(&sum, s);
    sum.ms = s->ms > sum.ms ? s->ms : sum.ms;
    sum.step = s->n > s->done && s->step < sum.step ? s->step : sum.step;
  }
  for (int i = 0; i < v->n; i++) { /* a process may be ahead as a whole */
    const struct job_status *const s = &v->process[i];
    sum.ahead += s->step > sum.step ? s->n : s->ahead;
  }
  sum.step = sum.step == UINT64_MAX ? 0 : sum.step;
  return sum;
}

/* The first process of the same host. */
static int first_of_host(const struct view *v, int i) {
  int k = 0;
  while (strcmp(v->process[k].host, v->process[i].host) != 0) {
    k++;
  }
  return k;
}

static int hosts(const struct view *v) {
  int n = 0;
  for (int i = 0; i < v->n; i++) {
    n += first_of_host(v, i) == i;
  }
  return n;
}

/* The sums of the processes of the host of process i, under its number. */
static struct job_status sum_of_host(const struct view *v, int i) {
  struct job_status sum = v->process[i];
  for (int k = i + 1; k < v->n; k++) {
    if (first_of_host(v, k) == i) {
      const struct job_status *const s = &v->process[k];
      add_process(&sum, s);
      sum.silent += s->silent;
      sum.ms = s->ms > sum.ms ? s->ms : sum.ms;
    }
  }
  return sum;
}

const struct job_status *view_speaker(const struct view *v) {
  int i = 0;
  while (i + 1 < v->n && v->process[i].silent) {
    i++;
  }
  return &v->process[i];
}

static ull per_second(ull now, ull before, ull ms) {
  return ms && now > before ? (now - before) * 1000 / ms : 0;
}

static const char *size(char *text, ull n) {
  return size_format(n, text, 16);
}

/* --- parts --- */

static void put_head(struct page *p, const struct view *v,
                     const struct job_status *sum) {
  const struct job_status *const s = view_speaker(v);
  const int n = hosts(v);
  put(p, "%s: %llu ranks in %llu process%s on %d host%s, k=%llu, %llu.%llu s",
      s->program, (ull)s->v, (ull)s->of, s->of == 1 ? "" : "es", n,
      n == 1 ? "" : "s", (ull)s->k, (ull)sum->ms / 1000,
      (ull)sum->ms / 100 % 10);
  if ((ull)v->n < s->of) {
    put(p, "only %d of %llu processes are seen from here", v->n, (ull)s->of);
  }
  for (int i = 0; i < v->n; i++) {
    if (v->process[i].silent) {
      put(p, "no answer from process %llu on %s, pid %llu",
          (ull)v->process[i].process, v->process[i].host,
          (ull)v->process[i].pid);
    }
  }
}

/* At the rate at which ranks ended the superstep since it was first seen. */
static void put_step(struct page *p, const struct job_status *sum,
                     struct view_step *step) {
  char graph[64], left[64] = "";
  if (!step->known || step->step != sum->step) {
    *step = (struct view_step){sum->step, sum->ms, sum->ahead, true};
  }
  const ull gone = sum->ms - step->since;
  if (sum->ahead > step->ahead && gone) {
    const ull ms = gone * (sum->n - sum->ahead) / (sum->ahead - step->ahead);
    snprintf(left, sizeof(left), ", about %llu.%llu s left", ms / 1000,
             ms / 100 % 10);
  }
  put(p, "superstep %-6llu %s %llu of %llu ranks through%s", (ull)sum->step,
      bar(graph, 20, sum->ahead, sum->n), (ull)sum->ahead, (ull)sum->n, left);
}

static void put_ranks(struct page *p, const struct job_status *s) {
  put(p,
      "ranks     computing %llu, waiting: for a slot %llu, for context %llu, "
      "for others %llu; done %llu",
      (ull)s->computing, (ull)s->slot, (ull)s->context, (ull)s->others,
      (ull)s->done);
}

static void put_memory(struct page *p, const struct job_status *s) {
  char graph[64], a[16], b[16];
  put(p, "contexts  %s %s of %s in memory",
      bar(graph, 20, s->resident, s->budget), size(a, s->resident),
      size(b, s->budget));
}

static void put_rate(struct page *p, const char *name, ull now, ull before,
                     ull ms, const char *what) {
  char a[16], b[16];
  if (ms) {
    put(p, "%-9s %11s/s %s, %s in all", name,
        size(a, per_second(now, before, ms)), what, size(b, now));
  } else {
    put(p, "%-9s %s %s in all", name, size(b, now), what);
  }
}

/* A line of a table, of a process with this pid or a host with so many. */
static void put_line(struct page *p, const char *name, ull number,
                     const struct job_status *s,
                     const struct job_status *before) {
  char a[16], b[16], c[16], d[16];
  const ull ms = before && s->ms > before->ms ? s->ms - before->ms : 0;
  put(p,
      "%7s %-16.16s %7llu %5llu %5llu %5llu %7llu %6llu %5llu %10s %10s %10s "
      "%10s",
      name, s->host, number, (ull)s->n, (ull)s->computing, (ull)s->slot,
      (ull)s->context, (ull)s->others, (ull)s->done, size(a, s->resident),
      size(b, ms ? per_second(s->read, before->read, ms) : 0),
      size(c, ms ? per_second(s->written, before->written, ms) : 0),
      size(d, ms ? per_second(s->sent, before->sent, ms) : 0));
}

static void put_columns(struct page *p, const char *name, const char *number) {
  put(p, "%7s %-16s %7s %5s %5s %5s %7s %6s %5s %10s %10s %10s %10s", name,
      "host", number, "ranks", "run", "slot", "context", "others", "done",
      "contexts", "read/s", "written/s", "sent/s");
}

static const struct job_status *same(const struct view *v,
                                     const struct job_status *s) {
  for (int i = 0; i < v->n; i++) {
    if (v->process[i].process == s->process && v->process[i].pid == s->pid &&
        !v->process[i].silent) {
      return &v->process[i];
    }
  }
  return NULL;
}

/* What came of all processes of the host when those that are there now had
   answered, too; else there is no rate. */
static bool host_before(const struct view *now, const struct view *before,
                        int i, struct job_status *sum) {
  bool first = true;
  for (int k = i; k < now->n; k++) {
    if (first_of_host(now, k) == i) {
      const struct job_status *const was = same(before, &now->process[k]);
      if (!was || now->process[k].silent) {
        return false;
      }
      if (first) {
        *sum = *was;
      } else {
        add_process(sum, was);
        sum->ms = was->ms > sum->ms ? was->ms : sum->ms;
      }
      first = false;
    }
  }
  return true;
}

/* Where a host has one process, that says it all. */
static void put_hosts(struct page *p, const struct view *now,
                      const struct view *before) {
  if (hosts(now) < 2 || hosts(now) == now->n) {
    return;
  }
  put_columns(p, "", "procs");
  for (int i = 0; i < now->n; i++) {
    if (first_of_host(now, i) == i) {
      struct job_status was;
      const struct job_status sum = sum_of_host(now, i);
      const bool known = host_before(now, before, i, &was);
      ull processes = 0;
      for (int k = i; k < now->n; k++) {
        processes += first_of_host(now, k) == i;
      }
      put_line(p, "", processes, &sum, known ? &was : NULL);
    }
  }
  put(p, "%s", "");
}

static void put_processes(struct page *p, const struct view *now,
                          const struct view *before) {
  put_columns(p, "process", "pid");
  for (int i = 0; i < now->n; i++) {
    const struct job_status *const s = &now->process[i];
    char number[24];
    snprintf(number, sizeof(number), "%llu", (ull)s->process);
    if (s->silent) {
      put(p, "%7s %-16.16s %7llu does not answer", number, s->host,
          (ull)s->pid);
    } else {
      put_line(p, number, (ull)s->pid, s, same(before, s));
    }
  }
}

/* Those who answered both times; else sums would jump. */
static bool alike(const struct view *now, const struct view *before) {
  for (int i = 0; i < now->n; i++) {
    if (now->process[i].silent || !same(before, &now->process[i])) {
      return false;
    }
  }
  return now->n == before->n;
}

void view_print(FILE *f, const struct view *now, const struct view *before,
                struct view_step *step, int columns, int lines,
                const char *newline) {
  struct page p = {f, columns, lines > 0 ? lines : -1, newline};
  if (!now->n) {
    return;
  }
  const struct job_status sum = sum_of(now);
  const struct job_status was = sum_of(before);
  const ull ms = alike(now, before) && sum.ms > was.ms ? sum.ms - was.ms : 0;
  put_head(&p, now, &sum);
  put_step(&p, &sum, step);
  put_ranks(&p, &sum);
  put_memory(&p, &sum);
  put_rate(&p, "disks", sum.read, was.read, ms, "read");
  put_rate(&p, "", sum.written, was.written, ms, "written");
  put_rate(&p, "network", sum.sent, was.sent, ms, "sent");
  put(&p, "%s", "");
  put_hosts(&p, now, before);
  put_processes(&p, now, before);
}
