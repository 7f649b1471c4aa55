/* A priority queue whose allocations fail, each in its turn. */
#include <pems/pqueue.h>

#include <check.h>
#include <errno.h>

#include "check_main.h"
#include "check_memory.h"

/* More than fit in memory. */
enum { RECORDS = 3 << 16, PIECE = 1 << 12 };

static uint64_t piece[PIECE];

static int push_all(struct pems_pqueue *q) {
  int code = 0;
  for (uint64_t i = 0; i < RECORDS && !code; i += PIECE) {
    for (uint64_t j = 0; j < PIECE; j++) {
      piece[j] = (i + j) * UINT64_C(0x9e3779b97f4a7c15);
    }
    code = pems_pqueue_push(q, piece, PIECE, NULL);
  }
  return code;
}

static int pop_all(struct pems_pqueue *q) {
  size_t n = PIECE, all = 0;
  int code = 0;
  while (!code && n) {
    code = pems_pqueue_bulk_pop(q, piece, PIECE, &n, NULL);
    all += code ? 0 : n;
  }
  ck_assert(code || all == RECORDS);
  return code;
}

static int use(void *arg) {
  struct pems_pqueue *q = NULL;
  int code = pems_pqueue_new(&q, arg, NULL);
  if (code) {
    ck_assert_ptr_null(q);
    return code;
  }
  code = push_all(q);
  code = code ? code : pop_all(q);
  pems_pqueue_free(q);
  return code;
}

START_TEST(a_priority_queue) {
  struct pems_pqueue_options o = {
      .record = {.size = 8, .key = PEMS_KEY_U64},
      .threads = 2,
      .scratch = {.io = "mem"},
      .block = 8192,
  };
  o.memory = pems_pqueue_least_memory(&o);
  memory_every(use, &o, ENOMEM, MEMORY_SPARED);
}
END_TEST

int main(void) {
  const TTest *const tests[] = {a_priority_queue, NULL};
  return check_main("pqueue_shortage", tests);
}
