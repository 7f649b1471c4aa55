/* Messages on their way out, with a real MPI that is played here: it is done
   with a send when the test says so. Linked with --wrap for what there is of
   other processes. */
#define _GNU_SOURCE
#include "net/outbox.h"

#include <check.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "check_main.h"
#include "mpi_below/real.h"
#include "net/lanes.h"
#include "net/wakeup.h"

int __wrap_net_size(void);
int __wrap_net_rank(void);
void __wrap_net_check(int code);
void __wrap_wakeup_ring(int process);
bool __wrap_lanes_lead_to(int process);
bool __wrap_lanes_take(size_t n);
bool __wrap_lanes_send(int process, const struct lane_wire *w,
                       const void *header, size_t header_n, const void *data,
                       size_t n);
bool __wrap_lanes_mark(int process);

enum { FLYING = 8, TRUSTED = 16, MOST = 4096, PROCESSES = 3 };

static struct sent {
  int process;
  bool checked, done, told;
  struct outbox_wire wire;
  unsigned char first, last;
} sent[MOST];
static int n_sent, rings[PROCESSES];
static bool small_are_done; /* at once */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

int __wrap_net_size(void) {
  return PROCESSES;
}

int __wrap_net_rank(void) {
  return 0;
}

void __wrap_net_check(int code) {
  ck_assert_int_eq(code, MPI_SUCCESS);
}

void __wrap_wakeup_ring(int process) {
  pthread_mutex_lock(&lock);
  rings[process]++;
  pthread_mutex_unlock(&lock);
}

/* A lane to process 1, or none. What was put there: keys, MARK for what goes by
   the MPI. */
enum { SHORT = 100, MARK = -1 };
static bool has_lane;
static int lane[MOST], in_lane, lane_room;

bool __wrap_lanes_lead_to(int process) {
  return has_lane && process == 1;
}

bool __wrap_lanes_take(size_t n) {
  return n <= SHORT;
}

static bool put(int what) {
  const bool room = in_lane < lane_room;
  if (room) {
    lane[in_lane++] = what;
  }
  return room;
}

bool __wrap_lanes_send(int process, const struct lane_wire *w,
                       const void *header, size_t header_n, const void *data,
                       size_t n) {
  (void)header, (void)data;
  ck_assert_int_eq(process, 1);
  ck_assert_uint_eq(header_n + n, w->n);
  return put((int)w->key);
}

bool __wrap_lanes_mark(int process) {
  ck_assert_int_eq(process, 1);
  return put(MARK);
}

static int send_it(const void *data, int n, int process, bool checked,
                   MPI_Request *request) {
  pthread_mutex_lock(&lock);
  ck_assert_int_lt(n_sent, MOST);
  struct sent *const s = &sent[n_sent++];
  *s = (struct sent){.process = process, .checked = checked};
  memcpy(&s->wire, data, sizeof(s->wire));
  ck_assert_int_eq(n, (int)(sizeof(s->wire) + s->wire.n));
  if (s->wire.n > 0) {
    s->first = ((const unsigned char *)data)[sizeof(s->wire)];
    s->last = ((const unsigned char *)data)[n - 1];
  }
  *request = (MPI_Request)(intptr_t)n_sent;
  pthread_mutex_unlock(&lock);
  return MPI_SUCCESS;
}

static int isend(const void *data, int n, MPI_Datatype type, int process,
                 int tag, MPI_Comm comm, MPI_Request *request) {
  (void)type;
  (void)tag;
  (void)comm;
  return send_it(data, n, process, false, request);
}

static int issend(const void *data, int n, MPI_Datatype type, int process,
                  int tag, MPI_Comm comm, MPI_Request *request) {
  (void)type;
  (void)tag;
  (void)comm;
  return send_it(data, n, process, true, request);
}

static struct sent *sent_of(MPI_Request request) {
  return &sent[(intptr_t)request - 1];
}

static int test(MPI_Request *request, int *done, MPI_Status *status) {
  (void)status;
  pthread_mutex_lock(&lock);
  struct sent *const s = sent_of(*request);
  *done = s->told = s->done = small_are_done;
  pthread_mutex_unlock(&lock);
  return MPI_SUCCESS;
}

static int test_some(int n, MPI_Request request[], int *done, int index[],
                     MPI_Status status[]) {
  (void)status;
  *done = 0;
  pthread_mutex_lock(&lock);
  for (int i = 0; i < n; i++) {
    struct sent *const s = sent_of(request[i]);
    ck_assert(!s->told); /* it is not asked about again */
    if (s->done) {
      s->told = true;
      index[(*done)++] = i;
    }
  }
  pthread_mutex_unlock(&lock);
  return MPI_SUCCESS;
}

static void all_done(void) {
  for (int i = 0; i < n_sent; i++) {
    sent[i].done = true;
  }
}

static void set_up(void) {
  real.Isend = isend;
  real.Issend = issend;
  real.Test = test;
  real.Testsome = test_some;
  n_sent = 0;
  small_are_done = false;
  has_lane = false;
  in_lane = 0;
  lane_room = MOST;
  memset(rings, 0, sizeof(rings));
  outbox_create(MPI_COMM_NULL);
}

static void tear_down(void) {
  do {
    all_done();
  } while (outbox_reap() || outbox_busy());
  outbox_destroy();
}

static void send_key(int process, uint64_t key) {
  const unsigned char header[4] = {(unsigned char)key};
  const unsigned char data[3] = {0, 0, (unsigned char)~key};
  outbox_send(process, AM_P2P, key, header, sizeof(header), data, sizeof(data));
}

/* The messages of a process have the keys 0, 1, ... and what belongs to them.
 */
static void expect(int process, int n) {
  uint64_t key = 0;
  for (int i = 0; i < n_sent; i++) {
    if (sent[i].process == process) {
      ck_assert_uint_eq(sent[i].wire.key, key);
      ck_assert_int_eq((int)sent[i].wire.kind, AM_P2P);
      ck_assert_uint_eq(sent[i].wire.n, 7);
      ck_assert_uint_eq(sent[i].first, (unsigned char)key);
      ck_assert_uint_eq(sent[i].last, (unsigned char)~key);
      key++;
    }
  }
  ck_assert_uint_eq(key, n);
}

START_TEST(so_many_are_under_way_the_others_queue) {
  for (int i = 0; i < 20; i++) {
    send_key(1, i);
  }
  expect(1, FLYING);
  ck_assert(outbox_busy());
  send_key(2, 0); /* another process has room */
  expect(2, 1);
  ck_assert(!outbox_reap());
  sent[3].done = true; /* not the first */
  ck_assert(outbox_reap());
  expect(1, FLYING + 1);
  for (int i = 0; i < 3; i++) {
    all_done();
    ck_assert(outbox_reap());
  }
  expect(1, 20);
  expect(2, 1);
  ck_assert(!outbox_busy());
  ck_assert(!outbox_reap());
  ck_assert_int_eq(rings[1], 20);
  ck_assert_int_eq(rings[2], 1);
}
END_TEST

START_TEST(what_is_done_at_once_is_not_under_way) {
  small_are_done = true;
  for (int i = 0; i < TRUSTED - 1; i++) {
    send_key(1, i);
  }
  expect(1, TRUSTED - 1);
  ck_assert(!outbox_busy());
}
END_TEST

/* Else the real MPI would keep any number of them. */
START_TEST(some_must_arrive) {
  static char large[64 << 10];
  small_are_done = true;
  for (int i = 0; i < 3 * TRUSTED; i++) {
    send_key(1, i);
    ck_assert_int_eq(sent[i].checked, i % TRUSTED == TRUSTED - 1);
  }
  ck_assert(outbox_busy());
  const int before = n_sent;
  outbox_send(1, AM_P2P, 0, "", 0, large, sizeof(large));
  ck_assert(sent[before].checked);
  send_key(1, 0);
  ck_assert(!sent[before + 1].checked);
}
END_TEST

START_TEST(what_is_posted_is_sent_later) {
  outbox_post(1, AM_BOX, 5, "abc", 3, NULL, 0);
  outbox_post(2, AM_BOX, 6, "", 0, NULL, 0);
  ck_assert_int_eq(n_sent, 0);
  ck_assert(outbox_busy());
  outbox_launch();
  ck_assert_int_eq(n_sent, 2);
  ck_assert_uint_eq(sent[0].wire.key, 5);
  ck_assert_uint_eq(sent[0].last, 'c');
  ck_assert_uint_eq(sent[1].wire.n, 0);
  outbox_post(1, AM_BOX, 7, "", 0, NULL, 0);
  ck_assert_int_eq(n_sent, 2);
  outbox_reap();
  ck_assert_int_eq(n_sent, 3);
}
END_TEST

START_TEST(they_are_counted) {
  uint64_t sent_before, ended_before, now, ended;
  outbox_counts(&sent_before, &ended_before);
  const uint64_t active = outbox_active();
  send_key(1, 0);
  outbox_post(1, AM_P2P, 1, "", 0, NULL, 0);
  outbox_counts(&now, &ended);
  ck_assert_uint_eq(now, sent_before + 2);
  ck_assert_uint_eq(ended, ended_before);
  ck_assert_uint_gt(outbox_active(), active);
}
END_TEST

/* --- lanes --- */

static void send_large(uint64_t key) {
  static char large[SHORT + 1];
  outbox_send(1, AM_P2P, key, "", 0, large, sizeof(large));
}

START_TEST(what_is_short_goes_by_the_lane) {
  has_lane = true;
  send_key(1, 0);
  ck_assert(!outbox_post(1, AM_P2P, 1, "", 0, NULL, 0));
  send_key(2, 0);
  ck_assert_int_eq(in_lane, 2);
  ck_assert_int_eq(lane[1], 1);
  ck_assert_int_eq(rings[1], 2);
  ck_assert_int_eq(n_sent, 1);
  ck_assert_int_eq(sent[0].process, 2);
}
END_TEST

/* The mark is there before the message is sent. */
START_TEST(the_others_leave_a_mark) {
  has_lane = true;
  small_are_done = true;
  send_key(1, 0);
  send_large(1);
  send_key(1, 2);
  send_large(3);
  const int want[] = {0, MARK, 2, MARK};
  ck_assert_int_eq(in_lane, 4);
  ck_assert_mem_eq(lane, want, sizeof(want));
  ck_assert_int_eq(n_sent, 2);
}
END_TEST

/* Where large ones wait for their turn, short ones stay behind them. */
START_TEST(nothing_overtakes_what_waits) {
  has_lane = true;
  for (int i = 0; i < FLYING + 2; i++) {
    send_large(i);
  }
  send_key(1, 100);
  ck_assert(outbox_post(1, AM_P2P, 101, "", 0, NULL, 0));
  ck_assert_int_eq(in_lane, FLYING);
  all_done();
  ck_assert(outbox_reap());
  ck_assert_int_eq(n_sent, FLYING + 2);
  ck_assert_int_eq(in_lane, FLYING + 4);
  ck_assert_int_eq(lane[FLYING + 1], MARK);
  ck_assert_int_eq(lane[FLYING + 2], 100);
  ck_assert_int_eq(lane[FLYING + 3], 101);
  send_key(1, 102);
  ck_assert_int_eq(lane[FLYING + 4], 102);
}
END_TEST

START_TEST(a_full_lane_is_tried_again) {
  has_lane = true;
  lane_room = 3;
  for (int i = 0; i < 5; i++) {
    send_key(1, i);
  }
  send_large(5);
  ck_assert_int_eq(in_lane, 3);
  ck_assert(outbox_busy());
  outbox_reap();
  ck_assert_int_eq(in_lane, 3);
  lane_room = 5;
  outbox_reap();
  ck_assert_int_eq(in_lane, 5);
  ck_assert_int_eq(n_sent, 0); /* there was no mark */
  ck_assert(outbox_busy());
  lane_room = 10;
  outbox_reap();
  send_key(1, 6);
  const int want[] = {0, 1, 2, 3, 4, MARK, 6};
  ck_assert_int_eq(in_lane, 7);
  ck_assert_mem_eq(lane, want, sizeof(want));
  ck_assert_int_eq(n_sent, 1);
}
END_TEST

/* --- threads --- */

static int parts_left;

static size_t next_part(struct am_stream *s, char *out) {
  ck_assert_int_eq(s->process, 1);
  memset(out, parts_left, AM_LARGEST);
  return parts_left-- > 0 ? AM_LARGEST : 0;
}

START_TEST(a_stream_is_sent_in_parts) {
  enum { PARTS = 5 };
  struct am_stream stream = {
      .process = 1, .kind = AM_CROSS, .key = 9, .next = next_part};
  uint64_t before, ended_before, now, ended;
  pthread_t sender;
  outbox_counts(&before, &ended_before);
  parts_left = PARTS;
  outbox_stream_start(&stream);
  outbox_end(); /* when none is left */
  ck_assert_int_eq(pthread_create(&sender, NULL, outbox_sender, NULL), 0);
  pthread_join(sender, NULL);
  outbox_counts(&now, &ended);
  ck_assert_int_eq(n_sent, PARTS);
  ck_assert_uint_eq(ended - ended_before, 1);
  ck_assert_uint_eq(now - before, PARTS + 1);
  for (int i = 0; i < PARTS; i++) {
    ck_assert_uint_eq(sent[i].wire.key, 9);
    ck_assert_uint_eq(sent[i].wire.n, AM_LARGEST);
    ck_assert_uint_eq(sent[i].last, PARTS - i);
  }
}
END_TEST

static _Atomic int waiting;

static void *wait_for_room(void *arg) {
  outbox_wait_room(1);
  waiting = 0;
  return arg;
}

START_TEST(who_sends_much_waits) {
  static char large[AM_LARGEST];
  const struct timespec doze = {0, 20000000};
  pthread_t waiter;
  outbox_wait_room(1); /* there is */
  for (int i = 0; i < FLYING + 6; i++) {
    outbox_send(1, AM_P2P, i, "", 0, large, sizeof(large));
  }
  ck_assert_int_eq(n_sent, FLYING);
  outbox_wait_room(2);
  waiting = 1;
  ck_assert_int_eq(pthread_create(&waiter, NULL, wait_for_room, NULL), 0);
  nanosleep(&doze, NULL);
  ck_assert_int_eq(waiting, 1);
  pthread_mutex_lock(&lock);
  sent[0].done = sent[1].done = true;
  pthread_mutex_unlock(&lock);
  pthread_join(waiter, NULL);
  ck_assert_int_eq(n_sent, FLYING + 2);
}
END_TEST

int main(void) {
  const TTest *const tests[] = {
      so_many_are_under_way_the_others_queue,
      what_is_done_at_once_is_not_under_way,
      some_must_arrive,
      what_is_posted_is_sent_later,
      they_are_counted,
      what_is_short_goes_by_the_lane,
      the_others_leave_a_mark,
      nothing_overtakes_what_waits,
      a_full_lane_is_tried_again,
      a_stream_is_sent_in_parts,
      who_sends_much_waits,
      NULL,
  };
  return check_main_around("outbox", tests, set_up, tear_down);
}
