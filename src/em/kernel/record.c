/* Records: checks, and orders. */
#define _GNU_SOURCE
#include "em/kernel/record.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

static const struct {
  enum record_kind kind;
  unsigned char bytes; /* 0: key_size */
  bool sign;
} keys[] = {
    [PEMS_KEY_U8] = {RECORD_1, 1, false},
    [PEMS_KEY_U16] = {RECORD_2, 2, false},
    [PEMS_KEY_U32] = {RECORD_4, 4, false},
    [PEMS_KEY_U64] = {RECORD_8, 8, false},
    [PEMS_KEY_U128] = {RECORD_16, 16, false},
    [PEMS_KEY_I8] = {RECORD_1, 1, true},
    [PEMS_KEY_I16] = {RECORD_2, 2, true},
    [PEMS_KEY_I32] = {RECORD_4, 4, true},
    [PEMS_KEY_I64] = {RECORD_8, 8, true},
    [PEMS_KEY_F32] = {RECORD_FLOAT_4, 4, false},
    [PEMS_KEY_F64] = {RECORD_FLOAT_8, 8, false},
    [PEMS_KEY_BYTES] = {RECORD_LONG, 0, false},
    [PEMS_KEY_REAL32] = {RECORD_FLOAT_4, 4, false},
    [PEMS_KEY_REAL64] = {RECORD_FLOAT_8, 8, false},
};

enum { KEYS = sizeof(keys) / sizeof(*keys) };

static __attribute__((format(printf, 2, 3))) int
wrong(struct pems_error *error, const char *format, ...) {
  if (error) {
    va_list args;
    va_start(args, format);
    vsnprintf(error->text, sizeof(error->text), format, args);
    va_end(args);
    error->code = EINVAL;
  }
  return EINVAL;
}

size_t pems_record_key_bytes(const struct pems_record *record) {
  if (record->compare || (unsigned)record->key >= KEYS) {
    return 0;
  }
  return record->key == PEMS_KEY_BYTES ? record->key_size
                                       : keys[record->key].bytes;
}

/* Loops of a program that was compiled with an older header have fewer fields,
   but never fewer than these. */
static int check_kernel(const struct pems_record *record,
                        struct pems_error *error) {
  const struct pems_kernel *const k = record->kernel;
  if (!k) {
    return 0;
  }
  if (k->size < sizeof(*k) || !k->sort_work || !k->sort || !k->merge) {
    return wrong(error, "wrong record: kernel: size, sort_work, sort or merge "
                        "is not set: set all of them");
  }
  if (k->record != record->size) {
    return wrong(error,
                 "wrong record: a kernel for records of %zu bytes, not %zu: "
                 "compile it for these",
                 k->record, record->size);
  }
  if (!k->heap_grow != !k->heap_pop || !k->heap_grow != !k->heap_least) {
    return wrong(error, "wrong record: kernel: some functions of heaps are "
                        "missing: set all three, or none");
  }
  return 0;
}

int pems_record_check(const struct pems_record *record,
                      struct pems_error *error) {
  if (record->size == 0) {
    return wrong(error, "wrong record: 0 bytes: give its size");
  }
  if (record->reserved) {
    return wrong(error, "wrong record: reserved: not 0: set the record to 0 "
                        "before its fields are set");
  }
  if (record->compare) {
    return check_kernel(record, error);
  }
  if (record->size > PEMS_RECORD_MOST) {
    return wrong(error,
                 "wrong record: %zu bytes: give at most %d, or a comparison "
                 "function",
                 record->size, PEMS_RECORD_MOST);
  }
  if (record->key == PEMS_KEY_NONE) {
    return wrong(error, "wrong record: no key: give one, or a comparison "
                        "function");
  }
  if ((unsigned)record->key >= KEYS) {
    return wrong(error,
                 "wrong record: type %d of key: give one of enum pems_key",
                 (int)record->key);
  }
  const size_t bytes = pems_record_key_bytes(record);
  if (bytes == 0) {
    return wrong(error, "wrong record: a key of 0 bytes: set key_size");
  }
  if (record->key_offset > record->size ||
      bytes > record->size - record->key_offset) {
    return wrong(error,
                 "wrong record: a key of %zu bytes at %zu in a record of %zu: "
                 "it must lie inside",
                 bytes, record->key_offset, record->size);
  }
  return 0;
}

/* All ones, of a number of that many bytes. */
static uint64_t ones(size_t bytes) {
  return bytes >= 8 ? UINT64_MAX : (UINT64_C(1) << (8 * bytes)) - 1;
}

static bool is_real(enum pems_key key) {
  return key == PEMS_KEY_REAL32 || key == PEMS_KEY_REAL64;
}

void record_order(const struct pems_record *r, struct record_order *order) {
  *order = (struct record_order){
      .kind = RECORD_COMPARE,
      .size = r->size,
      .compare = r->compare,
      .context = r->context,
      .kernel = r->compare ? r->kernel : NULL,
  };
  if (r->compare) {
    return;
  }
  order->kind = keys[r->key].kind;
  order->offset = r->key_offset;
  order->bytes = pems_record_key_bytes(r);
  if (order->kind == RECORD_LONG && order->bytes <= 8) {
    order->kind = RECORD_SHORT;
  }
  if (is_real(r->key)) {
    order->nans = record_nans((int)(8 * order->bytes));
    order->ties = r->stable;
  }
  if (keys[r->key].sign) {
    order->flip = UINT64_C(1) << (8 * order->bytes - 1);
  }
  if (r->descending) {
    order->flip ^= ones(order->bytes);
    order->rest = UINT64_MAX;
  }
}

/* NaNs lie behind infinity, then those whose sign is set, the lowest bits last.
 */
void record_first_equal(const struct pems_record *r, void *record) {
  if (r->compare || !is_real(r->key)) {
    return;
  }
  const size_t bytes = pems_record_key_bytes(r);
  char *const key = (char *)record + r->key_offset;
  const uint64_t sign = UINT64_C(1) << (8 * bytes - 1);
  const uint64_t infinity = ones(bytes) - record_nans(8 * (int)bytes) - sign;
  uint64_t x = record_load(key, bytes);
  if ((x & ~sign) == 0) {
    x = r->descending ? 0 : sign;
  } else if ((x & ~sign) > infinity) {
    x = infinity + 1 + (r->descending ? sign : 0);
  }
  memcpy(key, &x, bytes);
}

bool record_prefix_decides(const struct pems_record *r) {
  return !r->compare && pems_record_key_bytes(r) <= 8;
}

static uint64_t number(const struct record_order *o, const char *record) {
  RECORD_DISPATCH(o, record_number, record);
  return 0;
}

uint64_t record_prefix(const struct pems_record *r, const void *record) {
  struct record_order o;
  record_order(r, &o);
  return number(&o, record);
}

RECORD_INLINE int compare(const struct record_order *o, enum record_kind kind,
                          const char *a, const char *b) {
  const uint64_t x = record_number(o, kind, a), y = record_number(o, kind, b);
  return x != y ? (x > y) - (x < y) : record_compare_rest(o, kind, a, b);
}

int record_order_compare(const struct record_order *o, const char *a,
                         const char *b) {
  RECORD_DISPATCH(o, compare, a, b);
  return 0;
}

int record_compare(const struct pems_record *r, const void *a, const void *b) {
  struct record_order o;
  record_order(r, &o);
  return record_order_compare(&o, a, b);
}

RECORD_INLINE size_t ordered(const struct record_order *o,
                             enum record_kind kind, const char *records,
                             size_t n, bool reverse) {
  for (size_t i = 1; i < n; i++) {
    const char *const a = records + (i - 1) * o->size, *const b = a + o->size;
    if (reverse ? record_before(o, kind, a, b) : record_before(o, kind, b, a)) {
      return i;
    }
  }
  return n;
}

size_t record_ordered(const struct record_order *o, const void *records,
                      size_t n, bool reverse) {
  RECORD_DISPATCH(o, ordered, (const char *)records, n, reverse);
  return n;
}

bool record_in_order(const struct record_order *o, const void *records,
                     size_t n, bool reverse) {
  return record_ordered(o, records, n, reverse) == n;
}

RECORD_INLINE size_t rank(const struct record_order *o, enum record_kind kind,
                          const char *records, size_t n, const char *key,
                          int equal) {
  size_t low = 0, high = n;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    const char *const at = records + middle * o->size;
    if (equal ? !record_before(o, kind, key, at)
              : record_before(o, kind, at, key)) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

static size_t rank_any(const struct record_order *o, const char *records,
                       size_t n, const char *key, int equal) {
  RECORD_DISPATCH(o, rank, records, n, key, equal);
  return 0;
}

size_t record_rank(const struct pems_record *r, const void *records, size_t n,
                   const void *key, int equal) {
  struct record_order o;
  record_order(r, &o);
  return rank_any(&o, records, n, key, equal);
}
