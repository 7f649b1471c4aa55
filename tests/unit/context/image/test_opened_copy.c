/* Where the data of copies go. */
#define _GNU_SOURCE
#include <errno.h>

#include "opened_check.h"

/* A host that keeps count of what it is given. */
static struct {
  struct image_part part[8];
  size_t constant;
  int parts;
  uint64_t beside;
  int refusal; /* of counting */
  char *home;
} host;

static void *host_take(void *arg, size_t n) {
  (void)arg;
  host.home = malloc(n);
  return host.home;
}

static void host_give(void *arg, void *home) {
  (void)arg;
  ck_assert_ptr_eq(home, host.home);
  free(home);
  host.home = NULL;
}

static int host_add(void *arg, struct image_part part, size_t constant) {
  (void)arg;
  host.part[host.parts++] = part;
  host.constant += constant;
  return 0;
}

static void host_drop(void *arg, struct image_part part) {
  (void)arg;
  host.parts--;
  ck_assert_ptr_nonnull(part.home);
}

static int host_count(void *arg, uint64_t bytes) {
  (void)arg;
  host.beside += host.refusal ? 0 : bytes;
  return host.refusal;
}

static void host_uncount(void *arg, uint64_t bytes) {
  (void)arg;
  host.beside -= bytes;
}

static void open_with_host(void) {
  const struct opened_host all = {.take = host_take,
                                  .give = host_give,
                                  .add = host_add,
                                  .drop = host_drop,
                                  .count = host_count,
                                  .uncount = host_uncount};
  memset(&host, 0, sizeof(host));
  build("large",
        "int f(void); int f(void) { return 1; }"
        "int (*const constants[2000])(void) = {[0 ... 1999] = f};"
        "int numbers[3000] = {1};",
        "-Wl,-z,relro");
  opened_end(&img[1]);
  ck_assert_int_eq(opened_start(&img[1], 1, NULL, &all), 0);
}

static bool in_part(const void *p) {
  for (int i = 0; i < host.parts; i++) {
    if ((uintptr_t)p - (uintptr_t)host.part[i].data < host.part[i].len) {
      return true;
    }
  }
  return false;
}

/* What relocation has written, too; but what ld.so reads stays. */
START_TEST(data_leave_memory_with_their_rank) {
  open_with_host();
  struct opened *o = open_it(1, "liblarge.so", RTLD_NOW);
  ck_assert_msg(o != NULL, "%s", why.text);
  int (*const *constants)(void) = find(1, o, "constants");
  ck_assert_ptr_eq(*(void *const *)constants, find(1, o, "f"));
  ck_assert(in_part(find(1, o, "numbers")));
  ck_assert(in_part(constants) || in_part(constants + 1999));
  ck_assert_uint_ge(host.constant, 2 * 4096);
  ck_assert(!in_part(opened_map(&img[1], opened_handle(&img[1], o))->l_ld));
  ck_assert_uint_ge(host.beside, 4096);
  ck_assert_uint_le(host.beside, 64 << 10);
  ck_assert_ptr_eq(host.part[0].home, host.home);
  close_it(1, o);
  ck_assert_int_eq(host.parts, 0);
  ck_assert_uint_eq(host.beside, 0);
  ck_assert_ptr_null(host.home);
}
END_TEST

START_TEST(what_does_not_fit_is_not_opened) {
  open_with_host();
  host.refusal = ENOMEM;
  ck_assert_ptr_null(open_it(1, "liblarge.so", RTLD_NOW));
  ck_assert_ptr_nonnull(strstr(why.text, strerror(ENOMEM)));
  ck_assert_int_eq(host.parts, 0);
  ck_assert_ptr_null(host.home);
  ck_assert_uint_eq(host.beside, 0);
}
END_TEST

int main(void) {
  const TTest *const tests[] = {data_leave_memory_with_their_rank,
                                what_does_not_fit_is_not_opened, NULL};
  return opened_check_main("opened_copy", tests);
}
