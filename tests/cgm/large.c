/* A list of more elements than an int counts, if there is time and memory: the
   argument is its length in MiB.

   compare.sh: -D_GNU_SOURCE */
#include "cgm.h"

static uint64_t total;

/* Of byte i; cheap, and of no period that a mistake may have. */
static unsigned char value(uint64_t i) {
  return (unsigned char)((i >> 31) * 37 + (i >> 12) + i % 251);
}

/* The list must be bytes [first, first + n). */
static void check_bytes(const struct pems_cgm_list *list, uint64_t first,
                        uint64_t n, const char *what) {
  const unsigned char *const at = list->at;
  if (list->n != n) {
    fail("%s: %llu bytes", what, (unsigned long long)list->n);
  }
  for (uint64_t i = 0; i < list->n; i++) {
    if (at[i] != value(first + i)) {
      fail("%s: byte %llu", what, (unsigned long long)i);
      break;
    }
  }
  mix_number(list->n);
  report(what);
}

int main(int argc, char **argv) {
  open_machine(&argc, &argv);
  total = (argc > 1 ? strtoull(argv[1], NULL, 10) : 1) * 1048576 + 12345;
  struct pems_cgm_list list = {NULL, 0, 1};
  uint64_t *const send = calloc((size_t)size, sizeof(*send));
  if (rank == 0) {
    list = (struct pems_cgm_list){malloc(total), total, 1};
    for (uint64_t i = 0; i < total; i++) {
      ((unsigned char *)list.at)[i] = value(i);
    }
    send[size - 1] = total;
  }
  DO(pems_cgm_h_relation(machine, &list, send, NULL));
  check_bytes(&list, 0, rank == size - 1 ? total : 0, "to one rank");
  DO(pems_cgm_array_balancing(machine, &list));
  const uint64_t first = pems_cgm_first(machine, total, rank);
  check_bytes(&list, first, pems_cgm_first(machine, total, rank + 1) - first,
              "balancing");
  DO(pems_cgm_all_to_one_gather(machine, 0, &list));
  check_bytes(&list, 0, rank == 0 ? total : 0, "gathering");
  DO(pems_cgm_one_to_all_bcast(machine, 0, &list));
  check_bytes(&list, 0, total, "broadcast");
  pems_cgm_list_free(&list);
  free(send);
  return close_machine();
}
