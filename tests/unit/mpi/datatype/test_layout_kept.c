/* Layouts as bytes and back. */
#include "mpi/datatype/layout_kept.h"

#include <stdlib.h>
#include <unistd.h>

#include "check_main.h"

static char path[] = "/tmp/pems-layout.XXXXXX";

static const struct layout_segment segments[] = {{-8, 4, 0}, {16, 12, 4}};

static void save(const struct layout *layout, int damage) {
  struct checkpoint_out o;
  struct checkpoint_writer w;
  struct checkpoint_sum sum;
  close(mkstemp(path));
  ck_assert_int_eq(checkpoint_create(&o, path, NULL), 0);
  checkpoint_write_begin(&w, &o, CHECKPOINT_MESSAGES, NULL);
  if (damage) {
    const uint64_t many[] = {1, 0, 0, UINT64_MAX};
    checkpoint_write(&w, many, sizeof(many));
  } else {
    layout_kept_save(layout, &w);
    layout_kept_save(NULL, &w);
  }
  ck_assert_int_eq(checkpoint_write_end(&w), 0);
  ck_assert_int_eq(checkpoint_finish(&o, &sum, NULL), 0);
  checkpoint_close(&o);
}

static void open_file(struct checkpoint_in *in, struct checkpoint_block *b,
                      struct checkpoint_reader *r) {
  ck_assert_int_eq(checkpoint_open(in, path, NULL), 0);
  ck_assert_int_eq(checkpoint_next(in, b, NULL), 0);
  checkpoint_read_begin(r, in, b, NULL);
}

static void close_file(struct checkpoint_in *in, struct checkpoint_reader *r,
                       int code) {
  ck_assert_int_eq(checkpoint_read_end(r), code);
  checkpoint_shut(in);
  unlink(path);
}

START_TEST(a_layout_and_none) {
  struct checkpoint_in in;
  struct checkpoint_block b;
  struct checkpoint_reader r;
  const struct layout *const layout = layout_again(-8, 40, segments, 2);
  save(layout, 0);
  open_file(&in, &b, &r);
  const struct layout *const again = layout_kept_load(&r);
  ck_assert_ptr_eq(again, layout); /* those that look alike are one */
  ck_assert_ptr_null(layout_kept_load(&r));
  close_file(&in, &r, 0);
  layout_release(again);
  ck_assert_int_eq((int)layout->extent, 40);
  ck_assert_uint_eq(layout->segments[1].len, 12);
  layout_release(layout);
}
END_TEST

START_TEST(one_that_is_made_anew) {
  struct checkpoint_in in;
  struct checkpoint_block b;
  struct checkpoint_reader r;
  const struct layout *const layout = layout_again(-8, 40, segments, 2);
  save(layout, 0);
  layout_release(layout);
  open_file(&in, &b, &r);
  const struct layout *const again = layout_kept_load(&r);
  ck_assert_int_eq((int)again->lb, -8);
  ck_assert_int_eq((int)again->extent, 40);
  ck_assert_uint_eq(again->nsegments, 2);
  ck_assert_int_eq((int)again->segments[1].offset, 16);
  ck_assert_uint_eq(again->size, 16);
  layout_release(again);
  ck_assert_ptr_null(layout_kept_load(&r));
  close_file(&in, &r, 0);
}
END_TEST

START_TEST(what_nobody_has_written) {
  struct checkpoint_in in;
  struct checkpoint_block b;
  struct checkpoint_reader r;
  save(NULL, 1);
  open_file(&in, &b, &r);
  ck_assert_ptr_null(layout_kept_load(&r));
  ck_assert_int_ne(r.code, 0);
  close_file(&in, &r, r.code);
}
END_TEST

int main(void) {
  return check_main("layout_kept",
                    (const TTest *[]){a_layout_and_none, one_that_is_made_anew,
                                      what_nobody_has_written, NULL});
}
