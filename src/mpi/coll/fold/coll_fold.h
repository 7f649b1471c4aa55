/* Combining the vectors of a call's members, in the order of ranks. Of an
   inter-communicator each group gets what the other one gives: two reductions,
   told apart by the group that gives. */
#ifndef PEMS_MPI_COLL_FOLD_COLL_FOLD_H
#define PEMS_MPI_COLL_FOLD_COLL_FOLD_H

#include "mpi/coll/call/coll.h"
#include "mpi/coll/fold/coll_reduce.h"
#include "mpi/datatype/layout.h"
#include "mpi/object/op.h"

/* One member's part. */
struct coll_fold_part {
  struct vp *vp;
  int peer, rank;
  struct coll_reduce fold;
  const struct layout *layout; /* of fold.type; held */
  void *counts;                /* copy of fold.counts, or NULL */
  char *vector; /* short ones, if sigma has room: a copy of `in` with the
                   elements' layout; of scans also the result */
  MPI_Datatype own_type; /* the program may free its own meanwhile; of a user
                            operation, which is told its handle, that is held */
  struct request *request;
};

/* Elements of a vector in memory of pems: `origin` is where element 0 starts in
   the sense of the datatype, inside `memory`. */
struct coll_fold_buffer {
  char *memory;
  char *origin;
  size_t bytes;
};

/* A chunk of every vector of one group at a time: elements [first, first + n).
 */
struct coll_fold_chunk {
  struct coll *coll;
  const struct coll_fold_part *model; /* one that takes part: count, type, op */
  const struct layout *layout;
  int group; /* that gives */
  bool small;
  bool upcalls; /* the operation is the program's, and this is no member's
                   thread */
  size_t first;
  int n;
  uint32_t number;              /* of the chunk */
  struct coll_fold_buffer sum;  /* of the ranks so far */
  struct coll_fold_buffer next; /* the next rank's elements */
  char *own; /* between processes: what this one gives, then what it gets */
};

struct coll_fold_part *coll_fold_part_of(const struct coll *coll, int index);
/* May it be copied? The same in all processes. */
bool coll_fold_is_short(const struct coll_fold_part *p);
bool coll_fold_is_scan(const struct coll_reduce *f);

/* Of FOLD_SCATTER: the first element of the member's piece, and how many. */
size_t coll_fold_piece_first(const struct coll_fold_part *p);
size_t coll_fold_piece_count(const struct coll_fold_part *p);

/* Does `group` give vectors? `any`: a member that knows the arguments. */
bool coll_fold_gives(const struct coll *coll, const struct coll_fold_part *any,
                     int group);
/* The group whose vectors make what the member gets; does it get anything? */
int coll_fold_giver_of(const struct coll *coll, int peer);
bool coll_fold_wants_result(const struct coll *coll,
                            const struct coll_fold_part *p);
bool coll_fold_has_groups(const struct team *team);
int coll_fold_group_of(const struct team *team, int peer);

/* Bytes of memory that n elements touch, and where the first begins in it. */
size_t coll_fold_footprint(size_t n, const struct layout *layout,
                           ptrdiff_t *origin);
/* Gaps between elements are zeroed; its `memory` is coll_memory_take's. */
struct coll_fold_buffer coll_fold_buffer_new(size_t n,
                                             const struct layout *layout);
void coll_fold_swap(struct coll_fold_buffer *a, struct coll_fold_buffer *b);
struct layout_span coll_fold_elements(const void *base, size_t first, size_t n,
                                      const struct layout *layout);
/* Copies elements of one layout to memory of the same layout, leaving the gaps
   between them alone. */
void coll_fold_copy(const char *from, void *to, size_t n,
                    const struct layout *layout);

/* --- a chunk --- */

/* Combines the chunk of all members, and hands out what they get. The
   scheduler's lock is not held. */
void coll_fold_here(struct coll_fold_chunk *c);
/* The same of a team in several processes, for n chunks that follow each other,
   which may have the same buffers, in two steps, between which others may be
   given: coll_fold_remote.c. */
void coll_fold_give(struct coll_fold_chunk *c, int n);
void coll_fold_given(struct coll_fold_chunk *c, int n);

/* --- its parts, for coll_fold_remote.c --- */

/* inout[i] = in[i] op inout[i]. */
void coll_fold_combine(const struct coll_fold_chunk *c, const char *in,
                       char *inout);
/* Combines the vectors of members [start, end) here into c->sum; `before`: that
   already holds what lower ranks give. `hand_out`: each prefix goes to its rank
   on the way. */
void coll_fold_run(struct coll_fold_chunk *c, int start, int end, bool before,
                   bool hand_out);
/* The chunk's result, in c->sum, to those here that get it. */
void coll_fold_hand_out(struct coll_fold_chunk *c);
/* Local members of the group that gives: [start, end) by index. */
void coll_fold_givers(const struct coll_fold_chunk *c, int *start, int *end);

#endif
