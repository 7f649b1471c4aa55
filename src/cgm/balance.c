/* Even shares without a change of order: only what leaves a rank moves. */
#include <stdbool.h>
#include <string.h>

#include "cgm/exchange.h"
#include "cgm/fault.h"
#include "cgm/memory.h"

/* Positions [first, end) in the whole array. */
struct range {
  uint64_t first, end;
};

static uint64_t overlap(struct range a, struct range b) {
  const uint64_t first = a.first > b.first ? a.first : b.first;
  const uint64_t end = a.end < b.end ? a.end : b.end;
  return end > first ? end - first : 0;
}

static struct range share_of(const struct pems_cgm *m, int r) {
  return (struct range){pems_cgm_first(m, m->plan.total, r),
                        pems_cgm_first(m, m->plan.total, r + 1)};
}

/* What this rank has, stays, comes from lower ranks and from all. */
struct shift {
  struct range had, wanted;
  uint64_t kept, from_below, received;
};

static bool is_even(const struct pems_cgm *m) {
  for (int r = 0; r < m->size; r++) {
    const struct range share = share_of(m, r);
    if (m->plan.receive[r] != share.end - share.first) {
      return false;
    }
  }
  return true;
}

/* From all lengths, in plan.receive, the plan. */
static struct shift make_plan(struct pems_cgm *m) {
  const struct pems_cgm_plan *const plan = &m->plan;
  struct shift s = {.wanted = share_of(m, m->rank)};
  struct range had = {0, 0};
  for (int r = 0; r < m->size; r++) {
    had = (struct range){had.end, had.end + plan->receive[r]};
    if (r == m->rank) {
      s.had = had;
    }
    plan->receive[r] = r == m->rank ? 0 : overlap(had, s.wanted);
    plan->receive_at[r] = s.received;
    s.received += plan->receive[r];
    if (r < m->rank) {
      s.from_below = s.received;
    }
  }
  s.kept = overlap(s.had, s.wanted);
  for (int r = 0; r < m->size; r++) {
    const struct range share = share_of(m, r);
    plan->send[r] = r == m->rank ? 0 : overlap(s.had, share);
    plan->send_at[r] = plan->send[r] > 0 && share.first > s.had.first
                           ? share.first - s.had.first
                           : 0;
  }
  return s;
}

/* What stays goes to its place, and what came is copied around it. */
static int put_together(struct pems_cgm *m, struct pems_cgm_list *list,
                        const struct shift *s, struct pems_cgm_list *received) {
  const uint64_t n = s->wanted.end - s->wanted.first;
  const uint64_t kept_at = s->wanted.first > s->had.first && s->kept > 0
                               ? s->wanted.first - s->had.first
                               : 0;
  if (s->kept == 0) {
    pems_cgm_list_free(list);
    *list = *received;
    return MPI_SUCCESS;
  }
  if (n > list->n && pems_cgm_reserve(m, list, n) != 0) {
    pems_cgm_list_free(received);
    return pems_cgm_fail_here(m);
  }
  memmove(pems_cgm_at(list, s->from_below), pems_cgm_at(list, kept_at),
          s->kept * list->size);
  if (received->n > 0) {
    memcpy(list->at, received->at, s->from_below * list->size);
    memcpy(pems_cgm_at(list, s->from_below + s->kept),
           pems_cgm_at(received, s->from_below),
           (received->n - s->from_below) * list->size);
    pems_cgm_list_free(received);
  }
  pems_cgm_shorten(list, n);
  return MPI_SUCCESS;
}

int pems_cgm_array_balancing(struct pems_cgm *machine,
                             struct pems_cgm_list *list) {
  struct pems_cgm_list received = {.size = list->size};
  int error = pems_cgm_check(machine, list, "pems_cgm_array_balancing");
  if (error == MPI_SUCCESS) {
    error = pems_cgm_exchange_lengths(machine, list->n);
  }
  if (error != MPI_SUCCESS || is_even(machine)) {
    return error;
  }
  const struct shift shift = make_plan(machine);
  if (pems_cgm_allocate(machine, &received, shift.received) != 0) {
    return pems_cgm_fail_here(machine);
  }
  error = pems_cgm_exchange(machine, list->size, list->at, received.at);
  if (error != MPI_SUCCESS) {
    pems_cgm_list_free(&received);
    return error;
  }
  return put_together(machine, list, &shift, &received);
}
