/* The tables of one process about calls: which places of the program took time,
   and which ranks were waited for; and how much was in memory. */
#define _GNU_SOURCE
#include "report/report_parts.h"

#include "os/native.h"
#include "report/report.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const struct report_places *places;

void report_name_places(const struct report_places *p) {
  places = p;
}

/* A place in all VPs of this process. */
struct site {
  uint64_t key; /* the same for every copy of the program */
  int vp;       /* one of those that were there */
  struct trace_site sums;
};

static uint64_t key_of(int vp, const struct trace_site *s) {
  return places && s->at ? places->key(vp, s->at) : (uintptr_t)s->at;
}

static bool is_same(const struct site *a, const struct site *b) {
  const char *const f = a->sums.function, *const g = b->sums.function;
  return a->key == b->key && (f == g || (f && g && strcmp(f, g) == 0));
}

static void add(struct site *all, size_t *n, const struct site *one) {
  size_t i = 0;
  while (i < *n && !is_same(&all[i], one)) {
    i++;
  }
  if (i == *n) {
    all[(*n)++] = *one;
    return;
  }
  all[i].sums.calls += one->sums.calls;
  for (int k = 0; k < TRACE_STATES; k++) {
    all[i].sums.time[k] += one->sums.time[k];
  }
}

static const char *function_of(const struct site *s) {
  return s->sums.function ? s->sums.function : s->sums.at ? "others" : "start";
}

static void put_place(FILE *f, const struct site *s) {
  char text[160] = "?";
  if (!s->sums.function) {
    strcpy(text, s->sums.at ? "many places" : "outside of calls");
  } else if (places && s->sums.at) {
    places->name(s->vp, s->sums.at, text, sizeof(text));
  }
  fprintf(f, " %s %s\n", function_of(s), text);
}

static void put_site(FILE *f, const struct site *s) {
  fprintf(f, "%llu", (unsigned long long)s->sums.calls);
  for (int k = 0; k < TRACE_STATES; k++) {
    fputc(' ', f);
    report_seconds(f, s->sums.time[k]);
  }
  put_place(f, s);
}

/* Distinct places are few: a list is searched for each. */
enum { MOST = 1024 };

int report_sites(FILE *f) {
  struct site *all = native_alloc(MOST * sizeof(*all));
  size_t n = 0;
  if (!all) {
    return ENOMEM;
  }
  fputs("# calls", f);
  for (int i = 0; i < TRACE_STATES; i++) {
    fprintf(f, " %s_s", report_state[i]);
  }
  fputs(" function place\n", f);
  for (int i = 0; i < trace_record.n; i++) {
    const struct trace_calls *c = &trace_record.vp[i].calls;
    for (int k = 0; k < TRACE_SITES && n < MOST; k++) {
      if (k < c->sites || c->site[k].calls) {
        add(all, &n, &(struct site){key_of(i, &c->site[k]), i, c->site[k]});
      }
    }
  }
  for (size_t i = 0; i < n; i++) {
    put_site(f, &all[i]);
  }
  native_free(all);
  return 0;
}

void report_waits(FILE *f) {
  fputs("# rank for times others_s\n", f);
  for (int i = 0; i < trace_record.n; i++) {
    const struct trace_calls *c = &trace_record.vp[i].calls;
    for (int k = 0; k <= TRACE_WAITED; k++) {
      if (c->wait[k].times) {
        fprintf(f, "%d %d %llu ", trace_record.first_rank + i, c->wait[k].rank,
                (unsigned long long)c->wait[k].times);
        report_seconds(f, c->wait[k].time);
        fputc('\n', f);
      }
    }
  }
}

void report_resident(FILE *f) {
  const struct trace_series *s = &trace_record.resident;
  fputs("# begin_s resident_B\n", f);
  for (size_t i = 0; i < s->n; i++) {
    report_seconds(f, trace_since_zero(s->point[i].at));
    fprintf(f, " %llu\n", (unsigned long long)s->point[i].value);
  }
}
