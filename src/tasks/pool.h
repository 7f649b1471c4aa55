/* Memory for chunks of tasks and for bags: taken from the system in slabs, and
   given back to it in the end. */
#ifndef PEMS_TASKS_POOL_H
#define PEMS_TASKS_POOL_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes of a slab: little enough for a limit of a few MiB and many threads. */
#define TASK_SLAB ((size_t)64 << 10)

/* Up to `most` tasks, those from `at` to n - 1 waiting. Chunks are small until
   they are known to be filled: many bags never get more than a few tasks. */
struct task_chunk {
  struct task_chunk *next; /* in whatever list it is */
  uint32_t at, n;          /* records */
  uint32_t most;
  uint32_t large; /* else it is small */
  uint64_t record[];
};

struct task_pool;
/* One thread's part: free chunks that only it uses. */
struct task_pool_part;

/* For chunks of `chunk` records of `stride` bytes; `limit`: bytes that slabs
   may take, 0 for any number. NULL if there is no memory. */
struct task_pool *task_pool_new(size_t stride, int chunk, uint64_t limit);
void task_pool_free(struct task_pool *pool);
struct task_pool_part *task_pool_join(struct task_pool *pool);
/* Memory that the part gave out stays until the pool is freed. */
void task_pool_leave(struct task_pool_part *part);

/* An empty chunk, or NULL if there is no memory within the limit. */
struct task_chunk *task_chunk_new(struct task_pool_part *part, int large);
/* The same, of a large one and beyond the limit. */
struct task_chunk *task_chunk_beyond(struct task_pool_part *part);
void task_chunk_free(struct task_pool_part *part, struct task_chunk *chunk);
/* n bytes for good, aligned to n's largest power of two up to 64: not within
   the limit, but they count. NULL if there is no memory. */
void *task_pool_keep(struct task_pool_part *part, size_t n);

/* Bytes of slabs now, for chunks and all; thread-safe. */
uint64_t task_pool_bytes(const struct task_pool *pool);
uint64_t task_pool_kept(const struct task_pool *pool);

#endif
