/* Messages between processes where memory is short: nobody can be told, so the
   job ends, with a line that says why. The real MPI is played: all that it
   sends is sent at once. */
#define _GNU_SOURCE
#include <check.h>
#include <errno.h>
#include <stdatomic.h>
#include <string.h>

#include "check_main.h"
#include "check_need.h"
#include "mpi_below/real.h"
#include "net/am.h"
#include "net/deferred.h"
#include "net/jobs.h"
#include "net/outbox.h"
#include "os/thread.h"

int __wrap_net_size(void);
int __wrap_net_rank(void);
void __wrap_net_check(int code);
void __wrap_net_sum(uint64_t *x, int n);
void __wrap_wakeup_create_all(MPI_Comm comm);
void __wrap_wakeup_destroy_all(void);
void __wrap_wakeup_ring(int process);
uint32_t __wrap_wakeup_sleeps(void);
void __wrap_wakeup_wait(uint32_t heard, int64_t ns);
void __wrap_wakeup_wakes(void);
void __wrap_wakeup_call(void);
uint32_t __wrap_wakeup_rests(void);
void __wrap_lanes_create(MPI_Comm comm);
void __wrap_lanes_destroy(void);
int __real_thread_start(pthread_t *thread, void *run(void *), void *arg,
                        const struct thread_options *options);
int __wrap_thread_start(pthread_t *thread, void *run(void *), void *arg,
                        const struct thread_options *options);

int __wrap_net_size(void) {
  return 3;
}

int __wrap_net_rank(void) {
  return 0;
}

void __wrap_net_check(int code) {
  ck_assert_int_eq(code, MPI_SUCCESS);
}

/* Others have sent and handled nothing. */
void __wrap_net_sum(uint64_t *x, int n) {
  (void)x, (void)n;
}

void __wrap_wakeup_create_all(MPI_Comm comm) {
  (void)comm;
}

void __wrap_wakeup_destroy_all(void) {
}

void __wrap_wakeup_ring(int process) {
  (void)process;
}

uint32_t __wrap_wakeup_sleeps(void) {
  return 0;
}

void __wrap_wakeup_wait(uint32_t heard, int64_t ns) {
  (void)heard;
  usleep((useconds_t)(ns / 1000));
}

void __wrap_wakeup_wakes(void) {
}

void __wrap_wakeup_call(void) {
}

uint32_t __wrap_wakeup_rests(void) {
  return 0;
}

void __wrap_lanes_create(MPI_Comm comm) {
  (void)comm;
}

void __wrap_lanes_destroy(void) {
}

/* A thread needs memory, too. */
int __wrap_thread_start(pthread_t *thread, void *run(void *), void *arg,
                        const struct thread_options *options) {
  return memory_is_out() ? EAGAIN
                         : __real_thread_start(thread, run, arg, options);
}

/* --- jobs --- */

static atomic_int done;

static void job(void *arg) {
  atomic_fetch_add(&done, *(const int *)arg);
}

static void do_jobs(void) {
  static const int one = 1;
  for (int i = 0; i < 3; i++) {
    net_jobs_add(job, (void *)&one);
  }
  net_jobs_stop();
  if (atomic_load(&done) != 3) {
    _exit(NEED_LOST);
  }
}

START_TEST(a_job_is_done_or_the_job_ends) {
  ck_assert_int_ge(need_every(do_jobs), 3 + 1);
}
END_TEST

/* --- messages that are kept --- */

static bool take(enum am_kind kind, int process, uint64_t key,
                 const char *bytes, size_t n) {
  (void)kind, (void)process, (void)key;
  for (size_t i = 0; i < n; i++) {
    if (bytes[i] != (char)n) {
      _exit(NEED_LOST);
    }
  }
  return true;
}

static uint64_t bound;

static void keep(void) {
  char bytes[100];
  deferred_start(bound, "/var/tmp");
  for (size_t n = 1; n < sizeof(bytes); n += 10) {
    memset(bytes, (char)n, n);
    deferred_keep(AM_P2P, 1, n % 3, bytes, n);
  }
  deferred_offer(take);
  deferred_keep(AM_P2P, 1, 5, bytes, 1);
  deferred_drop();
  deferred_end();
}

/* In memory, and on disk. */
START_TEST(a_message_is_kept_or_the_job_ends) {
  bound = _i ? 0 : 1 << 20;
  ck_assert_int_ge(need_every(keep), 10);
}
END_TEST

/* --- messages on their way out --- */

static int send_now(const void *data, int n, MPI_Datatype type, int process,
                    int tag, MPI_Comm comm, MPI_Request *request) {
  (void)data, (void)n, (void)type, (void)process, (void)tag, (void)comm;
  *request = MPI_REQUEST_NULL;
  return MPI_SUCCESS;
}

/* Sends are done, receives never are. */
static int test_now(MPI_Request *request, int *flag, MPI_Status *status) {
  (void)status;
  *flag = *request == MPI_REQUEST_NULL;
  return MPI_SUCCESS;
}

static int test_some_now(int n, MPI_Request request[], int *count, int index[],
                         MPI_Status status[]) {
  (void)request, (void)status;
  for (int i = 0; i < n; i++) {
    index[i] = i;
  }
  *count = n;
  return MPI_SUCCESS;
}

static void send_some(void) {
  static char data[64 << 10];
  real.Isend = real.Issend = send_now;
  real.Test = test_now;
  real.Testsome = test_some_now;
  outbox_create(MPI_COMM_NULL);
  for (int i = 0; i < 4; i++) {
    outbox_send(1 + i % 2, AM_P2P, 7, "head", 4, data,
                i % 2 ? sizeof(data) : 10);
  }
  while (outbox_reap() || outbox_busy()) {
  }
  outbox_destroy();
}

START_TEST(a_message_is_sent_or_the_job_ends) {
  ck_assert_int_ge(need_every(send_some), 4 + 2);
}
END_TEST

/* --- the network as a whole --- */

static int receives; /* that are posted */

static int receive_later(void *data, int n, MPI_Datatype type, int process,
                         int tag, MPI_Comm comm, MPI_Request *request) {
  (void)data, (void)n, (void)type, (void)process, (void)tag, (void)comm;
  memset(request, 1, sizeof(*request));
  receives++;
  return MPI_SUCCESS;
}

static int cancel(MPI_Request *request) {
  (void)request;
  return MPI_SUCCESS;
}

static int wait_cancelled(MPI_Request *request, MPI_Status *status) {
  (void)request, (void)status;
  receives--;
  return MPI_SUCCESS;
}

static int comm_dup(MPI_Comm comm, MPI_Comm *new) {
  *new = comm;
  return MPI_SUCCESS;
}

static int set_errhandler(MPI_Comm comm, MPI_Errhandler handler) {
  (void)comm, (void)handler;
  return MPI_SUCCESS;
}

static int comm_free(MPI_Comm *comm) {
  *comm = MPI_COMM_NULL;
  return MPI_SUCCESS;
}

static void start_and_stop(void) {
  real.Comm_dup = comm_dup;
  real.Comm_set_errhandler = set_errhandler;
  real.Comm_free = comm_free;
  real.Irecv = receive_later;
  real.Test = test_now;
  real.Testsome = test_some_now;
  real.Cancel = cancel;
  real.Wait = wait_cancelled;
  am_start();
  am_stop();
  if (receives != 0) {
    _exit(NEED_LOST);
  }
}

/* Slots for what is received, four tables for what is sent, two threads. */
START_TEST(the_network_starts_or_the_job_ends) {
  ck_assert_int_ge(need_every(start_and_stop), 1 + 4 + 2);
}
END_TEST

int main(void) {
  Suite *const suite = suite_create("net_shortage");
  TCase *const all = tcase_create("all");
  tcase_set_timeout(all, 120);
  tcase_add_test(all, a_job_is_done_or_the_job_ends);
  tcase_add_loop_test(all, a_message_is_kept_or_the_job_ends, 0, 2);
  tcase_add_test(all, a_message_is_sent_or_the_job_ends);
  tcase_add_test(all, the_network_starts_or_the_job_ends);
  suite_add_tcase(suite, all);
  return check_run(suite);
}
