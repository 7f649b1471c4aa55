/* Whether a job can go on from a checkpoint, and what of it decides. */
#define _GNU_SOURCE
#include "mpi/job/restart.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check_main.h"
#include "checkpoint/shelf.h"
#include "context/image/image_place.h"

enum { V = 3, LIMIT = 8 << 20, IMAGES = 12345 };

/* The machine, as restart.c sees it. */
static bool possible = true, fixed = true, hooks, valgrind;
static const char *once_more; /* what the environment says of hooks then */
static uint64_t limit = LIMIT, again_with;
static struct fixed_guards guards;
static struct identity_file file = {"/bin/program", "build"};
static struct identity here = {"glibc 2.36", "x86-64-v3", &file, 1};

bool __wrap_fixed_possible(void);
bool __wrap_fixed_is(void);
uint64_t __wrap_fixed_stack_limit(void);
int __wrap_fixed_again(char **argv, char **envp, uint64_t stack_limit);
int __wrap_fixed_once_more(char **argv, char **envp);
bool __wrap_hooks_installed(void);
void __wrap_fixed_set_guards(struct fixed_guards to);
int __wrap_identity_find(struct identity *to, struct pems_error *error);
void __wrap_identity_free(struct identity *which);
size_t __wrap_image_place_size(const struct image_file *f);
bool __wrap_image_wants_name(void);

bool __wrap_fixed_possible(void) {
  return possible;
}

bool __wrap_fixed_is(void) {
  return fixed;
}

uint64_t __wrap_fixed_stack_limit(void) {
  return limit;
}

int __wrap_fixed_again(char **argv, char **envp, uint64_t stack_limit) {
  (void)argv, (void)envp;
  again_with = stack_limit;
  return EPERM;
}

int __wrap_fixed_once_more(char **argv, char **envp) {
  ck_assert_str_eq(argv[0], "program");
  (void)envp;
  once_more = getenv("UCX_MEM_MMAP_HOOK_MODE");
  return EPERM;
}

bool __wrap_hooks_installed(void) {
  return hooks;
}

bool __wrap_image_wants_name(void) {
  return valgrind;
}

void __wrap_fixed_set_guards(struct fixed_guards to) {
  guards = to;
}

int __wrap_identity_find(struct identity *to, struct pems_error *error) {
  (void)error;
  *to = here;
  return 0;
}

void __wrap_identity_free(struct identity *which) {
  (void)which;
}

size_t __wrap_image_place_size(const struct image_file *f) {
  (void)f;
  return IMAGES;
}

/* --- a checkpoint -----------------------------------------------------------
 */

static char dir[] = "/tmp/pems-restart.XXXXXX";
static struct checkpoint_sum sums[V];
static char *words[] = {"program", "48", NULL};
static struct manifest m = {.program = "/bin/program",
                            .directory = "/",
                            .hosts = "here",
                            .argument = words,
                            .arguments = 2,
                            .v = V,
                            .superstep = 42,
                            .sequence = 3,
                            .stack_limit = LIMIT,
                            .context = 2 << 20,
                            .stack = 65536,
                            .images = IMAGES,
                            .guards = {17, 18},
                            .rank = sums};

static void put_blocks(const char *path, struct checkpoint_sum *of) {
  struct checkpoint_out o;
  ck_assert_int_eq(checkpoint_create(&o, path, NULL), 0);
  ck_assert_int_eq(checkpoint_put(&o, CHECKPOINT_RANK, 0, "bytes", 5, NULL), 0);
  ck_assert_int_eq(checkpoint_finish(&o, of, NULL), 0);
  checkpoint_close(&o);
}

/* The text that f writes, as a file there. */
static struct checkpoint_sum put_text(const char *folder, const char *name,
                                      int (*f)(FILE *to)) {
  char *text;
  size_t n;
  FILE *const to = open_memstream(&text, &n);
  ck_assert_int_eq(f(to), 0);
  fclose(to);
  ck_assert_int_eq(shelf_put(folder, name, text, n, NULL), 0);
  const struct checkpoint_sum sum = manifest_sum(text, n);
  free(text);
  return sum;
}

static int write_identity(FILE *to) {
  return identity_write(&here, to, NULL);
}

static int write_manifest(FILE *to) {
  return manifest_write(&m, to, NULL);
}

static void make(void) {
  struct shelf s;
  struct checkpoint_sum ignored;
  char folder[PATH_MAX], path[PATH_MAX];
  m.landmark = restart_landmark();
  ck_assert_ptr_nonnull(mkdtemp(dir));
  ck_assert_int_eq(shelf_open(&s, dir, true, NULL), 0);
  ck_assert_int_eq(shelf_begin(&s, 3, folder, NULL), 0);
  for (int rank = 0; rank < V; rank++) {
    shelf_rank(folder, rank, path);
    put_blocks(path, &sums[rank]);
  }
  shelf_files(folder, 0, path);
  put_blocks(path, &ignored);
  m.identity = put_text(folder, "identity", write_identity);
  put_text(folder, "manifest", write_manifest);
  ck_assert_int_eq(shelf_commit(&s, 3, 2, NULL), 0);
  shelf_close(&s);
}

static void drop(void) {
  char command[64];
  snprintf(command, sizeof(command), "rm -r %s", dir);
  ck_assert_int_eq(system(command), 0);
}

/* --- jobs -------------------------------------------------------------------
 */

static struct job_setup job;

/* restart_check, of a job with such an option or two; NULL: none. */
static int check(const char *option, const char *other) {
  char *argv[] = {"program", (char *)(uintptr_t)option,
                  (char *)(uintptr_t)other, NULL};
  char *envp[] = {NULL};
  int argc = option ? other ? 3 : 2 : 1;
  struct pems_error ignored;
  restart_begin(argc, argv, envp);
  job = (struct job_setup){0};
  ck_assert_int_eq(options_parse(&job.options, &argc, argv, envp, &ignored), 0);
  return restart_check(&job);
}

static const char *restart_option(void) {
  static char text[64];
  snprintf(text, sizeof(text), "--pems-restart=%s", dir);
  return text;
}

static void expect(const char *text) {
  ck_assert_msg(strstr(job.error.text, text), "'%s' is not in '%s'", text,
                job.error.text);
}

START_TEST(without_checkpoints_nothing_is_fixed) {
  fixed = possible = false;
  ck_assert_int_eq(check(NULL, NULL), 0);
  ck_assert(!restart_fixed() && !job.fixed);
  ck_assert_ptr_null(restart_from());
  ck_assert_ptr_null(restart_folder());
  ck_assert_uint_eq(again_with, 0);
}
END_TEST

/* UCX's functions for memory are not for programs' memory. */
START_TEST(a_program_runs_without_hooks) {
  unsetenv("UCX_MEM_MMAP_HOOK_MODE");
  ck_assert_int_eq(check(NULL, NULL), 0);
  ck_assert_ptr_null(once_more);
  hooks = true;
  ck_assert_int_eq(check(NULL, NULL), 0);
  ck_assert_str_eq(once_more, "none");
  once_more = NULL;
  unsetenv("UCX_MEM_MMAP_HOOK_MODE");
  valgrind = true; /* would see nothing of what is run then */
  ck_assert_int_eq(check(NULL, NULL), 0);
  ck_assert_ptr_null(once_more);
  valgrind = false;
  setenv("UCX_MEM_MMAP_HOOK_MODE", "reloc", 1); /* who wants that gets it, */
  ck_assert_int_eq(check(NULL, NULL), 0);
  ck_assert_ptr_null(once_more);
  ck_assert_uint_eq(again_with, 0);
  /* but not with checkpoints */
  ck_assert_int_ne(check("--pems-checkpoint=/tmp/d", NULL), 0);
  ck_assert_uint_eq(again_with, LIMIT);
  ck_assert_str_eq(getenv("UCX_MEM_MMAP_HOOK_MODE"), "none");
}
END_TEST

START_TEST(with_them_addresses_are) {
  ck_assert_int_eq(check("--pems-checkpoint=/tmp/d", NULL), 0);
  ck_assert(restart_fixed() && job.fixed);
  ck_assert_ptr_null(restart_from());
  ck_assert_str_eq(restart_identity()->libc, here.libc);
}
END_TEST

static struct fixed_guards guards_with(const char *option) {
  guards = (struct fixed_guards){0, 0};
  ck_assert_int_eq(check(option, NULL), 0);
  ck_assert_uint_ne(guards.stack, 0);
  ck_assert_uint_eq(guards.stack & 0xff, 0);
  ck_assert_uint_ne(guards.pointer, 0);
  return guards;
}

static bool are_equal(struct fixed_guards a, struct fixed_guards b) {
  return a.stack == b.stack && a.pointer == b.pointer;
}

/* Ranks that are of others after a restart have frames of them. */
START_TEST(all_processes_check_frames_by_the_same_numbers) {
  unsetenv("PEMS_LIFELINE");
  const struct fixed_guards a = guards_with("--pems-checkpoint=/tmp/d");
  ck_assert(are_equal(guards_with("--pems-checkpoint=/tmp/d,every=5"), a));
  ck_assert(!are_equal(guards_with("--pems-checkpoint=/tmp/e"), a));
  setenv("PEMS_LIFELINE", "0123,77,10.0.0.1", 1);
  const struct fixed_guards b = guards_with("--pems-checkpoint=/tmp/d");
  ck_assert(!are_equal(b, a));
  ck_assert(are_equal(guards_with("--pems-checkpoint=/tmp/e"), b));
  setenv("PEMS_LIFELINE", "0124,77,10.0.0.1", 1);
  ck_assert(!are_equal(guards_with("--pems-checkpoint=/tmp/d"), b));
}
END_TEST

START_TEST(where_they_cannot_be_a_line_says_why) {
  fixed = false;
  unsetenv("UCX_MEM_MMAP_HOOK_MODE");
  ck_assert_int_ne(check("--pems-checkpoint=/tmp/d", NULL), 0);
  expect("personality(2)");
  ck_assert_uint_eq(again_with, LIMIT);
  ck_assert_str_eq(getenv("UCX_MEM_MMAP_HOOK_MODE"), "none");
  limit = UINT64_MAX; /* none: things would lie elsewhere */
  ck_assert_int_ne(check("--pems-checkpoint=/tmp/d", NULL), 0);
  ck_assert_uint_eq(again_with, 1 << 30);
  possible = false;
  ck_assert_int_ne(check("--pems-checkpoint=/tmp/d", NULL), 0);
  expect("not on this kind of machine");
}
END_TEST

START_TEST(what_cannot_be_used_together) {
  ck_assert_int_ne(check("--pems-checkpoint=/tmp/d", "--pems-tag"), 0);
  expect("--pems-tag");
  ck_assert_int_ne(check("--pems-checkpoint=/tmp/d", "--pems-universe=9"), 0);
  expect("--pems-universe");
}
END_TEST

START_TEST(the_checkpoint_decides) {
  make();
  ck_assert_int_eq(check(restart_option(), NULL), 0);
  ck_assert_ptr_nonnull(restart_from());
  ck_assert_uint_eq(restart_from()->superstep, 42);
  ck_assert_ptr_nonnull(strstr(restart_folder(), "checkpoint-000003"));
  ck_assert_int_eq(job.options.v, V);
  ck_assert_uint_eq(job.options.stack, 65536);
  ck_assert_uint_eq(guards.stack, 17);
  ck_assert_uint_eq(guards.pointer, 18);
  ck_assert_int_eq(restart_check_images(&job), 0);
  ck_assert_uint_eq(restart_images(), IMAGES);
  drop();
}
END_TEST

START_TEST(its_limit_of_the_stack_is_taken) {
  make();
  limit = 2 * LIMIT;
  ck_assert_int_ne(check(restart_option(), NULL), 0);
  ck_assert_uint_eq(again_with, LIMIT);
  drop();
}
END_TEST

START_TEST(other_numbers_of_ranks_are_refused) {
  make();
  ck_assert_int_ne(check(restart_option(), "--pems-v=4"), 0);
  expect("of 3 ranks, not 4");
  ck_assert_int_eq(check(restart_option(), "--pems-v=3"), 0);
  drop();
}
END_TEST

START_TEST(other_arguments_are_refused) {
  char *none[] = {"program", NULL}, *same[] = {"./program", "48", NULL},
       *other[] = {"program", "50", NULL}, *more[] = {"program", "48", "10"};
  make();
  ck_assert_int_eq(check(NULL, NULL), 0);
  ck_assert_int_eq(restart_check_arguments(&job, 3, more), 0);
  ck_assert_int_eq(check(restart_option(), NULL), 0);
  ck_assert_int_eq(restart_check_arguments(&job, 1, none), 0);
  ck_assert_int_eq(restart_check_arguments(&job, 2, same), 0);
  ck_assert_int_ne(restart_check_arguments(&job, 2, other), 0);
  expect("argument 1 of the program was 48, and is 50: leave them out");
  ck_assert_int_ne(restart_check_arguments(&job, 3, more), 0);
  expect("argument 2 of the program was none, and is 10: leave them out");
  drop();
}
END_TEST

START_TEST(other_files_and_libraries_are_refused) {
  make();
  strcpy(file.id, "other");
  ck_assert_int_ne(check(restart_option(), NULL), 0);
  expect("/bin/program");
  strcpy(file.id, "build");
  strcpy(here.libc, "glibc 2.37");
  ck_assert_int_ne(check(restart_option(), NULL), 0);
  expect("glibc 2.37");
  drop();
}
END_TEST

START_TEST(other_places_are_refused) {
  m.images = IMAGES + 1;
  make();
  ck_assert_int_eq(check(restart_option(), NULL), 0);
  ck_assert_int_ne(restart_check_images(&job), 0);
  expect("--pems-shared");
  drop();
}
END_TEST

START_TEST(one_that_is_cut_off_or_not_there_is_refused) {
  char path[PATH_MAX];
  ck_assert_int_ne(check("--pems-restart=/nowhere/at/all", NULL), 0);
  expect("/nowhere/at/all");
  make();
  snprintf(path, sizeof(path), "%s/checkpoint-000003/rank-1", dir);
  ck_assert_int_eq(truncate(path, 10), 0);
  ck_assert_int_ne(check(restart_option(), NULL), 0);
  expect("rank-1");
  drop();
}
END_TEST

int main(void) {
  setenv("UCX_MEM_MMAP_HOOK_MODE", "none", 1); /* as after that */
  return check_main(
      "restart",
      (const TTest *[]){
          without_checkpoints_nothing_is_fixed, a_program_runs_without_hooks,
          with_them_addresses_are,
          all_processes_check_frames_by_the_same_numbers,
          where_they_cannot_be_a_line_says_why, what_cannot_be_used_together,
          the_checkpoint_decides, its_limit_of_the_stack_is_taken,
          other_numbers_of_ranks_are_refused, other_arguments_are_refused,
          other_files_and_libraries_are_refused, other_places_are_refused,
          one_that_is_cut_off_or_not_there_is_refused, NULL});
}
