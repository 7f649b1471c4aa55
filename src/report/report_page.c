/* index.html: what page.html draws, as JSON between its head and its tail.
   Times are whole microseconds. At most some 10^5 items are in it: where a run
   has more, what is shorter than a part of the time is summed there. */
#define _GNU_SOURCE
#include "report/report_detail.h"

#include <string.h>

enum { MOST_STATES = 120000, MOST_TRANSFERS = 60000, MOST_STEPS = 240 };

static const char *const page[] = {
#include "report/page.inc"
};
enum { PAGE_LINES = sizeof(page) / sizeof(*page) };
static const char data_mark[] = "@DATA@\n";

typedef unsigned long long ull;

static ull micros(uint64_t ns) {
  return ns / 1000;
}

/* ns of a part of the time so that so many rows have at most `most` items. */
static uint64_t part_for(size_t items, size_t rows, size_t most, uint64_t end) {
  return items <= most || !rows ? 0 : end / (most / rows + 1) + 1;
}

/* --- states of ranks --- */

/* The row of one rank. In a part of the time that several states share, the one
   that took most of it stands. */
struct row {
  FILE *f;
  uint64_t part; /* ns; 0: each state as it was */
  int rank;      /* or -1: none is open */
  uint64_t at;   /* number of the part whose weights these are */
  uint64_t weight[TRACE_STATES];
  int state;                /* that was written last, or -1 */
  uint64_t time, superstep; /* that were written last */
  uint64_t number;          /* superstep that the part ends in */
  uint64_t end;             /* of the rank */
  const char *between;
};

static void put_state(struct row *r, uint64_t begin, int state,
                      uint64_t superstep) {
  if (state == r->state && superstep == r->superstep) {
    return;
  }
  const ull at = micros(begin);
  fprintf(r->f, "%s%llu,%d,%llu", r->state < 0 ? "" : ",",
          at - (r->state < 0 ? 0 : micros(r->time)), state, (ull)superstep);
  r->state = state;
  r->time = begin;
  r->superstep = superstep;
}

static void end_part(struct row *r) {
  int most = 0;
  for (int i = 1; i < TRACE_STATES; i++) {
    most = r->weight[i] > r->weight[most] ? i : most;
  }
  if (r->weight[most]) {
    put_state(r, r->at * r->part, most, r->number);
  }
  memset(r->weight, 0, sizeof(r->weight));
}

static void add_weight(struct row *r, const struct report_interval *t) {
  uint64_t begin = t->begin;
  while (begin < t->end) {
    const uint64_t at = begin / r->part;
    const uint64_t stop = (at + 1) * r->part;
    if (at != r->at) {
      end_part(r);
      r->at = at;
    }
    r->number = t->number;
    r->weight[t->state] += (stop < t->end ? stop : t->end) - begin;
    begin = stop;
    if (t->end > begin + r->part) { /* whole parts of this state */
      end_part(r);
      r->at = t->end / r->part;
      put_state(r, begin, t->state, t->number);
      begin = r->at * r->part;
    }
  }
}

static void close_row(struct row *r) {
  if (r->rank < 0) {
    return;
  }
  if (r->part) {
    end_part(r);
  }
  fprintf(r->f, "],%llu]", micros(r->end));
}

static void add_state(struct row *r, const struct report_interval *t) {
  if (t->rank != r->rank) {
    close_row(r);
    fprintf(r->f, "%s[%d,[", r->between, t->rank);
    *r = (struct row){.f = r->f,
                      .part = r->part,
                      .rank = t->rank,
                      .state = -1,
                      .at = r->part ? t->begin / r->part : 0,
                      .between = ",\n"};
  }
  r->end = t->end;
  if (r->part) {
    add_weight(r, t);
  } else {
    put_state(r, t->begin, t->state, t->number);
  }
}

static void put_states(FILE *f, const struct report_detail *d) {
  struct row r = {.f = f,
                  .rank = -1,
                  .between = "",
                  .part = part_for(d->states, (size_t)d->job->ranks,
                                   MOST_STATES, d->job->end)};
  fprintf(f, "\"part\":%llu,\n\"lines\":[", micros(r.part));
  for (int i = 0; i < d->job->processes; i++) {
    struct report_interval t;
    FILE *in = report_open_table(d, "states.%d.dat", i);
    while (in && report_read_state(in, &t)) {
      add_state(&r, &t);
    }
    if (in) {
      fclose(in);
    }
  }
  close_row(&r);
  fputs("],\n", f);
}

/* --- transfers of contexts --- */

/* Those of one rank in one direction that are nearer than a part are one. */
struct moves {
  FILE *f;
  uint64_t part;
  struct report_interval last;
  bool any;
};

static void put_move(struct moves *m) {
  const struct report_interval *t = &m->last;
  if (t->end || t->number) {
    fprintf(m->f, "%s[%d,%llu,%llu,%d,%llu]", m->any ? "," : "", t->rank,
            micros(t->begin), micros(t->end - t->begin), t->state,
            (ull)t->number);
    m->any = true;
  }
}

static void add_move(struct moves *m, const struct report_interval *t) {
  struct report_interval *last = &m->last;
  if (m->part && last->end && t->rank == last->rank &&
      t->begin < last->end + m->part) {
    last->state = t->number > last->number ? t->state : last->state;
    last->number += t->number;
    last->end = t->end > last->end ? t->end : last->end;
    return;
  }
  put_move(m);
  *last = *t;
}

static void put_moves(FILE *f, const struct report_detail *d) {
  struct moves m = {.f = f,
                    .part = part_for(d->transfers, (size_t)d->job->ranks,
                                     MOST_TRANSFERS, d->job->end)};
  fputs("\"moves\":[", f);
  for (int i = 0; i < d->job->processes; i++) {
    struct report_interval t;
    FILE *in = report_open_table(d, "swaps.%d.dat", i);
    while (in && report_read_swap(in, &t)) {
      add_move(&m, &t);
    }
    if (in) {
      fclose(in);
    }
  }
  put_move(&m);
  fputs("],\n", f);
}

/* --- sums --- */

static void put_times(FILE *f, const uint64_t *time) {
  for (int i = 0; i < TRACE_STATES; i++) {
    fprintf(f, "%s%llu", i ? "," : "[", micros(time[i]));
  }
  fputc(']', f);
}

static void put_bytes(FILE *f, const uint64_t *bytes) {
  for (int i = 0; i < TRACE_BYTES; i++) {
    fprintf(f, "%s%llu", i ? "," : "[", (ull)bytes[i]);
  }
  fputc(']', f);
}

static void add_step(struct report_superstep *to,
                     const struct report_superstep *s) {
  if (!to->rows) {
    *to = *s;
    return;
  }
  to->supersteps = s->first + s->supersteps - to->first;
  to->begin = s->begin < to->begin ? s->begin : to->begin;
  to->end = s->end > to->end ? s->end : to->end;
  trace_sums_add(&to->sums, &s->sums);
  if (strcmp(to->what, s->what) != 0) {
    snprintf(to->what, sizeof(to->what), "%s", trace_various);
  }
}

static void put_steps(FILE *f, const struct report_job *job) {
  const size_t each = job->n_supersteps / MOST_STEPS + 1;
  const char *between = "";
  fputs("\"steps\":[", f);
  for (size_t i = 0; i < job->n_supersteps; i += each) {
    struct report_superstep s = {0};
    for (size_t k = i; k < i + each && k < job->n_supersteps; k++) {
      if (job->superstep[k].rows) {
        add_step(&s, &job->superstep[k]);
      }
    }
    if (!s.rows) {
      continue;
    }
    fprintf(f, "%s[%llu,%llu,%llu,%llu,", between, (ull)s.first,
            (ull)s.supersteps, micros(s.begin), micros(s.end));
    put_times(f, s.sums.time);
    fputc(',', f);
    put_bytes(f, s.sums.bytes);
    fputc(',', f);
    report_string(f, s.what);
    fputc(']', f);
    between = ",\n";
  }
  fputs("],\n", f);
}

static void put_resident(FILE *f, const struct report_detail *d) {
  fprintf(f, "\"budget\":%llu,\n\"resident\":[",
          (ull)trace_record.facts.resident);
  for (int i = 0; i < d->job->processes; i++) {
    uint64_t at, value;
    const char *between = "";
    FILE *in = report_open_table(d, "resident.%d.dat", i);
    fputs(i ? ",\n[" : "[", f);
    while (in && report_read_point(in, &at, &value)) {
      fprintf(f, "%s%llu,%llu", between, micros(at), (ull)value);
      between = ",";
    }
    fputc(']', f);
    if (in) {
      fclose(in);
    }
  }
  fputs("],\n", f);
}

static void put_rates(FILE *f, const struct report_detail *d) {
  fprintf(f, "\"measured\":%llu,\n\"rate_part\":%llu,\n\"moved\":[",
          (ull)(trace_record.facts.disk_rate * (uint64_t)d->job->processes),
          micros(d->part));
  for (int out = 0; out < 2; out++) {
    fputs(out ? ",[" : "[", f);
    for (int i = 0; i < REPORT_PARTS; i++) {
      fprintf(f, "%s%llu", i ? "," : "", (ull)d->moved[out][i]);
    }
    fputc(']', f);
  }
  fputs("],\n", f);
}

static void put_sites(FILE *f, const struct report_detail *d) {
  enum { SHOWN = 40 };
  fputs("\"sites\":[", f);
  for (size_t i = 0; i < d->sites && i < SHOWN; i++) {
    const struct report_site *s = &d->site[i];
    fputs(i ? ",\n[" : "[", f);
    report_string(f, s->function);
    fputc(',', f);
    report_string(f, s->place);
    fprintf(f, ",%llu,", (ull)s->calls);
    put_times(f, s->time);
    fputc(']', f);
  }
  fputs("],\n\"waits\":[", f);
  for (size_t i = 0; i < d->waits; i++) {
    fprintf(f, "%s[%d,%d,%llu,%llu]", i ? "," : "", d->wait[i].rank,
            d->wait[i].by, (ull)d->wait[i].times, micros(d->wait[i].time));
  }
  fputs("],\n", f);
}

/* --- the head --- */

static void put_notes(FILE *f) {
  fputs("\"notes\":[", f);
  for (int i = 0; i < trace_record.notes; i++) {
    fputs(i ? ",[" : "[", f);
    report_string(f, trace_record.note[i].name);
    fputc(',', f);
    report_string(f, trace_record.note[i].value);
    fputc(']', f);
  }
  fputs("],\n", f);
}

static void put_advice(FILE *f, const struct report_detail *d) {
  char text[REPORT_ADVICE][REPORT_SENTENCE];
  const int n = report_advice(d, text);
  fputs("\"advice\":[", f);
  for (int i = 0; i < n; i++) {
    fputs(i ? ",\n" : "", f);
    report_string(f, text[i]);
  }
  fputs("],\n", f);
}

static void put_words(FILE *f, const char *name, const char *const *words,
                      int n) {
  fprintf(f, "\"%s\":[", name);
  for (int i = 0; i < n; i++) {
    fputs(i ? "," : "", f);
    report_string(f, words[i]);
  }
  fputs("],\n", f);
}

static void put_head(FILE *f, const struct report_detail *d) {
  const struct report_job *job = d->job;
  fprintf(f,
          "\"ranks\":%d,\"processes\":%d,\"seen\":%d,\"supersteps\":%llu,"
          "\"dropped\":%llu,\"end\":%llu,\n",
          job->ranks, job->processes, job->seen,
          (ull)report_job_supersteps(job), (ull)job->dropped, micros(job->end));
  put_words(f, "states", report_state_text, TRACE_STATES);
  put_words(f, "kinds", report_bytes, TRACE_BYTES);
  put_notes(f);
  put_advice(f, d);
  fputs("\"time\":", f);
  put_times(f, job->sums.time);
  fputs(",\n\"bytes\":", f);
  put_bytes(f, job->sums.bytes);
  fputs(",\n", f);
}

void report_page(FILE *f, const struct report_detail *d) {
  for (int i = 0; i < PAGE_LINES; i++) {
    if (strcmp(page[i], data_mark) != 0) {
      fputs(page[i], f);
      continue;
    }
    fputs("{", f);
    put_head(f, d);
    put_steps(f, d->job);
    put_resident(f, d);
    put_rates(f, d);
    put_sites(f, d);
    put_states(f, d);
    put_moves(f, d);
    fputs("\"page\":1}\n", f);
  }
}
