/* Messages on their way to and from contexts on disk: many requests under way
   at once, carried out for one thread that delivers. */
#ifndef PEMS_CONTEXT_DELIVERY_DELIVERY_H
#define PEMS_CONTEXT_DELIVERY_DELIVERY_H

#include "context/store/store.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct context;

enum {
  DELIVERY_CONTEXTS = 16, /* pinned by one half at most */
  DELIVERY_PIECES = 64,   /* noted by one half */
  DELIVERY_BUFFERS = 2,   /* staging buffers that one half holds */
};

/* Requests that are started together and awaited together, and all that has to
   stay as it is until then. */
struct delivery_half {
  struct {
    struct context *context; /* pinned */
    struct store_batch reading, writing;
  } user[DELIVERY_CONTEXTS];
  struct {
    struct context *context;
    uintptr_t start, end;
  } written[DELIVERY_PIECES]; /* pages that will then be on disk */
  struct {
    char *to;
    const char *from; /* in a staging buffer */
    size_t n;
  } copy[DELIVERY_PIECES]; /* to be made when all is read */
  char *buffer[DELIVERY_BUFFERS];
  int users, writes, copies, buffers;
  size_t used;   /* bytes taken of the last buffer */
  size_t bytes;  /* under way */
  uint64_t mark; /* the last number that was given before the half was left */
};

/* A local variable of who delivers; used by that thread only. One half is
   filled while the requests of the other are under way. */
struct delivery {
  struct delivery_half half[2];
  int now;
  struct context *party[2];
  uint64_t marks;    /* numbers given */
  uint64_t finished; /* what came before this number is done */
};

void delivery_begin(struct delivery *d);
/* Waits until all is done. Nothing may be paired. */
void delivery_end(struct delivery *d);
/* Waits until all is done; then goes on. */
void delivery_wait(struct delivery *d);

/* What follows goes between a and b, which may be one. Both keep their states
   until delivery_unpair, and each as long as something for it is under way.
   At most `bytes` of b that were not touched before are to be written, for
   which room is made, if b is in memory. Waits while one of them, or who makes
   room, is moved, but for nothing else. */
void delivery_pair(struct delivery *d, struct context *a, struct context *b,
                   size_t bytes);
void delivery_unpair(struct delivery *d);

/* Reads [p, p + n) of c, one of the pair; `out` is filled when all is done, and
   belongs to the other one, or stays valid until then. Reading whole pages to
   aligned memory takes no staging buffer. I/O errors end the job. */
void delivery_read(struct delivery *d, struct context *c, const void *p,
                   void *out, size_t n);
/* Writes [p, p + n) of c. `lasting`: what is at `in` stays as it is until all
   is done; else it is copied. Writes of one delivery do not overlap, and what
   it writes it does not read. */
void delivery_write(struct delivery *d, struct context *c, void *p,
                    const void *in, size_t n, bool lasting);

/* Can [p, p + n) of c, one of the pair, be written by a system call until it is
   unpaired? delivery_filled says that it was. */
bool delivery_open(struct context *c, void *p, size_t n);
void delivery_filled(struct context *c, void *p, size_t n);

/* Numbers all that was started before: it is done when d->finished is as
   large. */
uint64_t delivery_mark(struct delivery *d);

/* A staging buffer for the caller, to be given back by bounce_put; waits for
   nobody who waits for another one. */
char *delivery_buffer(struct delivery *d);

#endif
