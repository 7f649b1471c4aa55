/* Merging records that lie in memory, with the team. */
#include "em/pqueue/pqueue.h"
#include "em/sort/parallel_merge.h"

#include <stdbool.h>

void pqueue_merge_pieces(struct pems_pqueue *q, int pieces, size_t there,
                         size_t n, char *out, bool last) {
  const struct parallel_merge m = {
      .record = &q->s.o.record,
      .kernel = q->s.kernel,
      .team = q->s.team,
      .piece = q->piece,
      .pieces = pieces,
      .end = q->piece_end,
      .work = q->work,
      .work_each = q->plan.work_each,
      .last = last,
  };
  parallel_merge(&m, there, n, out);
}
