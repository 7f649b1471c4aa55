#include "cgm/graph/list_contraction.h"

#include <stdbool.h>
#include <string.h>

#include "cgm/fault.h"

/* Two predecessors are found as follows. A rank that is the target of more
   links than it has nodes has such a node, by the pigeonhole principle; hence
   no rank is sent more than it has nodes, even if there are errors. */

static const char two[] = "pems_cgm_list_rank: a node with two predecessors: "
                          "let each node be next of one at most";

static int owner_of_target(void *arg, const void *target) {
  return pems_cgm_chain_owner(arg, *(const uint64_t *)target);
}

/* The list of all targets; *fault: one does not exist. */
static int list_targets(const struct cgm_chain *chain,
                        const struct pems_cgm_list *links,
                        struct pems_cgm_list *targets, int *fault) {
  const struct pems_cgm_link *const link = links->at;
  uint64_t n = 0;
  const int error =
      pems_cgm_new(chain->machine, targets, links->n, sizeof(uint64_t));
  uint64_t *const at = targets->at;
  for (uint64_t i = 0; !error && i < links->n; i++) {
    if (link[i].next < chain->nodes) {
      at[n++] = link[i].next;
    } else {
      *fault |= link[i].next != PEMS_CGM_NONE;
    }
  }
  targets->n = n;
  return error;
}

/* No rank may receive more targets than it has nodes. */
static int check_counts(const struct cgm_chain *chain,
                        const struct pems_cgm_list *targets, int fault) {
  struct pems_cgm *const machine = chain->machine;
  const size_t v = (size_t)machine->size;
  const uint64_t *const target = targets->at;
  struct pems_cgm_list list;
  int error = pems_cgm_new(machine, &list, v + 1, sizeof(uint64_t));
  if (error) {
    return error;
  }
  uint64_t *const counts = list.at;
  for (uint64_t i = 0; i < targets->n; i++) {
    counts[pems_cgm_chain_owner(chain, target[i])]++;
  }
  counts[v] = (uint64_t)fault;
  error = pems_cgm_sum_faults(machine, counts, v + 1,
                              "pems_cgm_list_rank: links that are not in even "
                              "shares, or lead to no node: give next below n, "
                              "or PEMS_CGM_NONE");
  fault = 0;
  for (int r = 0; r < machine->size; r++) {
    fault |= counts[r] > pems_cgm_first(machine, chain->nodes, r + 1) -
                             pems_cgm_first(machine, chain->nodes, r);
  }
  pems_cgm_list_free(&list);
  return !error && fault ? pems_cgm_fail(machine, MPI_ERR_ARG, "%s", two)
                         : error;
}

static int check_targets(const struct cgm_chain *chain,
                         const struct pems_cgm_list *targets) {
  const uint64_t first = pems_cgm_chain_first(chain);
  const uint64_t *const target = targets->at;
  uint64_t faults = 0;
  struct pems_cgm_list led;
  int error = pems_cgm_new(chain->machine, &led,
                           pems_cgm_share(chain->machine, chain->nodes), 1);
  if (error) {
    return error;
  }
  unsigned char *const seen = led.at;
  for (uint64_t i = 0; i < targets->n; i++) {
    faults += seen[target[i] - first];
    seen[target[i] - first] = 1;
  }
  pems_cgm_list_free(&led);
  return pems_cgm_sum_faults(chain->machine, &faults, 1, two);
}

static int check(const struct cgm_chain *chain,
                 const struct pems_cgm_list *links) {
  struct pems_cgm_list targets;
  int fault = links->n != pems_cgm_share(chain->machine, chain->nodes);
  int error = list_targets(chain, links, &targets, &fault);
  if (!error) {
    error = check_counts(chain, &targets, fault);
  }
  if (!error) {
    error =
        pems_cgm_send(chain->machine, &targets, owner_of_target, (void *)chain);
  }
  if (!error) {
    error = check_targets(chain, &targets);
  }
  pems_cgm_list_free(&targets);
  return error;
}

static int make_hops(struct cgm_chain *chain,
                     const struct pems_cgm_list *links) {
  const struct pems_cgm_link *const link = links->at;
  const uint64_t first = pems_cgm_chain_first(chain);
  const int error = pems_cgm_new(chain->machine, &chain->hops, links->n,
                                 sizeof(struct cgm_hop));
  struct cgm_hop *const hops = chain->hops.at;
  for (uint64_t i = 0; !error && i < links->n; i++) {
    const bool end = link[i].next == PEMS_CGM_NONE;
    hops[i].next = end ? first + i : link[i].next;
    hops[i].steps = !end;
    hops[i].distance = end ? 0 : link[i].weight;
    hops[i].state = end ? CGM_HOP_DONE : CGM_HOP_LIVE;
  }
  return error;
}

/* Hops become places, where they are. */
static int make_places(struct cgm_chain *chain, struct pems_cgm_list *places) {
  const struct cgm_hop *const hops = chain->hops.at;
  struct pems_cgm_place *const place = chain->hops.at;
  for (uint64_t i = 0; i < chain->hops.n; i++) {
    const struct pems_cgm_place it = {hops[i].next, hops[i].steps,
                                      hops[i].distance};
    memcpy(&place[i], &it, sizeof(it));
  }
  *places = chain->hops;
  return pems_cgm_resize(chain->machine, places, places->n, sizeof(*place));
}

int pems_cgm_list_rank(struct pems_cgm *machine, struct pems_cgm_list *links,
                       struct pems_cgm_list *places) {
  struct cgm_chain chain = {.machine = machine, .nodes = links->n, .unit = 1};
  *places = (struct pems_cgm_list){.size = sizeof(struct pems_cgm_place)};
  int error = pems_cgm_sum(machine, &chain.nodes, 1);
  if (!error) {
    error = check(&chain, links);
  }
  if (!error) {
    error = make_hops(&chain, links);
  }
  pems_cgm_list_free(links);
  if (!error) {
    error = pems_cgm_chain_contract(&chain);
  }
  return error ? error : make_places(&chain, places);
}
