/* In which order a merge needs the blocks of its runs, and in which they are
   best fetched. */
#ifndef PEMS_EM_SORT_FETCH_ORDER_H
#define PEMS_EM_SORT_FETCH_ORDER_H

#include <stddef.h>
#include <stdint.h>

#include "em/kernel/kernel.h"
#include "em/sort/run.h"

/* A block of a run that is merged. */
struct fetch_order_entry {
  uint32_t run;   /* of those merged, from 0 */
  uint32_t block; /* of the run, from 0 */
};

/* The prediction sequence sigma of `count` runs (Dementiev and Sanders 2003,
   section 2.2): their blocks by the smallest record, equal ones by run. `order`
   has room for all blocks. 0 or ENOMEM. */
int fetch_order_needs(const struct runs *all, const struct run *run,
                      size_t count, const struct pems_record *record,
                      const struct kernel *kernel,
                      struct fetch_order_entry *order);

/* The fetch order sigma' for D disks and `buffers` >= D buffers of blocks: the
   optimal one by the duality of prefetching and queued writing (section 2.4;
   Hutchinson, Sanders, Vitter, ESA 2001): fetch[i] is the index, in the order
   in which n blocks are needed, of the i-th to be fetched. disk[i]: where the
   i-th needed one lies. With that many buffers, a block that is needed has
   always been fetched by the time that the buffers are full. 0 or ENOMEM. */
int fetch_order_fetches(const int *disk, size_t n, int disks, size_t buffers,
                        uint32_t *fetch);

/* The input steps, each of at most one block per disk, that fetching in the
   order `fetch` takes with that many buffers if blocks are consumed at once: to
   compare orders. 0: it cannot be done. */
size_t fetch_order_steps(const int *disk, size_t n, int disks, size_t buffers,
                         const uint32_t *fetch);

#endif
