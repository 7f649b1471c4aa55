/* The file of a rank: its facts, objects, and what its process and its memory
   have, which others write; here they are played. */
#define _GNU_SOURCE
#include "mpi/job/checkpoint_rank.h"

#include <check.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../check_byte.h"
#include "../check_shortage.h"
#include "check_main.h"
#include "interpose/keep.h"

static struct pems_error error;
static struct checkpoint_sum sum;
static struct checkpoint_tail tail;
static char path[32], before[PATH_MAX];
static double now;
static int kept, opened, settled;

/* interpose/keep.c's. */
int keep_check(struct vp *vp, struct pems_error *e) {
  (void)vp, (void)e;
  return kept;
}

int keep_save(const struct vp *vp, struct checkpoint_out *o,
              struct pems_error *e) {
  (void)vp;
  return checkpoint_put(o, CHECKPOINT_NAMES, 0, "kept", 4, e);
}

int keep_load(struct vp *vp, struct checkpoint_in *in, struct pems_error *e) {
  struct checkpoint_block b;
  char word[4];
  (void)vp;
  ck_assert_int_eq(checkpoint_next(in, &b, e), 0);
  ck_assert_uint_eq(b.n, sizeof(word));
  return checkpoint_get(in, &b, word, e) || memcmp(word, "kept", 4) != 0;
}

int keep_open_again(struct vp *vp, const char *name, struct pems_error *e) {
  (void)vp, (void)e;
  opened += strcmp(name, path) == 0;
  return 0;
}

void keep_settle(struct vp *vp) {
  (void)vp;
  settled += opened;
}

/* vp/resume.c's. */
int resume_save(struct vp *vp, struct resume *at, struct checkpoint_out *o,
                struct pems_error *e) {
  (void)vp;
  return checkpoint_put(o, CHECKPOINT_RANK, 0, at, sizeof(*at), e);
}

int resume_load(struct vp *vp, struct resume *at, struct checkpoint_in *in,
                struct checkpoint_block *b, struct pems_error *e) {
  (void)vp;
  int code = checkpoint_next(in, b, e);
  code = code ? code : checkpoint_get(in, b, at, e);
  return code ? code : checkpoint_next(in, b, e);
}

int resume_load_memory(struct vp *vp, const struct resume *at,
                       struct checkpoint_in *in, struct checkpoint_block *b,
                       struct pems_error *e) {
  (void)vp, (void)at, (void)in, (void)b, (void)e;
  ck_assert_int_eq(opened, 1);
  return 0;
}

bool resume_covers(const struct vp *vp, uint64_t at, size_t n) {
  (void)vp, (void)at, (void)n;
  return false;
}

static double wtime(void) {
  return now;
}

static void begin(void) {
  byte_only();
  handles_fix(4);
  real.Wtime = wtime;
  checkpoint_rank_start_clock();
  shortage_begin();
  (void)shortage_end; /* what is left ends with the process of the test */
  strcpy(path, "/tmp/pems-rank.XXXXXX");
  close(mkstemp(path));
  ck_assert_ptr_nonnull(getcwd(before, sizeof(before)));
}

static int save(void) {
  struct resume at = {.superstep = 12};
  return checkpoint_rank_save(&shortage_vp, &at, path, &sum, &tail, &error);
}

static int load(struct resume *at) {
  return checkpoint_rank_load(&shortage_vp, at, path, &error);
}

START_TEST(where_it_was_and_what_it_had_is_there_again) {
  struct resume at;
  bool any = true;
  begin();
  ck_assert_int_eq(chdir("/tmp"), 0);
  umask(027);
  now = 50;
  ck_assert_int_eq(save(), 0);
  ck_assert_int_eq(
      checkpoint_rank_add(&shortage_vp, path, &tail, &sum, &any, &error), 0);
  ck_assert(!any);
  ck_assert_int_eq(checkpoint_verify(path, &sum, &error), 0);
  ck_assert_int_eq(chdir("/"), 0);
  umask(0);
  now = 3; /* in another process */
  ck_assert_int_eq(load(&at), 0);
  ck_assert_uint_eq(at.superstep, 12);
  char *const there = getcwd(NULL, 0);
  ck_assert_str_eq(there, "/tmp");
  free(there);
  ck_assert_uint_eq(umask(0), 027);
  ck_assert(real.Wtime() >= 50 && real.Wtime() < 51);
  now = 5;
  ck_assert(real.Wtime() >= 52 && real.Wtime() < 53);
  unlink(path);
}
END_TEST

START_TEST(what_is_in_the_way_is_told) {
  begin();
  ck_assert_int_eq(checkpoint_rank_check(&shortage_vp, true, &error), 0);
  kept = ENOTSUP;
  ck_assert_int_eq(checkpoint_rank_check(&shortage_vp, true, &error), ENOTSUP);
  kept = 0;
  shortage_vp.unsaved = 1;
  ck_assert_int_eq(checkpoint_rank_check(&shortage_vp, true, &error), ENOTSUP);
  ck_assert_ptr_nonnull(strstr(error.text, "it has error classes"));
  shortage_vp.unsaved = 0;
  unlink(path);
}
END_TEST

/* Its end comes where nothing else does. */
START_TEST(what_is_not_a_rank_s_and_what_is_more_is_refused) {
  struct checkpoint_out o;
  struct resume at;
  begin();
  ck_assert_int_eq(checkpoint_create(&o, path, &error), 0);
  ck_assert_int_eq(checkpoint_put(&o, CHECKPOINT_NAMES, 0, "short", 5, &error),
                   0);
  ck_assert_int_eq(checkpoint_finish(&o, &sum, &error), 0);
  checkpoint_close(&o);
  ck_assert_int_eq(load(&at), EILSEQ);
  ck_assert_ptr_nonnull(strstr(error.text, "it is not a rank's"));
  ck_assert_int_eq(save(), 0);
  ck_assert_int_eq(checkpoint_create_more(&o, path, &tail, &error), 0);
  ck_assert_int_eq(checkpoint_put(&o, CHECKPOINT_HEAP, 0, "more", 4, &error),
                   0);
  ck_assert_int_eq(checkpoint_finish(&o, &sum, &error), 0);
  checkpoint_close(&o);
  ck_assert_int_eq(load(&at), EILSEQ);
  ck_assert_msg(strstr(error.text, "it has more"), "%s", error.text);
  ck_assert_int_eq(chdir(before), 0);
  unlink(path);
}
END_TEST

int main(void) {
  return check_main(
      "checkpoint_rank",
      (const TTest *[]){where_it_was_and_what_it_had_is_there_again,
                        what_is_in_the_way_is_told,
                        what_is_not_a_rank_s_and_what_is_more_is_refused,
                        NULL});
}
