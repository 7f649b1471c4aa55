/* Each VP gets a copy of the program and arguments of its own. What makes the
   copies is played. */
#include "mpi/job/job_load.h"

#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/failure.h"
#include "check_main.h"
#include "context/calls/create.h"
#include "context/image/image.h"
#include "interpose/dlfcn.h"
#include "os/native.h"
#include "vp/vp.h"

enum { VPS = 3, FIRST = 5 };

static int loaded, adopted, begun;
static int fails_at; /* the so manieth step fails; 0: none */
static int steps;
static struct job_setup job;

static int step(int *done) {
  if (++steps == fails_at) {
    return ENOMEM;
  }
  (*done)++;
  return 0;
}

int __wrap_image_load(struct image *img, const struct image_file *f, int rank,
                      const char *dir, struct pems_error *error);
struct context *__wrap_context_get(int index);
int __wrap_context_adopt(struct context *c, const struct image *img, int rank,
                         struct pems_error *error);
void __wrap_environment_start(bool whole);
char **__wrap_environment_of(int first, int n, int i);

/* Without processes that tell each other of their hosts. */
void __wrap_environment_start(bool whole) {
  (void)whole;
}

char **__wrap_environment_of(int first, int n, int i) {
  ck_assert_int_eq(first, 0);
  ck_assert_int_eq(n, vps.plan.v);
  ck_assert_int_eq(i, vps.item[loaded - 1].dormant ? 0 : FIRST + loaded - 1);
  return native_zalloc(1, sizeof(char *));
}

int __wrap_image_load(struct image *img, const struct image_file *f, int rank,
                      const char *dir, struct pems_error *error) {
  (void)img, (void)f, (void)dir;
  ck_assert_int_eq(rank, vps.item[loaded].rank);
  return step(&loaded) ? failure(error, ENOMEM, "load") : 0;
}

struct context *__wrap_context_get(int index) {
  ck_assert_int_eq(index, loaded - 1);
  return NULL;
}

int __wrap_context_adopt(struct context *c, const struct image *img, int rank,
                         struct pems_error *error) {
  (void)c, (void)img, (void)rank;
  return step(&adopted) ? failure(error, ENOMEM, "adopt") : 0;
}

int dlfcn_begin(struct vp *vp, const char *dir, void *place, size_t room) {
  (void)dir, (void)place, (void)room;
  ck_assert_ptr_eq(vp, &vps.item[begun]);
  return step(&begun);
}

static char *argv[] = {"program", "", "two words", NULL};

static int load(int dormant) {
  loaded = adopted = begun = steps = 0;
  vps = (struct vps){.n = VPS, .first_rank = FIRST, .dormant = dormant};
  vps.plan.v = FIRST + VPS - dormant;
  vps.plan.nprocs = 1;
  job.error.text[0] = '\0';
  return job_load_all(&job, 3, argv);
}

static void end(void) {
  for (int i = 0; i < VPS; i++) {
    for (int j = 0; j < vps.item[i].argc; j++) {
      native_free(vps.item[i].argv[j]);
    }
    native_free(vps.item[i].argv);
    native_free(vps.item[i].envp);
  }
  native_free(vps.item);
}

START_TEST(each_has_its_own_arguments) {
  ck_assert_int_eq(load(0), 0);
  for (int i = 0; i < VPS; i++) {
    const struct vp *const vp = &vps.item[i];
    ck_assert_int_eq(vp->index, i);
    ck_assert_int_eq(vp->rank, FIRST + i);
    ck_assert_int_eq(vp->argc, 3);
    ck_assert_ptr_null(vp->argv[3]);
    for (int j = 0; j < 3; j++) {
      ck_assert_str_eq(vp->argv[j], argv[j]);
      ck_assert_ptr_ne(vp->argv[j], argv[j]);
      ck_assert(i == 0 || vp->argv[j] != vps.item[0].argv[j]);
    }
  }
  end();
}
END_TEST

START_TEST(the_last_are_dormant) {
  ck_assert_int_eq(load(1), 0);
  ck_assert(!vps.item[0].dormant);
  ck_assert(!vps.item[VPS - 2].dormant);
  ck_assert(vps.item[VPS - 1].dormant);
  end();
}
END_TEST

/* Nothing is done behind the first failure, and it says why. */
START_TEST(the_first_failure_is_told) {
  for (fails_at = 1; fails_at <= 3 * VPS; fails_at++) {
    ck_assert_int_eq(load(0), ENOMEM);
    ck_assert_int_eq(steps, fails_at);
    ck_assert_str_ne(job.error.text, "");
    if (fails_at % 3 == 0) {
      char want[64];
      snprintf(want, sizeof(want), "out of memory: rank %d: free memory",
               FIRST + fails_at / 3 - 1);
      ck_assert_str_eq(job.error.text, want);
    }
    end();
  }
}
END_TEST

int main(void) {
  const TTest *const tests[] = {each_has_its_own_arguments,
                                the_last_are_dormant, the_first_failure_is_told,
                                NULL};
  return check_main("job_load", tests);
}
