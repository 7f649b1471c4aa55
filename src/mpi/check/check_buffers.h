/* What --pems-check looks at in each call: are buffers memory of the rank, are
   they free to be used? A buffer that is not ends the job with one line. Where
   the option is not given, callers do nothing but look at check_buffers_on. */
#ifndef PEMS_MPI_CHECK_CHECK_BUFFERS_H
#define PEMS_MPI_CHECK_CHECK_BUFFERS_H

#include "mpi/datatype/layout.h"
#include "mpi/transfer/coll_side.h"

#include <stdbool.h>
#include <stdint.h>

extern bool check_buffers_on;

/* All of these are for the calling VP's call of MPI; its context is in
   memory. */

/* A buffer that the call sends or, `received`, writes to: it must be memory of
   the rank that is allocated, and no pending request may use it (`pending`:
   look at those). */
void check_buffers_buffer(const struct layout_span *s, bool received,
                          bool pending);
/* The same for count elements at an address. */
void check_buffers_data(const void *buffer, MPI_Count count, MPI_Datatype type,
                        bool received, bool pending);
/* What the call sends and receives must not be the same memory. */
void check_buffers_two(const struct layout_span *sent,
                       const struct layout_span *received);
/* The program gave the same address for both, not MPI_IN_PLACE. */
_Noreturn void check_buffers_twice(const void *buffer);
/* All messages of a collective call. */
void check_buffers_sides(const struct coll_side *send,
                         const struct coll_side *receive);

/* A number for the contents of a buffer, and its proof when the request is
   over: `function` called at `site` has started it. */
uint64_t check_buffers_sum(const struct layout_span *s);
void check_buffers_same(const struct layout_span *s, uint64_t sum,
                        const char *function, const void *site);

#endif
