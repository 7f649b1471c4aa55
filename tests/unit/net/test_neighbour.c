/* Reading a child's memory; a job of several processes:
 * tests/mpi/neighbours.sh.
 */
#define _GNU_SOURCE
#include "net/neighbour.h"

#include <check.h>
#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/counters.h"
#include "check_main.h"

enum { N = 100000, PAGE = 4096 };

/* The neighbour: what it holds, and how to talk to it. */
static unsigned char held[N];
static _Atomic uint64_t count;
static char *gone; /* a page that is none any more */
static pid_t child;
static int to_child[2], from_child[2];
static struct neighbour_card card[2];

struct introduction {
  struct neighbour_card card;
  struct neighbour_offer lasting, counted, missing;
} other;

static void say(int fd, const void *bytes, size_t n) {
  ck_assert_int_eq(write(fd, bytes, n), (ssize_t)n);
}

static void hear(int fd, void *bytes, size_t n) {
  ck_assert_int_eq(read(fd, bytes, n), (ssize_t)n);
}

/* At each byte it says that its memory goes away. */
static _Noreturn void be_neighbour(void) {
  char byte;
  alarm(60);
  prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
  for (int i = 0; i < N; i++) {
    held[i] = (unsigned char)(i * 7 + 1);
  }
  gone = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  munmap(gone, PAGE);
  atomic_store(&count, 5);
  const struct introduction i = {neighbour_card(), neighbour_offer(held, NULL),
                                 neighbour_offer(held, &count),
                                 neighbour_offer(gone, NULL)};
  say(from_child[1], &i, sizeof(i));
  while (read(to_child[0], &byte, 1) == 1) {
    atomic_fetch_add(&count, 1);
    say(from_child[1], &byte, 1);
  }
  _exit(0);
}

static void set_up(void) {
  ck_assert_int_eq(pipe(to_child), 0);
  ck_assert_int_eq(pipe(from_child), 0);
  child = fork();
  if (child == 0) {
    close(to_child[1]);
    be_neighbour();
  }
  hear(from_child[0], &other, sizeof(other));
  card[0] = neighbour_card();
  card[1] = other.card;
}

static void end_child(void) {
  close(to_child[1]);
  if (child) {
    ck_assert_int_eq(waitpid(child, NULL, 0), child);
  }
  child = 0;
}

static void tear_down(void) {
  end_child();
  neighbours_forget();
}

static void meet(void) {
  int error = 0;
  ck_assert(neighbours_meet(card, 2, 0, &error));
  ck_assert(neighbour(1));
  ck_assert(!neighbour(0));
}

START_TEST(memory_of_a_neighbour_is_read) {
  static unsigned char got[N];
  const uint64_t before = counter_get(net_read);
  meet();
  ck_assert(neighbour_read(1, &other.lasting, 0, got, N));
  for (int i = 0; i < N; i++) {
    ck_assert_uint_eq(got[i], (unsigned char)(i * 7 + 1));
  }
  ck_assert(neighbour_read(1, &other.counted, 4097, got, 3));
  for (int i = 0; i < 3; i++) {
    ck_assert_uint_eq(got[i], (unsigned char)((4097 + i) * 7 + 1));
  }
  ck_assert_uint_eq(counter_get(net_read), before + N + 3);
}
END_TEST

START_TEST(what_has_gone_away_is_refused) {
  unsigned char got[16];
  char byte = 1;
  meet();
  const uint64_t before = counter_get(net_read);
  ck_assert(!neighbour_read(1, &other.missing, 0, got, sizeof(got)));
  ck_assert(neighbour_read(1, &other.counted, 0, got, sizeof(got)));
  say(to_child[1], &byte, 1);
  hear(from_child[0], &byte, 1);
  ck_assert(!neighbour_read(1, &other.counted, 0, got, sizeof(got)));
  ck_assert(neighbour_read(1, &other.lasting, 0, got, sizeof(got)));
  end_child();
  ck_assert(!neighbour_read(1, &other.lasting, 0, got, sizeof(got)));
  ck_assert_uint_eq(counter_get(net_read), before + 2 * sizeof(got));
}
END_TEST

/* A process of the same number on another host; one whose memory is not what it
   says; and none at all. */
START_TEST(others_are_no_neighbours) {
  int error = 0;
  card[1].host++;
  ck_assert(neighbours_meet(card, 2, 0, &error));
  ck_assert(!neighbour(1));
  neighbours_forget();
  card[1] = other.card;
  card[1].word++;
  ck_assert(!neighbours_meet(card, 2, 0, &error));
  ck_assert_int_eq(error, ESRCH);
  ck_assert(!neighbour(1));
  neighbours_forget();
  card[1] = other.card;
  end_child();
  error = 0;
  ck_assert(!neighbours_meet(card, 2, 0, &error));
  ck_assert_int_ne(error, 0);
  ck_assert(!neighbour(1));
}
END_TEST

/* Nor is there any in a job of one process. */
START_TEST(one_process_has_none) {
  struct pems_error error;
  ck_assert_int_eq(neighbours_find(BETWEEN_READ, &error), 0);
  ck_assert(!neighbour(0));
}
END_TEST

START_TEST(an_offer_tells_when_it_was_made) {
  atomic_store(&count, 9);
  const struct neighbour_offer o = neighbour_offer(held, &count);
  ck_assert_uint_eq(o.at, (uintptr_t)held);
  ck_assert_uint_eq(o.count_at, (uintptr_t)&count);
  ck_assert_uint_eq(o.count, 9);
  ck_assert_uint_eq(neighbour_offer(held, NULL).count_at, 0);
}
END_TEST

int main(void) {
  Suite *const suite = suite_create("neighbour");
  TCase *const all = tcase_create("all");
  tcase_set_timeout(all, 120);
  tcase_add_checked_fixture(all, set_up, tear_down);
  tcase_add_test(all, memory_of_a_neighbour_is_read);
  tcase_add_test(all, what_has_gone_away_is_refused);
  tcase_add_test(all, others_are_no_neighbours);
  tcase_add_test(all, one_process_has_none);
  tcase_add_test(all, an_offer_tells_when_it_was_made);
  suite_add_tcase(suite, all);
  return check_run(suite);
}
