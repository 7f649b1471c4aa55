/* pems-sort: sorts a file that may be larger than memory. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/counters.h"
#include "base/message.h"
#include "disk/file.h"
#include "os/clock.h"
#include "os/standard.h"
#include "pems/sort.h"
#include "wrappers/sort/pems_sort_lines.h"
#include "wrappers/sort/pems_sort_options.h"
#include "wrappers/sort/pems_sort_output.h"
#include "wrappers/sort/pems_sort_report.h"
#include "wrappers/sort/pems_sort_stream.h"

/* --- ends --- */

/* What the user asked for cannot be done: status 2; it failed: 1. */
static _Noreturn void give_up(const struct pems_error *error) {
  const int usage =
      error->code == EINVAL || error->code == ENOMEM || error->code == ENOSYS;
  msg_fail(usage ? MSG_USAGE : MSG_FAILED, "%s", error->text);
}

/* --- what is sorted --- */

static bool is_standard(const char *path) {
  return strcmp(path, SORT_STANDARD) == 0;
}

static double seconds_since(uint64_t begin) {
  return (double)(clock_ns() - begin) / 1e9;
}

/* --- checking --- */

static int check_input(const struct sort_command *c,
                       struct pems_sort_check *check,
                       struct pems_error *error) {
  return is_standard(c->input)
             ? sort_stream_check(c, check, error)
             : pems_sort_check_file(c->input, &c->sort, check, error);
}

static void only_check(struct sort_command *c) {
  struct pems_sort_check check;
  struct pems_error error;
  if (check_input(c, &check, &error)) {
    give_up(&error);
  }
  printf("%llu record%s, checksum %016llx%016llx\n",
         (unsigned long long)check.count, check.count == 1 ? "" : "s",
         (unsigned long long)check.sum[0], (unsigned long long)check.sum[1]);
  if (fflush(stdout)) {
    msg_fail(MSG_FAILED, "standard output: %s: name another", strerror(errno));
  }
  if (!check.sorted) {
    msg_fail(MSG_FAILED,
             "order: %s: record %llu is before the one ahead of it: "
             "sort it",
             c->input, (unsigned long long)check.disorder + 1);
  }
}

/* --- verifying --- */

struct verification {
  struct pems_sort_check before, after;
  struct sort_scan scan;
};

/* What pems_sort_file is going to read, or what was written. */
static int verify_file(const struct sort_command *c, const char *path,
                       struct pems_sort_check *check, struct sort_scan *scan,
                       struct pems_error *error) {
  const uint64_t begin = clock_ns();
  struct sort_command of_path = *c;
  struct stat st;
  of_path.input = path;
  const int failed = check_input(&of_path, check, error);
  scan->seconds += seconds_since(begin);
  if (stat(path, &st) == 0) {
    scan->bytes += (uint64_t)st.st_size;
  }
  return failed;
}

static void compare(const struct sort_command *c,
                    const struct verification *v) {
  const struct pems_sort_check *const a = &v->before, *const b = &v->after;
  if (!b->sorted) {
    msg_fail(MSG_FAILED,
             "verifying: %s: record %llu is before the one ahead of it: "
             "check the memory and the disks",
             c->output, (unsigned long long)b->disorder + 1);
  }
  if (a->count != b->count || a->sum[0] != b->sum[0] ||
      a->sum[1] != b->sum[1]) {
    msg_fail(MSG_FAILED,
             "verifying: %s: not the records of %s: "
             "check the memory and the disks",
             c->output, c->input);
  }
}

/* --- sorting --- */

static int sort_records(const struct sort_command *c,
                        struct pems_sort_counts *counts, struct verification *v,
                        struct pems_error *error) {
  int failed =
      c->verify ? verify_file(c, c->input, &v->before, &v->scan, error) : 0;
  if (!failed) {
    failed = pems_sort_file(c->input, c->output, &c->sort, counts, error);
  }
  return failed || !c->verify
             ? failed
             : verify_file(c, c->output, &v->after, &v->scan, error);
}

/* A sorter that is too small would only say what itself needs. */
static void check_budget(const struct sort_command *c) {
  const uint64_t least = pems_sort_least_memory(&c->sort);
  uint64_t needed = least, before = 0;
  if (!c->sort.memory || !least) {
    return;
  }
  while (needed != before) {
    before = needed;
    needed = least + sort_stream_memory(before);
  }
  if (c->sort.memory < needed) {
    msg_fail(MSG_USAGE,
             "memory for sorting: %llu bytes: give %lluK or more (fewer "
             "threads or a smaller block need less)",
             (unsigned long long)c->sort.memory,
             (unsigned long long)(needed + 1023) / 1024);
  }
}

static int sort_pushed(const struct sort_command *c,
                       struct pems_sort_counts *counts, struct verification *v,
                       struct pems_error *error) {
  const bool plain = sort_output_plain(c->output);
  v->before.sorted = v->after.sorted = 1;
  check_budget(c);
  const int failed = sort_stream(c, counts, c->verify ? &v->before : NULL,
                                 c->verify && plain ? &v->after : NULL, error);
  return failed || plain || !c->verify
             ? failed
             : verify_file(c, c->output, &v->after, &v->scan, error);
}

static void sort(struct sort_command *c) {
  struct pems_sort_counts counts = {0};
  struct verification v = {0};
  struct pems_error error;
  struct sort_progress progress;
  const int files = !is_standard(c->input) && !sort_output_plain(c->output);
  sort_progress_begin(&progress, false);
  if (c->progress) {
    c->sort.progress = sort_progress_tell;
    c->sort.progress_arg = &progress;
  }
  const int failed =
      (files ? sort_records : sort_pushed)(c, &counts, &v, &error);
  sort_progress_clear(&progress);
  if (failed) {
    give_up(&error);
  }
  if (c->progress) {
    sort_progress_end(&progress, counts.records * c->sort.record.size);
  }
  if (c->verify) {
    compare(c, &v);
  }
  if (c->stats) {
    sort_report(c, &counts, &v.scan);
  }
}

int main(int argc, char **argv) {
  struct sort_command command;
  standard_occupy();
  if (sort_lines_called(argc, argv)) {
    disk_file_unlink_at_signals();
    return sort_lines(argc, argv);
  }
  sort_options_read(&command, argc, argv);
  disk_file_unlink_at_signals();
  if (command.check) {
    only_check(&command);
  } else {
    sort(&command);
  }
  return 0;
}
