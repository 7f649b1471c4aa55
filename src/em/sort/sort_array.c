/* Sorting an array in memory, in the calling thread. */
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/failure.h"
#include "em/kernel/kernel.h"
#include "em/kernel/record.h"
#include "pems/sort.h"

static void swap(char *a, char *b, size_t size) {
  char piece[256];
  for (size_t n; size > 0; a += n, b += n, size -= n) {
    n = size < sizeof(piece) ? size : sizeof(piece);
    memcpy(piece, a, n);
    memcpy(a, b, n);
    memcpy(b, piece, n);
  }
}

static void turn(char *records, size_t n, size_t size) {
  for (size_t i = 0; i < n / 2; i++) {
    swap(records + i * size, records + (n - 1 - i) * size, size);
  }
}

/* Equal records beside each other, in the order before `turn`. */
static void turn_equal(const struct record_order *o, char *records, size_t n) {
  for (size_t begin = 0, end; begin < n; begin = end) {
    const char *const first = records + begin * o->size;
    for (end = begin + 1; end < n; end++) {
      if (record_order_compare(o, first, records + end * o->size) != 0) {
        break;
      }
    }
    turn(records + begin * o->size, end - begin, o->size);
  }
}

/* True if the records were in order, or the other way round, and are now. */
static bool in_order(const struct pems_record *r, char *records, size_t n) {
  struct record_order o;
  record_order(r, &o);
  if (record_in_order(&o, records, n, false)) {
    return true;
  }
  if (!record_in_order(&o, records, n, true)) {
    return false;
  }
  turn(records, n, o.size);
  if (r->stable) {
    turn_equal(&o, records, n);
  }
  return true;
}

size_t pems_sort_array_work(size_t n, const struct pems_record *record) {
  const struct kernel *const kernel = kernel_find(record, NULL);
  return kernel ? kernel->array_work(record, n) : SIZE_MAX;
}

int pems_sort_array(void *records, size_t n, const struct pems_record *record,
                    void *work, struct pems_error *error) {
  const struct kernel *const kernel = kernel_find(record, NULL);
  if (!kernel) {
    return pems_record_check(record, error);
  }
  if (kernel->array_work(record, n) == SIZE_MAX) {
    return failure(error, EINVAL,
                   "array: %zu records, too many to be compared by a function: "
                   "give a key, or sort parts",
                   n);
  }
  /* Kernels without an emit look for themselves. */
  if (n > 1 && !(kernel->emit && in_order(record, records, n))) {
    kernel->array(record, records, n, work);
  }
  return 0;
}
