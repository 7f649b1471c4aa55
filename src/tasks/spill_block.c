#include "tasks/spill_block.h"

#include <errno.h>
#include <string.h>

#include "base/failure.h"

/* Bytes of a block: a part of the memory, within these bounds. */
#define LEAST_BLOCK ((size_t)16 << 10)
#define MOST_BLOCK ((size_t)1 << 20)
#define SHARE 64
/* Memory without which there is no point: for each thread, and for all. */
#define LEAST_FOR_THREAD ((uint64_t)512 << 10)
#define LEAST_FOR_ALL ((uint64_t)512 << 10)

/* What a block begins with. */
struct contents {
  uint64_t parts;
};

/* --- writing and reading --- */

struct task_spill task_spill_begin(unsigned char *bytes, size_t size) {
  return (struct task_spill){.bytes = bytes,
                             .at = bytes + sizeof(struct contents),
                             .room = size - sizeof(struct contents)};
}

size_t task_spill_needs(uint64_t n, size_t stride) {
  return sizeof(struct task_part) + n * stride;
}

void task_spill_add(struct task_spill *s, const struct task_part *part,
                    const void *records, size_t stride) {
  memcpy(s->at, part, sizeof(*part));
  memcpy(s->at + sizeof(*part), records, part->n * stride);
  s->at += task_spill_needs(part->n, stride);
  s->room -= task_spill_needs(part->n, stride);
  s->parts++;
}

void task_spill_end(struct task_spill *s) {
  const struct contents contents = {s->parts};
  memcpy(s->bytes, &contents, sizeof(contents));
  memset(s->at, 0, s->room);
}

struct task_unspill task_unspill_begin(const unsigned char *bytes) {
  struct contents contents;
  memcpy(&contents, bytes, sizeof(contents));
  return (struct task_unspill){bytes + sizeof(contents), contents.parts};
}

bool task_unspill_next(struct task_unspill *u, struct task_part *part,
                       const unsigned char **records, size_t stride) {
  if (!u->parts) {
    return false;
  }
  memcpy(part, u->at, sizeof(*part));
  *records = u->at + sizeof(*part);
  u->at += task_spill_needs(part->n, stride);
  u->parts--;
  return true;
}

/* --- sizes --- */

size_t task_spill_bytes(uint64_t memory, size_t chunk_bytes) {
  const size_t least =
      sizeof(struct contents) + sizeof(struct task_part) + chunk_bytes;
  size_t n = LEAST_BLOCK;
  while (n < least || (n < MOST_BLOCK && n < memory / SHARE)) {
    n *= 2;
  }
  return n;
}

/* The least memory that is enough with the blocks that it has itself. */
static uint64_t least_memory(size_t chunk_bytes, int threads) {
  const uint64_t fixed = LEAST_FOR_ALL + (uint64_t)threads * LEAST_FOR_THREAD;
  uint64_t least = fixed, needed;
  while ((needed = fixed + TASK_SPILL_BUFFERS *
                               task_spill_bytes(least, chunk_bytes)) > least) {
    least = needed;
  }
  return least;
}

int task_spill_check(uint64_t memory, size_t chunk_bytes, int threads,
                     struct pems_error *error) {
  const uint64_t least = least_memory(chunk_bytes, threads);
  return memory >= least
             ? 0
             : failure(error, ENOMEM,
                       "scheduler: memory: %llu bytes: %llu are needed for %d "
                       "threads",
                       (unsigned long long)memory, (unsigned long long)least,
                       threads);
}
