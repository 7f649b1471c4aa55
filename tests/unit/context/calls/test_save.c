/* What a context has is there again when it has been saved and loaded. */
#include "context/calls/save.h"

#include "context/calls/allocate.h"
#include "context/context.h"
#include "context/image/image.h"
#include "context/internal.h"
#include "context/residency/residency.h"

#include "../store/store_contexts.h"
#include "check_blocks.h"
#include "check_main.h"

#include <check.h>
#include <errno.h>
#include <string.h>

static struct context *c;

static void begin(void) {
  make_dir();
  create("unix", 2, 8 * MIB, 16 * MIB);
  c = context_get(0);
  context_acquire(c);
  blocks_begin();
}

static void finish(void) {
  context_release(c);
  remove_all();
}

static char *block(size_t n, int byte) {
  char *const p = context_alloc(c, n, 16);
  ck_assert_ptr_nonnull(p);
  memset(p, byte, n);
  return p;
}

/* Reads what context_save has written: the heap, then memory. */
static int load(struct pems_error *why) {
  struct checkpoint_block b;
  void *state;
  size_t n;
  ck_assert_int_eq(
      checkpoint_take(&blocks_in, CHECKPOINT_HEAP, &state, &n, NULL), 0);
  const int code = context_load(c, state, n, why);
  while (!code && checkpoint_next(&blocks_in, &b, NULL) == 0 &&
         b.kind == CHECKPOINT_MEMORY) {
    ck_assert(context_covers(c, (const void *)b.at));
    ck_assert_int_eq(checkpoint_get(&blocks_in, &b, (void *)b.at, NULL), 0);
  }
  return code;
}

static void end_file(void) {
  checkpoint_shut(&blocks_in);
  unlink(blocks_path);
  rmdir(blocks_dir);
}

static bool is_all(const char *p, size_t n, int byte) {
  return p[0] == (char)byte && memcmp(p, p + 1, n - 1) == 0;
}

START_TEST(blocks_and_data_come_back) {
  begin();
  char *const a = block(100, 1), *const gone = block(3 * MIB, 2),
              *const b = block(MIB + 5, 3);
  context_free(c, gone);
  ck_assert_int_eq(context_save(c, &blocks_out, NULL), 0);
  blocks_turn();
  /* Another program has been here. */
  context_free(c, a);
  (void)block(2 * MIB, 4);
  memset(b, 5, MIB);
  memset(data[0], 'x', data_len);
  ck_assert_int_eq(load(NULL), 0);
  ck_assert(is_all(a, 100, 1));
  ck_assert(is_all(b, MIB + 5, 3));
  ck_assert(is_all(data[0], data_len, 'a'));
  ck_assert_uint_ge(context_usable(c, b), MIB + 5);
  /* What was allocated since is free again, and what was freed then is not. */
  char *const more = context_alloc(c, 2 * MIB, 16);
  ck_assert_ptr_nonnull(more);
  ck_assert(more != a && more != b);
  context_free(c, a);
  context_free(c, b);
  end_file();
  finish();
}
END_TEST

START_TEST(what_was_zero_is_zero) {
  begin();
  char *const a = block(MIB, 0);
  a[MIB / 2] = 1;
  ck_assert_int_eq(context_save(c, &blocks_out, NULL), 0);
  blocks_turn();
  memset(a, 7, MIB);
  ck_assert_int_eq(load(NULL), 0);
  ck_assert(is_all(a, MIB / 2, 0));
  ck_assert_int_eq(a[MIB / 2], 1);
  ck_assert(is_all(a + MIB / 2 + 1, MIB / 2 - 1, 0));
  end_file();
  finish();
}
END_TEST

START_TEST(what_does_not_fit_is_said) {
  struct pems_error why;
  begin();
  (void)block(4 * MIB, 1);
  ck_assert_int_eq(context_save(c, &blocks_out, NULL), 0);
  blocks_turn();
  contexts.mu = 2 * MIB;
  ck_assert_int_eq(load(&why), ENOMEM);
  ck_assert_ptr_nonnull(strstr(why.text, "--pems-context"));
  contexts.mu = 8 * MIB;
  end_file();
  finish();
}
END_TEST

START_TEST(memory_that_was_protected_is_refused) {
  struct pems_error why;
  begin();
  ck_assert_int_eq(protections_note(&c->protections, PAGE, 2 * PAGE, PROT_READ),
                   0);
  ck_assert_int_eq(context_save(c, &blocks_out, &why), ENOTSUP);
  ck_assert_ptr_nonnull(strstr(why.text, "mprotect"));
  ranges_clear(&c->protections);
  checkpoint_close(&blocks_out);
  unlink(blocks_path);
  rmdir(blocks_dir);
  finish();
}
END_TEST

START_TEST(homes_of_later_parts_are_given_back) {
  static struct context_homes homes;
  struct image_part part = {.data = data[0], .len = PAGE};
  begin();
  ck_assert_int_eq(context_save_homes(c, &homes, NULL), 0);
  ck_assert_uint_eq(homes.n, 0);
  part.home = block(MIB, 1);
  part.data = part.home;
  part.len = MIB;
  c->image.later = &part;
  c->image.nlater = 1;
  ck_assert_int_eq(context_save_homes(c, &homes, NULL), 0);
  c->image.nlater = 0;
  c->image.later = NULL;
  ck_assert_uint_eq(homes.n, 1);
  ck_assert_uint_eq(homes.item[0].at, (uintptr_t)part.home);
  ck_assert_uint_eq(homes.item[0].pages, 0);
  context_load_homes(c, &homes);
  /* Its place is free again. */
  ck_assert_ptr_eq(context_alloc(c, MIB, 16), part.home);
  checkpoint_close(&blocks_out);
  unlink(blocks_path);
  rmdir(blocks_dir);
  finish();
}
END_TEST

int main(void) {
  const TTest *const tests[] = {
      blocks_and_data_come_back,           what_was_zero_is_zero,
      what_does_not_fit_is_said,           memory_that_was_protected_is_refused,
      homes_of_later_parts_are_given_back, NULL};
  return check_main("save", tests);
}
