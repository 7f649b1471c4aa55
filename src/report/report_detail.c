#define _GNU_SOURCE
#include "report/report_detail.h"

#include "base/failure.h"
#include "os/native.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { LINE = 1024 };

/* --- lines of tables --- */

static uint64_t number(char **at) {
  return strtoull(*at, at, 10);
}

/* "12.000000345" */
static uint64_t seconds(char **at) {
  const uint64_t whole = number(at);
  if (**at != '.') {
    return whole * 1000000000;
  }
  ++*at;
  return whole * 1000000000 + number(at);
}

static bool next_line(FILE *f, char *line) {
  do {
    if (!fgets(line, LINE, f)) {
      return false;
    }
  } while (*line == '#' || *line == '\n');
  return true;
}

FILE *report_open_table(const struct report_detail *d, const char *name,
                        int process) {
  char file[REPORT_LONGEST_NAME], path[PATH_MAX];
  if (!report_is_here(d->dir, process, d->job->processes)) {
    return NULL;
  }
  snprintf(file, sizeof(file), name, process);
  const int n = snprintf(path, sizeof(path), "%s/%s", d->dir, file);
  return n < (int)sizeof(path) ? fopen(path, "re") : NULL;
}

static bool read_interval(FILE *f, struct report_interval *i, bool swap) {
  char line[LINE], *at = line;
  if (!next_line(f, line)) {
    return false;
  }
  i->rank = (int)number(&at);
  i->begin = seconds(&at);
  i->end = seconds(&at);
  i->state = (int)number(&at);
  if (!swap) { /* its name comes before the superstep */
    at += strspn(at, " ");
    at += strcspn(at, " \n");
  }
  i->number = number(&at);
  return i->state >= 0 && i->state < (swap ? 2 : TRACE_STATES);
}

bool report_read_state(FILE *f, struct report_interval *i) {
  return read_interval(f, i, false);
}

bool report_read_swap(FILE *f, struct report_interval *i) {
  return read_interval(f, i, true);
}

bool report_read_point(FILE *f, uint64_t *at, uint64_t *value) {
  char line[LINE], *p = line;
  if (!next_line(f, line)) {
    return false;
  }
  *at = seconds(&p);
  *value = number(&p);
  return true;
}

/* --- transfers --- */

/* A transfer's bytes go evenly to the parts of the time that it lies in. */
static void spread(struct report_detail *d, const struct report_interval *t) {
  const uint64_t length = t->end > t->begin ? t->end - t->begin : 1;
  uint64_t given = 0, at = t->begin;
  for (;;) {
    const uint64_t part =
        at / d->part < REPORT_PARTS ? at / d->part : REPORT_PARTS;
    const uint64_t stop = (at / d->part + 1) * d->part;
    const uint64_t until = stop >= t->end || part == REPORT_PARTS
                               ? t->number
                               : (uint64_t)((unsigned __int128)t->number *
                                            (stop - t->begin) / length);
    d->moved[t->state][part] += until - given;
    if (until == t->number) {
      return;
    }
    given = until;
    at = stop;
  }
}

static void read_swaps(struct report_detail *d, int process) {
  struct report_interval t;
  FILE *f = report_open_table(d, "swaps.%d.dat", process);
  while (f && report_read_swap(f, &t)) {
    d->transfers++;
    d->count[t.state]++;
    d->bytes[t.state] += t.number;
    d->largest = t.number > d->largest ? t.number : d->largest;
    spread(d, &t);
  }
  if (f) {
    fclose(f);
  }
}

static void count_states(struct report_detail *d, int process) {
  struct report_interval t;
  FILE *f = report_open_table(d, "states.%d.dat", process);
  while (f && report_read_state(f, &t)) {
    d->states++;
  }
  if (f) {
    fclose(f);
  }
}

/* --- calls --- */

static void read_site(char *line, struct report_site *s) {
  char *at = line;
  s->calls = number(&at);
  for (int i = 0; i < TRACE_STATES; i++) {
    s->time[i] = seconds(&at);
  }
  at += strspn(at, " ");
  const size_t n = strcspn(at, " \n");
  snprintf(s->function, sizeof(s->function), "%.*s", (int)n, at);
  at += n + strspn(at + n, " ");
  snprintf(s->place, sizeof(s->place), "%.*s", (int)strcspn(at, "\n"), at);
}

/* Processes have the same program. */
static void add_site(struct report_detail *d, const struct report_site *s) {
  size_t i = 0;
  while (i < d->sites && (strcmp(d->site[i].function, s->function) != 0 ||
                          strcmp(d->site[i].place, s->place) != 0)) {
    i++;
  }
  if (i == d->sites && i < REPORT_SITES) {
    d->site[d->sites++] = *s;
  } else if (i < REPORT_SITES) {
    d->site[i].calls += s->calls;
    for (int k = 0; k < TRACE_STATES; k++) {
      d->site[i].time[k] += s->time[k];
    }
  }
}

static void read_sites(struct report_detail *d, int process) {
  char line[LINE];
  struct report_site s;
  FILE *f = report_open_table(d, "sites.%d.dat", process);
  while (f && next_line(f, line)) {
    read_site(line, &s);
    add_site(d, &s);
  }
  if (f) {
    fclose(f);
  }
}

static void read_wait(struct report_detail *d, char *line) {
  char *at = line;
  struct report_wait w;
  w.rank = (int)number(&at);
  w.by = (int)strtol(at, &at, 10);
  w.times = number(&at);
  w.time = seconds(&at);
  if (d->waits < REPORT_WAITS) {
    d->wait[d->waits++] = w;
  }
}

static void read_waits(struct report_detail *d, int process) {
  char line[LINE];
  FILE *f = report_open_table(d, "waits.%d.dat", process);
  while (f && next_line(f, line)) {
    read_wait(d, line);
  }
  if (f) {
    fclose(f);
  }
}

uint64_t report_site_time(const struct report_site *s) {
  uint64_t sum = 0;
  for (int i = 0; i < TRACE_STATES; i++) {
    sum += s->time[i];
  }
  return sum;
}

static int by_time(const void *a, const void *b) {
  const uint64_t x = report_site_time(a), y = report_site_time(b);
  return (x < y) - (x > y);
}

static int by_wait(const void *a, const void *b) {
  const struct report_wait *x = a, *y = b;
  return (x->time < y->time) - (x->time > y->time);
}

struct report_detail *report_detail_read(const struct report_job *job,
                                         const char *dir,
                                         struct pems_error *error) {
  struct report_detail *d = native_zalloc(1, sizeof(*d));
  if (!d) {
    failure(error, ENOMEM,
            "report: %s: out of memory for index.html: its other files are "
            "complete",
            dir);
    return NULL;
  }
  d->job = job;
  d->dir = dir;
  d->part = job->end / REPORT_PARTS + 1;
  for (int i = 0; i < job->processes; i++) {
    count_states(d, i);
    read_swaps(d, i);
    read_sites(d, i);
    read_waits(d, i);
  }
  qsort(d->site, d->sites, sizeof(d->site[0]), by_time);
  qsort(d->wait, d->waits, sizeof(d->wait[0]), by_wait);
  return d;
}
