/* Lanes of two processes of a host, of which the other is a child. */
#include "net/lanes.h"

#include "check_host.h"
#include "check_main.h"
#include "check_need.h"

#include <check.h>
#include <sys/wait.h>
#include <unistd.h>

static int got;
static struct lane_wire last;
static char bytes_of[64];

static void note(int process, const struct lane_wire *w, const char *bytes) {
  ck_assert_int_eq(process, OTHER);
  got++;
  last = *w;
  memcpy(bytes_of, bytes, w->n);
}

static void begin(void) {
  set_up();
  got = 0;
}

static bool send(int process, uint64_t key) {
  const struct lane_wire w = {.key = key, .kind = 3, .n = 5};
  return lanes_send(process, &w, "abc", 3, "de", 2);
}

/* Runs f in the other process. */
static void elsewhere(void (*f)(void)) {
  int status;
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    f();
    _exit(0);
  }
  ck_assert_int_eq(waitpid(child, &status, 0), child);
  ck_assert_int_eq(status, 0);
}

/* The lanes of process 0 are made, and those of the other by its child. */
static void connect_other(void) {
  lanes_destroy();
  me = OTHER;
  lanes_create(MPI_COMM_WORLD);
}

static void send_three(void) {
  connect_other();
  if (!send(0, 7) || !lanes_mark(0) || !send(0, 8)) {
    _exit(1);
  }
}

static void send_many(void) {
  connect_other();
  uint64_t n = 0;
  while (send(0, n)) {
    n++;
  }
  if (n < 100) {
    _exit(1);
  }
}

START_TEST(who_is_led_to) {
  lanes_create(MPI_COMM_WORLD);
  ck_assert(lanes_lead_to(OTHER));
  ck_assert(!lanes_lead_to(FAR));
  ck_assert(!lanes_lead_to(0));
  ck_assert(lanes_take(1000));
  ck_assert(!lanes_take(1 << 20));
  lanes_destroy();
  ck_assert(!lanes_lead_to(OTHER));
}
END_TEST

START_TEST(what_stands_behind_a_mark_waits) {
  lanes_create(MPI_COMM_WORLD);
  elsewhere(send_three);
  ck_assert(lanes_receive(note));
  ck_assert_int_eq(got, 1);
  ck_assert_uint_eq(last.key, 7);
  ck_assert_uint_eq(last.kind, 3);
  ck_assert_mem_eq(bytes_of, "abcde", 5);
  ck_assert(!lanes_receive(note));
  lanes_catch_up(OTHER, note);
  ck_assert_int_eq(got, 1);
  ck_assert(lanes_receive(note));
  ck_assert_int_eq(got, 2);
  ck_assert_uint_eq(last.key, 8);
  lanes_destroy();
}
END_TEST

START_TEST(before_a_message_of_the_mpi_is_what_was_sent_before) {
  lanes_create(MPI_COMM_WORLD);
  elsewhere(send_three);
  lanes_catch_up(OTHER, note);
  ck_assert_int_eq(got, 1);
  lanes_destroy();
}
END_TEST

START_TEST(all_come_in_order) {
  lanes_create(MPI_COMM_WORLD);
  elsewhere(send_many);
  while (lanes_receive(note)) {
    ck_assert_uint_eq(last.key, (uint64_t)got - 1);
  }
  ck_assert_int_ge(got, 100);
  lanes_destroy();
}
END_TEST

/* One process is on another host here. */
START_TEST(without_lanes_the_mpi_is_asked) {
  shares = _i;
  lanes_create(MPI_COMM_WORLD);
  ck_assert(lanes_need_mpi());
  ck_assert(!lanes_receive(note));
  ck_assert_int_eq(lanes_lead_to(OTHER), _i);
  lanes_destroy();
}
END_TEST

static void create_and_destroy(void) {
  lanes_create(MPI_COMM_WORLD);
  lanes_destroy();
}

START_TEST(there_are_lanes_or_the_job_ends) {
  ck_assert_int_ge(need_every(create_and_destroy), 4);
}
END_TEST

int main(void) {
  Suite *const suite = suite_create("lanes");
  TCase *const all = tcase_create("all");
  tcase_set_timeout(all, 120);
  tcase_add_checked_fixture(all, begin, tear_down);
  tcase_add_test(all, who_is_led_to);
  tcase_add_test(all, what_stands_behind_a_mark_waits);
  tcase_add_test(all, before_a_message_of_the_mpi_is_what_was_sent_before);
  tcase_add_test(all, all_come_in_order);
  tcase_add_loop_test(all, without_lanes_the_mpi_is_asked, 0, 2);
  tcase_add_test(all, there_are_lanes_or_the_job_ends);
  suite_add_tcase(suite, all);
  return check_run(suite);
}
