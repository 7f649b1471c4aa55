/* What a message says of a place is what the target makes of it. */
#include "mpi/rma/win_message.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "check_main.h"
#include "os/native.h"

enum { ELEMENTS = 100, SEGMENT = 12, EXTENT = 40, SIZE = 2 * SEGMENT };

static char memory[ELEMENTS * EXTENT];
static char bytes[WIN_MESSAGE_ROOM] __attribute__((aligned(16)));

/* Two segments, with a gap between and behind. */
static struct layout_span holes(void) {
  static struct layout *t;
  if (!t) {
    t = calloc(1, sizeof(*t) + 2 * sizeof(t->segments[0]));
    ck_assert_ptr_nonnull(t);
    *t = (struct layout){.size = SIZE,
                         .extent = EXTENT,
                         .true_extent = 20 + SEGMENT,
                         .nsegments = 2};
    t->segments[0] = (struct layout_segment){0, SEGMENT, 0};
    t->segments[1] = (struct layout_segment){20, SEGMENT, SEGMENT};
  }
  return (struct layout_span){memory, ELEMENTS, t};
}

static struct layout_span whole(void) {
  static struct layout *t;
  if (!t) {
    t = calloc(1, sizeof(*t) + sizeof(t->segments[0]));
    ck_assert_ptr_nonnull(t);
    *t = (struct layout){.size = sizeof(memory),
                         .extent = sizeof(memory),
                         .true_extent = sizeof(memory),
                         .nsegments = 1,
                         .dense = true};
    t->segments[0] = (struct layout_segment){0, sizeof(memory), 0};
  }
  return (struct layout_span){memory, 1, t};
}

static struct win_draft draft(size_t room, const struct layout_span *place,
                              size_t position, size_t grain) {
  struct win_draft d = {.bytes = bytes, .room = room};
  win_message_place(&d, place, position, grain);
  return d;
}

/* Address of a packed byte. */
static char *at(const struct layout_span *s, size_t position) {
  struct layout_cursor c;
  char *p = NULL;
  span_cursor_start(&c, s, position);
  return span_cursor_next(&c, 1, &p) ? p : NULL;
}

/* The target finds each byte where it is. */
static void expect_same(const struct win_draft *d,
                        const struct layout_span *place) {
  const struct layout_span there = win_message_span(&d->head, d->bytes);
  ck_assert_uint_eq(span_size(&there), d->head.n);
  for (size_t i = 0; i < d->head.n; i++) {
    ck_assert_ptr_eq(at(&there, i), at(place, d->head.position + i));
  }
  native_free((void *)there.layout);
}

START_TEST(a_place_arrives_as_it_is) {
  const struct layout_span place = holes();
  const struct win_draft d = draft(sizeof(bytes), &place, 0, 1);
  ck_assert_uint_eq(d.head.n, ELEMENTS * SIZE);
  ck_assert_uint_eq(d.head.pieces, 2 * ELEMENTS);
  expect_same(&d, &place);
}
END_TEST

START_TEST(a_dense_place_is_one_piece) {
  const struct layout_span place = whole();
  const struct win_draft d = draft(sizeof(bytes), &place, 100, 1);
  ck_assert_uint_eq(d.head.pieces, 1);
  ck_assert_uint_eq(d.head.n, sizeof(memory) - 100);
  ck_assert_uint_eq(d.head.position, 100);
  expect_same(&d, &place);
}
END_TEST

START_TEST(an_offered_place_comes_without_data) {
  const struct layout_span place = whole();
  struct win_draft d = {.bytes = bytes, .room = WIN_MESSAGE_OFFER};
  win_message_place_offered(&d, &place, 10, 50);
  ck_assert(d.head.offered);
  ck_assert_uint_eq(d.head.n, 50);
  ck_assert_uint_eq(d.head.position, 10);
  ck_assert_uint_eq(win_message_data_at(d.head.pieces) +
                        sizeof(struct neighbour_offer),
                    WIN_MESSAGE_OFFER);
  expect_same(&d, &place);
}
END_TEST

/* With little room: message after message, each within it. Returns their
   number. */
static int cut(size_t room, size_t grain) {
  const struct layout_span place = holes();
  size_t position = 0;
  int messages = 0;
  for (; position < ELEMENTS * SIZE; messages++) {
    const struct win_draft d = draft(room, &place, position, grain);
    ck_assert_uint_gt(d.head.n, 0);
    ck_assert_uint_eq(d.head.n % grain, 0);
    ck_assert_uint_le(win_message_data_at(d.head.pieces) + d.head.n, room);
    expect_same(&d, &place);
    position += d.head.n;
  }
  ck_assert_uint_eq(position, ELEMENTS * SIZE);
  return messages;
}

/* Data of an accumulate is never cut within an element. */
START_TEST(messages_are_cut_at_grains) {
  for (size_t room = 200; room < 300; room += 4) {
    ck_assert_int_gt(cut(room, 1), 10);
    ck_assert_int_gt(cut(room, 8), 10);
  }
}
END_TEST

START_TEST(the_room_is_enough_or_all_there_is) {
  const struct layout_span place = holes(), dense = whole();
  const size_t all = win_message_room(&place, ELEMENTS * SIZE);
  ck_assert_uint_ge(all,
                    win_message_data_at(2 * ELEMENTS) + 2 * ELEMENTS * SIZE);
  ck_assert_uint_lt(all, WIN_MESSAGE_ROOM);
  ck_assert_uint_lt(win_message_room(&dense, 8), 200);
  const struct win_draft d = draft(all, &place, 0, 1);
  ck_assert_uint_eq(d.head.n, ELEMENTS * SIZE);
  const struct layout_span many = {NULL, 1 << 20, place.layout};
  ck_assert_uint_eq(win_message_room(&many, span_size(&many)),
                    WIN_MESSAGE_ROOM);
}
END_TEST

START_TEST(an_answer_is_to_who_asked) {
  const struct win_head asked = {
      .what = WIN_GET, .position = 77, .cookie = 99, .n = 5};
  const struct win_head h = win_message_answer(&asked, WIN_DATA, 3);
  ck_assert_uint_eq(h.what, WIN_DATA);
  ck_assert_uint_eq(h.position, 77);
  ck_assert_uint_eq(h.cookie, 99);
  ck_assert_uint_eq(h.n, 3);
}
END_TEST

int main(void) {
  Suite *const suite = suite_create("win_message");
  TCase *const t = tcase_create("all");
  tcase_set_timeout(t, 60);
  tcase_add_test(t, a_place_arrives_as_it_is);
  tcase_add_test(t, a_dense_place_is_one_piece);
  tcase_add_test(t, an_offered_place_comes_without_data);
  tcase_add_test(t, messages_are_cut_at_grains);
  tcase_add_test(t, the_room_is_enough_or_all_there_is);
  tcase_add_test(t, an_answer_is_to_who_asked);
  suite_add_tcase(suite, t);
  return check_run(suite);
}
