/* Requests go to whom they concern, replies come back. */
#include <string.h>

#include "cgm/exchange.h"
#include "cgm/fault.h"
#include "cgm/memory.h"
#include "cgm/relation.h"

/* Sends the requests; `got` becomes those of others, by rank. */
static int send_requests(struct pems_cgm *m,
                         const struct pems_cgm_list *requests,
                         const struct pems_cgm_routing *routing,
                         struct pems_cgm_list *got) {
  const int grouped = pems_cgm_count_owners(m, requests, routing->owner,
                                            routing->arg, "pems_cgm_route");
  /* In the order of owners they are sent from where they are. */
  struct pems_cgm_list copy = {.size = requests->size};
  if (!grouped && pems_cgm_allocate(m, &copy, requests->n) == 0) {
    pems_cgm_group(m, requests, routing->owner, routing->arg, copy.at);
  }
  int error = pems_cgm_exchange_counts(m, requests->n);
  if (error == MPI_SUCCESS) {
    const int last = m->size - 1;
    got->size = requests->size;
    if (pems_cgm_allocate(
            m, got, m->plan.receive_at[last] + m->plan.receive[last]) != 0) {
      error = pems_cgm_fail_here(m);
    } else {
      error = pems_cgm_exchange(m, requests->size,
                                copy.at ? copy.at : requests->at, got->at);
    }
  }
  pems_cgm_list_free(&copy);
  return error;
}

static int answer(struct pems_cgm *m, struct pems_cgm_list *got,
                  const struct pems_cgm_routing *routing,
                  struct pems_cgm_list *answers) {
  if (pems_cgm_allocate_zero(m, answers, got->n) != 0) {
    return pems_cgm_fail_here(m);
  }
  for (uint64_t i = 0; i < got->n; i++) {
    routing->answer(routing->arg, pems_cgm_at(got, i), pems_cgm_at(answers, i));
  }
  return MPI_SUCCESS;
}

/* The plan of the way back. */
static void turn_round(struct pems_cgm_plan *plan) {
  uint64_t *const send = plan->send, *const send_at = plan->send_at;
  plan->send = plan->receive;
  plan->send_at = plan->receive_at;
  plan->receive = send;
  plan->receive_at = send_at;
}

static int send_replies(struct pems_cgm *m, const struct pems_cgm_list *answers,
                        uint64_t n, struct pems_cgm_list *replies) {
  if (pems_cgm_allocate(m, replies, n) != 0) {
    return pems_cgm_fail_here(m);
  }
  return pems_cgm_exchange(m, answers->size, answers->at, replies->at);
}

/* Of each owner the replies are in the order of the requests for it. */
static int in_order_of_requests(struct pems_cgm *m,
                                const struct pems_cgm_list *requests,
                                const struct pems_cgm_routing *routing,
                                struct pems_cgm_list *replies) {
  struct pems_cgm_list ordered = {.size = replies->size};
  if (pems_cgm_allocate(m, &ordered, replies->n) != 0) {
    return pems_cgm_fail_here(m);
  }
  for (uint64_t i = 0; i < requests->n; i++) {
    const int r = routing->owner(routing->arg, pems_cgm_at(requests, i));
    memcpy(pems_cgm_at(&ordered, i),
           pems_cgm_at(replies, m->plan.receive_at[r]++), ordered.size);
  }
  pems_cgm_list_free(replies);
  *replies = ordered;
  return MPI_SUCCESS;
}

int pems_cgm_route(struct pems_cgm *machine,
                   const struct pems_cgm_list *requests,
                   const struct pems_cgm_routing *routing,
                   struct pems_cgm_list *replies) {
  struct pems_cgm_list got = {0}, answers = {.size = replies->size};
  pems_cgm_list_free(replies);
  int error = pems_cgm_check(machine, requests, "pems_cgm_route");
  if (error == MPI_SUCCESS) {
    error = pems_cgm_check(machine, replies, "pems_cgm_route");
  }
  if (error != MPI_SUCCESS) {
    return error;
  }
  error = send_requests(machine, requests, routing, &got);
  if (error == MPI_SUCCESS) {
    error = answer(machine, &got, routing, &answers);
  }
  pems_cgm_list_free(&got);
  if (error == MPI_SUCCESS) {
    turn_round(&machine->plan);
    error = send_replies(machine, &answers, requests->n, replies);
    pems_cgm_list_free(&answers);
    if (error == MPI_SUCCESS) {
      error = in_order_of_requests(machine, requests, routing, replies);
    }
  }
  return error;
}
