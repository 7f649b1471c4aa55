/* Sorted records that are written as a run, from where they are and by way of
   blocks; and disks that fail. */
#include "em/sort/sorted_buffer.h"

#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "check_main.h"

enum { N = 100000, BLOCK = 8192, MOST = N * 24 + 2 * BLOCK };

/* What is sorted: in place where a block holds whole records. */
static const struct {
  const char *kernel;
  size_t size;
  int in_place;
} kinds[] = {{"word", 8, 1}, {"tree", 8, 0}, {"pointer", 24, 0}};
enum { KINDS = sizeof(kinds) / sizeof(*kinds) };

static struct sort s;
static struct sorted_buffer b;
static struct sorted_blocks blocks;
static size_t requests_bytes;

/* The numbers, sorted, of that kind. */
static void begin(int kind, const char *io) {
  const struct pems_sort_options o = {
      .record = {.size = kinds[kind].size, .key = PEMS_KEY_U64},
      .memory = (uint64_t)32 << 20,
      .threads = 2,
      .block = BLOCK,
      .scratch = {.io = io},
      .kernel = kinds[kind].kernel,
  };
  struct pems_error e = {0};
  uint64_t random = 1;
  ck_assert_msg(sort_begin(&s, &o, &e) == 0, "%s", e.text);
  sort_phase_begin(&s, s.o.memory);
  ck_assert_int_eq(s.plan.in_place, kinds[kind].in_place);
  ck_assert_uint_ge(s.plan.per_run, N);
  b = (struct sorted_buffer){.first = memory_get(&s.memory, MOST), .n = N};
  blocks = (struct sorted_blocks){0};
  b.work = memory_get(&s.memory, s.plan.sort_work);
  requests_bytes = sorted_buffer_blocks(&b, &s) * sizeof(*b.request);
  b.request = memory_get(&s.memory, requests_bytes);
  ck_assert(b.first && b.work && b.request);
  for (size_t i = 0; i < N; i++) {
    random = random * UINT64_C(6364136223846793005) + 1;
    memset(b.first + i * o.record.size, (int)i, o.record.size);
    memcpy(b.first + i * o.record.size, &random, sizeof(random));
  }
  s.kernel->sort(&s.o.record, s.team, b.first, N, b.work);
  ck_assert_int_eq(sorted_blocks_new(&blocks, &s), 0);
}

static void end(void) {
  sorted_blocks_free(&blocks, &s);
  memory_put(&s.memory, b.first, MOST);
  memory_put(&s.memory, b.work, s.plan.sort_work);
  memory_put(&s.memory, b.request, requests_bytes);
  sort_phase_end(&s, &s.counts.form);
  sort_end(&s);
}

static int wait_all(struct pems_error *e) {
  const int failed = sorted_buffer_wait(&b, &s, b.requests, e);
  const int later = sorted_blocks_wait(&blocks, &s, failed ? NULL : e);
  return failed ? failed : later;
}

/* Block i of the run, read back, is records [done, done + n) of the buffer. */
static size_t check_block(size_t i, size_t done, char *read, char *want) {
  const size_t size = s.o.record.size;
  const size_t n = run_block_records(&s.runs, b.run, i);
  struct pems_request r = {
      .block = b.run->at[i], .buf = read, .n = run_bytes(&s.runs, n)};
  struct pems_request *const list = &r;
  pems_disks_start(s.disks, &list, 1);
  ck_assert_int_eq(pems_request_wait(s.disks, &r), 0);
  sorted_buffer_copy(&b, &s, done, n, want);
  ck_assert_msg(memcmp(read, want, n * size) == 0, "block %zu", i);
  ck_assert_mem_eq(want, b.run->least + i * size, size);
  return n;
}

START_TEST(what_is_read_is_what_was_sorted) {
  struct pems_error e = {0};
  begin(_i, "mem");
  char *const read = aligned_alloc(4096, BLOCK), *const want = malloc(BLOCK);
  ck_assert_msg(sorted_buffer_write(&b, &s, &blocks, &e) == 0, "%s", e.text);
  ck_assert_int_eq(b.requests > 0, kinds[_i].in_place);
  ck_assert_int_eq(wait_all(&e), 0);
  ck_assert_uint_eq(b.requests, 0);
  ck_assert_uint_eq(b.run->records, N);
  ck_assert_uint_eq(b.run->blocks, sorted_buffer_blocks(&b, &s));
  size_t done = 0;
  for (size_t i = 0; i < b.run->blocks; i++) {
    done += check_block(i, done, read, want);
  }
  ck_assert_uint_eq(done, N);
  free(read);
  free(want);
  end();
}
END_TEST

START_TEST(parts_are_waited_for) {
  struct pems_error e = {0};
  begin(0, "mem");
  ck_assert_int_eq(sorted_buffer_write(&b, &s, &blocks, &e), 0);
  const size_t count = b.requests;
  ck_assert_uint_eq(count, sorted_buffer_blocks(&b, &s));
  ck_assert_int_eq(sorted_buffer_wait(&b, &s, 3, &e), 0);
  ck_assert_uint_eq(b.waited, 3);
  ck_assert_int_eq(sorted_buffer_wait(&b, &s, 2, &e), 0); /* they are */
  ck_assert_uint_eq(b.waited, 3);
  ck_assert_uint_eq(b.requests, count);
  ck_assert_int_eq(sorted_buffer_wait(&b, &s, count + 9, &e), 0);
  ck_assert_uint_eq(b.waited, 0);
  ck_assert_uint_eq(b.requests, 0);
  end();
}
END_TEST

/* Where blocks are used again it is noticed while writing, else at the end. */
START_TEST(a_disk_that_fails_is_told) {
  struct pems_error e = {0};
  begin(_i, "fault:mem,write=1:EIO");
  int failed = sorted_buffer_write(&b, &s, &blocks, &e);
  struct pems_error later;
  const int after = wait_all(failed ? &later : &e);
  failed = failed ? failed : after;
  ck_assert_int_eq(failed, EIO);
  ck_assert_int_eq(e.code, EIO);
  ck_assert_ptr_nonnull(strstr(e.text, "writing a run"));
  end();
}
END_TEST

int main(void) {
  Suite *const suite = suite_create("sorted_buffer");
  TCase *const all = tcase_create("all");
  tcase_set_timeout(all, 60);
  tcase_add_loop_test(all, what_is_read_is_what_was_sorted, 0, KINDS);
  tcase_add_test(all, parts_are_waited_for);
  tcase_add_loop_test(all, a_disk_that_fails_is_told, 0, KINDS);
  suite_add_tcase(suite, all);
  return check_run(suite);
}
