/* The report's directory, and all its files together. */
#define _GNU_SOURCE
#include "report/report.h"

#include "report/report_parts.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Tables that each process has, by its number. */
static const char *const tables[] = {"supersteps.%d.dat", "states.%d.dat",
                                     "swaps.%d.dat", "trace.%d.json"};
enum { TABLES = sizeof(tables) / sizeof(*tables) };

/* --- the directory --- */

/* By writing a file: whether that works, only the file system knows. */
static int check_writable(const char *dir, char *err, size_t err_size) {
  char path[PATH_MAX];
  snprintf(path, sizeof(path), "%s/.pems-report-XXXXXX", dir);
  const int fd = mkstemp(path);
  if (fd < 0) {
    return report_fail(err, err_size, dir, strerror(errno));
  }
  const int wrong = write(fd, "\n", 1) == 1 ? 0 : errno;
  const int late = close(fd) == 0 ? wrong : errno;
  unlink(path);
  return late ? report_fail(err, err_size, dir, strerror(late)) : 0;
}

int report_check_dir(const char *dir, char *err, size_t err_size) {
  struct stat st;
  if (strlen(dir) + REPORT_LONGEST_NAME >= PATH_MAX) {
    return report_fail(err, err_size, "the directory", strerror(ENAMETOOLONG));
  }
  if (mkdir(dir, 0755) != 0 && errno != EEXIST) {
    return report_fail(err, err_size, dir, strerror(errno));
  }
  if (stat(dir, &st) != 0) {
    return report_fail(err, err_size, dir, strerror(errno));
  }
  if (!S_ISDIR(st.st_mode)) {
    return report_fail(err, err_size, dir, strerror(ENOTDIR));
  }
  return check_writable(dir, err, err_size);
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

int report_write(const char *dir, int process, int processes, char *err,
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

int report_merge(const char *dir, int processes, char *err, size_t err_size) {
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
