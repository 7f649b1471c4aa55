/* What the tables of all processes say beyond supersteps: transfers, call
   sites, who waited for whom, memory. For the page and its advice. */
#ifndef PEMS_REPORT_REPORT_DETAIL_H
#define PEMS_REPORT_REPORT_DETAIL_H

#include "report/report_parts.h"

enum {
  REPORT_PARTS = 240, /* of the time, for rates */
  REPORT_SITES = 512,
  REPORT_WAITS = 4096, /* pairs of ranks; what is beyond is summed */
};

struct report_site {
  uint64_t calls;
  uint64_t time[TRACE_STATES];
  char function[64];
  char place[160];
};
struct report_wait {
  int rank, by; /* by: or TRACE_ELSEWHERE, TRACE_REST */
  uint64_t times, time;
};
struct report_detail {
  const struct report_job *job;
  const char *dir;
  size_t states, transfers; /* lines of these tables, all processes */
  uint64_t count[2];        /* transfers: in, out */
  uint64_t bytes[2];        /* theirs */
  uint64_t largest;         /* bytes of one */
  uint64_t part;            /* ns of a part of the time */
  uint64_t moved[2][REPORT_PARTS + 1]; /* bytes in each */
  size_t sites, waits;
  struct report_site site[REPORT_SITES]; /* most time first */
  struct report_wait wait[REPORT_WAITS]; /* longest first */
};

/* Opens "states.%d.dat" or another table of a process of this job; NULL where
   that is not here. */
FILE *report_open_table(const struct report_detail *d, const char *name,
                        int process);

/* What one line of states and swaps says. */
struct report_interval {
  int rank;
  uint64_t begin, end; /* ns */
  int state;           /* or out: 0, 1 */
  uint64_t number;     /* superstep, or bytes */
};
bool report_read_state(FILE *f, struct report_interval *i);
bool report_read_swap(FILE *f, struct report_interval *i);
bool report_read_point(FILE *f, uint64_t *at, uint64_t *value);

/* Reads what is not read line by line. Returns NULL, with *error filled in, if
   there is no memory. native_free ends it. */
struct report_detail *report_detail_read(const struct report_job *job,
                                         const char *dir,
                                         struct pems_error *error);
uint64_t report_site_time(const struct report_site *s);

/* In words what to change: at most REPORT_ADVICE sentences, the most important
   first; returns how many. Always at least one. */
enum { REPORT_ADVICE = 8, REPORT_SENTENCE = 320 };
int report_advice(const struct report_detail *d,
                  char text[REPORT_ADVICE][REPORT_SENTENCE]);

/* index.html: one file, which needs no other and no network. */
void report_page(FILE *f, const struct report_detail *d);

#endif
