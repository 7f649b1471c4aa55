/* Groups on their way from rank to rank. What carries them is played. */
#include "mpi/comm/group_message.h"

#include <check.h>
#include <string.h>

#include "../check_shortage.h"
#include "base/message.h"
#include "check_child.h"
#include "check_main.h"

enum { PEER = 3, TAG = 17 };

static const char function[] = "MPI_Intercomm_create";
static int sent[8];
static size_t sent_n;

void __wrap_p2p_send_bytes(struct comm *comm, enum p2p_channel channel,
                           const void *bytes, size_t n, int peer, int tag,
                           const char *name);
void __wrap_p2p_receive_bytes(struct comm *comm, enum p2p_channel channel,
                              void *bytes, size_t n, int peer, int tag,
                              const char *name);

static void expect_route(const struct comm *comm, enum p2p_channel channel,
                         int peer, int tag, const char *name) {
  ck_assert_ptr_eq(comm, shortage_rank.world);
  ck_assert_int_eq(channel, CHANNEL_SPAWN);
  ck_assert_int_eq(peer, PEER);
  ck_assert_int_eq(tag, TAG);
  ck_assert_ptr_eq(name, function);
}

void __wrap_p2p_send_bytes(struct comm *comm, enum p2p_channel channel,
                           const void *bytes, size_t n, int peer, int tag,
                           const char *name) {
  expect_route(comm, channel, peer, tag, name);
  ck_assert_uint_le(n, sizeof(sent));
  memcpy(sent, bytes, n);
  sent_n = n;
}

void __wrap_p2p_receive_bytes(struct comm *comm, enum p2p_channel channel,
                              void *bytes, size_t n, int peer, int tag,
                              const char *name) {
  expect_route(comm, channel, peer, tag, name);
  ck_assert_uint_eq(n, sent_n);
  memcpy(bytes, sent, n);
}

static struct group_message route(void) {
  return (struct group_message){shortage_rank.world, CHANNEL_SPAWN, PEER, TAG,
                                function};
}

static void send(const int *world, int n) {
  const struct group_message m = route();
  struct group *const g = group_new(world, n);
  group_message_send(&m, g);
  group_release(g);
}

static void expect_group(const int *world, int n) {
  const struct group_message m = route();
  struct group *const g = group_message_receive(&m, n);
  ck_assert_int_eq(g->n, n);
  for (int i = 0; i < n; i++) {
    ck_assert_int_eq(g->world[i], world[i]);
  }
  group_release(g);
}

/* In its order. */
START_TEST(a_group_comes_as_it_was_sent) {
  static const int world[] = {2, 0, 3};
  const long live = atomic_load(&check_memory.live);
  send(world, 3);
  ck_assert_uint_eq(sent_n, sizeof(world));
  expect_group(world, 3);
  ck_assert_int_eq(atomic_load(&check_memory.live), live);
}
END_TEST

START_TEST(an_empty_group_is_a_group) {
  send((const int[]){0}, 0);
  ck_assert_uint_eq(sent_n, 0);
  expect_group(NULL, 0);
}
END_TEST

static int left; /* allocations that succeed */

static void receive_short(void) {
  const struct group_message m = route();
  memory_for(left);
  group_message_receive(&m, 3);
}

/* Others wait for this rank. */
START_TEST(a_shortage_ends_the_job) {
  char said[512];
  send((const int[]){2, 0, 3}, 3);
  for (left = 0; left < 2; left++) {
    ck_assert_int_eq(check_child_exit(receive_short, said, sizeof(said)),
                     MSG_FAILED);
    ck_assert_msg(strstr(said, "out of memory") != NULL, "%s", said);
    ck_assert_ptr_eq(strchr(said, '\n'), said + strlen(said) - 1);
  }
  left = 2;
  ck_assert_int_eq(check_child_exit(receive_short, said, sizeof(said)),
                   CHILD_RETURNED);
}
END_TEST

int main(void) {
  Suite *const suite = suite_create("group_message");
  TCase *const t = tcase_create("all");
  tcase_set_timeout(t, 60);
  tcase_add_checked_fixture(t, shortage_begin, shortage_end);
  tcase_add_test(t, a_group_comes_as_it_was_sent);
  tcase_add_test(t, an_empty_group_is_a_group);
  tcase_add_test(t, a_shortage_ends_the_job);
  suite_add_tcase(suite, t);
  return check_run(suite);
}
