#define _GNU_SOURCE
#include "wrappers/sort/pems_sort_lines.h"

#include <limits.h>
#include <locale.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/message.h"
#include "config/machine.h"
#include "os/native.h"
#include "wrappers/sort/pems_sort_lines_options.h"
#include "wrappers/sort/pems_sort_report.h"

/* What sort(1) ends with where a file is not sorted. */
enum { NOT_SORTED = 1 };

bool sort_lines_called(int argc, char **argv) {
  const char *const slash = strrchr(argv[0], '/');
  const char *const name = slash ? slash + 1 : argv[0];
  const size_t n = strlen(name);
  const bool is_sort = n >= 4 && strcmp(name + n - 4, "sort") == 0;
  const bool own =
      strcmp(name, "pems-sort") == 0 || strcmp(name, "lt-pems-sort") == 0;
  bool lines = false;
  for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
    lines |= strncmp(argv[i], "--lines", 7) == 0 ||
             strcmp(argv[i], "--csv") == 0 || strcmp(argv[i], "--tsv") == 0;
  }
  return (is_sort && !own) || lines;
}

/* Lines are longer than messages may be, and for who compares them they are as
   they are in the file. */
static void say_disorder(const struct sort_lines_command *c, uint64_t wrong,
                         char *line, size_t n) {
  char where[PATH_MAX + 64];
  snprintf(where, sizeof(where), "pems: %s:%llu: disorder: ", c->path[0],
           (unsigned long long)wrong);
  msg_clean(where, strlen(where));
  if (isatty(STDERR_FILENO)) {
    msg_clean(line, n);
  }
  fputs(where, stderr);
  fwrite(line, 1, n, stderr);
  fputc(key_order_end(&c->order), stderr);
}

static int check(struct sort_lines_command *c) {
  struct pems_error error;
  unsigned char *line;
  uint64_t wrong;
  size_t n;
  if (line_sort_check(&c->sort, &wrong, &line, &n, &error)) {
    msg_fail(MSG_USAGE, "%s", error.text);
  }
  if (wrong && c->check == SORT_CHECK_SAY) {
    say_disorder(c, wrong, (char *)line, line ? n : 0);
  }
  native_free(line);
  return wrong ? NOT_SORTED : 0;
}

static void report(const struct line_sort_counts *n) {
  fprintf(stderr,
          "RESULT pems-sort-lines lines=%llu bytes=%llu seconds=%.3f "
          "form_seconds=%.3f merge_seconds=%.3f runs=%llu passes=%d "
          "run_bytes=%llu run_bytes_written=%llu runs_compressed=%llu "
          "threads=%d memory=%llu peak_rss=%llu\n",
          (unsigned long long)n->lines, (unsigned long long)n->bytes,
          n->form_seconds + n->merge_seconds, n->form_seconds, n->merge_seconds,
          (unsigned long long)n->runs, n->passes, (unsigned long long)n->raw,
          (unsigned long long)n->written, (unsigned long long)n->packed,
          n->threads, (unsigned long long)n->memory,
          (unsigned long long)machine_peak_rss());
}

static int sort(struct sort_lines_command *c) {
  struct line_sort_counts counts;
  struct pems_error error;
  struct sort_progress progress;
  sort_progress_begin(&progress, c->sort.merge);
  if (c->progress) {
    c->sort.progress = sort_progress_tell;
    c->sort.progress_arg = &progress;
  }
  const int failed = line_sort(&c->sort, &counts, &error);
  sort_progress_clear(&progress);
  if (failed) {
    msg_fail(MSG_USAGE, "%s", error.text);
  }
  if (c->progress) {
    sort_progress_end(&progress, counts.bytes);
  }
  if (c->stats) {
    report(&counts);
  }
  return 0;
}

int sort_lines(int argc, char **argv) {
  struct sort_lines_command c;
  if (!setlocale(LC_ALL, "")) {
    setlocale(LC_ALL, "C");
  }
  sort_lines_read(&c, argc, argv);
  const int status = c.check ? check(&c) : sort(&c);
  native_free(c.path);
  native_free(c.disk);
  native_free(c.names);
  native_free(c.key);
  line_header_free(&c.header);
  sort_columns_free(&c.columns);
  return status;
}
