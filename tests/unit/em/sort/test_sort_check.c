/* Checking files and arrays: which records are compared, what is found, and
   that nothing beside the records is read. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "check_main.h"
#include "kernel_check.h"
#include "pems/sort.h"

/* Bytes that are read at a time (em/sort/sort_check.c), and a page. */
#define PIECE ((size_t)4 << 20)
#define PAGE ((size_t)4096)

static struct pems_error error;
static char path[4096];

static size_t below(size_t n) {
  return (size_t)(key_random() >> 33) % n;
}

static void make_path(void) {
  const char *const dir = getenv("TMPDIR");
  snprintf(path, sizeof(path), "%s/pems-check-XXXXXX", dir ? dir : "/var/tmp");
  const int fd = mkstemp(path);
  ck_assert_int_ge(fd, 0);
  close(fd);
}

static void remove_path(void) {
  unlink(path);
}

static void write_file(const char *records, size_t bytes) {
  FILE *const f = fopen(path, "wb");
  ck_assert_ptr_nonnull(f);
  ck_assert_uint_eq(fwrite(records, 1, bytes, f), bytes);
  ck_assert_int_eq(fclose(f), 0);
}

static struct pems_sort_check check_file(const struct pems_record *r,
                                         int threads) {
  const struct pems_sort_options o = {.record = *r, .threads = threads};
  struct pems_sort_check check;
  ck_assert_msg(pems_sort_check_file(path, &o, &check, &error) == 0, "%s",
                error.text);
  return check;
}

/* --- checksums --- */

static uint64_t mixed(uint64_t x) {
  x = (x ^ x >> 32) * UINT64_C(0xd6e8feb86659fd93);
  x = (x ^ x >> 29) * UINT64_C(0xa0761d6478bd642f);
  return x ^ x >> 32;
}

/* As the library has always hashed a record: sums of one version can be
   compared with those of another. Byte by byte. */
static uint64_t hash(const unsigned char *at, size_t n) {
  uint64_t h = UINT64_C(0x9e3779b97f4a7c15) ^ n;
  for (size_t i = 0; i < n; i += 8) {
    uint64_t word = 0;
    for (size_t j = i; j < n && j < i + 8; j++) {
      word |= (uint64_t)at[j] << 8 * (j - i);
    }
    h = (h ^ word) * UINT64_C(0xe7037ed1a0b428db);
    h ^= i + 8 <= n ? h >> 31 : 0;
  }
  return mixed(h);
}

START_TEST(sums_are_those_of_the_bytes) {
  unsigned char bytes[7 * 64], last[64];
  for (size_t i = 0; i < sizeof(bytes); i++) {
    bytes[i] = (unsigned char)(key_random() >> 40);
  }
  for (size_t size = 1; size <= 64; size++) {
    const struct pems_record r = {
        .size = size, .key = PEMS_KEY_BYTES, .key_size = size};
    struct pems_sort_check check = {.sorted = 1};
    uint64_t sum = 0, other = 0;
    for (size_t i = 0; i < 7; i++) {
      const uint64_t h = hash(bytes + i * size, size);
      sum += h;
      other += mixed(h + UINT64_C(0x589965cc75374cc3));
    }
    pems_sort_check_piece(&check, &r, bytes, 7, last);
    ck_assert_uint_eq(check.sum[0], sum);
    ck_assert_uint_eq(check.sum[1], other);
  }
}
END_TEST

/* --- what is compared --- */

/* Record numbers below 2^(8 * size), where numbering starts again. */
struct numbering {
  size_t size;
  uint64_t trap;       /* this record is before its predecessor */
  _Atomic int foreign; /* a comparison was not of two neighbours */
};

static uint64_t number_of(const struct numbering *n, const void *record) {
  uint64_t number = 0;
  memcpy(&number, record, n->size < 4 ? n->size : 4);
  return number;
}

static uint64_t wrapped(const struct numbering *n, uint64_t number) {
  return n->size < 4 ? number & ((UINT64_C(1) << 8 * n->size) - 1) : number;
}

static int compare_neighbours(const void *a, const void *b, void *context) {
  struct numbering *const n = context;
  const uint64_t x = number_of(n, a), y = number_of(n, b);
  if (x != wrapped(n, y + 1)) {
    n->foreign = 1;
  }
  return x == wrapped(n, n->trap) ? -1 : 1;
}

/* Makes the file one of records 0 to count - 1. */
static void write_numbers(size_t size, size_t count) {
  char *const records = native_zalloc(count + 1, size);
  for (size_t i = 0; i < count; i++) {
    const uint64_t number = i;
    memcpy(records + i * size, &number, size < 4 ? size : 4);
  }
  write_file(records, count * size);
  native_free(records);
}

/* Of such a file: each record but the first is compared with the one ahead of
   it, and with nothing else. */
static void check_numbers(size_t size, size_t count, uint64_t trap) {
  struct numbering n = {.size = size, .trap = trap};
  const struct pems_record r = {
      .size = size, .compare = compare_neighbours, .context = &n};
  const struct pems_sort_check check = check_file(&r, 2);
  const uint64_t first =
      wrapped(&n, trap) ? wrapped(&n, trap) : UINT64_C(1) << 8 * size;
  ck_assert_msg(!n.foreign, "%zu records of %zu bytes: others were compared",
                count, size);
  ck_assert_uint_eq(check.count, count);
  ck_assert_msg(check.sorted == (first >= count),
                "%zu records of %zu bytes: sorted: %d", count, size,
                check.sorted);
  if (!check.sorted) {
    ck_assert_uint_eq(check.disorder, first);
  }
}

static const size_t sizes[] = {1, 2, 3, 4, 5, 8, 9, 24, 100, 1000, 4095, 4096};
enum { SIZES = sizeof(sizes) / sizeof(*sizes) };

START_TEST(few_records) {
  for (size_t count = 0; count < 20; count++) {
    write_numbers(sizes[_i], count);
    check_numbers(sizes[_i], count, 1 + below(count + 3));
  }
}
END_TEST

/* The last piece has few records, or all that fit. */
START_TEST(border_of_pieces) {
  const size_t size = sizes[_i], step = PIECE / size + 1;
  write_numbers(size, 2 * step + 3);
  check_numbers(size, 2 * step + 3, step);
  check_numbers(size, 2 * step + 3, 2 * step);
  for (size_t count = step + 9; count >= step - 1; count--) {
    ck_assert_int_eq(truncate(path, (off_t)(count * size)), 0);
    check_numbers(size, count, count - below(12));
  }
}
END_TEST

/* --- every kind of key --- */

static struct pems_record random_record(void) {
  struct pems_record r = {0};
  do {
    r.size = 1 + below(below(4) ? 20 : PEMS_RECORD_MOST);
    r.key = (enum pems_key)(1 + below(PEMS_KEY_BYTES));
    r.key_size = r.key == PEMS_KEY_BYTES ? 1 + below(r.size) : 0;
    r.key_offset = below(r.size);
    r.descending = (int)below(2);
  } while (pems_record_check(&r, NULL));
  return r;
}

/* In order, but perhaps for one record. */
static char *nearly_sorted(const struct pems_record *r, size_t n) {
  char *const made = make_records(r, (enum keys)below(KEYS_KINDS), n);
  char *const records = reference_sorted(r, made, n);
  native_free(made);
  if (n > 1 && below(2)) {
    memmove(records + below(n) * r->size, records + below(n) * r->size,
            r->size);
  }
  return records;
}

static size_t first_disorder(const struct pems_record *r, const char *records,
                             size_t n) {
  for (size_t i = 1; i < n; i++) {
    if (reference_order(r, records + i * r->size, records + (i - 1) * r->size) <
        0) {
      return i;
    }
  }
  return n;
}

static void expect(const struct pems_sort_check *check, size_t n,
                   size_t disorder) {
  ck_assert_uint_eq(check->count, n);
  ck_assert_int_eq(check->sorted, disorder == n);
  if (disorder < n) {
    ck_assert_uint_eq(check->disorder, disorder);
  }
}

/* The same records in memory: where they end memory ends, or begins. */
static void check_guarded(const struct pems_record *r, const char *records,
                          size_t n, const struct pems_sort_check *want) {
  const size_t bytes = n * r->size, inner = (bytes + PAGE - 1) / PAGE * PAGE;
  char *const all = mmap(NULL, inner + 2 * PAGE, PROT_NONE,
                         MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ck_assert_ptr_ne(all, MAP_FAILED);
  if (inner) {
    ck_assert_int_eq(mprotect(all + PAGE, inner, PROT_READ | PROT_WRITE), 0);
  }
  for (int end = 0; end < 2; end++) {
    char *const at = all + PAGE + (end ? inner - bytes : 0);
    char last[PEMS_RECORD_MOST];
    struct pems_sort_check check = {.sorted = 1};
    memcpy(at, records, bytes);
    for (size_t i = 0, some; i < n; i += some) {
      some = 1 + below(n - i);
      pems_sort_check_piece(&check, r, at + i * r->size, some, last);
    }
    ck_assert_mem_eq(&check, want, sizeof(check));
  }
  munmap(all, inner + 2 * PAGE);
}

START_TEST(random_files) {
  key_state = (uint64_t)_i;
  for (int i = 0; i < 150; i++) {
    const struct pems_record r = random_record();
    const size_t n = below(below(3) ? 12 : 300);
    char *const records = nearly_sorted(&r, n);
    write_file(records, n * r.size);
    const struct pems_sort_check check = check_file(&r, 1 + (int)below(3));
    expect(&check, n, first_disorder(&r, records, n));
    check_guarded(&r, records, n, &check);
    native_free(records);
  }
}
END_TEST

int main(void) {
  Suite *const s = suite_create("sort_check");
  TCase *const t = tcase_create("sort_check");
  tcase_add_checked_fixture(t, make_path, remove_path);
  tcase_set_timeout(t, 120);
  tcase_add_test(t, sums_are_those_of_the_bytes);
  tcase_add_loop_test(t, few_records, 0, SIZES);
  tcase_add_loop_test(t, border_of_pieces, 0, SIZES);
  tcase_add_loop_test(t, random_files, 0, 8);
  suite_add_tcase(s, t);
  return check_run(s);
}
