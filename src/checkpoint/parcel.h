/* Facts about objects as bytes, one after the other, and back. For one thread
   at a time. */
#ifndef PEMS_CHECKPOINT_PARCEL_H
#define PEMS_CHECKPOINT_PARCEL_H

#include "checkpoint/blocks.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Zeroed: an empty one. */
struct parcel {
  char *bytes; /* n of `room` */
  size_t n, room;
  size_t at;   /* what is read next */
  bool failed; /* memory was short, or there is less than was asked for, */
  bool cut;    /* which means that it is not what was put */
};

/* After a failure nothing is done, and numbers are 0: who has put or got all it
   wants asks once. */

void parcel_put(struct parcel *p, const void *from, size_t n);
void parcel_put_number(struct parcel *p, int64_t number);
void parcel_put_address(struct parcel *p, const void *address);
void parcel_put_text(struct parcel *p, const char *text);
/* n numbers; `from` may be NULL, which is not the same as none. */
void parcel_put_ints(struct parcel *p, const int *from, int n);

void parcel_get(struct parcel *p, void *to, size_t n);
int64_t parcel_number(struct parcel *p);
void *parcel_address(struct parcel *p);
/* The bytes of the text, which stay there, or "". */
const char *parcel_text(struct parcel *p);
/* Native memory with n numbers, as they were put: NULL for NULL, and after a
   failure. */
int *parcel_ints(struct parcel *p, int n);

/* All of it, in blocks of that kind, and back: `n` bytes. 0, or an errno value
   with *error filled in. */
int parcel_save(const struct parcel *p, enum checkpoint_kind kind,
                struct checkpoint_out *o, struct pems_error *error);
int parcel_load(struct parcel *p, enum checkpoint_kind kind, size_t n,
                struct checkpoint_in *in, struct pems_error *error);
void parcel_free(struct parcel *p);

#endif
