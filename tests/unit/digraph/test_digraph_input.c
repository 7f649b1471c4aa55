/* Files as they are, and as gzip and zstd have compressed them. */
#include "digraph/digraph_input.h"

#include "config.h"

#if HAVE_ZLIB
#include <zlib.h>
#endif
#if HAVE_ZSTD
#include <zstd.h>
#endif

#include "digraph/generate.h"
#include "graph_check.h"

enum { LENGTH = 3 << 20 };

static char text[LENGTH], found[LENGTH + 1];

static void set_up(void) {
  directory_begin();
  for (size_t i = 0; i < LENGTH; i++) {
    text[i] = (char)('a' + generate_mix(i / 3) % 20);
  }
}

/* All of a file in pieces of `step`; what the last read has returned. */
static int read_all(const char *name, size_t step, size_t *n,
                    struct pems_error *error) {
  struct digraph_input *in;
  size_t got = 0;
  *n = 0;
  int code = digraph_input_open(&in, path_of(name), error);
  if (code) {
    ck_assert_ptr_null(in);
    return code;
  }
  do {
    const size_t room = sizeof(found) - *n;
    code = digraph_input_read(in, found + *n, step < room ? step : room, &got,
                              error);
    *n += got;
  } while (!code && got);
  digraph_input_close(in);
  return code;
}

static void expect(const char *name, size_t length) {
  struct pems_error error;
  const size_t steps[] = {LENGTH + 1, 100001, 4096};
  for (int i = 0; i < 3; i++) {
    size_t n;
    ck_assert_msg(read_all(name, steps[i], &n, &error) == 0, "%s", error.text);
    ck_assert_uint_eq(n, length);
    ck_assert_int_eq(memcmp(found, text, length), 0);
  }
}

START_TEST(plain_files_are_read_as_they_are) {
  struct digraph_input *in;
  struct pems_error error;
  put_bytes("plain", text, LENGTH);
  put_bytes("short", text, 3);
  put_bytes("empty", text, 0);
  expect("plain", LENGTH);
  expect("short", 3);
  expect("empty", 0);
  ck_assert_int_eq(digraph_input_open(&in, path_of("plain"), &error), 0);
  ck_assert_uint_eq(digraph_input_size(in), LENGTH);
  digraph_input_close(in);
  ck_assert_int_eq(digraph_input_open(&in, path_of("nothing"), &error), ENOENT);
  ck_assert_int_ne(digraph_input_open(&in, directory, &error), 0);
  digraph_input_close(NULL);
}
END_TEST

START_TEST(names_are_known_without_their_endings) {
  ck_assert_uint_eq(digraph_input_name("road.gr.gz"), 7);
  ck_assert_uint_eq(digraph_input_name("road.gr.ZST"), 7);
  ck_assert_uint_eq(digraph_input_name("road.gr"), 7);
  ck_assert_uint_eq(digraph_input_name(".gz"), 3);
}
END_TEST

#if HAVE_ZLIB || HAVE_ZSTD
static void expect_refused(const char *name, const char *why) {
  struct pems_error error;
  size_t n;
  ck_assert_int_eq(read_all(name, 5000, &n, &error), EINVAL);
  ck_assert_msg(strstr(error.text, why) && strstr(error.text, name), "%s",
                error.text);
}

/* Bytes of `packed`, cut short, damaged, and twice in a row. */
static void check_packed(char *packed, size_t n) {
  put_bytes("packed", packed, n);
  expect("packed", LENGTH);
  put_bytes("cut", packed, n / 2);
  expect_refused("cut", "ends within");
  char *const twice = malloc(2 * n);
  memcpy(twice, packed, n);
  memcpy(twice + n, packed, n);
  put_bytes("twice", twice, 2 * n);
  struct pems_error error;
  size_t got;
  const size_t half = LENGTH / 2; /* found has room for one */
  struct digraph_input *in;
  ck_assert_int_eq(digraph_input_open(&in, path_of("twice"), &error), 0);
  ck_assert_uint_eq(digraph_input_size(in), 0);
  for (int i = 0; i < 4; i++) {
    ck_assert_int_eq(digraph_input_read(in, found, half, &got, &error), 0);
    ck_assert_uint_eq(got, half);
    ck_assert_int_eq(memcmp(found, text + (i % 2) * half, half), 0);
  }
  ck_assert_int_eq(digraph_input_read(in, found, half, &got, &error), 0);
  ck_assert_uint_eq(got, 0);
  digraph_input_close(in);
  free(twice);
  memset(packed + n / 2, 0x55, 100);
  put_bytes("damaged", packed, n);
  expect_refused("damaged", "damaged");
}
#endif

#if HAVE_ZLIB
START_TEST(gzip_is_unpacked) {
  enum { GZIP = 15 + 16 };
  static char packed[LENGTH + 1000];
  z_stream z = {0};
  ck_assert_int_eq(deflateInit2(&z, 6, Z_DEFLATED, GZIP, 8, 0), Z_OK);
  z.next_in = (unsigned char *)text;
  z.avail_in = LENGTH;
  z.next_out = (unsigned char *)packed;
  z.avail_out = sizeof(packed);
  ck_assert_int_eq(deflate(&z, Z_FINISH), Z_STREAM_END);
  check_packed(packed, z.total_out);
  deflateEnd(&z);
}
END_TEST
#endif

#if HAVE_ZSTD
START_TEST(zstd_is_unpacked) {
  static char packed[LENGTH + 100000];
  ZSTD_CCtx *const c = ZSTD_createCCtx();
  ZSTD_CCtx_setParameter(c, ZSTD_c_checksumFlag, 1);
  const size_t n = ZSTD_compress2(c, packed, sizeof(packed), text, LENGTH);
  ck_assert(!ZSTD_isError(n));
  check_packed(packed, n);
  ZSTD_freeCCtx(c);
}
END_TEST
#endif

int main(void) {
  Suite *const s = suite_create("digraph_input");
  TCase *const t = tcase_create("digraph_input");
  tcase_set_timeout(t, 120);
  tcase_add_checked_fixture(t, set_up, directory_end);
  tcase_add_test(t, plain_files_are_read_as_they_are);
  tcase_add_test(t, names_are_known_without_their_endings);
#if HAVE_ZLIB
  tcase_add_test(t, gzip_is_unpacked);
#endif
#if HAVE_ZSTD
  tcase_add_test(t, zstd_is_unpacked);
#endif
  suite_add_tcase(s, t);
  return run_suite(s);
}
