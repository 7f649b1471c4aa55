/* The libraries that one VP has opened: their order, and whose code it is. */
#define _GNU_SOURCE
#include "context/image/opened_set.h"

#include <errno.h>

#include "check_memory.h"
#include "opened_check.h"

static struct opened_set set;
static struct opened item[3];
static struct original of[3];
static struct link_map map[3];
static const struct image one = {.base = (char *)0x90000, .opened = &set};

static void fill(void) {
  set = (struct opened_set){.self.is_self = true};
  for (int i = 0; i < 3; i++) {
    map[i].l_addr = 0x10000 * ((uintptr_t)i + 1);
    of[i] = (struct original){.map = &map[i]};
    item[i] = (struct opened){.of = &of[i]};
    opened_set_append(&set, &item[i]);
  }
}

/* From the first to the last and back: the numbers of `order`, up to -1. */
static void expect(const int *order) {
  const struct opened *o = set.first, *last = NULL;
  int n = 0;
  for (; order[n] >= 0; n++, last = o, o = o->next) {
    ck_assert_ptr_eq(o, &item[order[n]]);
    ck_assert_ptr_eq(o->before, last);
  }
  ck_assert_ptr_null(o);
  ck_assert_ptr_eq(set.last, last);
}

START_TEST(they_are_in_order) {
  fill();
  expect((const int[]){0, 1, 2, -1});
  opened_set_remove(&set, &item[1]);
  expect((const int[]){0, 2, -1});
  opened_set_remove(&set, &item[0]);
  expect((const int[]){2, -1});
  opened_set_remove(&set, &item[2]);
  expect((const int[]){-1});
  item[1].next = NULL;
  opened_set_append(&set, &item[1]);
  expect((const int[]){1, -1});
}
END_TEST

START_TEST(handles_are_known) {
  fill();
  ck_assert_ptr_eq(opened_find(&set, &of[1]), &item[1]);
  void *const handle = opened_handle(&one, &item[1]);
  ck_assert_ptr_eq(handle, (void *)0x20000);
  ck_assert_ptr_eq(opened_by_handle(&one, handle), &item[1]);
  ck_assert_ptr_eq(opened_handle(&one, &set.self), one.base);
  ck_assert_ptr_eq(opened_by_handle(&one, one.base), &set.self);
  opened_set_remove(&set, &item[1]);
  ck_assert_ptr_null(opened_find(&set, &of[1]));
  ck_assert_ptr_null(opened_by_handle(&one, handle));
  ck_assert_ptr_null(opened_by_handle(&one, &item[2]));
  ck_assert_ptr_null(opened_by_handle(&one, NULL));
}
END_TEST

START_TEST(copies_have_places_of_their_own) {
  char *const start = (char *)0x7000000;
  struct image_file f = {.low = 0, .high = 3 << 16};
  fill();
  ck_assert_ptr_null(opened_set_place(&set, &f)); /* they lie anywhere */
  set.host.place = start;
  set.host.room = 10 << 16;
  ck_assert_ptr_eq(opened_set_place(&set, &f), start);
  item[2].placed = true;
  item[2].img.text = start + (2 << 16);
  item[2].img.text_len = 4096;
  ck_assert_ptr_eq(opened_set_place(&set, &f), start + (3 << 16));
  item[0].placed = true;
  item[0].img.text = start + (5 << 16);
  item[0].img.text_len = (2 << 16) + 1;
  ck_assert_ptr_null(opened_set_place(&set, &f)); /* eight are in use */
  item[0].img.text_len = 2 << 16;
  ck_assert_ptr_eq(opened_set_place(&set, &f), start + (7 << 16));
  f.elf.segment[0] = (Elf64_Phdr){.p_type = PT_LOAD, .p_align = 1 << 21};
  f.elf.nsegments = 1;
  ck_assert_ptr_null(opened_set_place(&set, &f));
  set.host.room = 1 << 23;
  ck_assert_ptr_eq(opened_set_place(&set, &f), start + (1 << 21));
}
END_TEST

START_TEST(each_has_its_own_places) {
  struct opened *o[2];
  for (int i = 0; i < 2; i++) {
    o[i] = open_it(i, "libouter.so", RTLD_NOW);
    ck_assert_msg(o[i] != NULL, "%s", why.text);
    ck_assert_ptr_eq(opened_base(&img[i], o[i]->of), o[i]->img.base);
    ck_assert_ptr_eq(opened_owner(&img[i], find(i, o[i], "where")), o[i]->of);
  }
  ck_assert_ptr_eq(o[0]->of, o[1]->of);
  ck_assert_ptr_ne(o[0]->img.base, o[1]->img.base);
  ck_assert_ptr_null(opened_owner(&img[0], find(1, o[1], "where")));
  close_it(1, o[1]);
  ck_assert_ptr_null(opened_base(&img[1], o[0]->of));
  close_it(0, o[0]);
}
END_TEST

START_TEST(what_is_shared_is_where_it_is) {
  struct original *const libc = original_named("libc.so.6");
  ck_assert_ptr_nonnull(libc);
  ck_assert_int_eq(libc->kind, ORIGINAL_SHARED);
  ck_assert_ptr_eq(opened_base(&img[0], libc), (char *)libc->map->l_addr);
  ck_assert_ptr_null(opened_owner(&img[0], (void *)strlen));
}
END_TEST

START_TEST(the_program_is_its_copy) {
  for (int i = 0; i < original_count(); i++) {
    const struct original *const p = original_number(i);
    if (p->kind == ORIGINAL_PROGRAM) {
      ck_assert_ptr_eq(opened_base(&img[0], p), img[0].base);
      ck_assert_ptr_eq(opened_base(&img[1], p), img[1].base);
    }
  }
}
END_TEST

/* --- handles that are ld.so's own, each as often as it was opened --- */

static struct opened_set sets[2];
static struct image images[2];
static int library[3];

static void begin_spaces(void) {
  for (int i = 0; i < 2; i++) {
    sets[i].space = NULL;
    images[i].opened = &sets[i];
  }
}

static void add(int i, int *handle) {
  ck_assert_int_eq(opened_space_add(&images[i], handle), 0);
}

static void end_spaces(void) {
  for (int i = 0; i < 2; i++) {
    opened_space_end(&images[i]);
  }
}

START_TEST(a_vp_knows_its_own) {
  begin_spaces();
  add(0, &library[0]);
  add(0, &library[1]);
  add(1, &library[2]);
  ck_assert(opened_space_has(&images[0], &library[0]));
  ck_assert(opened_space_has(&images[0], &library[1]));
  ck_assert(!opened_space_has(&images[0], &library[2]));
  ck_assert(!opened_space_has(&images[1], &library[0]));
  ck_assert(!opened_space_has(&images[0], NULL));
  end_spaces();
}
END_TEST

START_TEST(it_is_closed_as_often_as_it_was_opened) {
  begin_spaces();
  add(0, &library[0]);
  add(0, &library[1]);
  add(0, &library[0]);
  opened_space_drop(&images[0], &library[0]);
  ck_assert(opened_space_has(&images[0], &library[0]));
  opened_space_drop(&images[0], &library[0]);
  ck_assert(!opened_space_has(&images[0], &library[0]));
  opened_space_drop(&images[0], &library[0]);
  ck_assert(opened_space_has(&images[0], &library[1]));
  end_spaces();
}
END_TEST

START_TEST(all_are_forgotten_at_the_end) {
  begin_spaces();
  add(0, &library[0]);
  add(0, &library[2]);
  add(0, &library[0]);
  add(1, &library[0]);
  opened_space_end(&images[0]);
  ck_assert(!opened_space_has(&images[0], &library[0]));
  ck_assert(!opened_space_has(&images[0], &library[2]));
  ck_assert(opened_space_has(&images[1], &library[0]));
  end_spaces();
}
END_TEST

START_TEST(memory_may_be_short) {
  begin_spaces();
  const long live = atomic_load(&check_memory.live);
  add(0, &library[0]);
  memory_for(0);
  const int code = opened_space_add(&images[0], &library[1]);
  memory_again();
  ck_assert_int_eq(code, ENOMEM);
  ck_assert(!opened_space_has(&images[0], &library[1]));
  end_spaces();
  ck_assert_int_eq(atomic_load(&check_memory.live), live);
  end_spaces();
}
END_TEST

int main(void) {
  const TTest *const tests[] = {they_are_in_order,
                                handles_are_known,
                                copies_have_places_of_their_own,
                                each_has_its_own_places,
                                what_is_shared_is_where_it_is,
                                the_program_is_its_copy,
                                a_vp_knows_its_own,
                                it_is_closed_as_often_as_it_was_opened,
                                all_are_forgotten_at_the_end,
                                memory_may_be_short,
                                NULL};
  return opened_check_main("opened_set", tests);
}
