/* Pages of several contexts, put together and taken apart again. */
#define _GNU_SOURCE
#include "context/store/crate.h"

#include "check_main.h"

#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ROOM: what the disk has for crates of N contexts. */
enum { N = 9, KIB = 1 << 10, PAGE_BYTES = DISK_BLOCK, ROOM = N * 128 * KIB };

static char dir[64];
static struct disks *disks;
static struct context context[N];
static struct ranges keep[N];
static struct crate_move move[N];
static char *memory, *buffer; /* CRATE_MOST bytes of each; CRATE_BUFFER */

static void start(const char *io) {
  struct pems_error error;
  strcpy(dir, "/var/tmp/test_crate-XXXXXX");
  ck_assert_ptr_nonnull(mkdtemp(dir));
  const struct disks_options o = {.dirs = dir, .io = io};
  ck_assert_msg(disks_open(&disks, &o, N, 256 * KIB, &error) == 0, "%s",
                error.text);
  memory = aligned_alloc(PAGE_BYTES, N * CRATE_MOST);
  buffer = aligned_alloc(PAGE_BYTES, CRATE_BUFFER);
  crate_open(disks);
}

static void end(void) {
  for (int i = 0; i < N; i++) {
    crate_forget(&context[i]);
    ranges_free(&keep[i]);
  }
  crate_open(NULL);
  disks_close(disks);
  free(memory);
  free(buffer);
  ck_assert_int_eq(rmdir(dir), 0);
}

static char *memory_of(int i) {
  return memory + (size_t)i * CRATE_MOST;
}

/* Pages [from, to) of context i are to be kept. */
static void want(int i, int from, int to) {
  const uintptr_t at = (uintptr_t)memory_of(i);
  ck_assert_int_eq(ranges_add(&keep[i], at + (uintptr_t)from * PAGE_BYTES,
                              at + (uintptr_t)to * PAGE_BYTES),
                   0);
  memset(memory_of(i) + (size_t)from * PAGE_BYTES, 'a' + i,
         (size_t)(to - from) * PAGE_BYTES);
  move[i] =
      (struct crate_move){.c = &context[i], .keep = &keep[i], .asked = true};
}

static void expect(int i, int from, int to, char is) {
  for (int at = from * PAGE_BYTES; at < to * PAGE_BYTES; at++) {
    ck_assert_int_eq(memory_of(i)[at], is);
  }
}

START_TEST(few_pages_fit) {
  struct ranges some = {0};
  ck_assert(!crate_is_open());
  start("unix");
  ck_assert(crate_is_open());
  ck_assert(!crate_fits(&some));
  ck_assert_int_eq(ranges_add(&some, PAGE_BYTES, PAGE_BYTES + CRATE_MOST), 0);
  ck_assert(crate_fits(&some));
  crate_open(NULL);
  ck_assert(!crate_fits(&some));
  crate_open(disks);
  ck_assert_int_eq(ranges_add(&some, 0, PAGE_BYTES), 0);
  ck_assert(!crate_fits(&some));
  ranges_free(&some);
  end();
}
END_TEST

START_TEST(what_is_put_comes_back) {
  start("unix");
  for (int i = 0; i < N; i++) {
    want(i, 0, 1);
    want(i, 3, 5);
  }
  move[4].asked = false;
  ck_assert_int_eq(crate_put(move, N, buffer), 0);
  for (int i = 0; i < N; i++) {
    ck_assert_int_eq(move[i].done, i != 4);
    ck_assert_int_eq(crate_has(&context[i]), i != 4);
    ck_assert_uint_eq(crate_bytes(&context[i]), i != 4 ? 3 * PAGE_BYTES : 0);
  }
  memset(memory, 0, N * CRATE_MOST);
  ck_assert_int_eq(crate_get(move, N, buffer), 0);
  for (int i = 0; i < N; i++) {
    const char is = i == 4 ? 0 : (char)('a' + i);
    expect(i, 0, 1, is);
    expect(i, 1, 3, 0);
    expect(i, 3, 5, is);
    ck_assert(!crate_has(&context[i]));
  }
  end();
}
END_TEST

/* Each alone, in another order. */
START_TEST(more_than_the_buffer_goes_in_several_rows) {
  start("unix");
  for (int i = 0; i < N; i++) {
    want(i, 0, CRATE_MOST / PAGE_BYTES);
  }
  ck_assert_int_gt(N * CRATE_MOST, 2 * CRATE_BUFFER);
  ck_assert_int_eq(crate_put(move, N, buffer), 0);
  memset(memory, 0, N * CRATE_MOST);
  for (int i = N; i-- > 0;) {
    ck_assert(move[i].done);
    ck_assert_int_eq(crate_get(&move[i], 1, buffer), 0);
    expect(i, 0, CRATE_MOST / PAGE_BYTES, (char)('a' + i));
  }
  end();
}
END_TEST

/* Also across what of a context does not lie there. */
START_TEST(pieces_are_found_and_written) {
  struct disks_annexed where;
  bool there;
  start("unix");
  want(0, 0, 1);
  want(1, 0, 2);
  want(1, 4, 6);
  ck_assert_int_eq(crate_put(move, 2, buffer), 0);
  const uintptr_t at = (uintptr_t)memory_of(1), top = at + 8 * PAGE_BYTES;
  ck_assert_uint_eq(crate_piece(&context[1], at, top, &there, &where),
                    2 * PAGE_BYTES);
  ck_assert(there);
  const uint64_t first = where.at;
  ck_assert_uint_eq(
      crate_piece(&context[1], at + 2 * PAGE_BYTES, top, &there, &where),
      2 * PAGE_BYTES);
  ck_assert(!there);
  ck_assert_uint_eq(
      crate_piece(&context[1], at + 5 * PAGE_BYTES, top, &there, &where),
      PAGE_BYTES);
  ck_assert(there);
  ck_assert_uint_eq(where.at, first + 3 * PAGE_BYTES);
  memset(buffer, 'X', PAGE_BYTES);
  ck_assert_int_eq(crate_move_piece(true, where, buffer, PAGE_BYTES), 0);
  memset(buffer, 0, PAGE_BYTES);
  ck_assert_int_eq(crate_move_piece(false, where, buffer, PAGE_BYTES), 0);
  ck_assert_int_eq(buffer[PAGE_BYTES - 1], 'X');
  memset(memory, 0, N * CRATE_MOST);
  ck_assert_int_eq(crate_get(move, 2, buffer), 0);
  expect(0, 0, 1, 'a');
  expect(1, 0, 2, 'b');
  expect(1, 4, 5, 'b');
  expect(1, 5, 6, 'X');
  end();
}
END_TEST

/* Who is not put there lies where it always does. */
START_TEST(without_room_nothing_is_put) {
  struct disks_annexed all;
  start("unix");
  ck_assert_int_eq(disks_annex_take(disks, ROOM - 2 * PAGE_BYTES, &all), 0);
  want(0, 0, 2);
  want(1, 0, 1);
  ck_assert_int_eq(crate_put(move, 1, buffer), 0);
  ck_assert(move[0].done);
  ck_assert_int_eq(crate_put(move + 1, 1, buffer), 0);
  ck_assert(!move[1].done);
  ck_assert(!crate_has(&context[1]));
  crate_forget(&context[0]); /* its room is free */
  ck_assert(!crate_has(&context[0]));
  ck_assert_int_eq(crate_put(move + 1, 1, buffer), 0);
  ck_assert(move[1].done);
  end();
}
END_TEST

START_TEST(errors_of_disks_are_told) {
  start("fault:unix,write=1:EIO");
  want(0, 0, 1);
  ck_assert_int_eq(crate_put(move, 1, buffer), EIO);
  end();
  start("fault:unix,read=1:EIO");
  want(0, 0, 1);
  ck_assert_int_eq(crate_put(move, 1, buffer), 0);
  ck_assert_int_eq(crate_get(move, 1, buffer), EIO);
  ck_assert(crate_has(&context[0]));
  ck_assert_int_eq(crate_get(move, 1, buffer), 0);
  expect(0, 0, 1, 'a');
  end();
}
END_TEST

int main(void) {
  return check_main("crate",
                    (const TTest *[]){few_pages_fit, what_is_put_comes_back,
                                      more_than_the_buffer_goes_in_several_rows,
                                      pieces_are_found_and_written,
                                      without_room_nothing_is_put,
                                      errors_of_disks_are_told, NULL});
}
