/* Memory for chunks and bags. */
#include <check.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "tasks/pool.h"

#include "check_main.h"

static struct task_pool *pool;
static struct task_pool_part *part;

static void open_pool(size_t stride, int chunk, uint64_t limit) {
  pool = task_pool_new(stride, chunk, limit);
  ck_assert_ptr_nonnull(pool);
  part = task_pool_join(pool);
  ck_assert_ptr_nonnull(part);
}

static void close_pool(void) {
  task_pool_leave(part);
  task_pool_free(pool);
}

START_TEST(chunks_are_empty_and_apart) {
  enum { N = 500 };
  static struct task_chunk *chunk[N];
  for (int large = 0; large < 2; large++) {
    open_pool(24, 64, 0);
    for (int i = 0; i < N; i++) {
      struct task_chunk *const c = chunk[i] = task_chunk_new(part, large);
      ck_assert_ptr_nonnull(c);
      ck_assert_uint_eq(c->at, 0);
      ck_assert_uint_eq(c->n, 0);
      ck_assert_uint_eq(c->most, large ? 64 : 8);
      memset(c->record, i, c->most * 24);
    }
    for (int i = 0; i < N; i++) {
      for (size_t k = 0; k < chunk[i]->most * 24; k++) {
        ck_assert_uint_eq(((unsigned char *)chunk[i]->record)[k],
                          (unsigned char)i);
      }
    }
    close_pool();
  }
}
END_TEST

START_TEST(what_is_free_is_used_again) {
  open_pool(16, 64, 0);
  struct task_chunk *chunk[300];
  uint64_t bytes = 0;
  for (int round = 0; round < 10; round++) {
    for (int i = 0; i < 300; i++) {
      ck_assert_ptr_nonnull(chunk[i] = task_chunk_new(part, 1));
    }
    for (int i = 0; i < 300; i++) {
      chunk[i]->n = chunk[i]->at = 5;
      task_chunk_free(part, chunk[i]);
    }
    if (!round) {
      bytes = task_pool_bytes(pool);
    }
  }
  ck_assert_uint_eq(task_pool_bytes(pool), bytes);
  close_pool();
}
END_TEST

START_TEST(small_bags_of_one_task) {
  open_pool(16, 1, 0);
  for (int large = 0; large < 2; large++) {
    ck_assert_uint_eq(task_chunk_new(part, large)->most, 1);
  }
  close_pool();
}
END_TEST

START_TEST(a_limit_holds) {
  const uint64_t limit = 1 << 20;
  open_pool(16, 64, limit);
  uint64_t n = 0;
  struct task_chunk *chunk, *last = NULL;
  for (; (chunk = task_chunk_new(part, 1)); n++) {
    last = chunk;
  }
  ck_assert_uint_le(task_pool_bytes(pool), limit);
  ck_assert_uint_ge(task_pool_bytes(pool), limit - (64 << 10) - 64);
  ck_assert_uint_ge(n * (64 * 16 + 32), limit * 9 / 10 - (64 << 10));
  ck_assert_ptr_nonnull(task_chunk_beyond(part));
  ck_assert_ptr_nonnull(task_pool_keep(part, 128));
  ck_assert_uint_eq(task_pool_kept(pool), 128);
  task_chunk_free(part, last);
  while ((chunk = task_chunk_new(part, 1))) {
    if (chunk == last) {
      last = NULL;
    }
  }
  ck_assert_ptr_null(last);
  close_pool();
}
END_TEST

START_TEST(large_chunks_and_pieces) {
  open_pool(40, 4096, 0);
  for (int i = 0; i < 5; i++) {
    struct task_chunk *const chunk = task_chunk_new(part, 1);
    ck_assert_uint_eq(chunk->most, 4096);
    memset(chunk->record, 1, (size_t)4096 * 40);
  }
  void *const kept = task_pool_keep(part, (size_t)1 << 20);
  ck_assert_uint_eq((uintptr_t)kept % 64, 0);
  memset(kept, 1, (size_t)1 << 20);
  close_pool();
}
END_TEST

/* One thread makes chunks, another frees them: by batches they come back. */
enum { ROUNDS = 20000 };
static struct task_chunk *_Atomic hand;

static void *free_all(void *arg) {
  struct task_pool_part *const mine = arg;
  for (int i = 0; i < ROUNDS;) {
    struct task_chunk *const c = atomic_exchange(&hand, NULL);
    if (c) {
      task_chunk_free(mine, c);
      i++;
    }
  }
  return NULL;
}

START_TEST(chunks_go_round_between_threads) {
  open_pool(16, 64, 0);
  struct task_pool_part *const other = task_pool_join(pool);
  pthread_t thread;
  ck_assert_int_eq(pthread_create(&thread, NULL, free_all, other), 0);
  for (int i = 0; i < ROUNDS;) {
    if (!atomic_load(&hand)) {
      struct task_chunk *const c = task_chunk_new(part, 1);
      c->n = (uint32_t)i++;
      atomic_store(&hand, c);
    }
  }
  pthread_join(thread, NULL);
  ck_assert_uint_le(task_pool_bytes(pool), 512 << 10);
  task_pool_leave(other);
  close_pool();
}
END_TEST

int main(void) {
  Suite *const s = suite_create("pool");
  TCase *const t = tcase_create("pool");
  tcase_set_timeout(t, 60);
  tcase_add_test(t, chunks_are_empty_and_apart);
  tcase_add_test(t, what_is_free_is_used_again);
  tcase_add_test(t, small_bags_of_one_task);
  tcase_add_test(t, a_limit_holds);
  tcase_add_test(t, large_chunks_and_pieces);
  tcase_add_test(t, chunks_go_round_between_threads);
  suite_add_tcase(s, t);
  return check_run(s);
}
