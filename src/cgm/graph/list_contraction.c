#include "cgm/graph/list_contraction.h"

#include <stdbool.h>
#include <string.h>

static const char a_cycle[] =
    "pems_cgm_list_rank: a cycle: end each list with PEMS_CGM_NONE";

/* What a rank sends to another about a node. */
struct letter {
  uint64_t node;
  struct cgm_hop hop;
};

struct work {
  struct cgm_chain *chain;
  struct cgm_hop *hops;
  uint64_t n, first; /* of the rank's nodes */
  uint64_t live;
  struct pems_cgm_list gains; /* uint64_t: links that each of the 2 * sets sets
                                 would cut, then two more */
  uint64_t sets;              /* a power of two that is not below v */
  uint64_t round;
  int faulty; /* a cycle where there may be none */
};

int pems_cgm_chain_owner(const struct cgm_chain *chain, uint64_t node) {
  return pems_cgm_owner(chain->machine, chain->nodes / chain->unit,
                        node / chain->unit);
}

uint64_t pems_cgm_chain_first(const struct cgm_chain *chain) {
  return pems_cgm_first_own(chain->machine, chain->nodes / chain->unit) *
         chain->unit;
}

static bool is_live(const struct cgm_hop *hop) {
  return hop->state <= CGM_HOP_LED;
}

static struct cgm_hop *local(const struct work *w, uint64_t node) {
  return node - w->first < w->n ? &w->hops[node - w->first] : NULL;
}

/* --- what nodes learn from others --- */

/* x, whose next is y, goes on where y goes; y may be done. */
static void absorb(const struct work *w, struct cgm_hop *x,
                   const struct cgm_hop *y) {
  const bool done = y->state == CGM_HOP_DONE;
  if (!w->chain->cycles) {
    x->distance += y->distance;
  } else if (done) {
    x->length = y->length;
  } else if (y->key < x->key) {
    x->key = y->key;
    x->leader = x->steps + y->leader;
  }
  x->next = y->next;
  x->steps += y->steps;
  if (done) {
    x->steps = w->chain->cycles ? x->steps % x->length : x->steps;
    x->state = CGM_HOP_DONE;
  }
}

/* The way from x, which was taken out, began as that from `before`, which is
   done now. */
static void unfold(const struct work *w, struct cgm_hop *x,
                   const struct cgm_hop *before) {
  x->next = before->next;
  if (w->chain->cycles) {
    x->length = before->length;
    x->steps = (before->steps + x->length - x->steps % x->length) % x->length;
  } else {
    x->steps = before->steps - x->steps;
    x->distance = before->distance - x->distance;
  }
  x->state = CGM_HOP_DONE;
}

/* x has been around its cycle. */
static void close_cycle(struct work *w, struct cgm_hop *x) {
  w->faulty |= !w->chain->cycles;
  if (w->chain->cycles) {
    x->next = x->key;
    x->length = x->steps;
    x->steps = x->leader;
  }
  x->state = CGM_HOP_DONE;
}

/* --- within the rank --- */

/* Follows links from node i, and folds all into it, until they leave the rank
   or come back. */
static void walk(struct work *w, uint64_t i) {
  struct cgm_hop *const x = &w->hops[i];
  struct cgm_hop *y;
  while (x->state == CGM_HOP_LIVE && x->next != w->first + i &&
         (y = local(w, x->next))) {
    struct cgm_hop folded = *x;
    absorb(w, x, y);
    if (is_live(y)) {
      folded.next = w->first + i;
      folded.round = w->round;
      folded.state = CGM_HOP_FOLDED;
      *y = folded;
    }
  }
  if (x->state == CGM_HOP_LIVE && x->next == w->first + i) {
    close_cycle(w, x);
  }
}

static void fold(struct work *w) {
  for (uint64_t i = 0; i < w->n; i++) {
    struct cgm_hop *const y =
        is_live(&w->hops[i]) ? local(w, w->hops[i].next) : NULL;
    if (y && is_live(y)) {
      y->state = CGM_HOP_LED;
    }
  }
  for (uint64_t i = 0; i < w->n; i++) {
    if (w->hops[i].state == CGM_HOP_LIVE) {
      walk(w, i);
    }
  }
  w->live = 0;
  for (uint64_t i = 0; i < w->n; i++) {
    if (w->hops[i].state == CGM_HOP_LED) { /* all of its cycle is here */
      w->hops[i].state = CGM_HOP_LIVE;
      walk(w, i);
    }
    w->live += is_live(&w->hops[i]);
  }
}

static void unfold_round(struct work *w) {
  for (uint64_t i = 0; i < w->n; i++) {
    struct cgm_hop *const x = &w->hops[i];
    if (x->state == CGM_HOP_FOLDED && x->round == w->round) {
      unfold(w, x, &w->hops[x->next - w->first]);
    }
  }
}

/* --- the set of ranks that take nodes out --- */

/* gain[2k + t]: how many links from this rank the set (k, t) would cut. */
static void count_gains(struct work *w) {
  const uint64_t rank = (uint64_t)w->chain->machine->rank;
  uint64_t *const gain = w->gains.at, *const to = gain + w->sets;
  memset(gain, 0, 2 * w->sets * sizeof(*gain));
  for (uint64_t i = 0; i < w->n; i++) {
    if (is_live(&w->hops[i])) {
      to[pems_cgm_chain_owner(w->chain, w->hops[i].next)]++;
    }
  }
  pems_cgm_transform(to, w->sets);
  /* What is written at 2k and 2k + 1 has been read before: k < sets. */
  for (uint64_t k = 0; k < w->sets; k++) {
    const int odd = __builtin_parityll(k & rank);
    const uint64_t cut = (odd ? w->live + to[k] : w->live - to[k]) / 2;
    gain[2 * k] = odd ? cut : 0;
    gain[2 * k + 1] = odd ? 0 : cut;
  }
}

/* *live: links of all ranks. *set: which ranks take nodes out. */
static int choose(struct work *w, uint64_t *live, uint64_t *set) {
  const uint64_t n = 2 * w->sets;
  uint64_t *const gain = w->gains.at;
  count_gains(w);
  gain[n] = w->live;
  gain[n + 1] = (uint64_t)w->faulty;
  *set = 0;
  const int error =
      pems_cgm_sum_faults(w->chain->machine, gain, n + 2, a_cycle);
  for (uint64_t i = 1; i < n; i++) {
    *set = gain[i] > gain[*set] ? i : *set;
  }
  *live = gain[n];
  return error;
}

/* --- between ranks --- */

static int owner_of_node(void *arg, const void *node) {
  const struct work *const w = arg;
  return pems_cgm_chain_owner(w->chain, *(const uint64_t *)node);
}

static void tell(void *arg, const void *node, void *reply) {
  memcpy(reply, local(arg, *(const uint64_t *)node), sizeof(struct cgm_hop));
}

static void tell_and_remove(void *arg, const void *node, void *reply) {
  const struct work *const w = arg;
  struct cgm_hop *const hop = local(w, *(const uint64_t *)node);
  memcpy(reply, hop, sizeof(*hop));
  if (is_live(hop)) {
    hop->state = CGM_HOP_REMOVED;
    hop->round = w->round;
  }
}

typedef bool wants_fn(const struct work *w, const struct cgm_hop *hop,
                      uint64_t set);

static bool takes_out(const struct work *w, const struct cgm_hop *hop,
                      uint64_t set) {
  return is_live(hop) &&
         pems_cgm_in_set(set, (uint64_t)w->chain->machine->rank) &&
         !pems_cgm_in_set(set,
                          (uint64_t)pems_cgm_chain_owner(w->chain, hop->next));
}

static bool was_removed(const struct work *w, const struct cgm_hop *hop,
                        uint64_t set) {
  (void)set;
  return hop->state == CGM_HOP_REMOVED && hop->round == w->round;
}

static bool any_live(const struct work *w, const struct cgm_hop *hop,
                     uint64_t set) {
  (void)w, (void)set;
  return is_live(hop);
}

static int list_requests(struct work *w, wants_fn *wants, uint64_t set,
                         struct pems_cgm_list *nexts) {
  uint64_t n = 0;
  for (uint64_t i = 0; i < w->n; i++) {
    n += (uint64_t)wants(w, &w->hops[i], set);
  }
  const int error = pems_cgm_new(w->chain->machine, nexts, n, sizeof(uint64_t));
  uint64_t *next = nexts->at;
  for (uint64_t i = 0; !error && i < w->n; i++) {
    if (wants(w, &w->hops[i], set)) {
      *next++ = w->hops[i].next;
    }
  }
  return error;
}

/* All hops that want so are told about their next ones, and absorb these, or
   only those that are done. */
static int ask(struct work *w, wants_fn *wants, uint64_t set,
               void (*answer)(void *, const void *, void *), bool only_done) {
  const struct pems_cgm_routing routing = {owner_of_node, answer, w};
  struct pems_cgm_list nexts, replies = {.size = sizeof(struct cgm_hop)};
  int error = list_requests(w, wants, set, &nexts);
  if (!error) {
    error = pems_cgm_route(w->chain->machine, &nexts, &routing, &replies);
  }
  pems_cgm_list_free(&nexts);
  const struct cgm_hop *reply = replies.at;
  for (uint64_t i = 0; !error && i < w->n; i++) {
    if (wants(w, &w->hops[i], set)) {
      if (!only_done || reply->state == CGM_HOP_DONE) {
        absorb(w, &w->hops[i], reply);
      }
      reply++;
    }
  }
  pems_cgm_list_free(&replies);
  return error;
}

/* --- what is left, on one rank --- */

/* All letters, by node, become done. */
static int solve(struct work *w, struct pems_cgm_list *list) {
  struct letter *const letters = list->at;
  struct pems_cgm_list hops;
  const int error =
      pems_cgm_new(w->chain->machine, &hops, list->n, sizeof(struct cgm_hop));
  if (error) {
    return error;
  }
  struct work all = {.chain = w->chain, .hops = hops.at, .n = list->n};
  for (uint64_t i = 0; i < list->n; i++) {
    all.hops[i] = letters[i].hop;
    if (is_live(&all.hops[i])) {
      all.hops[i].next = pems_cgm_find_node(list, letters[i].hop.next);
    }
  }
  fold(&all);
  unfold_round(&all);
  w->faulty |= all.faulty;
  for (uint64_t i = 0; i < list->n; i++) {
    letters[i].hop = all.hops[i];
  }
  pems_cgm_list_free(&hops);
  return MPI_SUCCESS;
}

static int write_letters(struct work *w, struct pems_cgm_list *letters) {
  uint64_t n = 0;
  const int error =
      pems_cgm_new(w->chain->machine, letters, w->live, sizeof(struct letter));
  struct letter *const at = letters->at;
  for (uint64_t i = 0; !error && i < w->n; i++) {
    if (is_live(&w->hops[i])) {
      w->hops[i].state = CGM_HOP_LIVE;
      at[n++] = (struct letter){w->first + i, w->hops[i]};
    }
  }
  return error;
}

/* Where the end of a list is done already, its last live node need not wait. */
static int learn_ends(struct work *w, struct pems_cgm_list *letters) {
  struct letter *const at = letters->at;
  const int error = ask(w, any_live, 0, tell, true);
  for (uint64_t i = 0; !error && i < letters->n; i++) {
    at[i].hop = *local(w, at[i].node);
  }
  return error;
}

static int owner_of_letter(void *arg, const void *letter) {
  const struct work *const w = arg;
  return pems_cgm_chain_owner(w->chain, ((const struct letter *)letter)->node);
}

static int order_rest(struct work *w) {
  struct pems_cgm *const machine = w->chain->machine;
  struct pems_cgm_list letters;
  int error = write_letters(w, &letters);
  if (!error && !w->chain->cycles) {
    error = learn_ends(w, &letters);
  }
  if (!error) {
    error = pems_cgm_all_to_one_gather(machine, 0, &letters);
  }
  if (!error) {
    error = solve(w, &letters);
  }
  if (!error) {
    error = pems_cgm_send(machine, &letters, owner_of_letter, w);
  }
  const struct letter *const at = letters.at;
  for (uint64_t i = 0; !error && i < letters.n; i++) {
    *local(w, at[i].node) = at[i].hop;
  }
  pems_cgm_list_free(&letters);
  return error;
}

/* --- all of it --- */

static int contract(struct work *w) {
  const uint64_t v = (uint64_t)w->chain->machine->size;
  const uint64_t few = w->chain->nodes / v + v;
  uint64_t live, set;
  fold(w);
  int error = choose(w, &live, &set);
  while (!error && live > few) {
    w->round++;
    error = ask(w, takes_out, set, tell_and_remove, false);
    if (!error) {
      fold(w);
      error = choose(w, &live, &set);
    }
  }
  if (!error && live > 0) {
    error = order_rest(w);
  }
  return error;
}

static int expand(struct work *w) {
  int error = MPI_SUCCESS;
  unfold_round(w);
  while (!error && w->round > 0) {
    error = ask(w, was_removed, 0, tell, false);
    w->round--;
    unfold_round(w);
  }
  return error;
}

static int agree(struct work *w) {
  uint64_t faulty = (uint64_t)w->faulty;
  return pems_cgm_sum_faults(w->chain->machine, &faulty, 1, a_cycle);
}

int pems_cgm_chain_contract(struct cgm_chain *chain) {
  struct work w = {.chain = chain,
                   .hops = chain->hops.at,
                   .n = chain->hops.n,
                   .first = pems_cgm_chain_first(chain),
                   .sets = 1};
  while (w.sets < (uint64_t)chain->machine->size) {
    w.sets *= 2;
  }
  int error =
      pems_cgm_new(chain->machine, &w.gains, 2 * w.sets + 2, sizeof(uint64_t));
  if (!error) {
    error = contract(&w);
  }
  pems_cgm_list_free(&w.gains);
  if (!error && !chain->cycles) {
    error = agree(&w);
  }
  if (!error) {
    error = expand(&w);
  }
  if (error) {
    pems_cgm_list_free(&chain->hops);
  }
  return error;
}
