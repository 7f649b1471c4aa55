/* Streams of small things: what was written is read, and nothing else. */
#include "checkpoint/stream.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check_main.h"

enum { THINGS = 300000, LARGE = 3 << 20 };

static char dir[] = "/tmp/pems-stream.XXXXXX", path[64];
static char large[LARGE];

static void make(void) {
  ck_assert_ptr_nonnull(mkdtemp(dir));
  snprintf(path, sizeof(path), "%s/file", dir);
  for (int i = 0; i < LARGE; i++) {
    large[i] = (char)(i / 7);
  }
}

static void drop(void) {
  unlink(path);
  rmdir(dir);
}

/* A text, many numbers, something larger than a block, and names. */
static void write_file(void) {
  struct checkpoint_out o;
  struct checkpoint_writer w;
  struct checkpoint_sum sum;
  ck_assert_int_eq(checkpoint_create(&o, path, NULL), 0);
  checkpoint_write_begin(&w, &o, CHECKPOINT_MESSAGES, NULL);
  for (int i = 0; i < THINGS; i++) {
    checkpoint_write(&w, &i, sizeof(i));
  }
  checkpoint_write(&w, large, LARGE);
  checkpoint_write(&w, "", 0);
  checkpoint_write(&w, "ab", 2);
  ck_assert_int_eq(checkpoint_write_end(&w), 0);
  ck_assert_int_eq(checkpoint_put(&o, CHECKPOINT_NAMES, 0, "xyz", 3, NULL), 0);
  ck_assert_int_eq(checkpoint_finish(&o, &sum, NULL), 0);
  checkpoint_close(&o);
}

static void open_file(struct checkpoint_in *in, struct checkpoint_block *b,
                      struct checkpoint_reader *r, struct pems_error *error) {
  ck_assert_int_eq(checkpoint_open(in, path, NULL), 0);
  ck_assert_int_eq(checkpoint_next(in, b, NULL), 0);
  ck_assert_int_eq(b->kind, CHECKPOINT_MESSAGES);
  checkpoint_read_begin(r, in, b, error);
}

static void read_numbers(struct checkpoint_reader *r) {
  for (int i = 0; i < THINGS; i++) {
    int is;
    checkpoint_read(r, &is, sizeof(is));
    ck_assert_int_eq(is, i);
  }
}

START_TEST(what_was_written_is_read) {
  static char is[LARGE];
  struct checkpoint_in in;
  struct checkpoint_block b;
  struct checkpoint_reader r;
  make();
  write_file();
  open_file(&in, &b, &r, NULL);
  read_numbers(&r);
  checkpoint_read(&r, is, LARGE);
  ck_assert_mem_eq(is, large, LARGE);
  checkpoint_read(&r, is, 2);
  ck_assert_mem_eq(is, "ab", 2);
  ck_assert_int_eq(checkpoint_read_end(&r), 0);
  ck_assert_int_eq(b.kind, CHECKPOINT_NAMES);
  ck_assert_uint_eq(b.n, 3);
  checkpoint_shut(&in);
  drop();
}
END_TEST

START_TEST(too_much_and_too_little_are_told) {
  static char is[LARGE];
  struct checkpoint_in in;
  struct checkpoint_block b;
  struct checkpoint_reader r;
  struct pems_error error;
  make();
  write_file();
  open_file(&in, &b, &r, &error);
  read_numbers(&r);
  ck_assert_int_eq(checkpoint_read_end(&r), EILSEQ);
  ck_assert_ptr_nonnull(strstr(error.text, "more than it should"));
  checkpoint_shut(&in);
  open_file(&in, &b, &r, &error);
  read_numbers(&r);
  checkpoint_read(&r, is, LARGE);
  checkpoint_read(&r, is, 3);
  ck_assert_mem_eq(is, "\0\0", 3);
  ck_assert_ptr_nonnull(strstr(error.text, "lacks"));
  ck_assert_int_eq(checkpoint_read_end(&r), EILSEQ);
  checkpoint_shut(&in);
  drop();
}
END_TEST

/* What is left may be the end of the last block, or a whole one. */
START_TEST(little_that_is_left_is_told) {
  struct checkpoint_out o;
  struct checkpoint_in in;
  struct checkpoint_block b;
  struct checkpoint_reader r;
  struct checkpoint_sum sum;
  struct pems_error error;
  char is[8];
  make();
  ck_assert_int_eq(checkpoint_create(&o, path, NULL), 0);
  for (int i = 0; i < 2; i++) {
    ck_assert_int_eq(checkpoint_put(&o, CHECKPOINT_MESSAGES, 0, "abc", 3, NULL),
                     0);
  }
  ck_assert_int_eq(checkpoint_finish(&o, &sum, NULL), 0);
  checkpoint_close(&o);
  for (size_t n = 3; n <= 6; n++) {
    open_file(&in, &b, &r, &error);
    checkpoint_read(&r, is, n);
    ck_assert_mem_eq(is, "abcabc", n);
    ck_assert_int_eq(checkpoint_read_end(&r), n < 6 ? EILSEQ : 0);
    checkpoint_shut(&in);
  }
  drop();
}
END_TEST

START_TEST(the_first_error_stays) {
  struct checkpoint_in in;
  struct checkpoint_block b;
  struct checkpoint_reader r;
  struct pems_error error;
  int is = 7;
  make();
  write_file();
  open_file(&in, &b, &r, &error);
  checkpoint_read_strange(&r, "one");
  checkpoint_read_strange(&r, "two");
  checkpoint_read(&r, &is, sizeof(is));
  ck_assert_int_eq(is, 0);
  ck_assert_int_eq(checkpoint_read_end(&r), EILSEQ);
  ck_assert_ptr_nonnull(strstr(error.text, "one"));
  checkpoint_shut(&in);
  drop();
}
END_TEST

START_TEST(writing_that_fails_is_told) {
  struct checkpoint_out o;
  struct checkpoint_writer w;
  struct pems_error error;
  ck_assert_int_eq(checkpoint_create(&o, "/dev/full", NULL), 0);
  checkpoint_write_begin(&w, &o, CHECKPOINT_MESSAGES, &error);
  checkpoint_write(&w, large, LARGE);
  ck_assert_int_eq(w.code, ENOSPC);
  checkpoint_write(&w, large, 1);
  ck_assert_int_eq(checkpoint_write_end(&w), ENOSPC);
  checkpoint_close(&o);
}
END_TEST

int main(void) {
  const TTest *const tests[] = {
      what_was_written_is_read,    too_much_and_too_little_are_told,
      little_that_is_left_is_told, the_first_error_stays,
      writing_that_fails_is_told,  NULL};
  return check_main("stream", tests);
}
