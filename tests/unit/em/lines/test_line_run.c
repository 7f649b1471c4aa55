/* Runs: what is read is what was written, with every codec and piece. */
#include "em/lines/line_run.h"

#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check_main.h"
#include "em/lines/line_slots.h"

enum { LINES = 4000, BLOCK = 16384 };

static struct pems_disks *disks;
static struct memory memory;
static struct pems_error error;

static void setup(void) {
  const struct pems_disks_options options = {.io = "mem"};
  ck_assert_int_eq(pems_disks_open(&disks, &options, &error), 0);
  memory_init(&memory, 64 << 20);
}

static void teardown(void) {
  ck_assert_uint_eq(memory.used, 0);
  memory_destroy(&memory);
  pems_disks_close(disks);
}

/* The i-th string and line. */
static size_t string_of(int i, unsigned char *to) {
  const int n = sprintf((char *)to, "a common beginning, then %07d", i / 3);
  const size_t tail = i % 1000 == 0 ? 40000 : (size_t)(i % 3);
  memset(to + n, 'z', tail);
  return (size_t)n + tail;
}

static size_t line_of(int i, unsigned char *to) {
  return (size_t)sprintf((char *)to, "line %*d", i % 50 + 1, i);
}

static void write_run(struct line_run *run) {
  static unsigned char before[50000], now[50000], line[100];
  struct line_run_out out;
  size_t before_n = 0;
  ck_assert_int_eq(line_run_begin(&out, run, &memory, &error), 0);
  for (int i = 0; i < LINES; i++) {
    const size_t n = string_of(i, now);
    const size_t common = line_slots_common(before, before_n, now, n, 0);
    ck_assert_int_eq(
        line_run_put(&out, now, n, common, line, line_of(i, line), &error), 0);
    memcpy(before, now, n);
    before_n = n;
  }
  ck_assert_int_eq(line_run_end(&out, &error), 0);
  line_run_out_free(&out);
}

static void read_run(struct line_run *run, size_t piece) {
  static unsigned char now[50000], line[100];
  struct line_run_in in;
  bool there;
  ck_assert_int_eq(line_run_open(&in, run, piece, &memory, &error), 0);
  for (int i = 0; i < LINES; i++) {
    ck_assert_int_eq(line_run_next(&in, &there, &error), 0);
    ck_assert(there);
    ck_assert_uint_eq(in.string_n, string_of(i, now));
    ck_assert_int_eq(memcmp(in.string, now, in.string_n), 0);
    if (!run->whole) {
      ck_assert_uint_eq(in.line_n, line_of(i, line));
      ck_assert_int_eq(memcmp(in.line, line, in.line_n), 0);
    }
  }
  ck_assert_int_eq(line_run_next(&in, &there, &error), 0);
  ck_assert(!there);
  line_run_in_free(&in);
}

START_TEST(what_is_written_is_read) {
  setup();
  for (int codec = LINE_CODEC_NONE; codec <= LINE_CODEC_ZSTD; codec++) {
    for (int whole = 0; whole < 2 && line_codec_there(codec); whole++) {
      for (size_t piece = 4096; piece <= BLOCK; piece *= 2) {
        struct line_run run = {.blocks = {.disks = disks, .size = BLOCK},
                               .codec = codec,
                               .whole = whole};
        write_run(&run);
        ck_assert_uint_eq(run.lines, LINES);
        ck_assert(!codec || run.blocks.bytes < run.raw / 2);
        read_run(&run, piece);
        line_run_free(&run);
      }
    }
  }
  teardown();
}
END_TEST

START_TEST(too_little_memory_is_told) {
  struct line_run_out out;
  struct line_run run = {.blocks = {.size = BLOCK}};
  setup();
  run.blocks.disks = disks;
  memory.limit = 4096;
  ck_assert_int_eq(line_run_begin(&out, &run, &memory, &error), ENOMEM);
  ck_assert(strstr(error.text, "give more") != NULL);
  line_run_out_free(&out);
  line_run_free(&run);
  teardown();
}
END_TEST

START_TEST(what_is_no_run_is_refused) {
  struct line_run run = {.blocks = {.disks = NULL, .size = BLOCK}};
  struct line_run_in in;
  bool there;
  setup();
  run.blocks.disks = disks;
  write_run(&run);
  run.string = 10; /* strings are longer than the run says */
  ck_assert_int_eq(line_run_open(&in, &run, BLOCK, &memory, &error), 0);
  ck_assert_int_eq(line_run_next(&in, &there, &error), EIO);
  line_run_in_free(&in);
  line_run_free(&run);
  teardown();
}
END_TEST

int main(void) {
  const TTest *const tests[] = {what_is_written_is_read,
                                too_little_memory_is_told,
                                what_is_no_run_is_refused, NULL};
  return check_main("line_run", tests);
}
