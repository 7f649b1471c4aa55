/* Blocks that tasks go to disk in: parts, each of one bag, with records. */
#ifndef PEMS_TASKS_SPILL_BLOCK_H
#define PEMS_TASKS_SPILL_BLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct task_bag;
struct pems_error;

/* Buffers of a block each. */
enum { TASK_SPILL_BUFFERS = 4 };

/* A part of a block. */
struct task_part {
  struct task_bag *bag;
  uint64_t n; /* records */
};

/* A block being written. */
struct task_spill {
  unsigned char *bytes, *at;
  size_t room; /* bytes */
  uint64_t parts;
};

/* In a buffer of so many bytes. */
struct task_spill task_spill_begin(unsigned char *bytes, size_t size);
/* Bytes that n records of `stride` bytes take. */
size_t task_spill_needs(uint64_t n, size_t stride);
/* There is room. */
void task_spill_add(struct task_spill *s, const struct task_part *part,
                    const void *records, size_t stride);
/* Zeros are behind the last part. */
void task_spill_end(struct task_spill *s);

/* A block being read. */
struct task_unspill {
  const unsigned char *at;
  uint64_t parts; /* left */
};

struct task_unspill task_unspill_begin(const unsigned char *bytes);
/* The next part and its records; false behind the last. */
bool task_unspill_next(struct task_unspill *u, struct task_part *part,
                       const unsigned char **records, size_t stride);

/* Bytes of a block, where all memory is `memory` and a full chunk has so many
   bytes. */
size_t task_spill_bytes(uint64_t memory, size_t chunk_bytes);
/* Is the memory enough for blocks and threads? 0, or ENOMEM with *error filled
   in. */
int task_spill_check(uint64_t memory, size_t chunk_bytes, int threads,
                     struct pems_error *error);

#endif
