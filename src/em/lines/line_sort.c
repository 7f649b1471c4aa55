#include "em/lines/line_sort.h"

#include <errno.h>
#include <unistd.h>

#include "base/encoding.h"
#include "base/failure.h"
#include "em/core/defaults.h"
#include "em/lines/line_form.h"
#include "em/lines/line_merge.h"
#include "em/lines/line_parallel.h"
#include "em/lines/line_plan.h"
#include "em/lines/line_runs.h"
#include "em/lines/line_sink.h"
#include "os/clock.h"
#include "os/native.h"

/* Lines between two calls of the progress function. */
enum { TOLD = 1 << 14 };
/* Files that are open at once, and bytes to read each with, at least. */
enum { MOST_FILES = 256, FILE_PIECE = 16 << 10 };
/* Bytes of lines that are worth threads to merge them. */
#define LEAST_PARALLEL ((uint64_t)1 << 20)

struct job {
  struct line_sort_options o; /* without defaults */
  struct memory memory;
  struct line_plan plan;
  struct line_runs runs;
  struct line_sink *sink;
  struct line_form *form;
  struct line_cursor *cursor;
  size_t cursors;
  uint64_t size;
  struct line_sort_counts counts;
};

/* --- merging into the output --- */

static void tell(struct job *j) {
  if (j->o.progress && j->counts.lines % TOLD == 0) {
    const uint64_t bytes = line_sink_bytes(j->sink);
    const uint64_t formed = j->o.merge ? 0 : j->size;
    j->o.progress(j->o.progress_arg, formed + bytes, formed + j->size);
  }
}

static int put_all(struct job *j, struct line_parallel *merge,
                   struct pems_error *error) {
  const unsigned char end = key_order_end(j->o.order);
  for (;;) {
    const struct line_view *v;
    size_t common;
    int failed = line_parallel_next(merge, &v, &common, error);
    if (failed || !v) {
      return failed;
    }
    failed = line_sink_put(j->sink, v->line, v->line_n, end, error);
    if (failed) {
      return failed;
    }
    j->counts.lines++;
    tell(j);
  }
}

static int put_header(struct job *j, struct pems_error *error) {
  const struct line_header *const h = j->o.header;
  const int failed =
      h && h->marked
          ? line_sink_put_bytes(j->sink, (const unsigned char *)ENCODING_MARK,
                                ENCODING_MARK_BYTES, error)
          : 0;
  return !failed && h && h->name
             ? line_sink_put(j->sink, h->text, h->n, key_order_end(j->o.order),
                             error)
             : failed;
}

/* Lines of files have no limit, so only one thread has one of each. */
static int merge_threads(const struct job *j) {
  return j->o.merge || j->size < LEAST_PARALLEL ? 1 : j->o.threads;
}

/* The header is known when all cursors are at their first lines. */
static int merge_out(struct job *j, struct pems_error *error) {
  struct line_parallel *merge = NULL;
  int failed = 0;
  if (j->cursors > 0) {
    failed = line_parallel_new(&merge, j->o.order, j->cursor, j->cursors,
                               merge_threads(j), &j->memory, error);
  }
  failed = failed ? failed : put_header(j, error);
  if (!failed && merge) {
    failed = put_all(j, merge, error);
  }
  line_parallel_free(merge);
  return failed ? failed : line_sink_commit(j->sink, error);
}

/* For runs: threads that merge have some, too. */
static uint64_t memory_left(struct job *j) {
  const uint64_t used =
      j->memory.used + line_parallel_memory(merge_threads(j), j->memory.limit);
  return used < j->memory.limit ? j->memory.limit - used : 0;
}

static int take_cursors(struct job *j, size_t n, struct pems_error *error) {
  j->cursor = native_zalloc(n ? n : 1, sizeof(*j->cursor));
  return j->cursor ? 0 : failure(error, ENOMEM, "memory: to merge: free some");
}

/* Chunks that are in memory are all, or come behind all runs. */
static int open_cursors(struct job *j, size_t piece, struct pems_error *error) {
  size_t kept_n = 0;
  const struct line_kept *const kept =
      j->form ? line_form_kept(j->form, &kept_n) : NULL;
  int failed = take_cursors(j, j->runs.n + kept_n, error);
  for (size_t i = 0; i < j->runs.n && !failed; i++) {
    failed = line_cursor_of_run(&j->cursor[j->cursors++], j->runs.run[i], piece,
                                &j->memory, error);
  }
  for (size_t i = 0; i < kept_n && !failed; i++) {
    line_cursor_of_chunk(&j->cursor[j->cursors++], kept[i].chunk, kept[i].slot,
                         kept[i].n);
  }
  return failed;
}

static int merge_runs(struct job *j, struct pems_error *error) {
  size_t piece;
  j->counts.passes = 1;
  line_runs_sort(&j->runs);
  int failed = line_sink_begin(j->sink, j->plan.input, &j->memory, error);
  if (!failed) {
    failed = line_runs_reduce(&j->runs, memory_left(j), &piece,
                              &j->counts.passes, error);
  }
  if (!failed) {
    failed = open_cursors(j, piece, error);
  }
  return failed ? failed : merge_out(j, error);
}

/* --- sorting --- */

static int sort(struct job *j, struct pems_error *error) {
  const uint64_t begin = clock_ns();
  int failed =
      line_form(&j->form, &j->o, &j->plan, &j->runs, &j->memory, error);
  const uint64_t formed = clock_ns();
  if (!failed) {
    j->size = line_form_bytes(j->form);
    failed = merge_runs(j, error);
  }
  j->counts.form_seconds = (double)(formed - begin) / 1e9;
  j->counts.merge_seconds = (double)(clock_ns() - formed) / 1e9;
  return failed;
}

/* --- merging sorted files --- */

static void free_cursors(struct job *j) {
  for (size_t i = 0; j->cursor && i < j->cursors; i++) {
    if (j->cursor[i].free) {
      j->cursor[i].free(&j->cursor[i]);
    }
  }
  native_free(j->cursor);
  j->cursor = NULL;
  j->cursors = 0;
}

static int open_files(struct job *j, size_t from, size_t n,
                      struct pems_error *error) {
  const size_t piece = j->plan.input < FILE_PIECE ? j->plan.input : FILE_PIECE;
  int failed = take_cursors(j, n, error);
  for (size_t i = 0; i < n && !failed; i++) {
    const struct line_source_options options = {
        .path = j->o.path + from + i,
        .paths = 1,
        .end = j->o.order->end,
        .quotes = j->o.order->quotes,
        .separator = (unsigned char)j->o.order->separator,
        .header = j->o.header,
        .io = j->o.scratch.io,
        .depth = j->o.scratch.depth,
        .piece = piece,
    };
    struct line_source *source;
    failed = line_source_new(&source, &options, &j->memory, error);
    if (!failed) {
      line_cursor_of_file(&j->cursor[j->cursors++], j->o.order, source,
                          (size_t)(j->plan.memory / 4));
    }
  }
  return failed;
}

/* The cursors' lines become a run. */
static int merge_into_run(struct job *j, uint64_t order,
                          struct pems_error *error) {
  struct line_merge *merge = NULL;
  struct line_run_out out;
  struct line_run *run;
  const struct line_view *v;
  size_t common;
  int failed = line_runs_begin(&j->runs, order, &run, &out, error);
  if (failed) {
    return failed;
  }
  failed = line_merge_new(&merge, j->o.order, j->cursor, j->cursors, error);
  while (!failed) {
    failed = line_merge_next(merge, &v, &common, error);
    if (failed || !v) {
      break;
    }
    failed = line_run_put(&out, v->string, v->string_n, common, v->line,
                          v->line_n, error);
  }
  line_merge_free(merge);
  if (failed) {
    line_runs_drop(run, &out);
    return failed;
  }
  return line_runs_add(&j->runs, run, &out, 0, error);
}

static int merge_files(struct job *j, struct pems_error *error) {
  const size_t fit = (size_t)(j->plan.memory / 4 / FILE_PIECE);
  size_t most = fit < 2 ? 2 : fit < MOST_FILES ? fit : MOST_FILES;
  most = j->o.batch && j->o.batch < most ? j->o.batch : most;
  int failed = 0;
  if (j->o.paths <= most) {
    failed = line_sink_begin(j->sink, j->plan.input, &j->memory, error);
    failed = failed ? failed : open_files(j, 0, j->o.paths, error);
    j->counts.passes = 1;
    return failed ? failed : merge_out(j, error);
  }
  for (size_t i = 0; i < j->o.paths && !failed; i += most) {
    const size_t left = j->o.paths - i;
    failed = open_files(j, i, left < most ? left : most, error);
    failed = failed ? failed : merge_into_run(j, i, error);
    free_cursors(j);
  }
  return failed ? failed : merge_runs(j, error);
}

/* --- a job --- */

static void set_defaults(struct job *j) {
  struct line_sort_options *const o = &j->o;
  o->memory = o->memory ? o->memory : defaults_memory();
  o->memory = o->memory < LINE_SORT_LEAST ? LINE_SORT_LEAST : o->memory;
  o->threads = o->threads ? o->threads : defaults_threads();
  line_plan_make(&j->plan, o->memory, o->threads, line_runs_codec_memory(o));
}

static uint64_t known_size(const struct job *j) {
  struct line_source *source;
  struct pems_error error;
  struct memory memory;
  const struct line_source_options options = {
      .path = j->o.path, .paths = j->o.paths, .piece = PEMS_DISK_UNIT};
  uint64_t size = 0;
  memory_init(&memory, UINT64_MAX);
  if (line_source_new(&source, &options, &memory, &error) == 0) {
    size = line_source_size(source);
    line_source_free(source);
  }
  memory_destroy(&memory);
  return size;
}

int line_sort(const struct line_sort_options *options,
              struct line_sort_counts *counts, struct pems_error *error) {
  struct job *const j = native_zalloc(1, sizeof(*j));
  if (!j) {
    return failure(error, ENOMEM, "memory: to sort: free some");
  }
  j->o = *options;
  set_defaults(j);
  memory_init(&j->memory, j->o.memory);
  line_runs_init(&j->runs, &j->o, &j->memory, j->plan.block);
  j->size = known_size(j);
  int failed = line_sink_open(&j->sink, j->o.output, j->o.scratch.io,
                              j->o.scratch.depth, error);
  if (!failed) {
    failed = (j->o.merge ? merge_files : sort)(j, error);
  }
  j->counts.bytes = j->sink ? line_sink_bytes(j->sink) : 0;
  j->counts.runs = j->runs.all;
  j->counts.raw = j->runs.raw;
  j->counts.written = j->runs.written;
  j->counts.packed = j->runs.packed;
  j->counts.threads = j->o.threads;
  free_cursors(j);
  line_form_free(j->form);
  line_runs_destroy(&j->runs);
  line_sink_free(j->sink);
  j->counts.memory = memory_most(&j->memory);
  memory_destroy(&j->memory);
  if (counts) {
    *counts = j->counts;
  }
  native_free(j);
  return failed;
}
