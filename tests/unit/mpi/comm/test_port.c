/* Names of ports: what is given out, what is known, what is refused. */
#include "check_main.h"
#include "mpi_abi/functions.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

#include "../check_shortage.h"

static char port[MPI_MAX_PORT_NAME];

static void start(void) {
  shortage_begin();
  shortage_rank.universe = shortage_rank.world;
  shortage_rank.self->errhandler.handle = MPI_ERRORS_RETURN;
}

static void end(void) {
  shortage_rank.universe = NULL;
  shortage_end();
}

START_TEST(each_port_has_a_name_of_its_own_until_it_is_closed) {
  char first[MPI_MAX_PORT_NAME];
  ck_assert_int_eq(pems_Open_port(MPI_INFO_NULL, first), MPI_SUCCESS);
  ck_assert_int_eq(pems_Open_port(MPI_INFO_NULL, port), MPI_SUCCESS);
  ck_assert_str_ne(first, port);
  ck_assert_int_eq(pems_Close_port(first), MPI_SUCCESS);
  ck_assert_int_eq(pems_Close_port(first), MPI_ERR_PORT);
  ck_assert_int_eq(pems_Open_port(MPI_INFO_NULL, first), MPI_SUCCESS);
  ck_assert_str_ne(first, port);
  ck_assert_int_eq(pems_Close_port(port), MPI_SUCCESS);
  ck_assert_int_eq(pems_Close_port(first), MPI_SUCCESS);
}
END_TEST

START_TEST(only_who_opened_it_closes_it) {
  ck_assert_int_eq(pems_Open_port(MPI_INFO_NULL, port), MPI_SUCCESS);
  shortage_vp.rank = 1;
  ck_assert_int_eq(pems_Close_port(port), MPI_ERR_PORT);
  shortage_vp.rank = 0;
  ck_assert_int_eq(pems_Close_port(port), MPI_SUCCESS);
}
END_TEST

START_TEST(nothing_is_opened_for_nobody) {
  ck_assert_int_eq(pems_Open_port(MPI_INFO_NULL, NULL), MPI_ERR_ARG);
  memory_but(0);
  ck_assert_int_eq(pems_Open_port(MPI_INFO_NULL, port), MPI_ERR_NO_MEM);
}
END_TEST

/* The name of an open port with a character in place of its first digit that
   stands for nothing, one at its end, another rank, ... */
static const char *const others[] = {
    "",
    "pems-port",
    "pems-port:0:",
    "pems-port:0:%dx",
    "pems-port:x:%d",
    "pems-port:-1:%d",
    "pems-port:4:%d",
    "PEMS-port:0:%d",
};
enum { OTHERS = sizeof(others) / sizeof(others[0]) };

START_TEST(names_that_no_port_has) {
  char name[64];
  int number;
  MPI_Comm inter;
  ck_assert_int_eq(pems_Open_port(MPI_INFO_NULL, port), MPI_SUCCESS);
  ck_assert_int_eq(sscanf(port, "pems-port:0:%d", &number), 1);
  for (int i = 0; i < OTHERS; i++) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    snprintf(name, sizeof(name), others[i], number);
#pragma GCC diagnostic pop
    ck_assert_int_eq(pems_Close_port(name), MPI_ERR_PORT);
    inter = MPI_COMM_WORLD;
    ck_assert_int_eq(
        pems_Comm_connect(name, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter),
        MPI_ERR_PORT);
    ck_assert(inter == MPI_COMM_NULL);
    ck_assert_int_eq(
        pems_Comm_accept(name, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter),
        MPI_ERR_PORT);
  }
  ck_assert_int_eq(pems_Close_port(NULL), MPI_ERR_PORT);
  ck_assert_int_eq(pems_Close_port(port), MPI_SUCCESS);
}
END_TEST

START_TEST(a_closed_port_is_none) {
  MPI_Comm inter;
  ck_assert_int_eq(pems_Open_port(MPI_INFO_NULL, port), MPI_SUCCESS);
  ck_assert_int_eq(pems_Close_port(port), MPI_SUCCESS);
  ck_assert_int_eq(
      pems_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter),
      MPI_ERR_PORT);
  ck_assert_int_eq(
      pems_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter),
      MPI_ERR_PORT);
}
END_TEST

START_TEST(another_ranks_port_is_not_to_accept_at) {
  MPI_Comm inter;
  ck_assert_int_eq(pems_Comm_accept("pems-port:3:0", MPI_INFO_NULL, 0,
                                    MPI_COMM_SELF, &inter),
                   MPI_ERR_PORT);
}
END_TEST

START_TEST(arguments_that_all_ranks_see) {
  MPI_Comm inter;
  ck_assert_int_eq(
      pems_Comm_accept("", MPI_INFO_NULL, 1, MPI_COMM_SELF, &inter),
      MPI_ERR_ROOT);
  ck_assert_int_eq(
      pems_Comm_connect("", MPI_INFO_NULL, -1, MPI_COMM_SELF, &inter),
      MPI_ERR_ROOT);
  ck_assert_int_eq(pems_Comm_connect("", MPI_INFO_NULL, 0, MPI_COMM_SELF, NULL),
                   MPI_ERR_ARG);
  ck_assert_int_eq(
      pems_Comm_connect("", MPI_INFO_NULL, 0, MPI_COMM_NULL, &inter),
      MPI_ERR_COMM);
}
END_TEST

int main(void) {
  Suite *const suite = suite_create("ports");
  TCase *const t = tcase_create("all");
  tcase_set_timeout(t, 60);
  tcase_add_checked_fixture(t, start, end);
  tcase_add_test(t, each_port_has_a_name_of_its_own_until_it_is_closed);
  tcase_add_test(t, only_who_opened_it_closes_it);
  tcase_add_test(t, nothing_is_opened_for_nobody);
  tcase_add_test(t, names_that_no_port_has);
  tcase_add_test(t, a_closed_port_is_none);
  tcase_add_test(t, another_ranks_port_is_not_to_accept_at);
  tcase_add_test(t, arguments_that_all_ranks_see);
  suite_add_tcase(suite, t);
  return check_run(suite);
}
