/* Prefix sums, packing, transposing and histograms.

   compare.sh: -D_GNU_SOURCE */
#include "cgm.h"

/* --- prefix sums --- */

/* An affine map x -> a x + b modulo 2^64: composition does not commute. */
struct map {
  uint64_t a, b;
  uint64_t seen; /* of `arg`, whether the operation got it */
};

static void compose(void *arg, const void *left, void *right) {
  const struct map *const l = left;
  struct map *const r = right;
  *r = (struct map){l->a * r->a, l->b * r->a + r->b, *(uint64_t *)arg};
}

static void add_bytes(void *arg, const void *left, void *right) {
  (void)arg;
  *(unsigned char *)right =
      (unsigned char)(*(unsigned char *)right + *(const unsigned char *)left);
}

static void prefix_of_maps(enum spread s, uint64_t n) {
  uint64_t seen = 77;
  const struct map identity = {1, 0, 77};
  struct map *const all = calloc(n + 1, sizeof(*all));
  struct map *const expected = calloc(n + 1, sizeof(*expected));
  for (uint64_t i = 0; i < n; i++) {
    all[i] = (struct map){hash(i) | 1, hash(i + n), 77};
  }
  const uint64_t first = first_of(s, n, rank);
  expected[0] = identity;
  for (uint64_t i = 0; i < n; i++) {
    expected[i + 1] = all[i];
    compose(&seen, &expected[i], &expected[i + 1]);
  }
  struct pems_cgm_list list = take(s, all, n, sizeof(*all));
  DO(pems_cgm_prefix(machine, &list, compose, &seen));
  check_is(&list, expected + 1 + first, list.n, "prefix");
  pems_cgm_list_free(&list);
  list = take(s, all, n, sizeof(*all));
  DO(pems_cgm_prefix_exclusive(machine, &list, compose, &seen, &identity));
  check_is(&list, expected + first, list.n, "exclusive prefix");
  pems_cgm_list_free(&list);
  free(all);
  free(expected);
}

static void prefix_of_bytes(enum spread s, uint64_t n) {
  unsigned char *const all = malloc(n + 1);
  stream(all, n, hash(n));
  struct pems_cgm_list list = take(s, all, n, 1);
  for (uint64_t i = 1; i < n; i++) {
    all[i] = (unsigned char)(all[i] + all[i - 1]);
  }
  DO(pems_cgm_prefix(machine, &list, add_bytes, NULL));
  check_is(&list, all + first_of(s, n, rank), list.n, "prefix of bytes");
  pems_cgm_list_free(&list);
  free(all);
}

/* --- packing --- */

static int keep_some(void *arg, const void *element) {
  return hash(*(const uint64_t *)element) % 100 < *(uint64_t *)arg;
}

static void pack(enum spread s, uint64_t n) {
  uint64_t *const all = malloc((n + 1) * sizeof(*all));
  for (uint64_t percent = 0; percent <= 100; percent += 50) {
    uint64_t total = 1, kept = 0;
    for (uint64_t i = 0; i < n; i++) {
      all[i] = i;
    }
    struct pems_cgm_list list = take(s, all, n, sizeof(*all));
    for (uint64_t i = 0; i < n; i++) {
      if (keep_some(&percent, &i)) {
        all[kept++] = i;
      }
    }
    DO(pems_cgm_pack(machine, &list, keep_some, &percent, &total));
    if (total != kept) {
      fail("pack: %d of %d", (int)total, (int)kept);
    }
    check_share(&list, all, kept, "pack");
  }
  struct pems_cgm_list list = take(s, all, n, sizeof(*all));
  uint64_t none = 0;
  DO(pems_cgm_pack(machine, &list, keep_some, &none, NULL));
  pems_cgm_list_free(&list);
  free(all);
}

/* --- transposing --- */

static void transpose(uint64_t rows, uint64_t columns, size_t bytes) {
  char *const all = malloc(rows * columns * bytes + 1);
  char *const expected = malloc(rows * columns * bytes + 1);
  stream(all, rows * columns * bytes, hash(rows) | 1);
  for (uint64_t i = 0; i < rows; i++) {
    for (uint64_t j = 0; j < columns; j++) {
      memcpy(expected + (j * rows + i) * bytes, all + (i * columns + j) * bytes,
             bytes);
    }
  }
  struct pems_cgm_list list = take(EVEN, all, rows, columns * bytes);
  list.n *= columns;
  list.size = bytes;
  DO(pems_cgm_transpose(machine, &list, rows, columns));
  const uint64_t first = pems_cgm_first(machine, columns, rank);
  check_is(&list, expected + first * rows * bytes,
           (pems_cgm_first(machine, columns, rank + 1) - first) * rows,
           "transpose");
  pems_cgm_list_free(&list);
  free(all);
  free(expected);
}

static void transpose_all(void) {
  const uint64_t lengths[] = {0,  1,   2,  (uint64_t)size, (uint64_t)size + 1,
                              17, 100, 211};
  static const size_t bytes[] = {1, 4, 8, 12};
  for (int i = 0; i < 8; i++) {
    for (int j = 0; j < 8; j++) {
      if (!left_out() && (lengths[j] > 0 || lengths[i] == 0)) {
        transpose(lengths[i], lengths[j], bytes[(i + j) % 4]);
      }
    }
  }
  report("transpose");
}

/* --- histograms --- */

struct binning {
  uint64_t bins;
  int skewed;
};

static uint64_t bin_of(void *arg, const void *element) {
  const struct binning *const b = arg;
  const uint64_t h = hash(*(const uint64_t *)element);
  return b->skewed ? (h % 8 ? b->bins / 2 : h / 8 % b->bins) : h % b->bins;
}

static void histogram(enum spread s, uint64_t n) {
  static const uint64_t bins[] = {1, 2, 37, 4096, 5000, 100003};
  uint64_t *const all = malloc((n + 1) * sizeof(*all));
  for (uint64_t i = 0; i < n; i++) {
    all[i] = i;
  }
  for (int b = 0; b < 12; b++) {
    struct binning binning = {bins[b / 2], b % 2};
    uint64_t *const expected = calloc(binning.bins, sizeof(*expected));
    for (uint64_t i = 0; i < n; i++) {
      expected[bin_of(&binning, &i)]++;
    }
    struct pems_cgm_list list = take(s, all, n, sizeof(*all));
    struct pems_cgm_list counts = {0};
    DO(pems_cgm_histogram(machine, &list, binning.bins, bin_of, &binning,
                          &counts));
    check_is(&list, all + first_of(s, n, rank), list.n, "list of histogram");
    check_share(&counts, expected, binning.bins, "histogram");
    pems_cgm_list_free(&list);
    free(expected);
  }
  free(all);
}

static void for_all(void (*test)(enum spread, uint64_t), const char *what) {
  for (int i = 0; length(i) >= 0; i++) {
    for (int s = 0; s < SPREADS; s++) {
      if (!left_out()) {
        test((enum spread)s, (uint64_t)length(i));
      }
    }
  }
  report(what);
}

int main(int argc, char **argv) {
  open_machine(&argc, &argv);
  for_all(prefix_of_maps, "prefix");
  for_all(prefix_of_bytes, "prefix of bytes");
  for_all(pack, "pack");
  for_all(histogram, "histogram");
  transpose_all();
  return close_machine();
}
