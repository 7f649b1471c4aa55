/* A part of a rank's file in a checkpoint, written and read anew. */
#ifndef TESTS_MPI_CHECK_KEPT_H
#define TESTS_MPI_CHECK_KEPT_H

#include "checkpoint/stream.h"

#include <check.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char kept_path[32];

/* Writes what f does, and what `more`, which may be NULL, puts behind it. */
static inline void kept_save(void (*f)(struct checkpoint_writer *to),
                             int (*more)(struct checkpoint_out *o)) {
  struct checkpoint_out o;
  struct checkpoint_writer w;
  struct checkpoint_sum sum;
  strcpy(kept_path, "/tmp/pems-kept.XXXXXX");
  close(mkstemp(kept_path));
  ck_assert_int_eq(checkpoint_create(&o, kept_path, NULL), 0);
  checkpoint_write_begin(&w, &o, CHECKPOINT_MESSAGES, NULL);
  f(&w);
  ck_assert_int_eq(checkpoint_write_end(&w), 0);
  ck_assert_int_eq(more ? more(&o) : 0, 0);
  ck_assert_int_eq(checkpoint_finish(&o, &sum, NULL), 0);
  checkpoint_close(&o);
}

/* Reads it: what came of that. */
static inline int kept_read(void (*f)(struct checkpoint_reader *from)) {
  struct checkpoint_in in;
  struct checkpoint_block b;
  struct checkpoint_reader r;
  struct pems_error error;
  ck_assert_int_eq(checkpoint_open(&in, kept_path, NULL), 0);
  ck_assert_int_eq(checkpoint_next(&in, &b, NULL), 0);
  checkpoint_read_begin(&r, &in, &b, &error);
  f(&r);
  const int code = checkpoint_read_end(&r);
  ck_assert(code || b.kind == CHECKPOINT_END || b.kind == CHECKPOINT_MEMORY);
  checkpoint_shut(&in);
  return code;
}

/* The same, and all must be right; the file is gone then. */
static inline void kept_load(void (*f)(struct checkpoint_reader *from)) {
  ck_assert_int_eq(kept_read(f), 0);
  unlink(kept_path);
}

#endif
