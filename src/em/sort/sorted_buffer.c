#define _GNU_SOURCE
#include "em/sort/sorted_buffer.h"

#include <errno.h>
#include <string.h>

#include "base/failure.h"
#include "em/core/request_list.h"
#include "os/native.h"

/* --- waiting for the disks --- */

static int write_failed(int code, struct pems_error *error) {
  return code ? sort_io_failure(error, code, "writing a run") : 0;
}

int sorted_buffer_wait(struct sorted_buffer *b, const struct sort *s,
                       size_t count, struct pems_error *error) {
  int failed = 0;
  for (; b->waited < count && b->waited < b->requests; b->waited++) {
    const int code = pems_request_wait(s->disks, &b->request[b->waited]);
    failed = failed ? failed : code;
  }
  if (b->waited == b->requests) {
    b->waited = b->requests = 0;
  }
  return write_failed(failed, error);
}

static int wait_block(struct sorted_block *b, const struct sort *s,
                      struct pems_error *error) {
  if (!b->started) {
    return 0;
  }
  b->started = 0;
  return write_failed(pems_request_wait(s->disks, &b->request), error);
}

int sorted_blocks_wait(struct sorted_blocks *b, const struct sort *s,
                       struct pems_error *error) {
  int failed = 0;
  for (int i = 0; b->block && i < s->plan.emit_buffers; i++) {
    struct pems_error later;
    const int code = wait_block(&b->block[i], s, failed ? &later : error);
    failed = failed ? failed : code;
  }
  return failed;
}

/* --- blocks --- */

static size_t blocks_bytes(const struct sort *s) {
  return (size_t)s->plan.emit_buffers * s->plan.block;
}

int sorted_blocks_new(struct sorted_blocks *b, struct sort *s) {
  if (!s->plan.emit_buffers) {
    return 0;
  }
  b->block = native_zalloc((size_t)s->plan.emit_buffers, sizeof(*b->block));
  b->memory = memory_get(&s->memory, blocks_bytes(s));
  return b->block && b->memory ? 0 : ENOMEM;
}

void sorted_blocks_free(struct sorted_blocks *b, struct sort *s) {
  memory_put(&s->memory, b->memory, blocks_bytes(s));
  native_free(b->block);
  *b = (struct sorted_blocks){0};
}

/* --- writing a sorted run --- */

/* Block i of what is in a buffer: its records. */
static size_t block_records(const struct sorted_buffer *b, const struct sort *s,
                            size_t i) {
  const size_t per = s->runs.per_block;
  const size_t left = b->n - i * per;
  return left < per ? left : per;
}

size_t sorted_buffer_blocks(const struct sorted_buffer *b,
                            const struct sort *s) {
  const size_t per = s->runs.per_block;
  return (b->n + per - 1) / per;
}

static struct pems_request request_for(const struct sort *s, void *buf,
                                       size_t records,
                                       struct pems_block block) {
  return (struct pems_request){
      .block = block,
      .buf = buf,
      .n = run_bytes(&s->runs, records),
      .write = 1,
  };
}

/* Straight from the buffer, all blocks at once. */
static int write_in_place(struct sorted_buffer *b, struct sort *s,
                          struct pems_dealer *dealer,
                          struct pems_error *error) {
  struct runs *const runs = &s->runs;
  const size_t blocks = sorted_buffer_blocks(b, s);
  struct request_list list = {.disks = s->disks};
  for (size_t i = 0; i < blocks; i++) {
    char *const at = b->first + i * runs->block;
    const size_t n = block_records(b, s, i);
    struct pems_block block;
    const int failed =
        run_add_block(runs, b->run, dealer, at, n, &block, error);
    if (failed) {
      request_list_start(&list);
      b->requests = i;
      return failed;
    }
    b->request[i] = request_for(s, at, n, block);
    request_list_add(&list, &b->request[i]);
  }
  request_list_start(&list);
  b->requests = blocks;
  return 0;
}

void sorted_buffer_copy(const struct sorted_buffer *b, const struct sort *s,
                        size_t first, size_t n, void *out) {
  const size_t size = s->o.record.size;
  if (s->kernel->emit) {
    s->kernel->emit(&s->o.record, b->first, b->n, b->work, first, n, out);
  } else {
    memcpy(out, b->first + first * size, n * size);
  }
}

/* Record by record into blocks, which are written while the next are filled. */
static int write_copied(struct sorted_buffer *b, struct sort *s,
                        struct sorted_blocks *blocks,
                        struct pems_dealer *dealer, struct pems_error *error) {
  const size_t count = sorted_buffer_blocks(b, s);
  for (size_t i = 0; i < count; i++) {
    const size_t at = i % (size_t)s->plan.emit_buffers;
    struct sorted_block *const to = &blocks->block[at];
    char *const buf = blocks->memory + at * s->plan.block;
    const size_t n = block_records(b, s, i);
    struct pems_block block;
    int failed = wait_block(to, s, error);
    if (failed) {
      return failed;
    }
    sorted_buffer_copy(b, s, i * s->runs.per_block, n, buf);
    failed = run_add_block(&s->runs, b->run, dealer, buf, n, &block, error);
    if (failed) {
      return failed;
    }
    to->request = request_for(s, buf, n, block);
    to->started = 1;
    struct pems_request *const request = &to->request;
    pems_disks_start(s->disks, &request, 1);
  }
  return 0;
}

int sorted_buffer_write(struct sorted_buffer *b, struct sort *s,
                        struct sorted_blocks *blocks,
                        struct pems_error *error) {
  struct pems_dealer dealer;
  b->run = runs_add(&s->runs);
  if (!b->run) {
    return failure(error, ENOMEM, "memory: list of %zu runs: free some",
                   s->runs.count);
  }
  if (run_resize(&s->runs, b->run, sorted_buffer_blocks(b, s))) {
    return failure(error, ENOMEM,
                   "memory: %zu blocks of a run: free some of it",
                   sorted_buffer_blocks(b, s));
  }
  pems_dealer_begin(&dealer, s->o.deal, s->o.seed + s->runs.count);
  return s->plan.in_place ? write_in_place(b, s, &dealer, error)
                          : write_copied(b, s, blocks, &dealer, error);
}
