/* A sorted run of lines on the disks. Of each string only what differs from
   the one before is written (front coding), so that a merge knows how much
   they have in common. */
#ifndef PEMS_EM_LINES_LINE_RUN_H
#define PEMS_EM_LINES_LINE_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "em/lines/line_blocks.h"
#include "em/lines/line_codec.h"

/* What is compressed at a time, in bytes, at most. */
#define LINE_RUN_FRAME ((size_t)64 << 10)

struct line_run {
  uint64_t order; /* lines of a run with a lower one came first */
  struct line_blocks blocks;
  enum line_codec codec;
  bool whole;          /* strings are lines: they are stored once */
  size_t string, line; /* bytes of the longest ones */
  uint64_t lines, raw; /* raw: bytes before compression */
};

void line_run_free(struct line_run *run);

/* --- writing --- */

struct line_run_out {
  struct line_run *run;
  struct line_blocks_out out;
  struct memory *memory;
  unsigned char *frame; /* and, behind it, where it is packed to */
  size_t filled;
  void *work;
};

/* Bytes of memory that writing and reading take, without blocks and pieces. */
size_t line_run_out_memory(enum line_codec codec);
size_t line_run_in_memory(const struct line_run *run);

/* Begins a run; blocks.disks, blocks.size, codec and whole are set, all else
   0. */
int line_run_begin(struct line_run_out *out, struct line_run *run,
                   struct memory *memory, struct pems_error *error);
/* Appends a line with its string, of which `common` bytes are those of the one
   before. */
int line_run_put(struct line_run_out *out, const unsigned char *string,
                 size_t string_n, size_t common, const unsigned char *line,
                 size_t line_n, struct pems_error *error);
int line_run_end(struct line_run_out *out, struct pems_error *error);
void line_run_out_free(struct line_run_out *out);

/* --- reading --- */

struct line_run_in {
  struct line_run *run;
  struct line_blocks_in in;
  struct memory *memory;
  unsigned char *space; /* of all that follows */
  size_t space_n;
  unsigned char *frame, *packed; /* with compression */
  const unsigned char *at, *end; /* bytes that are not used yet */
  unsigned char *string, *line_space;
  size_t string_n, common; /* of the current line */
  const unsigned char *line;
  size_t line_n;
  uint64_t left; /* lines */
};

int line_run_open(struct line_run_in *in, struct line_run *run, size_t piece,
                  struct memory *memory, struct pems_error *error);
/* Goes to the next line; *there is false behind the last one. What was before
   is overwritten. */
int line_run_next(struct line_run_in *in, bool *there,
                  struct pems_error *error);
void line_run_in_free(struct line_run_in *in);

#endif
