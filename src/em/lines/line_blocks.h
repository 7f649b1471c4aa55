/* A string of bytes in blocks on disks: written once, read once. */
#ifndef PEMS_EM_LINES_LINE_BLOCKS_H
#define PEMS_EM_LINES_LINE_BLOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "em/core/memory.h"
#include "pems/disk.h"

struct line_blocks {
  struct pems_disks *disks;
  size_t size; /* of a block, bytes, a multiple of PEMS_DISK_UNIT */
  struct pems_block *block;
  size_t count, room;
  size_t freed;   /* blocks at the beginning that are given back */
  uint64_t bytes; /* of the string */
};

/* Gives back the blocks and the list. */
void line_blocks_free(struct line_blocks *b);

/* --- writing --- */

enum { LINE_BLOCKS_BUFFERS = 2 };

/* While one buffer is filled the other is written. One thread. */
struct line_blocks_out {
  struct line_blocks *to;
  struct memory *memory;
  char *buffer; /* two blocks */
  struct pems_request request[LINE_BLOCKS_BUFFERS];
  struct pems_dealer dealer;
  int current;
  size_t filled;
  uint64_t wait_ns; /* spent waiting for the disk */
};

/* Begins to write `to`, which is empty but for disks and size. ENOMEM: it
   takes two blocks of memory. */
int line_blocks_begin(struct line_blocks_out *out, struct line_blocks *to,
                      struct memory *memory, struct pems_error *error);
int line_blocks_put(struct line_blocks_out *out, const void *bytes, size_t n,
                    struct pems_error *error);
/* Writes what is left and waits for it. */
int line_blocks_end(struct line_blocks_out *out, struct pems_error *error);
/* Frees the memory; waits for requests. Also after errors. */
void line_blocks_out_free(struct line_blocks_out *out);

/* --- reading --- */

/* One piece is used while the next one is read. One thread. */
struct line_blocks_in {
  struct line_blocks *from;
  struct memory *memory;
  size_t piece; /* bytes, divides a block */
  char *buffer; /* two pieces */
  struct pems_request request[LINE_BLOCKS_BUFFERS];
  int current;
  uint64_t asked, used;          /* bytes */
  const unsigned char *at, *end; /* of the current piece, not used yet */
};

/* Begins to read; blocks are given back as they are used up. */
int line_blocks_open(struct line_blocks_in *in, struct line_blocks *from,
                     size_t piece, struct memory *memory,
                     struct pems_error *error);
/* When in->at == in->end: waits for the next piece; both stay equal at the end
   of the string. */
int line_blocks_next(struct line_blocks_in *in, struct pems_error *error);
/* Copies n bytes, of which there must be as many: else EIO. */
int line_blocks_read(struct line_blocks_in *in, void *to, size_t n,
                     struct pems_error *error);
/* Frees the memory; waits for requests. NULL fields are allowed. */
void line_blocks_in_free(struct line_blocks_in *in);

#endif
