#include "em/pqueue/pqueue_plan.h"

#include <errno.h>

#include "em/core/memory.h"
#include "em/sort/parallel_merge.h"
#include "os/bits.h"

/* The first record of each block is kept: one of so many, or at the most. */
enum { LISTED_USUAL = 64, LISTED_MOST = 16 };
#define LARGEST_BLOCK ((size_t)2 << 20)
/* The memory in blocks: one for each 64 KiB within these bounds; and without
   which it does not work. */
enum { MOST_BLOCKS = 512, FEW_BLOCKS = 96, LEAST_BLOCKS = 36 };
#define PER_BLOCK ((size_t)64 << 10)
/* Shares of the memory, and what is enough in bytes. */
enum {
  BUFFER_SHARE = 64,
  RESERVE_SHARE = 32,
  LANES_SHARE = 16,
  UNIT_SHARE = 16384,
  SPARE = 64
};
#define MOST_BUFFER ((size_t)4 << 20)
#define MOST_RESERVE ((size_t)8 << 20)
#define MOST_HEAP ((size_t)256 << 10)
/* Blocks in memory, usually: more are no faster to merge. */
enum { MOST_HELD = 256 };
/* Internal arrays of a level, and levels of such. */
enum { USUAL_ARRAYS = 64, LEVELS = 4, LEAST_ARRAYS = 4 };
/* Blocks of that half that are not for arrays. */
enum { LEFT_BLOCKS = ARRAYS_SPARE + 4 };
/* Lists and small things, in bytes per block of memory and per piece. */
enum { LISTED = 512, LISTED_PIECE = 64 };
/* Of those, for the lists of blocks on disk; and more of them where there is so
   many times as much there as in memory, and it is merged. */
enum { LISTED_DISK = 200, TIMES = 5, PREDICTED = 48 };

static size_t units(size_t n, size_t unit) {
  return (n + unit - 1) / unit * unit;
}

static size_t power_below(size_t n) {
  size_t p = 1;
  while (p <= n / 2) {
    p *= 2;
  }
  return p;
}

/* Of n > 0 and a power of two. */
static size_t least_multiple(size_t n, size_t power) {
  const size_t common = bits_min(n & -n, power);
  return n * (power / common);
}

static size_t choose_block(const struct pems_pqueue_options *o) {
  if (o->block) {
    return o->block;
  }
  const size_t memory = (size_t)o->memory, size = o->record.size;
  const size_t blocks =
      bits_max(bits_min(memory / PER_BLOCK, MOST_BLOCKS), FEW_BLOCKS);
  const size_t usual =
      bits_min(power_below(memory / blocks + 1), LARGEST_BLOCK);
  const size_t listed = bits_min(LISTED_USUAL * size, memory / FEW_BLOCKS);
  const size_t block = units(
      bits_max(bits_max(usual, listed), LISTED_MOST * size), PEMS_DISK_UNIT);
  /* Whole records in each, if that takes little: what is in order can be
     written from where it is, then. */
  const size_t both = least_multiple(size, PEMS_DISK_UNIT);
  return both <= block / 4 ? block / both * both : block;
}

/* Even, so that there are two halves. */
static size_t reserve_blocks(const struct pems_pqueue_options *o,
                             size_t block) {
  const size_t bytes =
      bits_min((size_t)(o->memory / RESERVE_SHARE), MOST_RESERVE);
  return bits_max(bytes / block / 2 * 2, 2);
}

static size_t chosen(size_t given, size_t usual, size_t lowest) {
  return bits_max(given ? given : usual, lowest);
}

/* Bytes beside the arena: lists, of the blocks on disk, too. */
static uint64_t beside(const struct pqueue_plan *p,
                       const struct pems_pqueue_options *o, size_t blocks) {
  return blocks * LISTED + p->pieces * LISTED_PIECE + o->memory / SPARE +
         8 * o->record.size + 2 * MEMORY_PAGE;
}

/* What the arena must hold at the least: lanes, the area and its sorted copy,
   buffers to pop and to write, memory to merge with while others merge, and
   blocks of external arrays. */
static uint64_t arena_least(const struct pqueue_plan *p,
                            const struct pems_pqueue_options *o,
                            const struct kernel *kernel) {
  const size_t some = 4096 / o->record.size + 1;
  const size_t area =
      some * o->record.size + kernel->sort_work(&o->record, some, o->threads);
  return units(p->lane_records * o->record.size * (size_t)o->threads, p->unit) +
         3 * (uint64_t)units(area + 128, p->unit) +
         units(p->extract_buffer, p->unit) +
         (LEAST_BLOCKS + p->reserve_blocks) *
             (uint64_t)units(p->block, p->unit) +
         2 * units(p->work_each * (size_t)o->threads, p->unit);
}

size_t pqueue_plan_external(size_t blocks) {
  const size_t half = bits_min(blocks / 2, MOST_HELD);
  return half < 2 + LEFT_BLOCKS ? 2 : half - LEFT_BLOCKS;
}

/* Half of the memory may hold blocks, of which each array needs one; all of it
   if the user wishes. */
static void plan_disk(struct pqueue_plan *p,
                      const struct pems_pqueue_options *o) {
  const size_t half =
      bits_min(p->room_bytes / units(p->block, p->unit) / 2, MOST_HELD);
  const size_t arrays =
      o->external_arrays ? (size_t)o->external_arrays : half / 2;
  p->most_external =
      pqueue_plan_external(p->room_bytes / units(p->block, p->unit));
  p->external_arrays = bits_min(arrays, p->most_external);
  p->read_blocks =
      o->read_memory ? bits_max(o->read_memory / p->block, ARRAYS_SPARE) : half;
  p->read_blocks = bits_min(p->read_blocks, 2 * half);
}

/* Bytes that lists may take from the arena in the end, where blocks have 16
   records or more; of smaller blocks lists would be more than the memory. */
static uint64_t lists_least(const struct pems_pqueue_options *o,
                            size_t blocks) {
  const uint64_t each = sizeof(struct pems_block) + o->record.size;
  const uint64_t all =
      blocks * (2 * TIMES * each + TIMES * (uint64_t)PREDICTED);
  const uint64_t beside = blocks * LISTED_DISK + o->memory / SPARE;
  const uint64_t wanted = all > beside ? all - beside : 0;
  const uint64_t most = o->memory / 4 * 3;
  return wanted < most ? wanted : most;
}

int pqueue_plan(struct pqueue_plan *plan, const struct pems_pqueue_options *o,
                const struct kernel *kernel) {
  const size_t size = o->record.size, memory = (size_t)o->memory;
  struct pqueue_plan p = {.block = choose_block(o)};
  p.unit = bits_max(power_below(memory / UNIT_SHARE + 1), MEMORY_PAGE);
  p.lane_records =
      bits_max(memory / LANES_SHARE / (size_t)o->threads / size, 1);
  p.reserve_blocks = reserve_blocks(o, p.block);
  p.heap = chosen(o->heap, bits_min(memory / SPARE, MOST_HEAP), size);
  p.extract_buffer =
      chosen(o->extract_buffer, bits_min(memory / BUFFER_SHARE, MOST_BUFFER),
             4 * size);
  const size_t blocks = memory / units(p.block, p.unit);
  const size_t few = bits_max(memory / (2 * PER_BLOCK), LEAST_ARRAYS);
  p.arrays = o->arrays ? o->arrays : (int)bits_min(few, USUAL_ARRAYS);
  p.most_arrays = p.arrays * LEVELS;
  p.pieces = bits_min(blocks, 2 * MOST_HELD) + (size_t)p.most_arrays +
             2 * ARRAYS_SPARE;
  p.work_each = parallel_merge_work(&o->record, kernel, p.pieces);
  const uint64_t taken = beside(&p, o, blocks);
  const uint64_t least = arena_least(&p, o, kernel) + lists_least(o, blocks);
  if (o->memory < taken || o->memory - taken < least) {
    return ENOMEM;
  }
  p.least_bytes = (size_t)least;
  p.room_bytes = (size_t)(o->memory - taken) / p.unit * p.unit;
  plan_disk(&p, o);
  *plan = p;
  return 0;
}
