/* Broadcasts, gathering, relations, balancing, routing, groups.

   compare.sh: -D_GNU_SOURCE */
#include "cgm.h"

static const size_t bytes_of[] = {1, 3, 8, 24, 100};
enum { WIDTHS = 5 };

/* n elements of `bytes`, each of its own contents. */
static char *make(uint64_t n, size_t bytes, uint64_t seed) {
  char *const all = malloc(n * bytes + 1);
  stream(all, n * bytes, hash(seed) | 1);
  return all;
}

/* For all lengths, spreads and some sizes of elements. */
static void for_all(void (*test)(enum spread, uint64_t, size_t, const char *),
                    const char *what) {
  for (int i = 0; length(i) >= 0; i++) {
    for (int s = 0; s < SPREADS; s++) {
      const uint64_t n = (uint64_t)length(i);
      const size_t bytes = bytes_of[(i + s) % WIDTHS];
      char *const all = make(n, bytes, (uint64_t)(i * 100 + s));
      if (!left_out()) {
        test((enum spread)s, n, bytes, all);
      }
      free(all);
    }
  }
  report(what);
}

static void one_to_all(enum spread s, uint64_t n, size_t bytes,
                       const char *all) {
  const int source = (int)(n % (uint64_t)size);
  const uint64_t first = first_of(s, n, source);
  struct pems_cgm_list list = take(s, all, n, bytes);
  DO(pems_cgm_one_to_all_bcast(machine, source, &list));
  check_is(&list, all + first * bytes, first_of(s, n, source + 1) - first,
           "one to all");
  pems_cgm_list_free(&list);
}

static void all_to_one(enum spread s, uint64_t n, size_t bytes,
                       const char *all) {
  const int target = (int)(n % (uint64_t)size);
  struct pems_cgm_list list = take(s, all, n, bytes);
  DO(pems_cgm_all_to_one_gather(machine, target, &list));
  check_is(&list, all, rank == target ? n : 0, "all to one");
  pems_cgm_list_free(&list);
}

static void all_to_all(enum spread s, uint64_t n, size_t bytes,
                       const char *all) {
  struct pems_cgm_list list = take(s, all, n, bytes);
  DO(pems_cgm_all_to_all_bcast(machine, &list));
  check_is(&list, all, n, "all to all");
  pems_cgm_list_free(&list);
}

static void balancing(enum spread s, uint64_t n, size_t bytes,
                      const char *all) {
  struct pems_cgm_list list = take(s, all, n, bytes);
  DO(pems_cgm_array_balancing(machine, &list));
  check_share(&list, all, n, "balancing");
}

/* --- relations --- */

/* Elements of a share of n that `from` sends to `to`: rank by rank what a hash
   says, and the last rank gets the rest. */
static uint64_t sent(uint64_t n, int from, int to) {
  uint64_t left = n;
  for (int r = 0;; r++) {
    const uint64_t wish = hash(n * 1000 + (uint64_t)(from * 64 + r)) %
                          (2 * n / (uint64_t)size + 2);
    const uint64_t now = r == size - 1 || wish > left ? left : wish;
    if (r == to) {
      return now;
    }
    left -= now;
  }
}

static void h_relation(enum spread s, uint64_t n, size_t bytes,
                       const char *all) {
  struct pems_cgm_list list = take(s, all, n, bytes);
  uint64_t *const send = calloc((size_t)size, sizeof(*send));
  uint64_t *const received = calloc((size_t)size, sizeof(*received));
  char *const expected = malloc(n * bytes + 1);
  char *to = expected;
  for (int r = 0; r < size; r++) {
    send[r] = sent(list.n, rank, r);
  }
  DO(pems_cgm_h_relation(machine, &list, send, n % 2 ? received : NULL));
  for (int r = 0; r < size; r++) {
    uint64_t at = first_of(s, n, r);
    const uint64_t share = first_of(s, n, r + 1) - at,
                   mine = sent(share, r, rank);
    for (int i = 0; i < rank; i++) {
      at += sent(share, r, i);
    }
    memcpy(to, all + at * bytes, mine * bytes);
    to += mine * bytes;
    if (n % 2 && received[r] != mine) {
      fail("h-relation: %d from %d", (int)received[r], r);
    }
  }
  check_is(&list, expected, (uint64_t)(to - expected) / bytes, "h-relation");
  pems_cgm_list_free(&list);
  free(send);
  free(received);
  free(expected);
}

/* Where an element goes: `arg` tells its size. */
static int owner_of(void *arg, const void *element) {
  uint64_t sum = 0;
  for (size_t i = 0; i < *(size_t *)arg; i++) {
    sum = hash(sum + ((const unsigned char *)element)[i]);
  }
  return (int)(sum % (uint64_t)size);
}

static int to_rank_1(void *arg, const void *element) {
  (void)arg;
  (void)element;
  return size > 1;
}

static void send_to_owner(enum spread s, uint64_t n, size_t bytes,
                          const char *all) {
  struct pems_cgm_list list = take(s, all, n, bytes);
  char *const expected = malloc(n * bytes + 1);
  uint64_t count = 0;
  for (uint64_t i = 0; i < n; i++) {
    if (owner_of(&bytes, all + i * bytes) == rank) {
      memcpy(expected + count++ * bytes, all + i * bytes, bytes);
    }
  }
  DO(pems_cgm_send(machine, &list, owner_of, &bytes));
  check_is(&list, expected, count, "send");
  DO(pems_cgm_send(machine, &list, to_rank_1, NULL));
  if (list.n != (rank == (size > 1) ? n : 0)) {
    fail("send: to one rank: %d", (int)list.n);
  }
  pems_cgm_list_free(&list);
  free(expected);
}

/* --- requests --- */

/* A request is an index into an array of hashes that is spread evenly. */
struct lookup {
  uint64_t n, first;
  uint64_t *mine; /* this rank's part */
  uint64_t asked;
};

struct answer {
  uint64_t index, value;
  uint32_t untouched;
};

static int owner_of_index(void *arg, const void *request) {
  const struct lookup *const l = arg;
  return pems_cgm_owner(machine, l->n, *(const uint64_t *)request);
}

static void look_up(void *arg, const void *request, void *reply) {
  struct lookup *const l = arg;
  struct answer *const a = reply;
  a->index = *(const uint64_t *)request;
  a->value = l->mine[a->index - l->first];
  l->asked++;
}

static void route(enum spread s, uint64_t n, size_t bytes, const char *all) {
  (void)all;
  if (n == 0) {
    return;
  }
  struct lookup l = {n, pems_cgm_first(machine, n, rank), NULL, 0};
  const uint64_t mine = pems_cgm_first(machine, n, rank + 1) - l.first;
  l.mine = malloc((mine + 1) * sizeof(*l.mine));
  for (uint64_t i = 0; i < mine; i++) {
    l.mine[i] = hash(l.first + i);
  }
  uint64_t *const indices = malloc(n * sizeof(*indices));
  for (uint64_t i = 0; i < n; i++) { /* in order, mixed up, all the same */
    indices[i] = bytes == 1 ? i : bytes == 3 ? n / 2 : hash(i) % n;
  }
  struct pems_cgm_list requests = take(s, indices, n, sizeof(*indices));
  struct pems_cgm_list replies = {.size = sizeof(struct answer)};
  const uint64_t *const asked = indices + first_of(s, n, rank);
  DO(pems_cgm_route(machine, &requests,
                    &(struct pems_cgm_routing){owner_of_index, look_up, &l},
                    &replies));
  check_is(&requests, asked, requests.n, "requests");
  mix_number(l.asked);
  if (replies.n != requests.n) {
    fail("route: %d replies", (int)replies.n);
  }
  for (uint64_t i = 0; i < replies.n; i++) {
    const struct answer *const a = (const struct answer *)replies.at + i;
    if (a->index != asked[i] || a->value != hash(asked[i]) || a->untouched) {
      fail("route: wrong reply %d", (int)i);
    }
  }
  pems_cgm_list_free(&requests);
  pems_cgm_list_free(&replies);
  free(l.mine);
  free(indices);
}

/* --- groups --- */

/* Sums of ranks in the group by rank. */
static void expect_members(int modulus, int remainder, const char *what) {
  const uint64_t me = (uint64_t)rank;
  struct pems_cgm_list list = {malloc(sizeof(me)), 1, sizeof(me)};
  memcpy(list.at, &me, sizeof(me));
  DO(pems_cgm_all_to_all_bcast(machine, &list));
  uint64_t i = 0;
  for (int r = 0; r < size; r++) {
    if (r % modulus != remainder) {
      continue;
    }
    if (i >= list.n || ((uint64_t *)list.at)[i] != (uint64_t)r) {
      fail("%s: member %d is missing", what, r);
    }
    if (r == rank && pems_cgm_rank(machine) != (int)i) {
      fail("%s: rank %d", what, pems_cgm_rank(machine));
    }
    i++;
  }
  if (i != list.n || pems_cgm_size(machine) != (int)i) {
    fail("%s: %d members", what, pems_cgm_size(machine));
  }
  pems_cgm_list_free(&list);
}

static void groups(void) {
  MPI_Comm whole = pems_cgm_comm(machine);
  DO(pems_cgm_partition(machine, rank % 3));
  expect_members(3, rank % 3, "groups of 3");
  DO(pems_cgm_partition(machine, rank / 3 % 2));
  expect_members(6, rank % 6, "groups of 6");
  DO(pems_cgm_unpartition(machine));
  expect_members(3, rank % 3, "back to 3");
  DO(pems_cgm_unpartition(machine));
  expect_members(1, 0, "whole");
  if (pems_cgm_comm(machine) != whole || pems_cgm_size(machine) != size) {
    fail("not the first communicator");
  }
  report("groups");
}

int main(int argc, char **argv) {
  open_machine(&argc, &argv);
  for_all(one_to_all, "one to all");
  for_all(all_to_one, "all to one");
  for_all(all_to_all, "all to all");
  for_all(balancing, "balancing");
  for_all(h_relation, "h-relation");
  for_all(send_to_owner, "send");
  for_all(route, "route");
  groups();
  struct pems_cgm_counts counts;
  pems_cgm_get_counts(machine, &counts);
  mix_number(counts.supersteps);
  mix_number(counts.bytes);
  report("counts");
  DO(pems_cgm_partition(machine, 0)); /* close undoes it */
  return close_machine();
}
