#include "em/lines/line_blocks.h"

#include <errno.h>
#include <string.h>

#include "base/failure.h"
#include "os/clock.h"
#include "os/native.h"

static int disk_failure(const struct line_blocks *b, const char *what,
                        const struct pems_request *r, int code,
                        struct pems_error *error) {
  return failure(error, code, "scratch space: %s: %s: %s: %s",
                 pems_disks_path(b->disks, r->block.disk), what, strerror(code),
                 code == ENOSPC || code == EDQUOT
                     ? "free some space, or name another directory"
                     : "check the disk");
}

static void free_until(struct line_blocks *b, size_t count) {
  for (; b->freed < count; b->freed++) {
    pems_block_free(b->disks, b->block[b->freed], b->size);
  }
}

void line_blocks_free(struct line_blocks *b) {
  free_until(b, b->count);
  native_free(b->block);
  b->block = NULL;
  b->count = b->room = b->freed = 0;
  b->bytes = 0;
}

/* --- writing --- */

static int no_memory(size_t n, struct pems_error *error) {
  return failure(error, ENOMEM,
                 "memory for sorting: %zu bytes for blocks: give more", n);
}

int line_blocks_begin(struct line_blocks_out *out, struct line_blocks *to,
                      struct memory *memory, struct pems_error *error) {
  static _Thread_local uint64_t seed;
  const size_t n = LINE_BLOCKS_BUFFERS * to->size;
  *out = (struct line_blocks_out){.to = to, .memory = memory};
  out->buffer = memory_get(memory, n);
  pems_dealer_begin(&out->dealer, PEMS_DEAL_CYCLIC, ++seed);
  return out->buffer ? 0 : no_memory(n, error);
}

static int wait_written(struct line_blocks_out *out, int i,
                        struct pems_error *error) {
  struct pems_request *const r = &out->request[i];
  if (r->n == 0) {
    return 0;
  }
  const uint64_t begin = clock_ns();
  const int code = pems_request_wait(out->to->disks, r);
  out->wait_ns += clock_ns() - begin;
  const int failed =
      code ? disk_failure(out->to, "writing", r, code, error) : 0;
  r->n = 0;
  return failed;
}

static int add_block(struct line_blocks_out *out, struct pems_error *error) {
  struct line_blocks *const b = out->to;
  if (b->count == b->room) {
    const size_t room = b->room ? 2 * b->room : 16;
    struct pems_block *const more =
        native_realloc(b->block, room * sizeof(*more));
    if (!more) {
      return no_memory(room * sizeof(*more), error);
    }
    b->block = more;
    b->room = room;
  }
  const int failed = pems_block_new(b->disks, &out->dealer, b->size,
                                    &b->block[b->count], error);
  b->count += !failed;
  return failed;
}

/* The current buffer goes, and the other one is free then. */
static int write_block(struct line_blocks_out *out, struct pems_error *error) {
  struct line_blocks *const b = out->to;
  struct pems_request *r = &out->request[out->current];
  char *const buf = out->buffer + (size_t)out->current * b->size;
  const size_t n =
      (out->filled + PEMS_DISK_UNIT - 1) / PEMS_DISK_UNIT * PEMS_DISK_UNIT;
  const int failed = add_block(out, error);
  if (failed) {
    return failed;
  }
  memset(buf + out->filled, 0, n - out->filled);
  *r = (struct pems_request){
      .block = b->block[b->count - 1], .buf = buf, .n = n, .write = 1};
  pems_disks_start(b->disks, &r, 1);
  b->bytes += out->filled;
  out->filled = 0;
  out->current ^= 1;
  return wait_written(out, out->current, error);
}

int line_blocks_put(struct line_blocks_out *out, const void *bytes, size_t n,
                    struct pems_error *error) {
  const char *at = bytes;
  const size_t size = out->to->size;
  while (n > 0) {
    const size_t room = size - out->filled, part = n < room ? n : room;
    memcpy(out->buffer + (size_t)out->current * size + out->filled, at, part);
    out->filled += part;
    at += part;
    n -= part;
    if (out->filled == size) {
      const int failed = write_block(out, error);
      if (failed) {
        return failed;
      }
    }
  }
  return 0;
}

int line_blocks_end(struct line_blocks_out *out, struct pems_error *error) {
  int failed = out->filled ? write_block(out, error) : 0;
  for (int i = 0; i < LINE_BLOCKS_BUFFERS && !failed; i++) {
    failed = wait_written(out, i, error);
  }
  return failed;
}

void line_blocks_out_free(struct line_blocks_out *out) {
  if (!out->buffer) {
    return;
  }
  for (int i = 0; i < LINE_BLOCKS_BUFFERS; i++) {
    wait_written(out, i, NULL);
  }
  memory_put(out->memory, out->buffer, LINE_BLOCKS_BUFFERS * out->to->size);
  out->buffer = NULL;
}

/* --- reading --- */

static void ask(struct line_blocks_in *in, int i) {
  struct line_blocks *const b = in->from;
  struct pems_request *r = &in->request[i];
  const uint64_t left = b->bytes - in->asked;
  if (left == 0) {
    return;
  }
  const size_t part = left < in->piece ? (size_t)left : in->piece;
  struct pems_block block = b->block[in->asked / b->size];
  block.at += in->asked % b->size;
  *r = (struct pems_request){
      .block = block,
      .buf = in->buffer + (size_t)i * in->piece,
      .n = (part + PEMS_DISK_UNIT - 1) / PEMS_DISK_UNIT * PEMS_DISK_UNIT,
  };
  in->asked += part;
  pems_disks_start(b->disks, &r, 1);
}

int line_blocks_open(struct line_blocks_in *in, struct line_blocks *from,
                     size_t piece, struct memory *memory,
                     struct pems_error *error) {
  const size_t n = LINE_BLOCKS_BUFFERS * piece;
  *in = (struct line_blocks_in){.from = from, .piece = piece};
  in->buffer = memory_get(memory, n);
  in->memory = memory;
  if (!in->buffer) {
    return no_memory(n, error);
  }
  for (int i = 0; i < LINE_BLOCKS_BUFFERS; i++) {
    ask(in, i);
  }
  in->current = LINE_BLOCKS_BUFFERS - 1; /* the first one is next */
  return 0;
}

int line_blocks_next(struct line_blocks_in *in, struct pems_error *error) {
  struct line_blocks *const b = in->from;
  if (in->end) {
    free_until(b, (size_t)(in->used / b->size));
    ask(in, in->current);
  }
  in->current ^= 1;
  struct pems_request *const r = &in->request[in->current];
  if (r->n == 0) {
    in->at = in->end = (const unsigned char *)in->buffer;
    return 0;
  }
  const int code = pems_request_wait(b->disks, r);
  const uint64_t left = b->bytes - in->used;
  const size_t part = left < in->piece ? (size_t)left : in->piece;
  r->n = 0;
  in->at = r->buf;
  in->end = in->at + part;
  in->used += part;
  return code ? disk_failure(b, "reading", r, code, error) : 0;
}

int line_blocks_read(struct line_blocks_in *in, void *to, size_t n,
                     struct pems_error *error) {
  for (char *at = to; n > 0;) {
    if (in->at == in->end) {
      const int failed = line_blocks_next(in, error);
      if (failed) {
        return failed;
      }
      if (in->at == in->end) {
        return failure(error, EIO,
                       "scratch space: %s: ends too early: check "
                       "the disk",
                       pems_disks_path(in->from->disks, 0));
      }
    }
    const size_t there = (size_t)(in->end - in->at);
    const size_t part = n < there ? n : there;
    memcpy(at, in->at, part);
    in->at += part;
    at += part;
    n -= part;
  }
  return 0;
}

void line_blocks_in_free(struct line_blocks_in *in) {
  for (int i = 0; in->buffer && i < LINE_BLOCKS_BUFFERS; i++) {
    if (in->request[i].n) {
      (void)pems_request_wait(in->from->disks, &in->request[i]);
    }
  }
  if (in->buffer) {
    memory_put(in->memory, in->buffer, LINE_BLOCKS_BUFFERS * in->piece);
  }
  in->buffer = NULL;
}
