/* Sums over the whole job, from the tables of its processes. */
#define _GNU_SOURCE
#include "report/report_parts.h"

#include "base/failure.h"
#include "os/native.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { LINE = 1024 };

/* --- reading one table --- */

static uint64_t get_number(char **at) {
  return strtoull(*at, at, 10);
}

/* "12.000000345" */
static uint64_t get_seconds(char **at) {
  const uint64_t whole = get_number(at);
  if (**at != '.') {
    return whole * 1000000000;
  }
  ++*at;
  return whole * 1000000000 + get_number(at);
}

/* The next line, if it starts with `word`; *at is what follows. */
static bool get_line(FILE *f, char *line, const char *word, char **at) {
  const size_t n = strlen(word);
  *at = line + n;
  return fgets(line, LINE, f) && strncmp(line, word, n) == 0;
}

static bool skip(char **at, const char *word) {
  const size_t n = strlen(word);
  if (strncmp(*at, word, n) != 0) {
    return false;
  }
  *at += n;
  return true;
}

bool report_read_header(FILE *f, int process, int processes,
                        struct report_header *h) {
  char line[LINE], *at;
  if (!get_line(f, line, "# pems-report 1 process ", &at) ||
      (int)get_number(&at) != process || !skip(&at, " of ") ||
      (int)get_number(&at) != processes ||
      !get_line(f, line, "# ranks ", &at)) {
    return false;
  }
  h->ranks = (int)get_number(&at);
  if (!skip(&at, " first ")) {
    return false;
  }
  h->first_rank = (int)get_number(&at);
  if (!skip(&at, " stride ")) {
    return false;
  }
  h->stride = get_number(&at);
  if (!skip(&at, " dropped ")) {
    return false;
  }
  h->dropped = get_number(&at);
  if (!get_line(f, line, "# end ", &at)) {
    return false;
  }
  h->end = get_seconds(&at);
  for (int out = 0; out < 2; out++) {
    if (!skip(&at, out ? " writing " : " reading ")) {
      return false;
    }
    h->busy[out] = get_seconds(&at);
    h->busy_bytes[out] = get_number(&at);
  }
  if (!get_line(f, line, "# zero ", &at)) {
    return false;
  }
  h->zero = get_number(&at);
  return h->ranks > 0 && h->stride > 0;
}

static void get_word(char *at, char *word, size_t size) {
  at += strspn(at, " ");
  snprintf(word, size, "%.*s", (int)strcspn(at, " \n"), at);
}

bool report_read_row(FILE *f, struct report_row *row) {
  char line[LINE], *at = line;
  do {
    if (!fgets(line, sizeof(line), f)) {
      return false;
    }
  } while (*line == '#' || *line == '\n');
  row->rank = (int)get_number(&at);
  row->superstep = get_number(&at);
  row->stride = get_number(&at);
  row->begin = get_seconds(&at);
  row->end = get_seconds(&at);
  for (int i = 0; i < TRACE_STATES; i++) {
    row->sums.time[i] = get_seconds(&at);
  }
  for (int i = 0; i < 2; i++) {
    row->sums.moving[i] = get_seconds(&at);
  }
  for (int i = 0; i < TRACE_BYTES; i++) {
    row->sums.bytes[i] = get_number(&at);
  }
  get_word(at, row->what, sizeof(row->what));
  return true;
}

/* --- sums --- */

static int grow(void **items, size_t size, size_t have, size_t want) {
  char *more = native_realloc(*items, want * size);
  if (!more) {
    return -1;
  }
  memset(more + have * size, 0, (want - have) * size);
  *items = more;
  return 0;
}

static int room_for_rank(struct report_job *job, int rank) {
  if (rank < job->rank_size) {
    return 0;
  }
  const int want = rank + rank / 2 + 16;
  if (grow((void **)&job->rank, sizeof(*job->rank), job->rank_size, want)) {
    return -1;
  }
  job->rank_size = want;
  return 0;
}

static int room_for_superstep(struct report_job *job, size_t i) {
  if (i >= job->superstep_size) {
    const size_t want = i + i / 2 + 16;
    if (grow((void **)&job->superstep, sizeof(*job->superstep),
             job->superstep_size, want)) {
      return -1;
    }
    job->superstep_size = want;
  }
  job->n_supersteps = i < job->n_supersteps ? job->n_supersteps : i + 1;
  return 0;
}

static void add_to_superstep(struct report_superstep *s,
                             const struct report_row *row) {
  if (s->rows == 0) {
    s->begin = row->begin;
    snprintf(s->what, sizeof(s->what), "%s", row->what);
  } else if (strcmp(s->what, row->what) != 0) {
    snprintf(s->what, sizeof(s->what), "%s", trace_various);
  }
  s->rows++;
  s->begin = row->begin < s->begin ? row->begin : s->begin;
  s->end = row->end > s->end ? row->end : s->end;
  const uint64_t next = row->superstep + row->stride;
  s->supersteps =
      next - s->first > s->supersteps ? next - s->first : s->supersteps;
  trace_sums_add(&s->sums, &row->sums);
}

static void add_to_rank(struct report_rank *r, const struct report_row *row) {
  if (!r->seen) {
    r->seen = true;
    r->begin = row->begin;
  }
  r->end = row->end;
  trace_sums_add(&r->sums, &row->sums);
}

static int add_row(struct report_job *job, const struct report_row *row) {
  const size_t i = row->superstep / job->stride;
  if (row->rank < 0 || room_for_rank(job, row->rank) != 0 ||
      room_for_superstep(job, i) != 0) {
    return -1;
  }
  job->ranks += !job->rank[row->rank].seen;
  job->superstep[i].first = i * job->stride;
  add_to_superstep(&job->superstep[i], row);
  add_to_rank(&job->rank[row->rank], row);
  trace_sums_add(&job->sums, &row->sums);
  job->end = row->end > job->end ? row->end : job->end;
  return 0;
}

static uint64_t rate(uint64_t bytes, uint64_t ns) {
  return ns ? (uint64_t)((unsigned __int128)bytes * 1000000000 / ns) : 0;
}

/* The table of a process of this job: an older report's has another zero. */
static FILE *open_table(const char *dir, int process, int processes,
                        struct report_header *h) {
  char path[PATH_MAX];
  if (snprintf(path, sizeof(path), "%s/supersteps.%d.dat", dir, process) >=
      (int)sizeof(path)) {
    return NULL;
  }
  FILE *f = fopen(path, "re");
  if (f && (!report_read_header(f, process, processes, h) ||
            h->zero != trace_record.zero)) {
    fclose(f);
    return NULL;
  }
  return f;
}

bool report_is_here(const char *dir, int process, int processes) {
  struct report_header h;
  FILE *f = open_table(dir, process, processes, &h);
  if (f) {
    fclose(f);
  }
  return f;
}

/* What has to be known before rows are read: how many supersteps are summed
   together where that was most. */
static void read_headers(struct report_job *job, const char *dir) {
  for (int i = 0; i < job->processes; i++) {
    struct report_header h;
    FILE *f = open_table(dir, i, job->processes, &h);
    if (!f) {
      continue;
    }
    fclose(f);
    job->stride = h.stride > job->stride ? h.stride : job->stride;
    job->dropped += h.dropped;
    for (int out = 0; out < 2; out++) {
      job->rate[out] += rate(h.busy_bytes[out], h.busy[out]);
    }
  }
}

static int read_rows(struct report_job *job, const char *dir, int process) {
  struct report_header h;
  struct report_row row;
  int failed = 0;
  FILE *f = open_table(dir, process, job->processes, &h);
  if (!f) {
    return 0;
  }
  job->seen++;
  while (!failed && report_read_row(f, &row)) {
    failed = add_row(job, &row);
  }
  fclose(f);
  return failed;
}

int report_job_read(struct report_job *job, const char *dir, int processes,
                    struct pems_error *error) {
  *job = (struct report_job){.processes = processes, .stride = 1};
  read_headers(job, dir);
  for (int i = 0; i < processes; i++) {
    if (read_rows(job, dir, i) != 0) {
      report_job_free(job);
      return failure(
          error, ENOMEM,
          "report: %s: out of memory for its summary: its other files "
          "are complete",
          dir);
    }
  }
  return 0;
}

void report_job_free(struct report_job *job) {
  native_free(job->rank);
  native_free(job->superstep);
  *job = (struct report_job){0};
}

uint64_t report_job_supersteps(const struct report_job *job) {
  if (!job->n_supersteps) {
    return 0;
  }
  const struct report_superstep *last = &job->superstep[job->n_supersteps - 1];
  return last->first + last->supersteps;
}
