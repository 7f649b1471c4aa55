/* The files that --pems-report writes, described in REPORTS of pems(7). What
   report_write and report_merge (report.h) are made of. Numbers are printed
   without floating point: a program may have chosen a locale with decimal
   commas. Called by one thread. */
#ifndef PEMS_REPORT_REPORT_PARTS_H
#define PEMS_REPORT_REPORT_PARTS_H

#include "report/trace_record.h"

#include <limits.h>
#include <stdio.h>

#include <pems/status.h>

/* "compute", ...; "in", ...: names of columns and in JSON. */
extern const char *const report_state[TRACE_STATES];
extern const char *const report_bytes[TRACE_BYTES];
/* "computing", ...: for people. */
extern const char *const report_state_text[TRACE_STATES];
/* 0x4477aa: red, green, blue. */
extern const unsigned report_color[TRACE_STATES];

/* Bytes of the longest name of a file, at least. */
enum { REPORT_LONGEST_NAME = 40 };
/* Fills in *error for a directory of which `code` says what is wrong; returns
   code. */
int report_fail(struct pems_error *error, int code, const char *dir);

/* A file that appears in `dir`, under its name, when it is complete. */
struct report_file {
  FILE *f;
  char path[PATH_MAX];
  char temporary[PATH_MAX];
  struct pems_error *error; /* filled in when something fails */
};
/* `name` is e.g. "states.%d.dat", of process `process`. Both return 0, or an
   errno value with *error filled in; after report_create failed there is
   nothing to close. report_close finds all errors of writing, and leaves no
   file then, nor if `wrong` is an errno value: what is in it is not all. */
int report_create(struct report_file *r, const char *dir, const char *name,
                  int process, struct pems_error *error);
int report_close(struct report_file *r, int wrong);

/* Seconds with nine digits, and microseconds with three, of ns. */
void report_seconds(FILE *f, uint64_t ns);
void report_micros(FILE *f, uint64_t ns);
/* A string with its quotes, escaped for JSON. Bytes that are not UTF-8 become
   '?'. */
void report_string(FILE *f, const char *s);

/* The columns of sums, and "call": their names, and what is in them, each after
   a blank. */
void report_columns(FILE *f);
void report_sums(FILE *f, const struct trace_sums *s);
/* Rows of this process, its intervals and its transfers as tables. Those that
   need memory return 0 or ENOMEM: the table is not complete. */
int report_supersteps(FILE *f, int process, int processes);
void report_states(FILE *f);
void report_swaps(FILE *f);
/* By place of the program, and by pair of ranks; memory over time. */
int report_sites(FILE *f);
void report_waits(FILE *f);
void report_resident(FILE *f);
/* The same as a trace in Chrome's JSON format. */
void report_chrome(FILE *f, int process);

/* What a table of supersteps says, read back. */
struct report_header {
  int ranks, first_rank;
  uint64_t stride;
  uint64_t end;           /* ns */
  uint64_t dropped;       /* single intervals and transfers */
  uint64_t busy[2];       /* ns during which something was read, written */
  uint64_t busy_bytes[2]; /* that went in these */
  uint64_t zero;          /* trace_zero */
};
struct report_row {
  int rank;
  uint64_t superstep, stride;
  uint64_t begin, end; /* ns */
  struct trace_sums sums;
  char what[64];
};
/* Returns false if this is none, or not one of `processes`. */
bool report_read_header(FILE *f, int process, int processes,
                        struct report_header *h);
/* The next row; false at the end. */
bool report_read_row(FILE *f, struct report_row *row);

/* The job, from the tables that can be seen. */
struct report_superstep {
  uint64_t first, supersteps; /* those summed here */
  uint64_t begin, end;        /* ns: of the first VP, of the last one */
  uint64_t rows;              /* of VPs; 0: nothing is here */
  struct trace_sums sums;
  char what[64];
};
struct report_rank {
  bool seen;
  uint64_t begin, end;
  struct trace_sums sums;
};
struct report_job {
  int processes, seen; /* processes in the job, and those whose table is here */
  int ranks;           /* seen */
  int rank_size;       /* items of rank[] */
  struct report_rank *rank;
  uint64_t stride; /* supersteps in an item of superstep[] */
  size_t n_supersteps, superstep_size;
  struct report_superstep *superstep;
  struct trace_sums sums;
  uint64_t end; /* ns: of the last VP */
  uint64_t dropped;
  uint64_t rate[2]; /* bytes per second while contexts were read, written */
};
/* Returns 0, or ENOMEM with *error filled in. */
int report_job_read(struct report_job *job, const char *dir, int processes,
                    struct pems_error *error);
/* Does `dir` have tables of this process, and of this job? */
bool report_is_here(const char *dir, int process, int processes);
void report_job_free(struct report_job *job);
/* How many there were. */
uint64_t report_job_supersteps(const struct report_job *job);

void report_totals(FILE *f, const struct report_job *job);
void report_text(FILE *f, const struct report_job *job);
void report_json(FILE *f, const struct report_job *job);
/* A gnuplot script that draws the tables of all processes. */
void report_plot(FILE *f, int processes);

#endif
