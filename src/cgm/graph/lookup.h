/* Values by key, whoever asks for what: many may want the same one, or those of
   one rank. */
#ifndef PEMS_CGM_GRAPH_LOOKUP_H
#define PEMS_CGM_GRAPH_LOOKUP_H

#include "cgm/graph/graph.h"

/* values: even shares of `total` elements. For each key (uint64_t below total,
   the rank's own; freed) `found` gets that element, in order. Every rank asks
   once for a key; where a rank would be asked for more than its share that way,
   keys are sorted first, so that all ranks together ask once. O(1) supersteps.
 */
int pems_cgm_lookup(struct pems_cgm *machine, uint64_t total,
                    const struct pems_cgm_list *values,
                    struct pems_cgm_list *keys, struct pems_cgm_list *found);

#endif
