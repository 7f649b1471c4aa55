#include "cgm/graph/graph.h"

#include <string.h>

#include "cgm/fault.h"
#include "cgm/memory.h"

int pems_cgm_new(struct pems_cgm *machine, struct pems_cgm_list *list,
                 uint64_t n, size_t size) {
  *list = (struct pems_cgm_list){.size = size};
  return pems_cgm_allocate_zero(machine, list, n) ? pems_cgm_fail_here(machine)
                                                  : MPI_SUCCESS;
}

int pems_cgm_resize(struct pems_cgm *machine, struct pems_cgm_list *list,
                    uint64_t n, size_t size) {
  struct pems_cgm_list other = {.at = list->at, .size = size};
  if (n == 0) {
    pems_cgm_list_free(&other);
  } else if (pems_cgm_reserve(machine, &other, n)) {
    return pems_cgm_fail_here(machine);
  }
  other.n = n;
  *list = other;
  return MPI_SUCCESS;
}

uint64_t pems_cgm_first_own(const struct pems_cgm *machine, uint64_t total) {
  return pems_cgm_first(machine, total, machine->rank);
}

uint64_t pems_cgm_find_node(const struct pems_cgm_list *list, uint64_t node) {
  const char *const at = list->at;
  uint64_t from = 0, there;
  for (uint64_t n = list->n; n > 1; n -= n / 2) {
    memcpy(&there, at + (from + n / 2) * list->size, sizeof(there));
    from += there <= node ? n / 2 : 0;
  }
  return from;
}

int pems_cgm_sum(struct pems_cgm *machine, uint64_t *values, size_t n) {
  machine->counts.supersteps++;
  machine->counts.bytes += n * sizeof(*values);
  return MPI_Allreduce(MPI_IN_PLACE, values, (int)n, MPI_UINT64_T, MPI_SUM,
                       machine->comm);
}

int pems_cgm_sum_faults(struct pems_cgm *machine, uint64_t *values, size_t n,
                        const char *text) {
  const int error = pems_cgm_sum(machine, values, n);
  return !error && values[n - 1] > 0
             ? pems_cgm_fail(machine, MPI_ERR_ARG, "%s", text)
             : error;
}

int pems_cgm_gather_all(struct pems_cgm *machine, const void *mine, void *all,
                        size_t bytes) {
  machine->counts.supersteps++;
  machine->counts.bytes += bytes;
  return MPI_Allgather(mine, (int)bytes, MPI_BYTE, all, (int)bytes, MPI_BYTE,
                       machine->comm);
}

static uint64_t number(const struct pems_cgm_list *list, uint64_t i,
                       size_t offset) {
  uint64_t value;
  memcpy(&value, (const char *)list->at + i * list->size + offset,
         sizeof(value));
  return value;
}

int pems_cgm_borders(struct pems_cgm *machine, const struct pems_cgm_list *list,
                     size_t key, size_t value, struct cgm_border *all) {
  struct cgm_border mine = {.n = list->n};
  if (mine.n > 0) {
    mine.first = number(list, 0, key);
    mine.value = number(list, 0, value);
    mine.last = number(list, mine.n - 1, key);
    for (uint64_t i = mine.n; i-- > 0 && number(list, i, key) == mine.last;) {
      mine.head = number(list, i, value);
    }
  }
  return pems_cgm_gather_all(machine, &mine, all, sizeof(mine));
}

int pems_cgm_border_neighbour(const struct pems_cgm *machine,
                              const struct cgm_border *all, int rank,
                              int step) {
  for (rank += step; rank >= 0 && rank < machine->size; rank += step) {
    if (all[rank].n > 0) {
      return rank;
    }
  }
  return -1;
}

uint64_t pems_cgm_border_head(const struct pems_cgm *machine,
                              const struct cgm_border *all, int rank) {
  const uint64_t key = all[rank].last;
  uint64_t head = all[rank].head;
  while (all[rank].first == key &&
         (rank = pems_cgm_border_neighbour(machine, all, rank, -1)) >= 0 &&
         all[rank].last == key) {
    head = all[rank].head;
  }
  return head;
}

int pems_cgm_in_set(uint64_t set, uint64_t colour) {
  return __builtin_parityll(set >> 1 & colour) != (int)(set & 1);
}

void pems_cgm_transform(uint64_t *x, uint64_t n) {
  for (uint64_t half = 1; half < n; half *= 2) {
    for (uint64_t i = 0; i < n; i++) {
      if (!(i & half)) {
        const uint64_t a = x[i], b = x[i + half];
        x[i] = a + b;
        x[i + half] = a - b;
      }
    }
  }
}
