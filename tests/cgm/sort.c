/* Sorting: any record, from any shares, into even ones (sort) or by pivots
   (psrs), against a stable sort of the whole array.

   compare.sh: -D_GNU_SOURCE */
#include "cgm.h"

#include <stdbool.h>

/* Records, with the number of the element behind the key. */
enum kind { U8, U16, U32, U64, I32, F64, U128, BYTES, COMPARED, WIDE, KINDS };

static int by_last_byte(const void *a, const void *b, void *context) {
  const unsigned char *const x = a, *const y = b;
  const size_t last = *(const size_t *)context;
  return (x[last] > y[last]) - (x[last] < y[last]);
}

static size_t last_byte = 10;

static struct pems_record records[] = {
    [U8] = {.size = 1, .key = PEMS_KEY_U8},
    [U16] = {.size = 12, .key = PEMS_KEY_U16, .key_offset = 3},
    [U32] = {.size = 4, .key = PEMS_KEY_U32},
    [U64] = {.size = 8, .key = PEMS_KEY_U64},
    [I32] = {.size = 16, .key = PEMS_KEY_I32, .key_offset = 4},
    [F64] = {.size = 16, .key = PEMS_KEY_F64},
    [U128] = {.size = 24, .key = PEMS_KEY_U128, .key_offset = 8},
    [BYTES] = {.size = 25,
               .key = PEMS_KEY_BYTES,
               .key_offset = 2,
               .key_size = 13},
    [COMPARED] = {.size = 11, .compare = by_last_byte, .context = &last_byte},
    [WIDE] = {.size = 5000, .compare = by_last_byte, .context = &last_byte},
};

/* How keys are: all bytes random, few different ones, all equal, in order. */
enum keys { MANY, FEW, EQUAL, SORTED, REVERSED, KEYS };

static size_t key_bytes(const struct pems_record *r) {
  switch (r->key) {
  case PEMS_KEY_U8:
    return 1;
  case PEMS_KEY_U16:
    return 2;
  case PEMS_KEY_U32:
  case PEMS_KEY_I32:
    return 4;
  case PEMS_KEY_U128:
    return 16;
  default:
    return 8;
  }
}

static uint64_t key_of(enum keys keys, uint64_t i, uint64_t n, uint64_t seed) {
  switch (keys) {
  case FEW:
    return hash(i + seed) % 3;
  case SORTED:
    return i;
  case REVERSED:
    return n - i;
  default:
    return 7;
  }
}

/* All bytes are random, but for keys. */
static char *make(uint64_t n, const struct pems_record *r, enum keys keys,
                  uint64_t seed) {
  const size_t size_of_key = r->compare                 ? 1
                             : r->key == PEMS_KEY_BYTES ? r->key_size
                                                        : key_bytes(r);
  const size_t offset = r->compare ? last_byte : r->key_offset;
  char *const all = malloc(n * r->size + 1);
  stream(all, n * r->size, hash(seed) | 1);
  for (uint64_t i = 0; i < n && keys != MANY; i++) {
    const uint64_t x = key_of(keys, i, n, seed);
    for (size_t b = 0; b < size_of_key; b++) { /* little-endian, or as bytes */
      all[i * r->size + offset + b] =
          r->key != PEMS_KEY_BYTES ? (char)(b < 8 ? x >> 8 * b : 0)
          : size_of_key - b <= 8   ? (char)(x >> 8 * (size_of_key - 1 - b))
                                   : 0;
    }
  }
  return all;
}

/* --- the reference --- */

static int order_numbers(const struct pems_record *r, const char *a,
                         const char *b) {
  const size_t bytes = key_bytes(r);
  unsigned __int128 x = 0, y = 0;
  memcpy(&x, a, bytes);
  memcpy(&y, b, bytes);
  return (x > y) - (x < y);
}

static int order(const struct pems_record *r, const char *a, const char *b) {
  int64_t x, y;
  int32_t i, j;
  if (r->compare) {
    return r->compare(a, b, r->context);
  }
  a += r->key_offset, b += r->key_offset;
  switch (r->key) {
  case PEMS_KEY_BYTES:
    return memcmp(a, b, r->key_size);
  case PEMS_KEY_I32:
    memcpy(&i, a, sizeof(i)), memcpy(&j, b, sizeof(j));
    return (i > j) - (i < j);
  case PEMS_KEY_F64: /* the total order: negative numbers backwards */
    memcpy(&x, a, sizeof(x)), memcpy(&y, b, sizeof(y));
    x = x < 0 ? x ^ INT64_MAX : x;
    y = y < 0 ? y ^ INT64_MAX : y;
    return (x > y) - (x < y);
  default:
    return order_numbers(r, a, b);
  }
}

/* Pointers into one array, whose addresses decide between equal records. */
static int order_places(const void *a, const void *b, void *record) {
  const struct pems_record *const r = record;
  const char *const x = *(char *const *)a, *const y = *(char *const *)b;
  const int c = order(r, x, y);
  return c ? (r->descending && !r->compare ? -c : c) : (x > y) - (x < y);
}

static int order_bytes(const void *a, const void *b, void *size) {
  return memcmp(a, b, *(size_t *)size);
}

/* The stable order of all. */
static char *in_order(const char *all, uint64_t n,
                      const struct pems_record *record) {
  struct pems_record r = *record;
  const char **const at = malloc((n + 1) * sizeof(*at));
  char *const result = malloc(n * r.size + 1);
  for (uint64_t i = 0; i < n; i++) {
    at[i] = all + i * r.size;
  }
  qsort_r(at, n, sizeof(*at), order_places, &r);
  for (uint64_t i = 0; i < n; i++) {
    memcpy(result + i * r.size, at[i], r.size);
  }
  free(at);
  return result;
}

/* --- what was sorted --- */

/* One case. */
struct sorting {
  enum spread spread;
  enum keys keys;
  uint64_t n;
  struct pems_record record;
  const char *name;
};

static void wrong(const struct sorting *c, const char *what) {
  fail("%s: %s: record %d, n %d, %s, keys %d%s%s", c->name, what,
       (int)c->record.key, (int)c->n, spread_name[c->spread], (int)c->keys,
       c->record.stable ? ", stable" : "",
       c->record.descending ? ", descending" : "");
}

/* Gathers everything: in order, and a permutation of `expected`, or where the
   sort is stable the same. */
static void check_all(const struct sorting *c, struct pems_cgm_list *list,
                      char *expected) {
  struct pems_record r = c->record;
  DO(pems_cgm_all_to_all_bcast(machine, list));
  if (list->n != c->n) {
    wrong(c, "number");
    return;
  }
  for (uint64_t i = 0; i < c->n && list->at; i++) {
    if (order(&r, (char *)list->at + i * r.size, expected + i * r.size) != 0) {
      wrong(c, "order");
      return;
    }
  }
  if (!r.stable && c->n > 0) {
    qsort_r(list->at, c->n, r.size, order_bytes, &r.size);
    qsort_r(expected, c->n, r.size, order_bytes, &r.size);
  }
  if (c->n > 0 && memcmp(list->at, expected, c->n * r.size) != 0) {
    wrong(c, "elements");
  }
  mix(expected, c->n * r.size);
}

/* psrs promises shares of 2n/v + v. */
static void check_shares(const struct sorting *c, uint64_t n, bool even) {
  const uint64_t v = (uint64_t)size;
  const uint64_t share = pems_cgm_first(machine, c->n, rank + 1) -
                         pems_cgm_first(machine, c->n, rank);
  if (even && n != share) {
    wrong(c, "uneven share");
  }
  if (!even && c->spread == EVEN && n > 2 * c->n / v + v) {
    wrong(c, "share too large");
  }
}

static void sort_one(const struct sorting *c, const char *all, bool even) {
  struct pems_cgm_list list = take(c->spread, all, c->n, c->record.size);
  char *const expected = in_order(all, c->n, &c->record);
  struct pems_cgm_counts before, after;
  pems_cgm_get_counts(machine, &before);
  DO(even ? pems_cgm_sort(machine, &list, &c->record)
          : pems_cgm_psrs(machine, &list, &c->record));
  pems_cgm_get_counts(machine, &after);
  if (after.supersteps - before.supersteps != (size > 1 ? 4 : 0)) {
    wrong(c, "supersteps");
  }
  check_shares(c, list.n, even);
  check_all(c, &list, expected);
  pems_cgm_list_free(&list);
  free(expected);
}

static void sort_here(const struct sorting *c, const char *all) {
  struct pems_cgm_list list = take(c->spread, all, c->n, c->record.size);
  struct sorting alone = *c;
  char *const expected = in_order(
      all + first_of(c->spread, c->n, rank) * list.size, list.n, &c->record);
  alone.n = list.n;
  DO(pems_cgm_local_sort(machine, &list, &c->record));
  for (uint64_t i = 0; i < list.n; i++) {
    if (order(&c->record, (char *)list.at + i * list.size,
              expected + i * list.size) != 0) {
      wrong(&alone, "order");
    }
  }
  if (c->record.stable) {
    check_is(&list, expected, list.n, "local sort");
  }
  pems_cgm_list_free(&list);
  free(expected);
}

static void sort_ways(struct sorting *c, uint64_t seed) {
  char *const all = make(c->n, &c->record, c->keys, seed);
  c->name = "sort";
  sort_one(c, all, true);
  c->name = "psrs";
  sort_one(c, all, false);
  c->name = "local sort";
  sort_here(c, all);
  free(all);
}

/* Equal keys at borders of shares, where kernels are not stable: no pace leaves
   these out. */
static void sort_equal(void) {
  static const enum kind kinds[] = {I32, U128, BYTES, COMPARED};
  for (int i = 0; i < 4; i++) {
    struct sorting c = {.n = 10007, .record = records[kinds[i]], .keys = EQUAL};
    sort_ways(&c, 1);
    c.keys = FEW;
    sort_ways(&c, 2);
  }
  report("equal keys");
}

static void sort_all(enum kind kind, int flags) {
  struct sorting c = {.record = records[kind]};
  c.record.stable = flags & 1;
  c.record.descending = flags >> 1;
  for (int i = 0; length(i) >= 0; i++) {
    for (int s = 0; s < SPREADS; s++) {
      for (int k = 0; k < KEYS; k++) {
        c.n = (uint64_t)length(i) / (kind == WIDE ? 20 : 1);
        c.spread = (enum spread)s;
        c.keys = (enum keys)k;
        if (left_out()) {
          continue;
        }
        sort_ways(&c, (uint64_t)(i + s));
      }
    }
  }
}

int main(int argc, char **argv) {
  open_machine(&argc, &argv);
  if (size > 16) { /* v^2 samples */
    records[WIDE].size = 500;
  }
  sort_equal();
  for (int kind = 0; kind < KINDS; kind++) {
    for (int flags = 0; flags < 4; flags++) {
      sort_all((enum kind)kind, flags);
    }
    report("sorted");
  }
  return close_machine();
}
