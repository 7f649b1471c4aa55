/* Sorted records in memory, and how they are written to the disks as a run.
   None of this locks: one thread at a time has a buffer. */
#ifndef PEMS_EM_SORT_SORTED_BUFFER_H
#define PEMS_EM_SORT_SORTED_BUFFER_H

#include <stddef.h>

#include "em/sort/sort.h"

struct sorted_buffer {
  char *first;                  /* the first record */
  size_t n;                     /* records */
  void *work;                   /* of the kernel */
  struct run *run;              /* which it is written as */
  struct pems_request *request; /* a block each, of kernels in place */
  size_t requests, waited;      /* started, and already waited for */
};

/* A block that sorted records are copied to on their way to the disk. */
struct sorted_block {
  struct pems_request request;
  int started;
};

/* s->plan.emit_buffers of them, or none. Zeroed: none. */
struct sorted_blocks {
  struct sorted_block *block;
  char *memory;
};

/* With memory of *s: 0 or ENOMEM; sorted_blocks_free ends them in any case,
   which must not be on their way any more. */
int sorted_blocks_new(struct sorted_blocks *b, struct sort *s);
void sorted_blocks_free(struct sorted_blocks *b, struct sort *s);
/* Waits for all: 0, or the first failure with *error filled in. */
int sorted_blocks_wait(struct sorted_blocks *b, const struct sort *s,
                       struct pems_error *error);

/* How many blocks of a run it is. */
size_t sorted_buffer_blocks(const struct sorted_buffer *b,
                            const struct sort *s);
/* Records [first, first + n) in the stored form, copied to `out`. */
void sorted_buffer_copy(const struct sorted_buffer *b, const struct sort *s,
                        size_t first, size_t n, void *out);
/* Makes a run of it and starts to write that: from where the records are
   (sorted_buffer_wait tells when those are written), or by way of `blocks`. 0,
   or with *error filled in ENOMEM, ENOSPC or what a disk says. */
int sorted_buffer_write(struct sorted_buffer *b, struct sort *s,
                        struct sorted_blocks *blocks, struct pems_error *error);
/* Waits until the first `count` blocks are written, or all there are. 0, or
   with *error filled in what a disk says. */
int sorted_buffer_wait(struct sorted_buffer *b, const struct sort *s,
                       size_t count, struct pems_error *error);

#endif
