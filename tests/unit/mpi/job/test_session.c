/* Sessions of a rank: in another process they have the same handles, levels of
   threads, hints and error handlers. */
#include "mpi/job/session.h"

#include <check.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "check_main.h"
#include "checkpoint/parcel.h"
#include "mpi/object/errhandler.h"
#include "mpi_abi/functions.h"
#include "mpi_below/real.h"

#if defined PEMS_MPI_HAS_Session_init
#include "../check_byte.h"
#include "../check_shortage.h"

static MPI_Session session[2];
static struct parcel p;

/* --- the real MPI's hints: each object has one, beside the level --- */

enum { HINTS = 16 };
static struct {
  char key[32], value[32], level[32];
} hints[HINTS];
static int made;

static int number_of(MPI_Info info) {
  const int n = (int)(uintptr_t)info - 1000;
  ck_assert(n >= 0 && n < made);
  return n;
}

static int create(MPI_Info *info) {
  ck_assert_int_lt(made, HINTS);
  *info = (MPI_Info)(uintptr_t)(1000 + made++);
  return MPI_SUCCESS;
}

static int set(MPI_Info info, const char *key, const char *value) {
  const int n = number_of(info);
  if (strcmp(key, "thread_level") == 0) {
    strcpy(hints[n].level, value);
  } else {
    strcpy(hints[n].key, key);
    strcpy(hints[n].value, value);
  }
  return MPI_SUCCESS;
}

static int duplicate(MPI_Info info, MPI_Info *to) {
  const int from = number_of(info);
  create(to);
  hints[number_of(*to)] = hints[from];
  return MPI_SUCCESS;
}

static int count(MPI_Info info, int *n) {
  *n = hints[number_of(info)].key[0] != '\0';
  return MPI_SUCCESS;
}

static int find_key(MPI_Info info, int i, char *key) {
  ck_assert_int_eq(i, 0);
  strcpy(key, hints[number_of(info)].key);
  return MPI_SUCCESS;
}

static int get(MPI_Info info, const char *key, int n, char *value, int *found) {
  const int at = number_of(info);
  *found = strcmp(hints[at].key, key) == 0;
  if (*found) {
    snprintf(value, (size_t)n, "%s", hints[at].value);
  }
  return MPI_SUCCESS;
}

static int get_length(MPI_Info info, const char *key, int *n, int *found) {
  char value[32];
  get(info, key, sizeof(value), value, found);
  *n = *found ? (int)strlen(value) : 0;
  return MPI_SUCCESS;
}

static int let_go(MPI_Info *info) {
  (void)number_of(*info);
  return MPI_SUCCESS;
}

static void play_hints(void) {
  real.Info_create = create;
  real.Info_dup = duplicate;
  real.Info_set = set;
  real.Info_get = get;
  real.Info_get_valuelen = get_length;
  real.Info_get_nkeys = count;
  real.Info_get_nthkey = find_key;
  real.Info_free = let_go;
}

/* --- two sessions; the second one has hints, and a higher level --- */

static void begin(void) {
  MPI_Info info;
  byte_only();
  play_hints();
  handles_fix(4);
  shortage_begin();
  (void)shortage_end; /* what is left ends with the process of the test */
  create(&info);
  set(info, "soft", "yes");
  ck_assert_int_eq(
      pems_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session[0]), 0);
  shortage_vp.thread_level = MPI_THREAD_SERIALIZED;
  ck_assert_int_eq(pems_Session_init(info, MPI_ERRORS_RETURN, &session[1]), 0);
  shortage_vp.thread_level = MPI_THREAD_FUNNELED; /* it is not asked any more */
  sessions_save(&shortage_rank, &p);
  ck_assert(!p.failed);
}

static void end(void) {
  ck_assert_int_eq(pems_Session_finalize(&session[0]), MPI_SUCCESS);
  ck_assert_int_eq(pems_Session_finalize(&session[1]), MPI_SUCCESS);
  parcel_free(&p);
}

static void is_as_it_was(int i, const char *level, const char *value) {
  MPI_Info info;
  MPI_Errhandler handler;
  ck_assert_int_eq(pems_Session_get_info(session[i], &info), MPI_SUCCESS);
  ck_assert_str_eq(hints[number_of(info)].level, level);
  ck_assert_str_eq(hints[number_of(info)].value, value);
  ck_assert_int_eq(pems_Session_get_errhandler(session[i], &handler),
                   MPI_SUCCESS);
  ck_assert(handler == MPI_ERRORS_RETURN);
}

START_TEST(those_of_another_process_are_there) {
  MPI_Session was[2];
  begin();
  memcpy(was, session, sizeof(was));
  ck_assert_ptr_null(sessions_obstacle(&shortage_rank));
  ck_assert_int_eq(pems_Session_finalize(&session[0]), MPI_SUCCESS);
  ck_assert_int_eq(pems_Session_finalize(&session[1]), MPI_SUCCESS);
  ck_assert_int_eq(sessions_load(&shortage_rank, &p), 0);
  ck_assert(p.at == p.n && !p.failed);
  memcpy(session, was, sizeof(was));
  is_as_it_was(0, "MPI_THREAD_SINGLE", "");
  is_as_it_was(1, "MPI_THREAD_SERIALIZED", "yes");
  /* Its error handler returns. */
  ck_assert_int_eq(pems_Session_call_errhandler(session[1], MPI_ERR_ARG),
                   MPI_SUCCESS);
  end();
}
END_TEST

static void foreign(void) {
}

/* One that the program has not made by a call of C's. */
START_TEST(what_cannot_be_saved_is_named) {
  MPI_Errhandler handler = (MPI_Errhandler)(uintptr_t)4711;
  begin();
  ck_assert_int_eq(errhandler_note(&handler, foreign), MPI_SUCCESS);
  ck_assert_int_eq(pems_Session_set_errhandler(session[1], handler),
                   MPI_SUCCESS);
  ck_assert_str_eq(sessions_obstacle(&shortage_rank),
                   "an error handler of another language");
}
END_TEST

START_TEST(what_is_cut_off_is_refused) {
  begin();
  ck_assert_int_eq(pems_Session_finalize(&session[0]), MPI_SUCCESS);
  ck_assert_int_eq(pems_Session_finalize(&session[1]), MPI_SUCCESS);
  p.n -= 4;
  ck_assert_int_ne(sessions_load(&shortage_rank, &p) || p.failed, 0);
}
END_TEST

START_TEST(a_handle_that_is_taken_is_refused) {
  begin();
  ck_assert_int_ne(sessions_load(&shortage_rank, &p), 0);
  end();
}
END_TEST

int main(void) {
  return check_main("session",
                    (const TTest *[]){those_of_another_process_are_there,
                                      what_cannot_be_saved_is_named,
                                      what_is_cut_off_is_refused,
                                      a_handle_that_is_taken_is_refused, NULL});
}
#else
int main(void) {
  return 77; /* this MPI has none */
}
#endif
