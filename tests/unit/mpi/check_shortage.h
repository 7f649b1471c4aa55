/* Allocations of pems that fail when the test wants it, and a rank to make MPI
   calls. Tests that include this are linked with --wrap for native_alloc,
   native_zalloc and native_free. */
#ifndef TESTS_MPI_CHECK_SHORTAGE_H
#define TESTS_MPI_CHECK_SHORTAGE_H

#include "base/self.h"
#include "mpi/object/attribute.h"
#include "mpi/object/comm.h"
#include "mpi/object/rank.h"
#include "vp/vp.h"

#include <check.h>
#include <stdbool.h>
#include <stddef.h>

void *__real_native_alloc(size_t n);
void *__real_native_zalloc(size_t count, size_t size);
void __real_native_free(void *p);
void *__wrap_native_alloc(size_t n);
void *__wrap_native_zalloc(size_t count, size_t size);
void __wrap_native_free(void *p);

static struct {
  int left;      /* allocations until one fails, or -1: none does */
  bool for_good; /* and so do all after it */
  bool struck;
  long live; /* blocks */
} shortage = {.left = -1};

static bool shortage_strikes(void) {
  if (shortage.left != 0) {
    shortage.left -= shortage.left > 0;
    return false;
  }
  shortage.left = shortage.for_good ? 0 : -1;
  shortage.struck = true;
  return true;
}

void *__wrap_native_alloc(size_t n) {
  if (shortage_strikes()) {
    return NULL;
  }
  shortage.live++;
  return __real_native_alloc(n);
}

void *__wrap_native_zalloc(size_t count, size_t size) {
  if (shortage_strikes()) {
    return NULL;
  }
  shortage.live++;
  return __real_native_zalloc(count, size);
}

void __wrap_native_free(void *p) {
  shortage.live -= p != NULL;
  __real_native_free(p);
}

/* A call that makes something, what ends that, and what frees things that are
   made at the first call and kept (or NULL). */
struct shortage_trial {
  int (*call)(void);
  void (*undo)(void);
  void (*settle)(void);
};

static void shortage_settle(const struct shortage_trial *t, long live) {
  if (t->settle) {
    t->settle();
  }
  ck_assert_int_eq(shortage.live, live);
}

static void shortage_work(const struct shortage_trial *t, long live) {
  ck_assert_int_eq(t->call(), MPI_SUCCESS);
  t->undo();
  shortage_settle(t, live);
}

/* False: the call has no allocation `n`. */
static bool shortage_at(const struct shortage_trial *t, int n, bool for_good) {
  const long live = shortage.live;
  shortage.struck = false;
  shortage.for_good = for_good;
  shortage.left = n;
  const int code = t->call();
  shortage.left = -1;
  if (shortage.struck) {
    ck_assert_int_eq(code, MPI_ERR_NO_MEM);
    shortage_settle(t, live);
    shortage_work(t, live);
    return true;
  }
  ck_assert_int_eq(code, MPI_SUCCESS);
  t->undo();
  shortage_settle(t, live);
  return false;
}

/* Every allocation of the call fails once, alone and with all that follow: each
   time the caller gets MPI_ERR_NO_MEM, nothing is left, and the next call
   works. */
static void shortage_everywhere(const struct shortage_trial *t) {
  for (int for_good = 0; for_good < 2; for_good++) {
    int n = 0;
    while (shortage_at(t, n, for_good)) {
      n++;
    }
    ck_assert_int_gt(n, 0);
  }
}

/* --- rank 0 of four; the others are in another process --- */

static int shortage_split[] = {0, 1, 4};
static struct vp shortage_vp;
static struct rank shortage_rank;

static void shortage_begin(void) {
  static const int world[] = {0, 1, 2, 3};
  vps = (struct vps){.item = &shortage_vp, .n = 1, .split = shortage_split};
  vps.plan.v = 4;
  vps.plan.nprocs = 2;
  shortage_rank = (struct rank){.vp = &shortage_vp};
  shortage_vp.mpi = &shortage_rank;
  self.vp = &shortage_vp;
  self.inside = 1;
  shortage_rank.world = comm_new(&shortage_rank, 1, world, 4, 4, 0);
  shortage_rank.self = comm_new(&shortage_rank, 2, world, 1, 1, 0);
  shortage_rank.world->errhandler.handle = MPI_ERRORS_RETURN;
}

static void shortage_end(void) {
  comm_free(shortage_rank.world);
  comm_free(shortage_rank.self);
  attribute_end(&shortage_rank);
  ck_assert_int_eq(shortage.live, 0);
}

#endif
