#include "context/store/codec.h"

#include "check_main.h"
#include "config.h"

#include <check.h>
#include <string.h>

enum { MOST = 128 << 10 };

static char from[MOST], to[MOST], back[MOST + 1];

static void fill_runs(void) {
  for (size_t i = 0; i < MOST; i++) {
    from[i] = (char)(i / 100);
  }
}

static void fill_noise(void) {
  uint64_t x = 7;
  for (size_t i = 0; i < MOST; i++) {
    x = x * 6364136223846793005u + 1442695040888963407u;
    from[i] = (char)(x >> 40);
  }
}

static void check_one(enum option_compress how, int level) {
  struct codec *const k = codec_new(how, level, MOST);
  ck_assert_ptr_nonnull(k);
  ck_assert_uint_gt(codec_memory(k), 1000);
  static const size_t sizes[] = {1, 4096, MOST - 1, MOST};
  fill_runs();
  for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
    const size_t n = sizes[i], packed = codec_pack(k, from, n, to, MOST);
    ck_assert_uint_gt(packed, 0);
    back[n] = 'e';
    ck_assert(codec_unpack(k, to, packed, back, n));
    ck_assert_int_eq(memcmp(from, back, n), 0);
    ck_assert_int_eq(back[n], 'e');
    ck_assert(!codec_unpack(k, to, packed, back, n + 1));
    ck_assert(n == 1 || !codec_unpack(k, to, packed, back, n - 1));
    ck_assert(!codec_unpack(k, to, packed - 1, back, n));
    ck_assert_uint_eq(codec_pack(k, from, n, to, packed - 1), 0);
  }
  fill_noise();
  ck_assert_uint_eq(codec_pack(k, from, MOST, to, MOST / 8 * 7), 0);
  codec_free(k);
}

START_TEST(what_is_packed_is_unpacked) {
  if (HAVE_LZ4) {
    check_one(COMPRESS_LZ4, 0);
  }
  if (HAVE_LZ4 || HAVE_ZSTD) {
    check_one(COMPRESS_AUTO, 0);
  }
  for (int level = 0; HAVE_ZSTD && level <= 19; level += 3) {
    check_one(COMPRESS_ZSTD, level);
  }
}
END_TEST

START_TEST(what_does_not_compress_is_no_codec) {
  ck_assert_ptr_null(codec_new(COMPRESS_NONE, 0, MOST));
  codec_free(NULL);
}
END_TEST

int main(void) {
  Suite *const suite = suite_create("codec");
  TCase *const t = tcase_create("all");
  tcase_set_timeout(t, 60);
  tcase_add_test(t, what_is_packed_is_unpacked);
  tcase_add_test(t, what_does_not_compress_is_no_codec);
  suite_add_tcase(suite, t);
  return check_run(suite);
}
