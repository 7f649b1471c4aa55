/* List ranking: lists in good and bad orders, and faults in them. */
#include "graphs.h"

#include <stdbool.h>

enum order { ONWARD, BACKWARD, SHUFFLED, HOPPING, ORDERS };
static const char *const order_name[] = {"onward", "backward", "shuffled",
                                         "hopping"};

/* The nodes in the order in which lists go through them: on to the next, back,
   anyhow, or from each rank to the next one. */
static uint64_t *make_order(enum order order, uint64_t n) {
  uint64_t *const p = permutation(n, order == SHUFFLED ? n + 1 : 0);
  uint64_t k = 0;
  for (uint64_t i = 0; order == BACKWARD && i < n; i++) {
    p[i] = n - 1 - i;
  }
  for (uint64_t i = 0; order == HOPPING && k < n; i++) {
    for (int r = 0; r < size; r++) {
      if (pems_cgm_first(machine, n, r) + i <
          pems_cgm_first(machine, n, r + 1)) {
        p[k++] = pems_cgm_first(machine, n, r) + i;
      }
    }
  }
  return p;
}

/* Lists of `longest` nodes at most; what becomes of them. */
static void make(const uint64_t *order, uint64_t n, uint64_t longest,
                 struct pems_cgm_link *links, struct pems_cgm_place *places) {
  uint64_t left = 0;
  for (uint64_t i = n; i-- > 0; left--) {
    const uint64_t node = order[i];
    if (left == 0) {
      left = 1 + hash(i) % longest;
      links[node] = (struct pems_cgm_link){NONE, 0};
      places[node] = (struct pems_cgm_place){node, 0, 0};
    } else {
      const uint64_t next = order[i + 1];
      const int64_t weight = (int64_t)(hash(i) % 1000) - 500;
      links[node] = (struct pems_cgm_link){next, weight};
      places[node] = places[next];
      places[node].steps++;
      places[node].distance += weight;
    }
  }
}

static void rank_lists(enum order how, uint64_t n, uint64_t longest) {
  struct pems_cgm_link *const links = malloc((n + 1) * sizeof(*links));
  struct pems_cgm_place *const places = malloc((n + 1) * sizeof(*places));
  uint64_t *const order = make_order(how, n);
  make(order, n, longest, links, places);
  struct pems_cgm_list list = take(EVEN, links, n, sizeof(*links)), ranked;
  const uint64_t before = supersteps();
  DO(pems_cgm_list_rank(machine, &list, &ranked));
  check_supersteps(before, 18, 16, "list ranking");
  if (list.n || list.at) {
    fail("links are left");
  }
  check_share(&ranked, places, n, order_name[how]);
  free(order);
  free(links);
  free(places);
}

/* --- faults --- */

enum fault { CYCLE, LOOP, TWO, BEYOND, ALL_TO_ONE, UNEVEN, FAULTS };

static void spoil(enum fault fault, uint64_t n, struct pems_cgm_link *links) {
  const uint64_t middle = n / 2;
  switch (fault) {
  case CYCLE:
    links[n - 1].next = 0;
    break;
  case LOOP:
    links[n - 1].next = n - 1;
    break;
  case TWO:
    links[n - 1].next = middle;
    break;
  case BEYOND:
    links[middle].next = n;
    break;
  default:
    for (uint64_t i = 0; fault == ALL_TO_ONE && i < n; i++) {
      links[i].next = middle;
    }
  }
}

static void refuse(enum fault fault, uint64_t n) {
  struct pems_cgm_link *const links = calloc(n, sizeof(*links));
  for (uint64_t i = 0; i < n; i++) {
    links[i].next = i + 1 < n ? i + 1 : NONE;
  }
  spoil(fault, n, links);
  struct pems_cgm_list ranked,
      list = take(fault == UNEVEN ? FIRST : EVEN, links, n, sizeof(*links));
  int error = pems_cgm_list_rank(machine, &list, &ranked);
  const bool legal = fault == UNEVEN && size == 1;
  if (error != MPI_SUCCESS) {
    MPI_Error_class(error, &error);
  }
  if (error != (legal ? MPI_SUCCESS : MPI_ERR_ARG)) {
    fail("fault %d of %d nodes: error %d", (int)fault, (int)n, error);
  }
  if (!legal && (ranked.at || ranked.n)) {
    fail("fault %d: places", (int)fault);
  }
  pems_cgm_list_free(&ranked);
}

int main(int argc, char **argv) {
  open_machine(&argc, &argv);
  for (int i = 0; length(i) >= 0; i++) {
    const uint64_t n = (uint64_t)length(i);
    const uint64_t longest[] = {1, 2, 5, n / 3 + 1, 4 * n + 1};
    for (int how = 0; how < ORDERS; how++) {
      for (int l = 0; l < 5; l++) {
        if (!left_out()) {
          rank_lists((enum order)how, n, longest[l]);
        }
      }
    }
  }
  report("list ranking");
  MPI_Comm_set_errhandler(pems_cgm_comm(machine), MPI_ERRORS_RETURN);
  for (int fault = 0; fault < FAULTS; fault++) {
    const uint64_t lengths[] = {3, (uint64_t)size + 2, 1000};
    for (int i = 0; i < 3; i++) {
      if (!left_out()) {
        refuse((enum fault)fault, lengths[i]);
      }
    }
  }
  return close_machine();
}
