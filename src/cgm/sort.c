/* Sorting by regular samples: sort what is here, cut it, send the parts to
   where they belong, merge what comes.

   pems_cgm_sort ends with even shares after one exchange of data: each rank is
   sent all elements between two splitters that surely enclose its share
   (splitters.h), tells from the cuts how many elements of all ranks are before
   the first one, and leaves out what it has too much, at both ends. Elements
   near a border go to two ranks. */
#include <stdbool.h>
#include <stdlib.h>

#include "cgm/exchange.h"
#include "cgm/fault.h"
#include "cgm/kernel.h"
#include "cgm/relation.h"
#include "cgm/splitters.h"

/* What goes where, from the cuts, and how much comes. *before: elements of all
   ranks that are before those that this one receives. */
static int exchange_cuts(struct pems_cgm *m, const struct pems_cgm_cuts *cuts,
                         uint64_t *before) {
  const struct pems_cgm_plan *const plan = &m->plan;
  const uint64_t *const in = m->words + 2 * m->size;
  for (int r = 0; r < m->size; r++) {
    plan->send_at[r] = cuts->low[r];
    plan->send[r] = cuts->high[r + 1] - cuts->low[r];
    m->words[2 * r] = plan->send[r];
    m->words[2 * r + 1] = plan->send_at[r];
  }
  const int error = pems_cgm_exchange_words(m);
  *before = 0;
  for (int r = 0; r < m->size; r++) {
    plan->receive[r] = in[2 * r];
    *before += in[2 * r + 1];
  }
  pems_cgm_line_up(m, plan->receive, plan->receive_at);
  return error;
}

/* Everything from the sorted lists on. */
static int distribute(struct pems_cgm *m, struct pems_cgm_list *list,
                      const struct pems_record *record, bool exact,
                      const struct pems_cgm_cuts *cuts) {
  uint64_t before = 0;
  int error = pems_cgm_split(m, list, record, exact, cuts);
  if (error == MPI_SUCCESS) {
    error = exchange_cuts(m, cuts, &before);
  }
  if (error == MPI_SUCCESS) {
    error = pems_cgm_relate(m, list);
  }
  if (error != MPI_SUCCESS) {
    return error;
  }
  const uint64_t total = m->plan.total;
  const uint64_t skip = exact ? pems_cgm_first(m, total, m->rank) - before : 0;
  const uint64_t keep = exact ? pems_cgm_share(m, total) : list->n;
  return pems_cgm_merge_here(m, list, record, m->plan.receive, skip, keep) == 0
             ? MPI_SUCCESS
             : pems_cgm_fail_here(m);
}

static int sort(struct pems_cgm *m, struct pems_cgm_list *list,
                const struct pems_record *record, bool exact,
                const char *function) {
  const size_t cuts = (size_t)m->size + 1;
  int error = pems_cgm_check(m, list, function);
  if (error == MPI_SUCCESS) {
    error = pems_cgm_check_record(m, list, record, function);
  }
  if (error != MPI_SUCCESS) {
    return error;
  }
  /* Small things first, so that large ones leave no gaps. */
  uint64_t *const block = malloc(2 * cuts * sizeof(*block));
  if (block == NULL) {
    pems_cgm_found(m, MPI_ERR_NO_MEM,
                   "%s: rank %d has no memory: use more ranks", function,
                   m->rank);
  }
  /* Where there is a fault the others must learn of it. */
  if (m->fault == MPI_SUCCESS) {
    pems_cgm_sort_here(m, list, record);
  }
  if (m->size == 1) {
    error = m->fault == MPI_SUCCESS ? MPI_SUCCESS : pems_cgm_fail_here(m);
  } else {
    error = distribute(m, list, record, exact,
                       &(struct pems_cgm_cuts){block, block + cuts});
  }
  free(block);
  return error;
}

int pems_cgm_sort(struct pems_cgm *machine, struct pems_cgm_list *list,
                  const struct pems_record *record) {
  return sort(machine, list, record, true, "pems_cgm_sort");
}

int pems_cgm_psrs(struct pems_cgm *machine, struct pems_cgm_list *list,
                  const struct pems_record *record) {
  return sort(machine, list, record, false, "pems_cgm_psrs");
}
