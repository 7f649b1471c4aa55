/* Published names, in process 0 and asked from another, which the network that
   is played here takes to be this one. */
#include "mpi/comm/service.h"

#include "check_main.h"
#include "mpi_abi/functions.h"
#include "net/am.h"

#include <check.h>
#include <stdbool.h>
#include <string.h>

#include "../check_shortage.h"

static int process; /* which one this is */
static int messages;
static am_handler *handle;

int __wrap_net_rank(void);
void __wrap_am_register(enum am_kind kind, am_handler *handler);
void __wrap_am_send(int to, enum am_kind kind, uint64_t key, const void *header,
                    size_t header_n, const void *data, size_t n);

int __wrap_net_rank(void) {
  return process;
}

void __wrap_am_register(enum am_kind kind, am_handler *handler) {
  ck_assert_int_eq(kind, AM_NAME);
  handle = handler;
}

/* The other process takes it at once. */
void __wrap_am_send(int to, enum am_kind kind, uint64_t key, const void *header,
                    size_t header_n, const void *data, size_t n) {
  const int from = process;
  _Alignas(16) char bytes[AM_LARGEST];
  (void)data;
  ck_assert_int_ne(to, from);
  ck_assert_int_eq(kind, AM_NAME);
  ck_assert_uint_eq(n, 0);
  ck_assert_uint_le(header_n, sizeof(bytes));
  memcpy(bytes, header, header_n);
  messages++;
  process = to;
  ck_assert(handle(from, key, bytes, header_n));
  process = from;
}

static void start(void) {
  shortage_begin();
  shortage_rank.self->errhandler.handle = MPI_ERRORS_RETURN;
  process = messages = 0;
  service_start();
}

static int publish(const char *name, const char *port) {
  return pems_Publish_name(name, MPI_INFO_NULL, port);
}

static int unpublish(const char *name) {
  return pems_Unpublish_name(name, MPI_INFO_NULL, "");
}

static void expect(const char *name, const char *port) {
  char text[MPI_MAX_PORT_NAME];
  ck_assert_int_eq(pems_Lookup_name(name, MPI_INFO_NULL, text), MPI_SUCCESS);
  ck_assert_str_eq(text, port);
}

static void expect_none(const char *name) {
  char text[MPI_MAX_PORT_NAME] = "as it was";
  ck_assert_int_eq(pems_Lookup_name(name, MPI_INFO_NULL, text), MPI_ERR_NAME);
  ck_assert_str_eq(text, "as it was");
}

static void names(void) {
  expect_none("ocean");
  ck_assert_int_eq(unpublish("ocean"), MPI_ERR_SERVICE);
  ck_assert_int_eq(publish("ocean", "1"), MPI_SUCCESS);
  ck_assert_int_eq(publish("air", "2"), MPI_SUCCESS);
  ck_assert_int_eq(publish("ocean", "3"), MPI_ERR_SERVICE);
  expect("ocean", "1");
  expect("air", "2");
  expect_none("oceans");
  ck_assert_int_eq(unpublish("ocean"), MPI_SUCCESS);
  expect_none("ocean");
  expect("air", "2");
  ck_assert_int_eq(publish("ocean", "4"), MPI_SUCCESS);
  expect("ocean", "4");
  ck_assert_int_eq(unpublish("air"), MPI_SUCCESS);
  ck_assert_int_eq(unpublish("ocean"), MPI_SUCCESS);
}

START_TEST(names_are_published_once) {
  names();
  ck_assert_int_eq(messages, 0);
}
END_TEST

START_TEST(process_0_answers_others) {
  process = 1;
  names();
  ck_assert_int_eq(messages, 2 * 15); /* a question and an answer a call */
}
END_TEST

START_TEST(what_one_publishes_others_find) {
  ck_assert_int_eq(publish("ocean", "1"), MPI_SUCCESS);
  process = 2;
  expect("ocean", "1");
  ck_assert_int_eq(unpublish("ocean"), MPI_SUCCESS);
  process = 0;
  expect_none("ocean");
}
END_TEST

START_TEST(texts_are_there_and_short_enough) {
  char longest[300], port[MPI_MAX_PORT_NAME];
  memset(longest, 'x', sizeof(longest));
  longest[255] = 0;
  ck_assert_int_eq(publish(longest, longest + 128), MPI_SUCCESS);
  expect(longest, longest + 128);
  ck_assert_int_eq(unpublish(longest), MPI_SUCCESS);
  longest[255] = 'x';
  longest[256] = 0;
  ck_assert_int_eq(publish(longest, ""), MPI_ERR_ARG);
  ck_assert_int_eq(publish("ocean", longest), MPI_ERR_ARG);
  ck_assert_int_eq(publish(NULL, ""), MPI_ERR_ARG);
  ck_assert_int_eq(publish("ocean", NULL), MPI_ERR_ARG);
  ck_assert_int_eq(pems_Lookup_name("ocean", MPI_INFO_NULL, NULL), MPI_ERR_ARG);
  ck_assert_int_eq(pems_Lookup_name(NULL, MPI_INFO_NULL, port), MPI_ERR_ARG);
  expect_none("ocean");
}
END_TEST

int main(void) {
  Suite *const suite = suite_create("published names");
  TCase *const t = tcase_create("all");
  tcase_set_timeout(t, 60);
  tcase_add_checked_fixture(t, start, shortage_end);
  tcase_add_test(t, names_are_published_once);
  tcase_add_test(t, process_0_answers_others);
  tcase_add_test(t, what_one_publishes_others_find);
  tcase_add_test(t, texts_are_there_and_short_enough);
  suite_add_tcase(suite, t);
  return check_run(suite);
}
