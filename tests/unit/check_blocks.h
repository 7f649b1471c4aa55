/* A file of blocks for tests of what is in checkpoints: written first, and then
   read. */
#ifndef TESTS_CHECK_BLOCKS_H
#define TESTS_CHECK_BLOCKS_H

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "checkpoint/blocks.h"

static char blocks_dir[64], blocks_path[80];
static struct checkpoint_out blocks_out;
static struct checkpoint_in blocks_in;

static inline void blocks_begin(void) {
  snprintf(blocks_dir, sizeof(blocks_dir), "/tmp/pems-check.XXXXXX");
  ck_assert_ptr_nonnull(mkdtemp(blocks_dir));
  snprintf(blocks_path, sizeof(blocks_path), "%s/file", blocks_dir);
  ck_assert_int_eq(checkpoint_create(&blocks_out, blocks_path, NULL), 0);
}

/* What was put to blocks_out can be read from blocks_in now. */
static inline void blocks_turn(void) {
  struct checkpoint_sum sum;
  ck_assert_int_eq(checkpoint_finish(&blocks_out, &sum, NULL), 0);
  checkpoint_close(&blocks_out);
  ck_assert_int_eq(checkpoint_open(&blocks_in, blocks_path, NULL), 0);
}

/* Nothing is left to be read. */
static inline void blocks_end(void) {
  struct checkpoint_block b;
  ck_assert_int_eq(checkpoint_next(&blocks_in, &b, NULL), 0);
  ck_assert_int_eq(b.kind, CHECKPOINT_END);
  checkpoint_shut(&blocks_in);
  unlink(blocks_path);
  rmdir(blocks_dir);
}

#endif
