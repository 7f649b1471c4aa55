/* A rank's communicators as bytes and back. */
#include "mpi/object/comm_kept.h"

#include <stdlib.h>
#include <string.h>

#include "../check_byte.h"
#include "../check_shortage.h"
#include "check_main.h"
#include "os/native.h"

enum { ID = 77, LOCAL = 78 };

static int number; /* of its handle */

static void start(void) {
  byte_only();
  handles_fix(4);
  shortage_begin();
  (void)shortage_end; /* what is left ends with the process of the test */
}

/* Ranks 0 and 2 on one side, 3 on the other; and what is hidden in it. */
static struct comm *make(void) {
  static const int world[] = {0, 2, 3};
  struct comm *const c = comm_new(&shortage_rank, ID, world, 3, 2, 0);
  c->local = comm_new(&shortage_rank, LOCAL, world, 2, 2, 0);
  number = handle_c2f(&c->handle);
  strcpy(c->name, "both sides");
  c->collectives = 9;
  c->function = "MPI_Intercomm_create";
  c->site = &number;
  c->errhandler.handle = MPI_ERRORS_RETURN;
  return c;
}

/* As if the process had ended. */
static void forget(struct comm *c) {
  comm_free(c->local);
  c->local = NULL;
  comm_free(c);
}

START_TEST(one_is_as_it_was) {
  struct parcel p = {0};
  start();
  struct comm *const c = make();
  ck_assert_ptr_null(comm_kept_obstacle(&shortage_rank));
  shortage_rank.world->collectives = 5;
  comm_kept_save(&shortage_rank, &p);
  forget(c);
  shortage_rank.world->collectives = 0;
  ck_assert_ptr_null(comm_with(&shortage_rank, ID));
  ck_assert_int_eq(comm_kept_load(&shortage_rank, &p), 0);
  ck_assert(!p.failed && p.at == p.n);
  const struct comm *const again = comm_with(&shortage_rank, ID);
  ck_assert_ptr_nonnull(again);
  ck_assert_ptr_eq(again, handle_f2c(HANDLE_COMM, number));
  ck_assert_int_eq(again->team->size, 3);
  ck_assert_int_eq(again->team->world[2], 3);
  ck_assert_int_eq(again->group->n, 2);
  ck_assert_int_eq(again->remote->n, 1);
  ck_assert_ptr_eq(again->local, comm_with(&shortage_rank, LOCAL));
  ck_assert_str_eq(again->name, "both sides");
  ck_assert_uint_eq(again->collectives, 9);
  ck_assert_str_eq(again->function, "MPI_Intercomm_create");
  ck_assert_ptr_eq(again->site, &number);
  ck_assert(again->errhandler.handle == MPI_ERRORS_RETURN);
  ck_assert_uint_eq(shortage_rank.world->collectives, 5);
  parcel_free(&p);
}
END_TEST

/* Wherever it ends. */
START_TEST(what_was_cut_off_is_refused) {
  struct parcel p = {0};
  start();
  forget(make());
  struct comm *c = make();
  comm_kept_save(&shortage_rank, &p);
  forget(c);
  const size_t whole = p.n;
  for (p.n = 0; p.n < whole; p.n += 4) {
    p.at = 0;
    p.failed = false;
    const int code = comm_kept_load(&shortage_rank, &p);
    ck_assert_msg(code || p.failed, "%zu of %zu bytes are enough", p.n, whole);
    while ((c = comm_with(&shortage_rank, ID)) ||
           (c = comm_with(&shortage_rank, LOCAL))) {
      c->local = NULL;
      comm_free(c);
    }
  }
  parcel_free(&p);
}
END_TEST

START_TEST(a_handle_that_another_one_has_is_refused) {
  struct parcel p = {0};
  start();
  struct comm *const c = make();
  comm_kept_save(&shortage_rank, &p);
  c->team->id = 1000; /* it is another one now, with the same handle */
  ck_assert_int_ne(comm_kept_load(&shortage_rank, &p), 0);
  parcel_free(&p);
}
END_TEST

START_TEST(one_with_a_foreign_handler_is_named) {
  start();
  struct comm *const c = make();
  c->errhandler.function = (void (*)(void))forget;
  ck_assert_str_eq(comm_kept_obstacle(&shortage_rank),
                   "an error handler of another language");
}
END_TEST

/* Each allocation fails in its turn: it is said, and the next time it works. */
START_TEST(without_memory) {
  struct parcel p = {0};
  start();
  struct comm *c = make();
  comm_kept_save(&shortage_rank, &p);
  forget(c);
  bool enough = false;
  for (long n = 0; !enough; n++) {
    p.at = 0;
    p.failed = false;
    memory_but(n);
    const int code = comm_kept_load(&shortage_rank, &p);
    enough = !memory_was_out();
    memory_again();
    ck_assert_msg(enough ? !code : code || p.failed, "allocation %ld", n);
    while ((c = comm_with(&shortage_rank, ID)) ||
           (c = comm_with(&shortage_rank, LOCAL))) {
      c->local = NULL;
      comm_free(c);
    }
  }
  parcel_free(&p);
}
END_TEST

int main(void) {
  return check_main("comm_kept",
                    (const TTest *[]){one_is_as_it_was,
                                      what_was_cut_off_is_refused,
                                      a_handle_that_another_one_has_is_refused,
                                      one_with_a_foreign_handler_is_named,
                                      without_memory, NULL});
}
