/* What a rank has of its process: what stands in the way is named, and what is
   saved is loaded in the same order, until something fails. */
#include "interpose/keep.h"

#include <errno.h>
#include <string.h>

#include "base/failure.h"
#include "check_main.h"
#include "interpose/descriptor.h"
#include "interpose/dlfcn.h"
#include "interpose/exit.h"
#include "interpose/file_mapping.h"
#include "interpose/handler.h"
#include "interpose/itimer.h"
#include "interpose/keys.h"
#include "interpose/locale.h"
#include "interpose/record_lock.h"
#include "interpose/stdio.h"
#include "interpose/unwind.h"
#include "vp/vp.h"

static char calls[32], fails;
static bool has_keys, has_timers, has_tables, has_locks;
static int files, descriptors, streams, libraries;
static struct pems_error error;

static int call(char which) {
  const size_t n = strlen(calls);
  calls[n] = which;
  calls[n + 1] = '\0';
  return which == fails ? EIO : 0;
}

int handlers_save(const struct vp *vp, struct checkpoint_out *o,
                  struct pems_error *e) {
  (void)vp, (void)o, (void)e;
  return call('s');
}
int handlers_load(struct vp *vp, struct checkpoint_in *in,
                  struct pems_error *e) {
  (void)vp, (void)in, (void)e;
  return call('s');
}
int itimers_save(struct checkpoint_out *o, struct pems_error *e) {
  (void)o, (void)e;
  return call('t');
}
int itimers_load(struct checkpoint_in *in, struct pems_error *e) {
  (void)in, (void)e;
  return call('t');
}
bool itimers_has_others(void) {
  return has_timers;
}
bool record_locks_held(const struct vp *vp) {
  (void)vp;
  return has_locks;
}
bool unwind_has_tables(const struct vp *vp) {
  (void)vp;
  return has_tables;
}
int keys_save(const struct vp *vp, struct checkpoint_out *o,
              struct pems_error *e) {
  (void)vp, (void)o, (void)e;
  return call('k');
}
int keys_load(const struct vp *vp, struct checkpoint_in *in,
              struct pems_error *e) {
  (void)vp, (void)in, (void)e;
  return call('k');
}
bool keys_has_shared(const struct vp *vp) {
  (void)vp;
  return has_keys;
}
int exit_save(struct checkpoint_out *o, struct pems_error *e) {
  (void)o, (void)e;
  return call('e');
}
int exit_load(struct checkpoint_in *in, struct pems_error *e) {
  (void)in, (void)e;
  return call('e');
}
int locale_save(struct checkpoint_out *o, struct pems_error *e) {
  (void)o, (void)e;
  return call('l');
}
int locale_load(struct checkpoint_in *in, struct pems_error *e) {
  (void)in, (void)e;
  return call('l');
}
int descriptors_save(const struct vp *vp, struct checkpoint_out *o,
                     struct pems_error *e) {
  (void)vp, (void)o, (void)e;
  return call('d');
}
int descriptors_load(struct vp *vp, struct checkpoint_in *in,
                     struct pems_error *e) {
  (void)vp, (void)in, (void)e;
  return call('d');
}
int descriptors_check(const struct vp *vp, struct pems_error *e) {
  (void)vp;
  return descriptors ? failure(e, descriptors, "a pipe") : 0;
}
int file_mappings_save(const struct vp *vp, struct checkpoint_out *o,
                       struct pems_error *e) {
  (void)vp, (void)o, (void)e;
  return call('m');
}
int file_mappings_load(struct vp *vp, struct checkpoint_in *in,
                       struct pems_error *e) {
  (void)vp, (void)in, (void)e;
  return call('m');
}
int file_mappings_check(const struct vp *vp, struct pems_error *e) {
  (void)vp;
  return files ? failure(e, files, "a file is mapped") : 0;
}
int stdio_save(const struct vp *vp, struct checkpoint_out *o,
               struct pems_error *e) {
  (void)vp, (void)o, (void)e;
  return call('f');
}
int stdio_load(struct vp *vp, struct checkpoint_in *in, struct pems_error *e) {
  (void)vp, (void)in, (void)e;
  return call('f');
}
int stdio_check(const struct vp *vp, struct pems_error *e) {
  (void)vp;
  return streams ? failure(e, streams, "a stream") : 0;
}

int dlfcn_check(struct vp *vp, struct pems_error *e) {
  (void)vp;
  return libraries ? failure(e, libraries, "a library") : 0;
}
int dlfcn_save(const struct vp *vp, struct checkpoint_out *o,
               struct pems_error *e) {
  (void)vp, (void)o, (void)e;
  return call('o');
}
int dlfcn_load(struct checkpoint_in *in, struct pems_error *e) {
  (void)in, (void)e;
  return call('o');
}
int dlfcn_open_again(struct vp *vp, const char *name, struct pems_error *e) {
  (void)vp, (void)e;
  ck_assert_str_eq(name, "its name");
  return call('a');
}
void dlfcn_settle(struct vp *vp) {
  (void)vp;
  (void)call('z');
}

static void is_in_the_way(struct vp *vp, const char *what) {
  ck_assert_int_eq(keep_check(vp, &error), ENOTSUP);
  ck_assert_msg(strstr(error.text, what) != NULL, "%s", error.text);
}

START_TEST(what_is_in_the_way_is_named) {
  struct vp vp = {.rank = 1};
  ck_assert_int_eq(keep_check(&vp, &error), 0);
  vp.native = 1;
  is_in_the_way(&vp, "memory of the C library");
  libraries = ENOTSUP; /* this and what follows may be why */
  is_in_the_way(&vp, "a library");
  streams = ENOTSUP;
  is_in_the_way(&vp, "a stream");
  descriptors = ENOTSUP;
  is_in_the_way(&vp, "a pipe");
  files = ENOTSUP;
  is_in_the_way(&vp, "a file is mapped");
  has_tables = true;
  is_in_the_way(&vp, "machine code");
  has_locks = true;
  is_in_the_way(&vp, "record locks");
  vp.mapped = 1;
  is_in_the_way(&vp, "shared mappings");
  has_timers = true;
  is_in_the_way(&vp, "timer_create");
  has_keys = true;
  is_in_the_way(&vp, "keys of threads' data");
  vp.shared = true;
  is_in_the_way(&vp, "threads");
}
END_TEST

START_TEST(all_is_loaded_in_the_order_of_saving) {
  struct vp vp = {.rank = 1};
  ck_assert_int_eq(keep_save(&vp, NULL, &error), 0);
  ck_assert_uint_eq(strlen(calls), 9);
  char saved[sizeof(calls)];
  memcpy(saved, calls, sizeof(saved));
  calls[0] = '\0';
  ck_assert_int_eq(keep_load(&vp, NULL, &error), 0);
  ck_assert_str_eq(calls, saved);
}
END_TEST

START_TEST(nothing_comes_after_what_fails) {
  struct vp vp = {.rank = 1};
  ck_assert_int_eq(keep_save(&vp, NULL, &error), 0);
  const size_t n = strlen(calls);
  for (size_t i = 0; i < n; i++) {
    char all[sizeof(calls)];
    memcpy(all, calls, sizeof(all));
    fails = all[i];
    for (int loads = 0; loads < 2; loads++) {
      calls[0] = '\0';
      ck_assert_int_eq(loads ? keep_load(&vp, NULL, &error)
                             : keep_save(&vp, NULL, &error),
                       EIO);
      ck_assert_uint_eq(strlen(calls), i + 1);
      ck_assert_int_eq(calls[i], fails);
    }
    memcpy(calls, all, sizeof(calls));
  }
}
END_TEST

START_TEST(libraries_are_opened_again) {
  struct vp vp = {.rank = 1};
  ck_assert_int_eq(keep_open_again(&vp, "its name", &error), 0);
  keep_settle(&vp);
  ck_assert_str_eq(calls, "az");
  fails = 'a';
  ck_assert_int_eq(keep_open_again(&vp, "its name", &error), EIO);
}
END_TEST

int main(void) {
  const TTest *const tests[] = {
      what_is_in_the_way_is_named, all_is_loaded_in_the_order_of_saving,
      nothing_comes_after_what_fails, libraries_are_opened_again, NULL};
  return check_main("keep", tests);
}
