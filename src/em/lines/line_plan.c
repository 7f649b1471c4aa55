#include "em/lines/line_plan.h"

#include "em/core/memory.h"
#include "em/lines/line_sort.h"

enum {
  BLOCK_SHARE = 256, /* blocks are that part of the memory, */
  INPUT_SHARE = 128, /* and so on */
  CARRY_SHARE = 4,   /* of a chunk */
  LEAST_BLOCK = 4096,
  MOST_BLOCK = 4 << 20,
  LEAST_PIECE = 4096, /* of a run that is merged */
  LEAST_CHUNKS = 4,   /* all chunks have that part of memory, at least */
};

static size_t power_below(uint64_t n, size_t least, size_t most) {
  size_t p = least;
  while (p < most && 2 * (uint64_t)p <= n) {
    p *= 2;
  }
  return p;
}

/* What the workers' chunks share. */
static uint64_t for_chunks(const struct line_plan *p, size_t codec) {
  const uint64_t each = 2 * p->block + codec;
  const uint64_t used =
      2 * p->input + (uint64_t)p->workers * each + 8 * MEMORY_PAGE;
  return used < p->memory ? p->memory - used : 0;
}

/* One more thread than may compute: it reads, or waits for the disk. */
void line_plan_make(struct line_plan *p, uint64_t memory, int threads,
                    size_t codec) {
  *p = (struct line_plan){.memory = memory, .workers = threads + 1};
  p->block = power_below(memory / BLOCK_SHARE, LEAST_BLOCK, MOST_BLOCK);
  p->input = power_below(memory / INPUT_SHARE, LEAST_BLOCK, 1 << 20);
  while (p->workers > 1 && for_chunks(p, codec) < memory / LEAST_CHUNKS * 3) {
    p->workers--;
  }
  /* Behind chunks, the carry of a quarter of one. */
  const uint64_t quarters = (uint64_t)CARRY_SHARE * (uint64_t)p->workers + 1;
  p->carry = for_chunks(p, codec) / quarters / MEMORY_PAGE * MEMORY_PAGE;
  p->chunk = CARRY_SHARE * p->carry;
}

size_t line_plan_piece(const struct line_plan *p, uint64_t memory, size_t runs,
                       uint64_t fixed) {
  if (fixed > memory) {
    return 0;
  }
  for (size_t piece = p->block; piece >= LEAST_PIECE; piece /= 2) {
    if (runs * 2 * (uint64_t)piece <= memory - fixed) {
      return piece;
    }
  }
  return 0;
}
