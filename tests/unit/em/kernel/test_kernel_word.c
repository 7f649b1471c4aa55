/* The kernel "word": small records as numbers. */
#define _GNU_SOURCE
#include "em/kernel/kernels.h"
#include "em/kernel/record.h"

#include "check_main.h"
#include "kernel_check.h"

static const size_t sizes[] = {1, 2, 4, 8, 16};

static void sort_some(const struct kernel *kernel, const struct pems_record *r,
                      enum keys keys) {
  struct pems_record loose = *r;
  check_sort(kernel, r, keys, 1, 700);
  loose.stable = 0;
  check_sort(kernel, &loose, keys, 1, 17);
  check_sort(kernel, &loose, keys, 2, 20001);
}

static void merge_some(const struct kernel *kernel, const struct pems_record *r,
                       enum keys keys) {
  struct pems_record loose = *r;
  check_merge(kernel, r, keys, 3, 90, 0);
  loose.stable = 0;
  check_merge(kernel, &loose, keys, 2, 300, 1);
  check_merge(kernel, &loose, keys, 17, 3000, 1);
}

START_TEST(sorts_every_type_of_key) {
  check_types(&kernel_word, sizes[_i], sort_some);
}
END_TEST

START_TEST(merges_every_type_of_key) {
  check_types(&kernel_word, sizes[_i], merge_some);
}
END_TEST

/* --- records with something beside the key --- */

START_TEST(payloads_go_with_their_keys) {
  struct pems_record r = {.size = sizes[_i]};
  for (int key = PEMS_KEY_U8; key <= PEMS_KEY_BYTES; key++) {
    for (r.key_size = 1; r.key_size <= r.size; r.key_size++) {
      r.key = (enum pems_key)key;
      const size_t bytes = pems_record_key_bytes(&r);
      if (key != PEMS_KEY_BYTES && r.key_size > 1) {
        break;
      }
      for (r.key_offset = 0; r.key_offset + bytes <= r.size; r.key_offset++) {
        for (r.descending = 0; r.descending < 2; r.descending++) {
          check_payload(&kernel_word, &r, KEYS_RANDOM, 300);
          check_payload(&kernel_word, &r, (enum keys)(key % KEYS_KINDS), 1111);
        }
      }
    }
  }
}
END_TEST

/* --- numbers --- */

START_TEST(any_number_of_records_and_threads) {
  static const size_t counts[] = {0,    1,    2,     3,     7,     8,     9,
                                  15,   16,   17,    255,   256,   1000,  8191,
                                  8192, 8193, 40000, 65536, 70000, 200001};
  for (int s = 0; s < 5; s++) {
    struct pems_record r = {.size = sizes[s], .key = PEMS_KEY_BYTES};
    r.key_size = sizes[s];
    for (int k = 1; k <= 4; k++) {
      check_sort(&kernel_word, &r, (enum keys)((k + s) % KEYS_KINDS), k,
                 counts[_i]);
    }
    check_sort(&kernel_word, &r, KEYS_RANDOM, 3, counts[_i]);
    check_sort(&kernel_word, &r, KEYS_FEW, 13, counts[_i]);
  }
}
END_TEST

START_TEST(any_number_of_pieces) {
  static const int pieces[] = {1, 2, 3, 4, 9, 64, 300};
  for (int s = 0; s < 5; s++) {
    for (int keys = 0; keys < KEYS_KINDS; keys++) {
      struct pems_record r = {.size = sizes[s], .key = PEMS_KEY_BYTES};
      r.key_size = sizes[s];
      check_merge(&kernel_word, &r, (enum keys)keys, pieces[_i], 0, 1);
      check_merge(&kernel_word, &r, (enum keys)keys, pieces[_i], 1, 1);
      check_merge(&kernel_word, &r, (enum keys)keys, pieces[_i], 700, 1);
    }
  }
}
END_TEST

/* The lowest word and the two highest, or the higher one not in every second
   piece: pieces that have ended must not be taken for it; aligned or not, which
   decides how they are merged. */
START_TEST(highest_words_in_many_pieces) {
  enum { PIECES = 9, EACH = 50 };
  const size_t size = sizes[2 + _i / 2], all = (size_t)PIECES * EACH * size;
  const struct pems_record r = {
      .size = size, .key = PEMS_KEY_BYTES, .key_size = size};
  unsigned char *const in = (unsigned char *)native_alloc(all + 2) + _i % 2;
  unsigned char *const out = (unsigned char *)native_alloc(all + 2) + _i % 2;
  char *const work = native_aligned(64, kernel_word.merge_work(&r, PIECES));
  struct kernel_piece piece[PIECES];
  size_t at = 0, low[3] = {0};
  for (size_t i = 0; i < PIECES; i++) {
    piece[i] = (struct kernel_piece){(char *)in + at * size,
                                     i == 4 ? 0 : i * EACH / 9};
    for (size_t j = 0; j < piece[i].n; j++, at++) {
      const size_t kind = j * (2 + i % 2) / piece[i].n;
      memset(in + at * size, kind ? 0xff : 0, size);
      in[at * size] = kind == 1 ? 0xfe : in[at * size]; /* its lowest byte */
      low[kind]++;
    }
  }
  kernel_word.merge(&r, piece, PIECES, out, work, 0);
  for (size_t i = 0; i < at; i++) {
    const unsigned char last = i < low[0] ? 0 : 0xff;
    ck_assert_uint_eq(out[(i + 1) * size - 1], last);
    ck_assert_uint_eq(out[i * size], i < low[0]            ? 0
                                     : i < low[0] + low[1] ? 0xfe
                                                           : 0xff);
  }
  native_free(work);
  native_free(in - _i % 2);
  native_free(out - _i % 2);
}
END_TEST

/* So many words that chunks are cut again, and pieces that don't overlap, or
   overlap in part; all of them shifted so that no word is aligned. */
START_TEST(large_merges) {
  enum { PIECES = 24, N = 70000 };
  const struct pems_record r = {.size = 4, .key = PEMS_KEY_U32};
  struct kernel_piece piece[PIECES];
  const size_t total = (size_t)PIECES * N;
  char *const in = (char *)native_alloc(total * 4 + 8) + 1;
  char *const out = (char *)native_alloc(total * 4 + 8) + 3;
  char *const work = native_aligned(64, kernel_word.merge_work(&r, PIECES));
  uint64_t sum = 0, out_sum = 0;
  uint32_t last = 0;
  for (int i = 0; i < PIECES; i++) {
    uint32_t x = _i == 0 ? 0 : (uint32_t)(i / 2 % _i) * 200000;
    piece[i] = (struct kernel_piece){in + (size_t)i * N * 4, N};
    for (int j = 0; j < N; j++) {
      x += (uint32_t)(key_random() % 100 < 3 ? key_random() % 200 : 0);
      memcpy((char *)piece[i].at + j * 4, &x, 4);
      sum += x * UINT64_C(0x9e3779b97f4a7c15) >> 13;
    }
  }
  kernel_word.merge(&r, piece, PIECES, out, work, 0);
  for (size_t i = 0; i < total; i++) {
    uint32_t x;
    memcpy(&x, out + i * 4, 4);
    if (x < last) {
      ck_abort_msg("word %zu is below the last", i);
    }
    last = x;
    out_sum += x * UINT64_C(0x9e3779b97f4a7c15) >> 13;
  }
  ck_assert_uint_eq(sum, out_sum);
  native_free(in - 1);
  native_free(out - 3);
  native_free(work);
}
END_TEST

/* --- order --- */

START_TEST(floats_have_a_total_order) {
  const uint32_t bits[] = {0xffc00001, 0xff800000, 0xc0000000, 0x80000001,
                           0x80000000, 0x00000000, 0x00000001, 0x3f800000,
                           0x7f7fffff, 0x7f800000, 0x7fc00000, 0x7fffffff};
  enum { N = sizeof(bits) / sizeof(*bits) };
  struct pems_record r = {.size = 4, .key = PEMS_KEY_F32, .stable = 1};
  for (r.descending = 0; r.descending < 2; r.descending++) {
    uint32_t mixed[N];
    for (int i = 0; i < N; i++) {
      mixed[i] = bits[i * 5 % N];
    }
    char *const got = kernel_sorted(&kernel_word, &r, 2, (char *)mixed, N);
    kernel_word.decode(&r, got, N);
    for (int i = 0; i < N; i++) {
      ck_assert_uint_eq(((uint32_t *)got)[i],
                        bits[r.descending ? N - 1 - i : i]);
    }
    native_free(got);
  }
}
END_TEST

/* Zeros beside each other, and NaNs behind all others, whatever their sign. */
START_TEST(reals_have_the_order_of_less) {
  static const uint32_t tops[] = {0xff80, 0xc000, 0x8000, 0,
                                  0x3f80, 0x7f80, 0x7fc0, 0xffc0};
  enum { N = sizeof(tops) / sizeof(*tops) };
  for (int i = 0; i < 8; i++) {
    const size_t size = i & 1 ? 8 : 4, key = i & 2 ? 4 : size;
    struct pems_record r = {
        .size = size,
        .key = key == 8 ? PEMS_KEY_REAL64 : PEMS_KEY_REAL32,
        .key_offset = i & 4 ? size - key : 0,
    };
    for (r.descending = 0; r.descending < 2; r.descending++) {
      for (int keys = 0; keys < KEYS_KINDS; keys++) {
        check_payload(&kernel_word, &r, (enum keys)keys, 1000);
        check_sort(&kernel_word, &r, (enum keys)keys, 2, 1000);
      }
    }
  }
  for (int i = 1; i < N; i++) {
    const struct pems_record r = {.size = 4, .key = PEMS_KEY_REAL32};
    const uint32_t pair[2] = {tops[i] << 16, tops[i - 1] << 16};
    ck_assert_int_gt(record_compare(&r, &pair[0], &pair[1]), 0);
  }
  const struct pems_record stable = {
      .size = 4, .key = PEMS_KEY_REAL32, .stable = 1};
  ck_assert(!kernel_word.fits(&stable));
}
END_TEST

START_TEST(ranks_are_counts) {
  enum { N = 777 };
  for (int s = 0; s < 5; s++) {
    struct pems_record r = {.size = sizes[s], .key = PEMS_KEY_BYTES};
    r.key_size = sizes[s];
    char *const records = make_records(&r, s % 2 ? KEYS_FEW : KEYS_RANDOM, N);
    char *const a = kernel_sorted(&kernel_word, &r, 1, records, N);
    for (size_t n = 0; n < 40; n++) {
      for (size_t i = 0; i < N; i += 7) {
        const size_t length = n < 30 ? n : N;
        size_t below = 0, upto = 0;
        for (size_t j = 0; j < length; j++) {
          const int c = kernel_word.compare(&r, a + j * r.size, a + i * r.size);
          below += c < 0;
          upto += c <= 0;
        }
        const char *const key = a + i * r.size;
        if (kernel_word.rank(&r, a, length, key, 0) != below ||
            kernel_word.rank(&r, a, length, key, 1) != upto) {
          ck_abort_msg("rank of record %zu among %zu", i, length);
        }
      }
    }
    native_free(a);
    native_free(records);
  }
}
END_TEST

static int by_nothing(const void *a, const void *b, void *context) {
  (void)a, (void)b, (void)context;
  return 0;
}

START_TEST(refuses_what_is_no_word) {
  struct pems_record r = {.size = 8, .key = PEMS_KEY_U64, .stable = 1};
  ck_assert(kernel_word.fits(&r));
  r.size = 16; /* stable, with a payload */
  ck_assert(!kernel_word.fits(&r));
  r.stable = 0;
  ck_assert(kernel_word.fits(&r));
  r.key_offset = 9;
  ck_assert(!kernel_word.fits(&r));
  r.key_offset = 0;
  r.size = 24;
  ck_assert(!kernel_word.fits(&r));
  r.size = 8;
  r.compare = by_nothing;
  ck_assert(!kernel_word.fits(&r));
}
END_TEST

int main(void) {
  Suite *const s = suite_create("kernel_word");
  TCase *const t = tcase_create("all");
  tcase_set_timeout(t, 120);
  tcase_add_loop_test(t, sorts_every_type_of_key, 0, 5);
  tcase_add_loop_test(t, merges_every_type_of_key, 0, 5);
  tcase_add_loop_test(t, payloads_go_with_their_keys, 0, 5);
  tcase_add_loop_test(t, any_number_of_records_and_threads, 0, 20);
  tcase_add_loop_test(t, any_number_of_pieces, 0, 7);
  tcase_add_loop_test(t, highest_words_in_many_pieces, 0, 6);
  tcase_add_loop_test(t, large_merges, 0, 9);
  tcase_add_test(t, floats_have_a_total_order);
  tcase_add_test(t, reals_have_the_order_of_less);
  tcase_add_test(t, ranks_are_counts);
  tcase_add_test(t, refuses_what_is_no_word);
  suite_add_tcase(s, t);
  return check_run(s);
}
