#define _GNU_SOURCE
#include "disk/request.h"

#include <errno.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <unistd.h>

#include "os/clock.h"
#include "os/futex.h"

/* Of pems_request.state_, which C++ has to understand, too: so it is no atomic
   type, but is used by atomic operations only. */
enum { UNDER_WAY, DONE, AWAITED };

/* --- counts --- */

static uint64_t get(const _Atomic uint64_t *x) {
  return atomic_load_explicit(x, memory_order_relaxed);
}

static void add(_Atomic uint64_t *x, uint64_t n) {
  atomic_fetch_add_explicit(x, n, memory_order_relaxed);
}

void disk_tally_get(const struct disk_tally *t,
                    struct pems_disk_counts *counts) {
  *counts = (struct pems_disk_counts){
      .reads = get(&t->reads),
      .writes = get(&t->writes),
      .merged = get(&t->merged),
      .bytes_read = get(&t->bytes_read),
      .bytes_written = get(&t->bytes_written),
      .read_wait_ns = get(&t->read_wait_ns),
      .write_wait_ns = get(&t->write_wait_ns),
  };
}

void disk_tally_add(struct disk_tally *t, int write, uint64_t bytes,
                    int error) {
  if (!t) {
    return;
  }
  add(write ? &t->writes : &t->reads, 1);
  add(write ? &t->bytes_written : &t->bytes_read, error ? 0 : bytes);
}

/* --- waiting --- */

void disk_request_begin(struct pems_request *r, void *owner) {
  r->error = 0;
  r->served_ns_ = 0;
  r->next_ = NULL;
  r->owner_ = owner;
  __atomic_store_n(&r->state_, UNDER_WAY, __ATOMIC_RELAXED);
}

static void end(struct pems_request *r, int error) {
  r->error = error;
  if (__atomic_exchange_n(&r->state_, DONE, __ATOMIC_ACQ_REL) == AWAITED) {
    futex_wake_all(&r->state_);
  }
}

void disk_request_end(struct pems_request *r, int error) {
  if (r->done) {
    r->error = error;
    __atomic_store_n(&r->state_, DONE, __ATOMIC_RELEASE);
    r->done(r);
  } else {
    end(r, error);
  }
}

void disk_request_withdraw(struct pems_request *r) {
  end(r, ECANCELED);
}

bool disk_request_test(const struct pems_request *r) {
  return __atomic_load_n(&r->state_, __ATOMIC_ACQUIRE) == DONE;
}

static void wait_long(struct pems_request *r) {
  int state = UNDER_WAY;
  __atomic_compare_exchange_n(&r->state_, &state, AWAITED, 0, __ATOMIC_ACQ_REL,
                              __ATOMIC_ACQUIRE);
  while (!disk_request_test(r)) {
    futex_wait(&r->state_, AWAITED);
  }
}

int disk_request_wait(struct pems_request *r, struct disk_tally *tally) {
  if (!disk_request_test(r)) {
    const int write = r->write;
    const uint64_t begin = clock_ns();
    wait_long(r);
    add(write ? &tally->write_wait_ns : &tally->read_wait_ns,
        clock_ns() - begin);
  }
  return r->error;
}
