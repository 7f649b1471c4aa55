#include "em/sort/run_writer.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/failure.h"
#include "em/core/request_list.h"
#include "os/clock.h"
#include "os/native.h"

struct half {
  char *base;
  struct pems_request *request; /* a block each */
  int requests;                 /* under way */
};

struct run_writer {
  struct sort *s;
  struct run *run;
  struct disk_file *file;
  struct pems_dealer dealer;
  int blocks; /* of a half */
  char *memory;
  struct half half[2];
  int current;       /* half that is filled */
  uint64_t position; /* in the file, of the current half */
  size_t carried;    /* bytes at its beginning that are filled already */
};

/* To a file, a half begins with what did not fill a unit of the other, and has
   room for a record then, too. */
static size_t half_bytes(const struct run_writer *w) {
  const size_t size = w->s->o.record.size, unit = PEMS_DISK_UNIT;
  const size_t more = w->run ? 0 : (size + unit - 1) / unit * unit;
  return (size_t)w->blocks * w->s->plan.block + more;
}

int run_writer_new(struct run_writer **w, struct sort *s, int blocks,
                   struct run *run, struct disk_file *file,
                   struct pems_error *error) {
  struct run_writer *const new = native_zalloc(1, sizeof(*new));
  struct pems_request *const requests =
      native_zalloc((size_t)blocks + 2, sizeof(*requests));
  if (new) {
    new->s = s;
    new->run = run;
    new->file = file;
    new->blocks = blocks / 2;
    new->memory = memory_get(&s->memory, 2 * half_bytes(new));
  }
  if (!new || !requests || !new->memory) {
    if (new) {
      memory_put(&s->memory, new->memory, 2 * half_bytes(new));
    }
    native_free(requests);
    native_free(new);
    return failure(error, ENOMEM, "memory: %d blocks to write: give more",
                   blocks);
  }
  for (int i = 0; i < 2; i++) {
    new->half[i].base = new->memory + (size_t)i *half_bytes(new);
    new->half[i].request = requests + i *(new->blocks + 1);
  }
  pems_dealer_begin(&new->dealer, s->o.deal, s->o.seed + 7919 + s->runs.count);
  *w = new;
  return 0;
}

static int wait_request(struct run_writer *w, struct pems_request *r) {
  return w->run ? pems_request_wait(w->s->disks, r)
                : disk_file_wait(w->file, r);
}

/* 0 or an errno value. */
static int wait_half(struct run_writer *w, struct half *half) {
  const uint64_t begin = clock_ns();
  int failed = 0;
  for (int i = 0; i < half->requests; i++) {
    const int error = wait_request(w, &half->request[i]);
    failed = failed ? failed : error;
  }
  half->requests = 0;
  w->s->counts.merge.io.write_wait_ns += clock_ns() - begin;
  return failed;
}

static int settle_half(struct run_writer *w, struct half *half,
                       struct pems_error *error) {
  const int failed = wait_half(w, half);
  if (!failed) {
    return 0;
  }
  return w->run
             ? sort_io_failure(error, failed, "writing a run")
             : failure(error, failed, "%s: writing: %s: %s",
                       disk_file_path(w->file), strerror(failed),
                       failed == ENOSPC ? "free some space" : "check the disk");
}

void run_writer_free(struct run_writer *w) {
  if (!w) {
    return;
  }
  for (int i = 0; i < 2; i++) {
    wait_half(w, &w->half[i]);
  }
  memory_put(&w->s->memory, w->memory, 2 * half_bytes(w));
  native_free(w->half[0].request);
  native_free(w);
}

/* A run's records do not cross blocks: where they do not fill them, space is
   one block at a time. */
static bool fills_blocks(const struct run_writer *w) {
  return w->s->plan.block % w->s->o.record.size == 0;
}

int run_writer_space(struct run_writer *w, void **space, size_t *room,
                     struct pems_error *error) {
  struct half *const half = &w->half[w->current];
  const size_t size = w->s->o.record.size;
  if (w->run && w->carried) { /* blocks of this half are filled already */
    *space = half->base + w->carried;
    *room = w->s->runs.per_block;
    return 0;
  }
  const int failed = settle_half(w, half, error);
  *space = half->base + w->carried;
  *room = !w->run           ? (half_bytes(w) - w->carried) / size
          : fills_blocks(w) ? half_bytes(w) / size
                            : w->s->runs.per_block;
  return failed;
}

static int start_run(struct run_writer *w, struct half *half, size_t n,
                     struct pems_error *error) {
  struct runs *const runs = &w->s->runs;
  struct request_list list = {.disks = w->s->disks};
  char *at = half->base + w->carried;
  while (n > 0) {
    const size_t records = n < runs->per_block ? n : runs->per_block;
    struct pems_request *const r = &half->request[half->requests];
    struct pems_block block;
    const int failed =
        run_add_block(runs, w->run, &w->dealer, at, records, &block, error);
    if (failed) {
      request_list_start(&list);
      return failed;
    }
    *r = (struct pems_request){
        .block = block, .buf = at, .n = run_bytes(runs, records), .write = 1};
    half->requests++;
    request_list_add(&list, r);
    at += runs->block;
    n -= records;
  }
  request_list_start(&list);
  w->carried = (size_t)(at - half->base);
  if (w->carried == half_bytes(w)) {
    w->carried = 0;
    w->current ^= 1;
  }
  return 0;
}

/* Whole units, in requests of about a block each. */
static void start_file(struct run_writer *w, struct half *half, size_t bytes) {
  struct request_list list = {.file = w->file};
  for (size_t done = 0, part; done < bytes; done += part) {
    const size_t left = bytes - done;
    struct pems_request *const r = &half->request[half->requests++];
    part = left < w->s->plan.block ? left : w->s->plan.block;
    *r = (struct pems_request){
        .block = {0, w->position + done},
        .buf = half->base + done,
        .n = part,
        .write = 1,
    };
    request_list_add(&list, r);
  }
  request_list_start(&list);
  w->position += bytes;
}

/* What does not fill a unit begins the other half, which is free by then. */
static int fill_file(struct run_writer *w, struct half *half, size_t bytes,
                     struct pems_error *error) {
  struct half *const other = &w->half[w->current ^ 1];
  const size_t rest = bytes % PEMS_DISK_UNIT;
  start_file(w, half, bytes - rest);
  if (rest) {
    const int failed = settle_half(w, other, error);
    if (failed) {
      return failed;
    }
    memcpy(other->base, half->base + bytes - rest, rest);
  }
  w->carried = rest;
  w->current ^= 1;
  return 0;
}

int run_writer_filled(struct run_writer *w, size_t n,
                      struct pems_error *error) {
  struct half *const half = &w->half[w->current];
  if (n == 0) {
    return 0;
  }
  return w->run
             ? start_run(w, half, n, error)
             : fill_file(w, half, w->carried + n * w->s->o.record.size, error);
}

int run_writer_finish(struct run_writer *w, struct pems_error *error) {
  if (!w->run && w->carried) {
    struct half *const half = &w->half[w->current];
    const int failed = settle_half(w, half, error);
    if (failed) {
      return failed;
    }
    memset(half->base + w->carried, 0, PEMS_DISK_UNIT - w->carried);
    start_file(w, half, PEMS_DISK_UNIT);
  }
  const int first = settle_half(w, &w->half[0], error);
  return first ? first : settle_half(w, &w->half[1], error);
}
