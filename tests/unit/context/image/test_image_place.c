/* Copies of programs come to lie where their ranks have their place. */
#define _GNU_SOURCE
#include "context/image/image_place.h"

#include "context/image/image_file.h"
#include "os/bits.h"
#include "os/pages.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "check_main.h"

/* The system aligns what is 2 MiB. */
enum { MIB = 1 << 20, PROGRAM = 3 << 19, ALL = PROGRAM + MIB, RANKS = 3 };
#define END ((uintptr_t)0x200000000000)

static struct image_file library = {
    .page = PAGE,
    .low = PAGE,
    .high = PAGE + MIB,
    .elf = {.segment = {{.p_type = PT_LOAD, .p_align = PAGE}}, .nsegments = 1}};
static struct image_file *libraries[] = {&library};
static struct image_file program = {
    .page = PAGE,
    .high = PROGRAM,
    .elf = {.segment = {{.p_type = PT_LOAD, .p_align = PAGE}}, .nsegments = 1},
    .library = libraries,
    .libraries = 1};

/* Can the system guide what is mapped? */
static int guides;

int __wrap_guided_begin(void *at);
int __wrap_guided_begin(void *at) {
  (void)at;
  return guides ? 0 : EINVAL;
}

/* As ld.so does. */
static char *load(const struct image_file *f) {
  const int fixed = guides ? MAP_FIXED_NOREPLACE : 0;
  void *const at = image_place_next(f);
  ck_assert_int_eq(at != NULL, guides);
  char *const p = mmap(at, f->high - f->low, PROT_NONE,
                       MAP_PRIVATE | MAP_ANONYMOUS | fixed, -1, 0);
  ck_assert(p != MAP_FAILED);
  return p;
}

START_TEST(sizes_hold_all_that_is_loaded) {
  ck_assert_uint_eq(image_place_size(&program), ALL);
  /* ld.so cuts out what must be aligned. */
  library.elf.segment[0].p_align = 64 << 10;
  program.elf.segment[0].p_align = 64 << 10;
  ck_assert_uint_eq(image_place_size(&program), ALL + 2 * (64 << 10));
  library.elf.segment[0].p_align = PAGE;
  program.elf.segment[0].p_align = PAGE;
}
END_TEST

/* The library's comes first, and what comes first is above. */
static void load_at_places(void) {
  static const int order[] = {2, 0, 1};
  uintptr_t at[RANKS];
  ck_assert_int_eq(image_places_begin(&program, END, RANKS, NULL), 0);
  for (int i = 0; i < RANKS; i++) {
    struct image copy = {0}, of_library = {0};
    copy.library = &of_library;
    copy.libraries = 1;
    image_place_open(order[i]);
    of_library.text = load(&library);
    copy.text = load(&program);
    at[order[i]] = (uintptr_t)of_library.text;
    ck_assert_int_eq(image_place_check(&copy, order[i], NULL), 0);
    ck_assert_uint_lt((uintptr_t)copy.text, END);
    /* Another rank's is refused, and so is a library that lies elsewhere. */
    ck_assert_int_eq(image_place_check(&copy, (order[i] + 1) % RANKS, NULL),
                     EBUSY);
    of_library.text = (char *)END;
    ck_assert_int_eq(image_place_check(&copy, order[i], NULL), EBUSY);
  }
  image_places_end();
  ck_assert_ptr_null(image_place_next(&program));
  ck_assert_uint_eq(at[0],
                    bits_align_down(END - RANKS * ALL, HUGE_PAGE) + PROGRAM);
  ck_assert_uint_eq(at[1] - at[0], ALL);
  ck_assert_uint_eq(at[2] - at[1], ALL);
}

START_TEST(each_rank_has_its_place) {
  load_at_places();
}
END_TEST

START_TEST(the_place_is_the_same_if_all_else_is_free) {
  guides = 1;
  load_at_places();
}
END_TEST

START_TEST(addresses_that_are_taken_are_said) {
  struct pems_error error;
  char *const there = mmap((void *)(END - 4 * MIB), PAGE, PROT_NONE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
  ck_assert(there != MAP_FAILED);
  ck_assert_int_eq(image_places_begin(&program, END, RANKS, &error), EEXIST);
  ck_assert_ptr_nonnull(strstr(error.text, "addresses for copies"));
  /* There are none, then: whatever lies anywhere is right. */
  struct image copy = {.text = load(&program)};
  image_place_open(1);
  ck_assert_int_eq(image_place_check(&copy, 1, NULL), 0);
  image_places_end();
}
END_TEST

int main(void) {
  const TTest *const tests[] = {sizes_hold_all_that_is_loaded,
                                each_rank_has_its_place,
                                the_place_is_the_same_if_all_else_is_free,
                                addresses_that_are_taken_are_said, NULL};
  return check_main("image_place", tests);
}
