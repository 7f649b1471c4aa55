#include "em/pqueue/memory_arrays.h"

#include <errno.h>
#include <stdbool.h>

#include "os/native.h"

static bool before(const void *arg, int i, int j) {
  const struct memory_arrays *const a = arg;
  return a->kernel->compare(a->record, a->array[i].at, a->array[j].at) < 0;
}

int memory_arrays_init(struct memory_arrays *a,
                       const struct pems_record *record,
                       const struct kernel *kernel, struct arena *arena,
                       int most) {
  *a = (struct memory_arrays){
      .record = record, .kernel = kernel, .arena = arena, .most = most};
  tournament_init(&a->heads, before, a);
  a->array = native_zalloc((size_t)most, sizeof(*a->array));
  return a->array && tournament_reserve(&a->heads, most) == 0 ? 0 : ENOMEM;
}

void memory_arrays_destroy(struct memory_arrays *a) {
  tournament_destroy(&a->heads);
  native_free(a->array);
  a->array = NULL;
}

void memory_arrays_add(struct memory_arrays *a, char *at, size_t n, char *range,
                       size_t bytes, int level) {
  int slot = 0;
  while (a->array[slot].n) {
    slot++;
  }
  a->array[slot] = (struct memory_array){at, n, range, bytes, level};
  a->end = slot < a->end ? a->end : slot + 1;
  a->count++;
  a->added++;
  a->records += n;
  tournament_play(&a->heads, slot, 1);
}

void memory_arrays_gone(struct memory_arrays *a, int slot, size_t n) {
  struct memory_array *const x = &a->array[slot];
  x->at += n * a->record->size;
  x->n -= n;
  a->records -= n;
  tournament_play(&a->heads, slot, x->n > 0);
  if (x->n > 0) {
    return;
  }
  arena_put(a->arena, x->range, x->bytes);
  a->count--;
  while (a->end > 0 && a->array[a->end - 1].n == 0) {
    a->end--;
  }
}

int memory_arrays_first(const struct memory_arrays *a) {
  return tournament_winner(&a->heads);
}

int memory_arrays_of_level(const struct memory_arrays *a, int level) {
  int n = 0;
  for (int i = 0; i < a->end; i++) {
    n += a->array[i].n && a->array[i].level == level;
  }
  return n;
}
