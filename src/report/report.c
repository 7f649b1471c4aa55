/* The report's directory, and all its files together. */
#define _GNU_SOURCE
#include "report/report.h"

#include "report/report_detail.h"
#include "report/report_parts.h"

#include "base/failure.h"
#include "os/folder.h"
#include "os/native.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Tables that each process has, by its number. */
static const char *const tables[] = {
    "supersteps.%d.dat", "states.%d.dat", "swaps.%d.dat",   "sites.%d.dat",
    "waits.%d.dat",      "trace.%d.json", "resident.%d.dat"};
enum { TABLES = sizeof(tables) / sizeof(*tables) };

/* --- the directory --- */

/* By writing a file: whether that works, only the file system knows. */
static int check_writable(const char *dir, struct pems_error *error) {
  char path[PATH_MAX];
  snprintf(path, sizeof(path), "%s/.pems-report-XXXXXX", dir);
  const int fd = mkstemp(path);
  if (fd < 0) {
    return report_fail(error, errno, dir);
  }
  const int wrong = write(fd, "\n", 1) == 1 ? 0 : errno;
  const int late = close(fd) == 0 ? wrong : errno;
  unlink(path);
  return late ? report_fail(error, late, dir) : 0;
}

int report_check_dir(const char *dir, struct pems_error *error) {
  struct stat st;
  if (strlen(dir) + REPORT_LONGEST_NAME >= PATH_MAX) {
    return report_fail(error, ENAMETOOLONG, "the directory");
  }
  if (mkdir(dir, 0755) != 0 && errno != EEXIST) {
    return report_fail(error, errno, dir);
  }
  if (stat(dir, &st) != 0) {
    return report_fail(error, errno, dir);
  }
  if (!S_ISDIR(st.st_mode)) {
    return report_fail(error, ENOTDIR, dir);
  }
  if (folder_is_others(dir)) {
    return failure(error, EPERM,
                   "report: %s: belongs to another user: name a directory of "
                   "your own with --pems-report",
                   dir);
  }
  return check_writable(dir, error);
}

/* True if `name` is a table of a process that is not one of the job's. */
static bool is_stale(const char *name, int processes) {
  for (int i = 0; i < TABLES; i++) {
    int process, end = 0;
    char again[REPORT_LONGEST_NAME];
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

/* --- all together --- */

/* Table number i. 0 or ENOMEM. */
static int write_table(FILE *f, int i, int process, int processes) {
  static void (*const writers[TABLES])(FILE *) = {
      [1] = report_states,
      [2] = report_swaps,
      [4] = report_waits,
      [6] = report_resident,
  };
  if (i == 0) {
    return report_supersteps(f, process, processes);
  }
  if (i == 3) {
    return report_sites(f);
  }
  if (i == 5) {
    report_chrome(f, process);
  } else {
    writers[i](f);
  }
  return 0;
}

int report_write(const char *dir, int process, int processes,
                 struct pems_error *error) {
  struct report_file r;
  trace_finish();
  int code = 0;
  for (int i = 0; i < TABLES && !code; i++) {
    code = report_create(&r, dir, tables[i], process, error);
    if (!code) {
      const int wrong = write_table(r.f, i, process, processes);
      code = report_close(&r, wrong);
    }
  }
  return code;
}

static void write_advice(FILE *f, const struct report_detail *d) {
  char text[REPORT_ADVICE][REPORT_SENTENCE];
  const int n = report_advice(d, text);
  fputs("\nWhat to change\n", f);
  for (int i = 0; i < n; i++) {
    fprintf(f, "  - %s\n", text[i]);
  }
}

static int write_summary(const struct report_detail *d, const char *dir,
                         int which, struct pems_error *error) {
  static const char *const names[] = {"totals.dat", "summary.txt",
                                      "summary.json", "index.html"};
  const struct report_job *const job = d->job;
  struct report_file r;
  const int code = report_create(&r, dir, names[which], 0, error);
  if (code) {
    return code;
  }
  if (which == 0) {
    report_totals(r.f, job);
  } else if (which == 1) {
    report_text(r.f, job);
    write_advice(r.f, d);
  } else if (which == 2) {
    report_json(r.f, job);
  } else {
    report_page(r.f, d);
  }
  return report_close(&r, 0);
}

static int write_plot(const char *dir, int processes,
                      struct pems_error *error) {
  struct report_file r;
  const int code = report_create(&r, dir, "report.gp", 0, error);
  if (code) {
    return code;
  }
  report_plot(r.f, processes);
  return report_close(&r, 0);
}

int report_merge(const char *dir, int processes, struct pems_error *error) {
  struct report_job job;
  remove_stale(dir, processes);
  int code = report_job_read(&job, dir, processes, error);
  if (code) {
    return code;
  }
  struct report_detail *d = report_detail_read(&job, dir, error);
  code = d ? 0 : ENOMEM;
  for (int i = 0; i < 4 && !code; i++) {
    code = write_summary(d, dir, i, error);
  }
  native_free(d);
  report_job_free(&job);
  return code ? code : write_plot(dir, processes, error);
}
