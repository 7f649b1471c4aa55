/* Many small things in blocks of one kind, one behind the other, and back. For
   one thread at a time. */
#ifndef PEMS_CHECKPOINT_STREAM_H
#define PEMS_CHECKPOINT_STREAM_H

#include "checkpoint/blocks.h"

/* After the first error nothing more is done: who has written all asks once. */
struct checkpoint_writer {
  struct checkpoint_out *out;
  enum checkpoint_kind kind;
  char *buffer;
  size_t used;
  int code; /* the first error, or 0 */
  struct pems_error *error;
};

void checkpoint_write_begin(struct checkpoint_writer *w,
                            struct checkpoint_out *out,
                            enum checkpoint_kind kind,
                            struct pems_error *error);
void checkpoint_write(struct checkpoint_writer *w, const void *p, size_t n);
/* 0, or the errno value of the first error, with *error filled in. */
int checkpoint_write_end(struct checkpoint_writer *w);

/* After the first error all is zero: who counts what it reads is to look at
   `code`. */
struct checkpoint_reader {
  struct checkpoint_in *in;
  struct checkpoint_block *next; /* the next one of the file */
  enum checkpoint_kind kind;
  char *buffer;
  size_t n, used; /* bytes in it, and of them those that were read */
  int code;
  struct pems_error *error;
};

/* *next is the first block, of that kind, and becomes the first of another
   kind. */
void checkpoint_read_begin(struct checkpoint_reader *r,
                           struct checkpoint_in *in,
                           struct checkpoint_block *next,
                           struct pems_error *error);
void checkpoint_read(struct checkpoint_reader *r, void *to, size_t n);
/* Nobody could have written that: EILSEQ, unless there was an error before. */
void checkpoint_read_strange(struct checkpoint_reader *r, const char *what);
/* All was read: 0, or the errno value of the first error. */
int checkpoint_read_end(struct checkpoint_reader *r);

#endif
