/* The report's directory and files, and the tables of one process. */
#define _GNU_SOURCE
#include "report/report.h"

#include "os/native.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const char *const report_state[TRACE_STATES] = {
    "compute", "deliver", "network", "others", "slot", "swap", "disk"};
const char *const report_state_text[TRACE_STATES] = {
    "computing",          "delivering",       "on the network",
    "waiting for others", "waiting for slot", "waiting for context",
    "waiting for disk"};
const char *const report_bytes[TRACE_BYTES] = {"in",      "out",  "memory",
                                               "written", "read", "sent"};
const unsigned report_color[TRACE_STATES] = {
    0x228833, 0x4477aa, 0xaa3377, 0xdddddd, 0xccbb44, 0xee6677, 0x66ccee};

/* Tables that each process has, by its number. */
static const char *const tables[] = {"supersteps.%d.dat", "states.%d.dat",
                                     "swaps.%d.dat", "trace.%d.json"};
enum { TABLES = sizeof(tables) / sizeof(*tables), LONGEST_NAME = 40 };

/* --- the directory --- */

static int fail(char *err, size_t err_size, const char *dir, const char *what) {
  snprintf(err, err_size,
           "report: %s: %s: name a directory that can be written with "
           "--pems-report",
           dir, what);
  return -1;
}

/* By writing a file: whether that works, only the file system knows. */
static int check_writable(const char *dir, char *err, size_t err_size) {
  char path[PATH_MAX];
  snprintf(path, sizeof(path), "%s/.pems-report-XXXXXX", dir);
  const int fd = mkstemp(path);
  if (fd < 0) {
    return fail(err, err_size, dir, strerror(errno));
  }
  const int wrong = write(fd, "\n", 1) == 1 ? 0 : errno;
  const int late = close(fd) == 0 ? wrong : errno;
  unlink(path);
  return late ? fail(err, err_size, dir, strerror(late)) : 0;
}

int trace_check_dir(const char *dir, char *err, size_t err_size) {
  struct stat st;
  if (strlen(dir) + LONGEST_NAME >= PATH_MAX) {
    return fail(err, err_size, "the directory", strerror(ENAMETOOLONG));
  }
  if (mkdir(dir, 0755) != 0 && errno != EEXIST) {
    return fail(err, err_size, dir, strerror(errno));
  }
  if (stat(dir, &st) != 0) {
    return fail(err, err_size, dir, strerror(errno));
  }
  if (!S_ISDIR(st.st_mode)) {
    return fail(err, err_size, dir, strerror(ENOTDIR));
  }
  return check_writable(dir, err, err_size);
}

/* True if `name` is a table of a process that is not one of the job's. */
static bool is_stale(const char *name, int processes) {
  for (int i = 0; i < TABLES; i++) {
    int process, end = 0;
    char again[LONGEST_NAME];
    if (sscanf(name, tables[i], &process) == 1 && process >= processes) {
      end = snprintf(again, sizeof(again), tables[i], process);
      return end < (int)sizeof(again) && strcmp(again, name) == 0;
    }
  }
  return false;
}

/* Else they would be taken for this report's. */
static void remove_stale(const char *dir, int processes) {
  DIR *d = opendir(dir);
  if (!d) {
    return;
  }
  for (const struct dirent *e; (e = readdir(d));) {
    if (is_stale(e->d_name, processes)) {
      unlinkat(dirfd(d), e->d_name, 0);
    }
  }
  closedir(d);
}

/* --- files --- */

static int fail_file(struct report_file *r, int error) {
  snprintf(r->err, r->err_size,
           "report: %s: %s: free some space, or name another directory with "
           "--pems-report",
           r->path, strerror(error));
  unlink(r->temporary);
  return -1;
}

int report_create(struct report_file *r, const char *dir, const char *name,
                  int process, char *err, size_t err_size) {
  char file[LONGEST_NAME];
  r->f = NULL;
  r->err = err;
  r->err_size = err_size;
  snprintf(file, sizeof(file), name, process);
  if (snprintf(r->path, sizeof(r->path), "%s/%s", dir, file) >=
          (int)sizeof(r->path) ||
      snprintf(r->temporary, sizeof(r->temporary), "%s/%s.tmp", dir, file) >=
          (int)sizeof(r->temporary)) {
    return fail(err, err_size, "the directory", strerror(ENAMETOOLONG));
  }
  unlink(r->temporary);
  const int fd =
      open(r->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  r->f = fd < 0 ? NULL : fdopen(fd, "w");
  if (!r->f) {
    const int error = errno;
    if (fd >= 0) {
      close(fd);
    }
    return fail_file(r, error);
  }
  return 0;
}

int report_close(struct report_file *r) {
  errno = 0;
  int error = fflush(r->f) == 0 ? 0 : errno;
  if (!error && ferror(r->f)) {
    error = EIO;
  }
  if (fclose(r->f) != 0 && !error) {
    error = errno;
  }
  if (!error && rename(r->temporary, r->path) != 0) {
    error = errno;
  }
  return error ? fail_file(r, error) : 0;
}

/* --- numbers and strings --- */

void report_seconds(FILE *f, uint64_t ns) {
  fprintf(f, "%llu.%09llu", (unsigned long long)(ns / 1000000000),
          (unsigned long long)(ns % 1000000000));
}

void report_micros(FILE *f, uint64_t ns) {
  fprintf(f, "%llu.%03llu", (unsigned long long)(ns / 1000),
          (unsigned long long)(ns % 1000));
}

/* Bytes of the UTF-8 character at s, 0 if it is none. */
static int utf8_length(const unsigned char *s) {
  const int n = *s < 0x80   ? 1
                : *s < 0xc2 ? 0
                : *s < 0xe0 ? 2
                : *s < 0xf0 ? 3
                : *s < 0xf5 ? 4
                            : 0;
  for (int i = 1; i < n; i++) {
    if ((s[i] & 0xc0) != 0x80) {
      return 0;
    }
  }
  return n;
}

void report_string(FILE *f, const char *s) {
  fputc('"', f);
  while (*s) {
    const int n = utf8_length((const unsigned char *)s);
    if (n == 0) {
      fputc('?', f);
    } else if (*s == '"' || *s == '\\') {
      fprintf(f, "\\%c", *s);
    } else if (n == 1 && (unsigned char)*s < ' ') {
      fprintf(f, "\\u%04x", (unsigned)*s);
    } else {
      fwrite(s, 1, n, f);
    }
    s += n ? n : 1;
  }
  fputc('"', f);
}

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
   bytes: transfers of several VPs may overlap. */
static uint64_t busy(bool out, uint64_t *bytes) {
  const struct trace_record *r = &trace_record;
  size_t n = 0;
  for (int i = 0; i < r->n; i++) {
    n += r->vp[i].transfers.n;
  }
  struct trace_transfer *all = native_alloc((n ? n : 1) * sizeof(*all));
  *bytes = 0;
  if (!all) {
    return 0;
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
  uint64_t total = 0, until = 0;
  for (size_t i = 0; i < n; i++) {
    const uint64_t from = all[i].begin > until ? all[i].begin : until;
    if (all[i].end > from) {
      total += all[i].end - from;
      until = all[i].end;
    }
  }
  native_free(all);
  return total;
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

static void put_header(FILE *f, int process, int processes) {
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
  for (int out = 0; out < 2; out++) {
    uint64_t bytes;
    fputs(out ? " writing " : " reading ", f);
    report_seconds(f, busy(out, &bytes));
    fprintf(f, " %llu", (unsigned long long)bytes);
  }
  fprintf(f, "\n# zero %llu (ns since 1970-01-01 UTC)\n",
          (unsigned long long)r->zero);
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

void report_supersteps(FILE *f, int process, int processes) {
  put_header(f, process, processes);
  fputs("# rank superstep supersteps begin_s end_s", f);
  report_columns(f);
  for (int i = 0; i < trace_record.n; i++) {
    for (size_t j = 0; j < trace_record.vp[i].n_rows; j++) {
      put_row(f, i, j);
    }
    /* An empty line, so that gnuplot draws a line for each rank. */
    fputc('\n', f);
  }
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

/* --- all together --- */

int trace_write(const char *dir, int process, int processes, char *err,
                size_t err_size) {
  struct report_file r;
  trace_finish();
  for (int i = 0; i < TABLES; i++) {
    if (report_create(&r, dir, tables[i], process, err, err_size) != 0) {
      return -1;
    }
    if (i == 0) {
      report_supersteps(r.f, process, processes);
    } else if (i == 1) {
      report_states(r.f);
    } else if (i == 2) {
      report_swaps(r.f);
    } else {
      report_chrome(r.f, process);
    }
    if (report_close(&r) != 0) {
      return -1;
    }
  }
  return 0;
}

static int write_summary(const struct report_job *job, const char *dir,
                         int which, char *err, size_t err_size) {
  static const char *const names[] = {"totals.dat", "summary.txt",
                                      "summary.json"};
  struct report_file r;
  if (report_create(&r, dir, names[which], 0, err, err_size) != 0) {
    return -1;
  }
  if (which == 0) {
    report_totals(r.f, job);
  } else if (which == 1) {
    report_text(r.f, job);
  } else {
    report_json(r.f, job);
  }
  return report_close(&r);
}

static int write_plot(const char *dir, int processes, char *err,
                      size_t err_size) {
  struct report_file r;
  if (report_create(&r, dir, "report.gp", 0, err, err_size) != 0) {
    return -1;
  }
  report_plot(r.f, processes);
  return report_close(&r);
}

int trace_merge(const char *dir, int processes, char *err, size_t err_size) {
  struct report_job job;
  remove_stale(dir, processes);
  if (report_job_read(&job, dir, processes, err, err_size) != 0) {
    return -1;
  }
  int failed = 0;
  for (int i = 0; i < 3 && !failed; i++) {
    failed = write_summary(&job, dir, i, err, err_size);
  }
  report_job_free(&job);
  return failed ? failed : write_plot(dir, processes, err, err_size);
}
