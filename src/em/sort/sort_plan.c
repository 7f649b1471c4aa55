/* How the memory of a sort is laid out. */
#include <errno.h>
#include <stdbool.h>

#include "em/core/bisect.h"
#include "em/sort/parallel_merge.h"
#include "em/sort/replacement_selection.h"
#include "em/sort/sort.h"

#define LARGEST_BLOCK ((size_t)8 << 20)
#define SMALLEST_BLOCK ((size_t)PEMS_DISK_UNIT)
/* Blocks that a merge wants beside three per run: enough to keep the disks
   busy while what is there is merged. */
#define BESIDE 16
#define BESIDE_DISK 8
/* Where the number of runs is not known. */
#define USUAL_BLOCKS 128
/* Smaller blocks take longer to ask for than to move; they are used only if
   more passes do not help, either. */
#define SMALL_BLOCK ((size_t)16 << 10)
#define MOST_PASSES 4
/* Bytes per block of the prediction, its order and the disks; of the memory,
   all lists of blocks. */
#define PREDICTED_BYTES 64
#define LISTS_SHARE 4
/* Of the memory, and in bytes: blocks that records are copied to. */
#define EMIT_SHARE 16
#define MOST_EMITTED ((uint64_t)32 << 20)
/* 1/epsilon of long runs. */
#define LONG_CHUNKS 16
/* Records that are a multiple of 64 bytes, whatever their size. */
#define ALIGNED ((size_t)64)
/* Of a merge: two to write, two to read. */
#define LEAST_BESIDE 4

size_t sort_per_block(const struct pems_sort_options *o, size_t block) {
  return block / o->record.size;
}

static uint64_t divided_up(uint64_t a, uint64_t b) {
  return a / b + (a % b != 0);
}

static size_t units(uint64_t n) {
  return (size_t)(divided_up(n, PEMS_DISK_UNIT) * PEMS_DISK_UNIT);
}

/* For the lists of blocks, their smallest records and small things. */
static uint64_t reserve(const struct pems_sort_options *o, size_t block) {
  const uint64_t each = sizeof(struct pems_block) + o->record.size;
  uint64_t blocks = o->memory / 64 / each;
  if (o->count) {
    const uint64_t bytes = o->count * o->record.size;
    /* Long runs end with a block that is not full, and their lists grow. */
    const uint64_t ends =
        o->runs == PEMS_RUNS_LONG ? bytes / (o->memory / 4 + 1) + 8 : 1;
    blocks = divided_up(o->count, sort_per_block(o, block)) + ends;
    blocks += o->runs == PEMS_RUNS_LONG ? blocks / 4 : 0;
  }
  return blocks * each + 16384;
}

static size_t least_block(const struct pems_sort_options *o) {
  return units(o->record.size);
}

/* The largest power of two of which the memory of a merge has so many. */
static size_t block_of(const struct pems_sort_options *o, uint64_t wanted) {
  size_t block = LARGEST_BLOCK;
  while (block > SMALLEST_BLOCK &&
         (o->merge_memory / block < wanted || o->memory / block < 2 * BESIDE)) {
    block /= 2;
  }
  return block > least_block(o) ? block : least_block(o);
}

/* Whether blocks are worth a request each, and a merge's lists of them leave it
   most of its memory. */
static bool block_pays(const struct pems_sort_options *o, size_t block) {
  const uint64_t each =
      PREDICTED_BYTES + 2 * (sizeof(struct pems_block) + o->record.size);
  return block >= SMALL_BLOCK &&
         divided_up(o->count, sort_per_block(o, block)) <
             o->merge_memory / LISTS_SHARE / each;
}

/* How many must be merged at once, so that one run is left after so many
   passes. */
static uint64_t merged_at_once(uint64_t runs, int passes) {
  uint64_t at_once = 1;
  for (uint64_t all = 0; all < runs;) {
    at_once++;
    all = at_once;
    for (int i = 1; i < passes && all < runs; i++) {
      all *= at_once;
    }
  }
  return at_once;
}

/* As large as one merge of all runs allows, or else, where that is too small,
   several. Two have a block less for each run: larger ones are asked for less
   often. If the lists of those are still too long, blocks that three passes
   would use may do in two. */
static size_t choose_block(const struct pems_sort_options *o, int disks) {
  const uint64_t beside = BESIDE + BESIDE_DISK * (uint64_t)disks;
  if (o->block) {
    return o->block;
  }
  if (!o->count) {
    return block_of(o, USUAL_BLOCKS);
  }
  const uint64_t bytes = o->count * o->record.size;
  const uint64_t runs = divided_up(bytes, o->memory / 2 + 1) + 1;
  const size_t once = block_of(o, 3 * runs + beside);
  size_t block = once;
  for (int passes = 2; passes <= MOST_PASSES && !block_pays(o, block);
       passes++) {
    const uint64_t at_once = merged_at_once(runs, passes);
    if (passes > 2) {
      block = block_of(o, 3 * at_once + beside);
    }
    if (!block_pays(o, block)) {
      block = block_of(o, 2 * at_once + beside - BESIDE);
    }
  }
  return block_pays(o, block) ? block : once;
}

/* Bytes that forming runs of n records takes. */
static uint64_t form_bytes(const struct sort_plan *p,
                           const struct pems_sort_options *o,
                           const struct kernel *kernel, size_t n) {
  const uint64_t work = kernel->sort_work(&o->record, n, o->threads);
  const uint64_t blocks = divided_up(n, sort_per_block(o, p->block));
  const uint64_t buffer = p->in_place
                              ? blocks * p->block
                              : units(n * o->record.size) + 2 * PEMS_DISK_UNIT;
  const uint64_t works =
      kernel->emit && o->runs == PEMS_RUNS_HALF ? (uint64_t)p->run_buffers : 1;
  /* One buffer: its records stay in memory while they go to a file. */
  const uint64_t beside =
      p->run_buffers == 1 ? 2 * (p->block + units(o->record.size)) : 0;
  return (uint64_t)p->run_buffers *
             (buffer + blocks * sizeof(struct pems_request)) +
         works * units(work) + (uint64_t)p->emit_buffers * p->block + beside;
}

/* Enough to keep the disks busy, however small blocks are. */
static int emit_buffers(const struct pems_sort_options *o, size_t block,
                        int disks) {
  const uint64_t share = o->memory / EMIT_SHARE;
  const uint64_t most = share < MOST_EMITTED ? share : MOST_EMITTED;
  const int least = 2 * disks + 2;
  return most / block > (uint64_t)least ? (int)(most / block) : least;
}

/* What a number of blocks per run is tried with. */
struct runs_trial {
  const struct sort_plan *p;
  const struct pems_sort_options *o;
  const struct kernel *kernel;
};

static bool blocks_fit(const void *trial, uint64_t n) {
  const struct runs_trial *const t = trial;
  return form_bytes(t->p, t->o, t->kernel,
                    (size_t)n * sort_per_block(t->o, t->p->block)) <=
         t->o->memory - reserve(t->o, t->p->block);
}

/* The most records per run whose buffers fit; 0 if not even a block's do. */
static size_t most_records(const struct sort_plan *p,
                           const struct pems_sort_options *o,
                           const struct kernel *kernel) {
  const struct runs_trial t = {p, o, kernel};
  return (size_t)bisect_most(blocks_fit, &t, o->memory / p->block + 1) *
         sort_per_block(o, p->block);
}

/* Chunks of an epsilon of the memory; the rest is for the queues. */
static int plan_long(struct sort_plan *p, const struct pems_sort_options *o,
                     const struct kernel *kernel) {
  const size_t size = o->record.size;
  const uint64_t room = o->memory - reserve(o, p->block);
  p->in_place = p->emit_buffers = 0;
  p->run_buffers = 2;
  p->per_run = (size_t)(room / LONG_CHUNKS / size);
  /* Aligned as kernels want it, wherever in the input a chunk begins. */
  if (p->per_run > ALIGNED) {
    p->per_run -= p->per_run % ALIGNED;
  }
  p->sort_work = units(kernel->sort_work(&o->record, p->per_run, o->threads));
  const uint64_t beside = form_bytes(p, o, kernel, p->per_run);
  if (!p->per_run || room <= beside) {
    return ENOMEM;
  }
  p->long_bytes = (size_t)(room - beside) & ~(size_t)(PEMS_DISK_UNIT - 1);
  p->run_records = p->long_bytes / size / 2;
  return p->long_bytes < replacement_least(&o->record, kernel, o->threads,
                                           p->block, p->per_run)
             ? ENOMEM
             : 0;
}

int sort_plan(struct sort_plan *plan, const struct pems_sort_options *o,
              const struct kernel *kernel, int disks) {
  *plan = (struct sort_plan){
      .block = choose_block(o, disks),
      .run_buffers = 1,
  };
  plan->in_place = !kernel->emit && plan->block % o->record.size == 0;
  plan->emit_buffers = plan->in_place ? 0 : emit_buffers(o, plan->block, disks);
  if (plan->block < o->record.size || o->memory <= reserve(o, plan->block)) {
    return ENOMEM;
  }
  const size_t all = most_records(plan, o, kernel);
  if (o->count && o->count <= all) {
    plan->per_run = (size_t)o->count;
  } else if (o->runs == PEMS_RUNS_LONG) {
    return plan_long(plan, o, kernel);
  } else {
    plan->run_buffers = 2;
    plan->per_run = most_records(plan, o, kernel);
  }
  plan->run_records = plan->per_run;
  plan->sort_work =
      units(kernel->sort_work(&o->record, plan->per_run, o->threads));
  return plan->per_run ? 0 : ENOMEM;
}

/* Counts of pieces are ints. */
#define MOST_PIECES ((uint64_t)1 << 28)

/* And where it writes runs: the list of their blocks, too. */
#define LISTED_BYTES sizeof(struct pems_block)

/* Blocks that fit beside the work of merging `runs` runs. `last`: to the end.
 */
static int64_t blocks_for(const struct pems_sort_options *o,
                          const struct kernel *kernel, size_t block,
                          size_t runs, uint64_t blocks, size_t *work,
                          bool last) {
  /* Up to that many pieces: a few blocks of some runs may be there. */
  const uint64_t held = o->merge_memory / block;
  const size_t pieces =
      runs + (size_t)(held < MOST_PIECES ? held : MOST_PIECES) + 1;
  *work = parallel_merge_work(&o->record, kernel, pieces);
  const uint64_t beside =
      (uint64_t)*work * (uint64_t)o->merge_threads +
      blocks * (PREDICTED_BYTES + o->record.size +
                (last ? 0 : LISTED_BYTES + o->record.size)) +
      2 * units(o->record.size) + pieces * 256 + 8192;
  return o->merge_memory < beside
             ? 0
             : (int64_t)((o->merge_memory - beside) / block);
}

/* Of `runs` runs, which are too many, of which `most` fit with hardly a buffer
   beside them: as many as are merged at once. With more the passes move less,
   but threads would merge a few KiB at a time and wait for each block: a third
   of the blocks is for them, unless that takes another pass. */
static size_t some_of(size_t runs, size_t most) {
  int passes = 2;
  while (merged_at_once(runs, passes) > most) {
    passes++;
  }
  const size_t least = (size_t)merged_at_once(runs, passes);
  const size_t usual = most / 3 * 2;
  return usual > least ? usual : least;
}

static int bounded(int64_t n, int least, int64_t most) {
  n = n < most ? n : most;
  return (int)(n > least ? n : least);
}

int sort_merge_plan(struct sort_merge_plan *plan,
                    const struct pems_sort_options *o,
                    const struct kernel *kernel, int disks, size_t block,
                    size_t runs, uint64_t blocks) {
  const size_t all = runs;
  size_t work;
  int64_t fit = blocks_for(o, kernel, block, runs, blocks, &work, true);
  while (runs > 1 && fit < (int64_t)runs + LEAST_BESIDE) {
    runs = fit < LEAST_BESIDE + 2              ? 1
           : (size_t)fit - LEAST_BESIDE < runs ? (size_t)fit - LEAST_BESIDE
                                               : runs - 1;
    fit = blocks_for(o, kernel, block, runs, blocks, &work, false);
  }
  if (fit < (int64_t)runs + LEAST_BESIDE || (runs < 2 && all > 1)) {
    return ENOMEM;
  }
  if (runs < all) {
    runs = some_of(all, runs);
    fit = blocks_for(o, kernel, block, runs, blocks, &work, false);
  }
  const int64_t t = fit - (int64_t)runs;
  const int64_t usual = t / 4 > 2 * disks ? t / 4 : 2 * disks;
  const int64_t least = t - 2;
  *plan = (struct sort_merge_plan){
      .runs = runs,
      .merge_work = work,
      .write_buffers =
          bounded(o->write_buffers ? o->write_buffers : usual, 2, least),
  };
  const int64_t rest = t - plan->write_buffers;
  plan->read_buffers =
      bounded(o->read_buffers ? o->read_buffers : rest, 2, rest);
  const int r = plan->read_buffers, d = 2 * disks;
  const int chosen = d < r ? d + 3 * (r - d) / 10 : r;
  plan->prefetch =
      bounded(o->prefetch_buffers ? o->prefetch_buffers : chosen, 1, r);
  return 0;
}
