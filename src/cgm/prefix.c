/* Prefix sums: the sum of each rank's elements goes to all, then each goes over
   its elements once more. One superstep. */
#include <stdlib.h>
#include <string.h>

#include "cgm/exchange.h"
#include "cgm/fault.h"
#include "cgm/memory.h"

/* An operation, and a sum to which elements are added at the right end. */
struct sum {
  pems_cgm_op *op;
  void *arg;
  size_t size;
  char *value, *other; /* room for one element each */
  int empty;           /* nothing was added yet: `value` is of no meaning */
};

static void add(struct sum *s, const void *element) {
  char *const last = s->value;
  if (s->empty) {
    memcpy(s->value, element, s->size);
    s->empty = 0;
    return;
  }
  memcpy(s->other, element, s->size);
  s->op(s->arg, last, s->other);
  s->value = s->other;
  s->other = last;
}

/* Sums of all ranks: a word (length and fault) and an element from each. */
struct message {
  size_t bytes;
  char *all;
};

/* Tells this rank's sum. */
static int exchange_sums(struct pems_cgm *m, const struct pems_cgm_list *list,
                         const struct sum *s, const struct message *g) {
  char *const mine = g->all + (size_t)m->rank * g->bytes;
  const uint64_t word = pems_cgm_tell(m, list->n);
  MPI_Datatype type;
  memcpy(mine, &word, sizeof(word));
  memcpy(mine + sizeof(word), s->value, s->size);
  int error = pems_cgm_message(m, g->bytes, &type);
  if (error != MPI_SUCCESS) {
    return error;
  }
  m->counts.supersteps++;
  m->counts.bytes += ((size_t)m->size - 1) * g->bytes;
  error = MPI_Allgather(MPI_IN_PLACE, 0, type, g->all, 1, type, m->comm);
  MPI_Type_free(&type);
  for (int r = 0; r < m->size && error == MPI_SUCCESS; r++) {
    uint64_t told;
    memcpy(&told, g->all + (size_t)r * g->bytes, sizeof(told));
    if (pems_cgm_told_fault(told)) {
      return pems_cgm_fail_all(m, r, pems_cgm_told_fault(told));
    }
  }
  return error;
}

/* The sum of all lower ranks' elements. */
static void add_lower(const struct pems_cgm *m, struct sum *s,
                      const struct message *g) {
  s->empty = 1;
  for (int r = 0; r < m->rank; r++) {
    const char *const at = g->all + (size_t)r * g->bytes;
    uint64_t told;
    memcpy(&told, at, sizeof(told));
    if (pems_cgm_told_number(told) > 0) {
      add(s, at + sizeof(told));
    }
  }
}

static void inclusive(struct pems_cgm_list *list, const struct sum *s) {
  const char *before = s->empty ? NULL : s->value;
  for (uint64_t i = 0; i < list->n; i++) {
    char *const element = pems_cgm_at(list, i);
    if (before != NULL) {
      s->op(s->arg, before, element);
    }
    before = element;
  }
}

static void exclusive(struct pems_cgm_list *list, struct sum *s,
                      const void *identity, char *element) {
  for (uint64_t i = 0; i < list->n; i++) {
    char *const at = pems_cgm_at(list, i);
    memcpy(element, at, s->size);
    memcpy(at, s->empty ? identity : s->value, s->size);
    add(s, element);
  }
}

/* identity NULL: inclusive. */
static int prefix(struct pems_cgm *m, struct pems_cgm_list *list,
                  pems_cgm_op *op, void *arg, const void *identity,
                  const char *function) {
  int error = pems_cgm_check(m, list, function);
  if (error != MPI_SUCCESS) {
    return error;
  }
  /* A word is beside elements of any size: bytes, not words, are copied. */
  struct message g = {.bytes = sizeof(uint64_t) + list->size};
  struct pems_cgm_list room = {.size = 1};
  const size_t messages = ((size_t)m->size * g.bytes + 15) / 16 * 16;
  const size_t element = (list->size + 15) / 16 * 16;
  if (pems_cgm_allocate_zero(m, &room, messages + 3 * element) != 0) {
    return pems_cgm_fail_here(m);
  }
  g.all = room.at;
  char *const spare = g.all + messages;
  struct sum s = {op, arg, list->size, spare, spare + element, 1};
  for (uint64_t i = 0; i < list->n && list->at != NULL; i++) {
    add(&s, pems_cgm_at(list, i));
  }
  error = exchange_sums(m, list, &s, &g);
  if (error == MPI_SUCCESS) {
    add_lower(m, &s, &g);
    if (identity == NULL) {
      inclusive(list, &s);
    } else {
      exclusive(list, &s, identity, spare + 2 * element);
    }
  }
  pems_cgm_list_free(&room);
  return error;
}

int pems_cgm_prefix(struct pems_cgm *machine, struct pems_cgm_list *list,
                    pems_cgm_op *op, void *arg) {
  return prefix(machine, list, op, arg, NULL, "pems_cgm_prefix");
}

int pems_cgm_prefix_exclusive(struct pems_cgm *machine,
                              struct pems_cgm_list *list, pems_cgm_op *op,
                              void *arg, const void *identity) {
  return prefix(machine, list, op, arg, identity, "pems_cgm_prefix_exclusive");
}
