/* Sorting lines of any length that need not fit into memory, as sort(1) does.

   Chunks of lines are sorted in memory and written as runs, which are merged.
   Each thread has a chunk of its own: one of them is filled from the input
   while others are sorted and written. */
#ifndef PEMS_EM_LINES_LINE_SORT_H
#define PEMS_EM_LINES_LINE_SORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "em/lines/key_order.h"
#include "em/lines/line_codec.h"
#include "em/lines/line_header.h"
#include "pems/disk.h"

/* Which compression runs have. */
enum line_packing {
  LINE_PACKING_AUTO, /* if the disk turns out to be slower than that */
  LINE_PACKING_NONE,
  LINE_PACKING_LZ4,
  LINE_PACKING_ZSTD,
};

struct line_sort_options {
  const struct key_order *order; /* finished */
  const char *const *path;       /* inputs: LINE_STANDARD or paths */
  size_t paths;
  const char *output; /* NULL or LINE_STANDARD: standard output */
  bool merge;         /* inputs are sorted already */
  /* Or NULL: what it chooses of the beginning of each input is not sorted; that
     of the first one is put out before all lines. The caller's, who frees it.
   */
  struct line_header *header;
  uint64_t memory; /* bytes; 0: a quarter of what there is; less than
                      LINE_SORT_LEAST is that */
  int threads;     /* 0: one per core */
  struct pems_disks_options scratch;
  size_t batch; /* runs or files merged at once, at most; 0: as memory has it */
  enum line_packing packing;
  /* Or NULL: told of bytes done of bytes to do, of which half are those of
     forming runs, unless `merge`; they are 0 as long as they are not known. One
     call at a time. */
  void (*progress)(void *arg, uint64_t done, uint64_t todo);
  void *progress_arg;
};

#define LINE_SORT_LEAST ((uint64_t)1 << 20)

struct line_sort_counts {
  uint64_t lines, bytes; /* put out */
  uint64_t memory;       /* most that was in use */
  uint64_t runs;         /* written; 0: all fitted into memory */
  uint64_t raw, written; /* bytes of runs, before and after packing */
  uint64_t packed;       /* runs that are compressed */
  int passes;            /* over all lines, to merge */
  int threads;
  double form_seconds, merge_seconds;
};

/* Sorts. 0 or an errno value, with *error filled in: EFBIG for a line that is
   too long for the memory, ENOSPC, EIO, ... Nothing is at the output then.
   `counts` may be NULL. */
int line_sort(const struct line_sort_options *options,
              struct line_sort_counts *counts, struct pems_error *error);

/* Checks whether the one input is sorted (with order->unique: and no two lines
   are equal). *wrong: the number of the first line that is not, from 1 (which
   is the header, if there is one), or 0;
   the line is *line, of *n bytes, to be freed with native_free. */
int line_sort_check(const struct line_sort_options *options, uint64_t *wrong,
                    unsigned char **line, size_t *n, struct pems_error *error);

#endif
