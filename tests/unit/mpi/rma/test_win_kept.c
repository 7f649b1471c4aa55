/* A window of a rank, written and read anew. */
#include "mpi/rma/win_kept.h"

#include <stdlib.h>
#include <string.h>

#include "../check_byte.h"
#include "../check_kept.h"
#include "../check_shortage.h"
#include "check_main.h"
#include "mpi/rma/win.h"
#include "os/native.h"

enum { ID = 77, N = 64 };

static char memory[N], region[N];
static int number; /* of its handle */

/* With both ranks of a team, of which the other is elsewhere. */
static struct win *make(void) {
  static const int world[] = {0, 2};
  const struct win_memory mine = {.base = memory, .size = N, .unit = 4};
  struct comm *const own = comm_new(&shortage_rank, ID, world, 2, 2, 0);
  struct win *const win = win_again(own, MPI_WIN_FLAVOR_DYNAMIC, &mine);
  win->info = MPI_INFO_NULL;
  number = handle_c2f(&win->handle);
  return win;
}

static void start(void) {
  byte_only();
  handles_fix(4);
  shortage_begin();
  (void)shortage_end; /* what is left ends with the process of the test */
}

static void fill(struct win *win) {
  win->epoch = EPOCH_ALL;
  win->unchecked = true;
  win->locks = 1;
  win->locked = native_zalloc(2, 1);
  win->locked[1] = HOLD_EXCLUSIVE;
  win->exposure = group_new((const int[]){2}, 1);
  strcpy(win->name, "a name");
  win->me->regions = native_zalloc(1, sizeof(*win->me->regions));
  *win->me->regions = (struct win_region){NULL, region, N};
  win->me->posts = native_zalloc(2, sizeof(*win->me->posts));
  win->me->posts[1] = 3;
  win->me->completes = 2;
  win->me->sharers = 5;
  win->window->all = 1;
}

static void check(const struct win *win) {
  ck_assert_int_eq(win->epoch, EPOCH_ALL);
  ck_assert(win->unchecked && !win->used);
  ck_assert_int_eq(win->locks, 1);
  ck_assert_int_eq(win->locked[1], HOLD_EXCLUSIVE);
  ck_assert_int_eq(win->locked[0], HOLD_NONE);
  ck_assert_ptr_null(win->access);
  ck_assert_int_eq(win->exposure->n, 1);
  ck_assert_int_eq(win->exposure->world[0], 2);
  ck_assert_str_eq(win->name, "a name");
  ck_assert_ptr_eq(win->me->regions->base, region);
  ck_assert_ptr_null(win->me->regions->next);
  ck_assert_int_eq(win->me->posts[1], 3);
  ck_assert_int_eq(win->me->completes, 2);
  ck_assert_int_eq(win->me->sharers, 5);
  ck_assert_int_eq(win->window->all, 1);
  ck_assert_ptr_eq(win->window->memory[0].base, memory);
  ck_assert_int_eq((int)win->window->memory[0].unit, 4);
}

/* As if the process had ended. */
static void forget(struct win *win) {
  window_remove(win->window);
  handle_end(&win->handle);
}

static void save_target(struct checkpoint_writer *to) {
  win_kept_save_target(&shortage_rank, to);
}

static int save_memory(struct checkpoint_out *o) {
  return win_kept_save_memory(&shortage_rank, o, NULL);
}

static void load_target(struct checkpoint_reader *from) {
  win_kept_load_target(&shortage_rank, from);
}

static void load(struct parcel *p) {
  ck_assert_int_eq(win_kept_load(&shortage_rank, p), 0);
  ck_assert(!p->failed && p->at == p->n);
  kept_load(load_target);
}

START_TEST(a_window_is_as_it_was) {
  struct parcel p = {0};
  start();
  ck_assert(!win_kept_any(&shortage_rank));
  struct win *const win = make();
  fill(win);
  ck_assert(win_kept_any(&shortage_rank));
  ck_assert_ptr_null(win_kept_obstacle(&shortage_rank));
  win_kept_watch(&shortage_rank, true);
  win_kept_save(&shortage_rank, &p);
  kept_save(save_target, save_memory);
  forget(win);
  ck_assert(!win_kept_any(&shortage_rank));
  load(&p);
  check((struct win *)handle_f2c(HANDLE_WIN, number));
  parcel_free(&p);
}
END_TEST

static void change(struct win *win, size_t at, size_t n) {
  const struct layout_segment one = {0, 1, 0};
  const struct layout_span s = {memory + at, n, layout_again(0, 1, &one, 1)};
  win_written(win->me, &s);
  layout_release(s.layout);
}

START_TEST(what_changes_while_it_is_saved_is_known) {
  start();
  struct win *const win = make();
  change(win, 1, 1);
  win_kept_watch(&shortage_rank, true);
  ck_assert_uint_gt(win->me->changed, win->me->beyond);
  change(win, 10, 4);
  change(win, 20, 0);
  change(win, 5, 2);
  ck_assert_uint_eq(win->me->changed, (uintptr_t)memory + 5);
  ck_assert_uint_eq(win->me->beyond, (uintptr_t)memory + 14);
  win_kept_watch(&shortage_rank, false);
  change(win, 0, N);
  ck_assert_uint_gt(win->me->changed, win->me->beyond);
}
END_TEST

START_TEST(one_with_a_foreign_handler_is_named) {
  start();
  struct win *const win = make();
  win->errhandler.function = (void (*)(void))forget;
  ck_assert_str_eq(win_kept_obstacle(&shortage_rank),
                   "an error handler of another language");
}
END_TEST

START_TEST(what_others_lack_is_refused) {
  struct parcel p = {0};
  start();
  struct win *const win = make();
  win_kept_save(&shortage_rank, &p);
  forget(win);
  comm_free(win->comm);
  ck_assert_int_ne(win_kept_load(&shortage_rank, &p), 0);
  parcel_free(&p);
}
END_TEST

int main(void) {
  return check_main("win_kept",
                    (const TTest *[]){a_window_is_as_it_was,
                                      what_changes_while_it_is_saved_is_known,
                                      one_with_a_foreign_handler_is_named,
                                      what_others_lack_is_refused, NULL});
}
