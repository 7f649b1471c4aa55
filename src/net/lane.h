/* A lane: short messages from one process to another in memory that both share,
   in the order in which they are put there. One thread at a time puts, one at a
   time takes; neither waits for the other. */
#ifndef PEMS_NET_LANE_H
#define PEMS_NET_LANE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* In the memory that is shared, at a multiple of LANE_LINE. */
struct lane;

enum {
  LANE_LINE = 64,    /* bytes of the processor's cache that go from core to core
                        at once */
  LANE_AROUND = 192, /* bytes that a message takes beside its own, at most; and
                        what a lane takes beside its room */
};

/* What stands before a message. */
struct lane_wire {
  uint64_t key;
  uint32_t kind; /* below 256 */
  uint32_t n;    /* bytes of the message, below 2^24 */
};

/* Who puts, and who takes: each its own, in its own memory. */
struct lane_out {
  struct lane *lane;
  size_t room;         /* bytes, a multiple of LANE_LINE */
  uint64_t put, taken; /* bytes; those taken as far as is known */
  size_t next;         /* bytes of what lane_begin has given */
};
struct lane_in {
  struct lane *lane;
  size_t room;
  uint64_t taken;
};

/* By who takes, before the other knows of it: an empty lane of `room` bytes,
   LANE_AROUND more than that. */
void lane_make(struct lane *lane);

/* Where a message of w->n bytes is to be written, at a multiple of 16; then
   lane_end sends it. NULL: there is no room now. */
char *lane_begin(struct lane_out *o, const struct lane_wire *w);
void lane_end(struct lane_out *o);

/* The message that was put first, or NULL; it stays there until lane_drop. */
const char *lane_first(struct lane_in *i, struct lane_wire *w);
void lane_drop(struct lane_in *i);

#endif
