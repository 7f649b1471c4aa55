/* A file into a file. */
#include <errno.h>
#include <string.h>

#include "base/failure.h"
#include "disk/file.h"
#include "em/sort/merge_pass.h"
#include "em/sort/progress.h"
#include "em/sort/run_builder.h"
#include "em/sort/sort.h"
#include "os/native.h"

/* Larger requests are no faster. */
#define REQUEST ((size_t)1 << 20)
/* Bytes that one task copies. */
#define TASK ((size_t)256 << 10)

struct job {
  struct sort s;
  struct disk_file *from, *to;
  uint64_t records;
  struct run_builder *builder;
  struct pems_request *request; /* for reading a buffer */
  struct pems_disk_counts from_before, to_before;
};

static int read_failed(const struct job *j, int code,
                       struct pems_error *error) {
  return failure(error, code, "%s: reading: %s: check the disk",
                 disk_file_path(j->from), strerror(code));
}

/* --- forming runs --- */

/* Bytes of the file from a unit's beginning on. */
struct extent {
  uint64_t at;
  size_t n; /* whole units */
};

static struct extent extent_of(const struct job *j, uint64_t first, size_t n) {
  const uint64_t unit = PEMS_DISK_UNIT, size = j->s.o.record.size;
  const uint64_t begin = first * size / unit * unit;
  const uint64_t end = ((first + n) * size + unit - 1) / unit * unit;
  return (struct extent){begin, (size_t)(end - begin)};
}

/* Reads follow the writes of what was in the buffer before. */
static int start_reads(struct job *j, struct run_builder_buffer *buffer,
                       struct extent e, int *requests,
                       struct pems_error *error) {
  *requests = 0;
  for (size_t done = 0, part; done < e.n; done += part) {
    part = e.n - done < REQUEST ? e.n - done : REQUEST;
    const int failed =
        run_builder_ready(j->builder, buffer, done + part, error);
    if (failed) {
      return failed;
    }
    struct pems_request *const r = &j->request[(*requests)++];
    *r = (struct pems_request){
        .block = {0, e.at + done}, .buf = buffer->base + done, .n = part};
    disk_file_start(j->from, &r, 1);
  }
  return 0;
}

static int wait_reads(struct job *j, int requests, struct pems_error *error) {
  int failed = 0;
  run_builder_reading(j->builder, 1);
  for (int i = 0; i < requests; i++) {
    const int code = disk_file_wait(j->from, &j->request[i]);
    if (code && !failed) {
      failed = read_failed(j, code, error);
    }
  }
  run_builder_reading(j->builder, 0);
  return failed;
}

/* Records [first, first + n) through a buffer. */
static int read_run(struct job *j, uint64_t first, size_t n,
                    struct run_builder_buffer *buffer,
                    struct pems_error *error) {
  const struct extent e = extent_of(j, first, n);
  int requests;
  const int failed = start_reads(j, buffer, e, &requests, error);
  const int waited = wait_reads(j, requests, failed ? NULL : error);
  if (failed || waited) {
    return failed ? failed : waited;
  }
  return run_builder_give(j->builder, buffer,
                          buffer->base + (first * j->s.o.record.size - e.at), n,
                          error);
}

static int form_runs(struct job *j, struct pems_error *error) {
  const size_t most = (j->s.plan.per_run * j->s.o.record.size) / REQUEST + 3;
  int failed = run_builder_new(&j->builder, &j->s, error);
  if (failed) {
    return failed;
  }
  j->request = native_alloc(most * sizeof(*j->request));
  if (!j->request) {
    return failure(error, ENOMEM, "memory: %zu requests: free some", most);
  }
  if (j->records > j->s.plan.per_run) {
    run_builder_more(j->builder);
  }
  for (uint64_t first = 0; first < j->records && !failed;) {
    const uint64_t left = j->records - first;
    const size_t n =
        left < j->s.plan.per_run ? (size_t)left : j->s.plan.per_run;
    struct run_builder_buffer *buffer;
    failed = run_builder_take(j->builder, &buffer, error);
    if (!failed) {
      failed = read_run(j, first, n, buffer, error);
    }
    first += n;
    if (!failed) {
      failed = progress_add(&j->s, n, error);
    }
  }
  return failed ? failed : run_builder_finish(j->builder, 1, error);
}

/* --- writing the result --- */

/* Where records in memory are copied to. */
struct copy {
  struct job *j;
  size_t first, n, step; /* records */
  char *out;
};

static void copy_part(void *arg, int task, int member) {
  const struct copy *const c = arg;
  const size_t begin = (size_t)task * c->step;
  const size_t left = c->n - begin;
  (void)member;
  run_builder_kept_records(c->j->builder, c->first + begin,
                           left < c->step ? left : c->step,
                           c->out + begin * c->j->s.o.record.size);
}

static int write_kept(struct job *j, struct run_writer *w,
                      struct pems_error *error) {
  const size_t kept = run_builder_kept(j->builder);
  struct copy c = {.j = j, .step = TASK / j->s.o.record.size + 1};
  int failed = 0;
  for (; c.first < kept && !failed; c.first += c.n) {
    void *space;
    size_t room;
    failed = run_writer_space(w, &space, &room, error);
    if (failed) {
      break;
    }
    c.n = kept - c.first < room ? kept - c.first : room;
    c.out = space;
    team_run(j->s.team, (int)((c.n - 1) / c.step) + 1, copy_part, &c);
    failed = run_writer_filled(w, c.n, error);
    if (!failed) {
      failed = progress_add(&j->s, c.n, error);
    }
  }
  return failed;
}

static int merge_runs(struct job *j, struct pems_error *error) {
  struct sort_merge_plan plan;
  struct merger *m = NULL;
  struct run_writer *w = NULL;
  int failed = merge_pass_reduce(&j->s, &plan, error);
  if (!failed) {
    failed = merger_new(&m, &j->s, &plan, 0, j->s.runs.count, 1, error);
  }
  if (!failed) {
    failed = run_writer_new(&w, &j->s, plan.write_buffers, NULL, j->to, error);
  }
  if (!failed) {
    failed = merge_pass_copy(&j->s, m, w, error);
  }
  run_writer_free(w);
  merger_free(m);
  return failed;
}

/* Blocks to write what is in memory already. */
static int kept_buffers(const struct job *j) {
  const uint64_t left = j->s.memory.limit - j->s.memory.used;
  const uint64_t beside = 2 * (j->s.o.record.size + PEMS_DISK_UNIT);
  const uint64_t blocks = left < beside ? 0 : (left - beside) / j->s.plan.block;
  return blocks > 8 ? 8 : blocks < 2 ? 2 : (int)blocks;
}

static int write_result(struct job *j, struct pems_error *error) {
  struct run_writer *w;
  if (!run_builder_kept(j->builder)) {
    run_builder_free(j->builder);
    j->builder = NULL;
    return j->s.runs.count ? merge_runs(j, error) : 0;
  }
  int failed = run_writer_new(&w, &j->s, kept_buffers(j), NULL, j->to, error);
  if (failed) {
    return failed;
  }
  failed = write_kept(j, w, error);
  if (!failed) {
    failed = run_writer_finish(w, error);
  }
  run_writer_free(w);
  return failed;
}

/* --- the whole --- */

static void phase_begin(struct job *j, uint64_t memory) {
  sort_phase_begin(&j->s, memory);
  disk_file_counts(j->from, &j->from_before);
  disk_file_counts(j->to, &j->to_before);
}

static void phase_end(struct job *j, struct pems_sort_phase *phase) {
  struct pems_disk_counts from, to;
  disk_file_counts(j->from, &from);
  disk_file_counts(j->to, &to);
  sort_add_io(&phase->io, &j->from_before, &from);
  sort_add_io(&phase->io, &j->to_before, &to);
  sort_phase_end(&j->s, phase);
}

static int sort_all(struct job *j, struct pems_error *error) {
  struct pems_sort_counts *const counts = &j->s.counts;
  counts->records = j->records;
  phase_begin(j, j->s.o.memory);
  int failed = form_runs(j, error);
  if (failed) {
    return failed;
  }
  counts->runs = j->s.runs.count + (run_builder_kept(j->builder) > 0);
  counts->form.cpu_seconds += (double)run_builder_cpu_ns(j->builder) / 1e9;
  phase_end(j, &counts->form);
  failed = sort_team(&j->s, j->s.o.merge_threads, error);
  if (failed) {
    return failed;
  }
  phase_begin(j, j->s.o.merge_memory);
  failed = write_result(j, error);
  phase_end(j, &counts->merge);
  return failed;
}

/* Opens the input and looks how many records it has. */
static int open_input(struct job *j, const char *from,
                      const struct pems_sort_options *o,
                      struct pems_error *error) {
  int failed = pems_record_check(&o->record, error);
  if (!failed) {
    failed =
        disk_file_open(&j->from, from, o->scratch.io, o->scratch.depth, error);
  }
  if (failed) {
    return failed;
  }
  const uint64_t bytes = disk_file_size(j->from);
  j->records = bytes / o->record.size;
  if (bytes % o->record.size) {
    return failure(error, EINVAL,
                   "%s: %llu bytes: no multiple of the record of %zu bytes",
                   from, (unsigned long long)bytes, o->record.size);
  }
  return 0;
}

int pems_sort_file(const char *from, const char *to,
                   const struct pems_sort_options *options,
                   struct pems_sort_counts *counts, struct pems_error *error) {
  struct job j = {0};
  struct pems_sort_options o;
  int failed = sort_options(&o, options, error);
  if (failed) {
    return failed;
  }
  if (o.disks) {
    o.scratch.io = pems_disks_driver(o.disks);
  }
  failed = open_input(&j, from, &o, error);
  o.count = j.records;
  if (!failed) {
    failed = disk_file_create(&j.to, to, o.scratch.io, o.scratch.depth, error);
  }
  if (!failed) {
    failed = disk_file_expect(j.to, j.records * o.record.size, error);
  }
  if (!failed) {
    failed = sort_begin(&j.s, &o, error);
  }
  if (!failed) {
    pems_disks_favour(j.s.disks, PEMS_FAVOUR_WRITES);
    failed = sort_all(&j, error);
    run_builder_free(j.builder);
    if (counts) {
      *counts = j.s.counts;
    }
    sort_end(&j.s);
  }
  native_free(j.request);
  if (!failed) {
    failed = progress_check_stop(&j.s, error);
  }
  if (!failed) {
    failed = disk_file_commit(j.to, j.records * o.record.size, error);
  }
  disk_file_close(j.to);
  disk_file_close(j.from);
  return failed;
}
