/* All objects of MPI that a rank has, one kind after the other. */
#include "mpi/job/checkpoint_objects.h"

#include <errno.h>
#include <string.h>

#include "../check_byte.h"
#include "../check_shortage.h"
#include "check_main.h"

static struct pems_error error;
static struct parcel p;

static void start(void) {
  byte_only();
  handles_fix(4);
  shortage_begin();
  (void)shortage_end; /* what is left ends with the process of the test */
  checkpoint_objects_save(&shortage_rank, &p);
  ck_assert(!p.failed);
}

static int load(void) {
  p.at = 0;
  p.failed = p.cut = false;
  return checkpoint_objects_load(&shortage_rank, &p, "d/rank-0", &error);
}

START_TEST(what_was_saved_is_read) {
  start();
  ck_assert_ptr_null(checkpoint_objects_obstacle(&shortage_rank));
  shortage_rank.world->collectives = 9;
  ck_assert_int_eq(load(), 0);
  ck_assert_uint_eq(shortage_rank.world->collectives, 0);
}
END_TEST

START_TEST(less_and_more_are_refused) {
  start();
  const size_t whole = p.n;
  for (p.n = 0; p.n < whole; p.n++) {
    ck_assert_msg(load() == EILSEQ, "%zu of %zu bytes: %s", p.n, whole,
                  error.text);
    ck_assert_ptr_nonnull(strstr(error.text, "checkpoint: d/rank-0: its "));
    ck_assert_ptr_nonnull(strstr(error.text, " are incomplete: restart from"));
  }
  p.failed = p.cut = false;
  parcel_put_number(&p, 0);
  ck_assert_int_eq(load(), EILSEQ);
}
END_TEST

START_TEST(the_first_thing_in_the_way_is_named) {
  start();
  shortage_rank.world->errhandler.function = (void (*)(void))start;
  ck_assert_str_eq(checkpoint_objects_obstacle(&shortage_rank),
                   "an error handler of another language");
}
END_TEST

int main(void) {
  return check_main(
      "checkpoint_objects",
      (const TTest *[]){what_was_saved_is_read, less_and_more_are_refused,
                        the_first_thing_in_the_way_is_named, NULL});
}
