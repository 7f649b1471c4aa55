/* Addresses in the data of two libraries, one of which needs the other. */
#define _GNU_SOURCE
#include "context/image/original_bind.h"

#include "check_memory.h"
#include "context/image/original_keep.h"
#include "context/image/stub.h"
#include "opened_check.h"

static void keep_all(struct link_map *first) {
  for (struct link_map *m = first; m; m = m->l_next) {
    struct original *const o = original_of(m);
    ck_assert_ptr_nonnull(o);
    o->kind = ORIGINAL_OPENED;
    ck_assert_int_eq(original_keep(o, &error), 0);
  }
}

static struct original *outer, *inner;

static void load_both(void) {
  ck_assert_int_eq(stub_open(in_dir("libouter.so"), NULL, RTLD_NOW, keep_all),
                   0);
  outer = original_named("libouter.so");
  inner = original_named("libinner.so");
  ck_assert(outer && inner);
}

static uint64_t place_in(const struct original *o, const void *p) {
  return (uintptr_t)p - o->map->l_addr;
}

static void *symbol(const char *library, const char *name) {
  void *const handle = dlopen(in_dir(library), RTLD_NOW | RTLD_NOLOAD);
  ck_assert_ptr_nonnull(handle);
  void *const p = dlsym(handle, name);
  ck_assert_ptr_nonnull(p);
  return p;
}

/* One that holds an address in `owner`: that place, relative to its base. */
static const struct original_word *word_of(const struct original *o,
                                           const struct original *owner,
                                           uint64_t value) {
  for (size_t i = 0; i < o->nwords; i++) {
    if (o->word[i].owner == owner->index && o->word[i].value == value) {
      return &o->word[i];
    }
  }
  return NULL;
}

static void expect_bound(void) {
  int **const at = symbol("libinner.so", "at");
  const struct original_word *const own =
      word_of(inner, inner, place_in(inner, *at));
  ck_assert_ptr_nonnull(own);
  ck_assert_uint_eq(own->at, place_in(inner, at));
  ck_assert_ptr_nonnull(
      word_of(outer, inner, place_in(inner, symbol("libinner.so", "value"))));
  ck_assert_int_eq(outer->direct, 1);
  ck_assert_int_eq(outer->nneeds, 1);
  ck_assert_ptr_eq(outer->need[0], inner);
  ck_assert_int_eq(inner->nneeds, 0);
}

START_TEST(each_address_is_known_by_its_library) {
  load_both();
  ck_assert(!outer->bound && !inner->bound);
  ck_assert_int_eq(original_bind_all(), 0);
  ck_assert(outer->bound && inner->bound);
  expect_bound();
}
END_TEST

/* What MPI has opened is bound as it is called. */
START_TEST(a_call_within_a_library_need_not_be_bound_yet) {
  build("late",
        "int late_one(void) { return 1; }"
        "int late_two(void) { return late_one() + 1; }",
        "-Wl,-z,lazy");
  ck_assert_int_eq(stub_open(in_dir("liblate.so"), NULL, RTLD_LAZY, keep_all),
                   0);
  struct original *const late = original_named("liblate.so");
  ck_assert_ptr_nonnull(late);
  ck_assert_int_eq(original_bind_all(), 0);
  ck_assert_ptr_nonnull(
      word_of(late, late, place_in(late, symbol("liblate.so", "late_one"))));
}
END_TEST

START_TEST(what_is_known_is_not_looked_for_again) {
  load_both();
  ck_assert_int_eq(original_bind_all(), 0);
  const struct original_word *const word = outer->word;
  const size_t n = outer->nwords;
  memory_for(0);
  ck_assert_int_eq(original_bind_all(), 0);
  memory_again();
  ck_assert_ptr_eq(outer->word, word);
  ck_assert_uint_eq(outer->nwords, n);
}
END_TEST

START_TEST(what_is_shared_is_not_bound) {
  load_both();
  inner->kind = outer->kind = ORIGINAL_SHARED;
  ck_assert_int_eq(original_bind_all(), 0);
  ck_assert_uint_eq(outer->nwords + inner->nwords, 0);
  ck_assert(outer->bound && inner->bound);
}
END_TEST

/* Nothing of half a table is used, and the next call tries again. */
static void expect_whole_or_not(const struct original *o) {
  ck_assert_int_eq(o->word != NULL, o->bound);
  if (!o->bound) {
    ck_assert_uint_eq(o->nwords, 0);
    ck_assert_int_eq(o->nneeds, 0);
  }
}

START_TEST(all_is_bound_or_the_next_time) {
  bool enough = false;
  int n = 0;
  load_both();
  for (; !enough; n++) {
    memory_for(n);
    enough = original_bind_all() == 0;
    ck_assert_int_eq(memory_was_out(), !enough);
    memory_again();
    expect_whole_or_not(outer);
    expect_whole_or_not(inner);
  }
  ck_assert_int_ge(n, 3);
  expect_bound();
}
END_TEST

int main(void) {
  const TTest *const tests[] = {each_address_is_known_by_its_library,
                                a_call_within_a_library_need_not_be_bound_yet,
                                what_is_known_is_not_looked_for_again,
                                what_is_shared_is_not_bound,
                                all_is_bound_or_the_next_time,
                                NULL};
  return opened_check_main("original_bind", tests);
}
