/* Pages that are kept and given. The kernel may be one that moves a single
   mapping at a time (before Linux 6.17), and that unmaps the target before it
   finds out. */
#define _GNU_SOURCE
#include "context/residency/frames.h"

#include <check.h>
#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "check_main.h"

#define MIB ((size_t)1 << 20)
#define FRAME (2 * MIB)

enum { FRAMES = 8 };

static bool old_kernel;
static int refuse; /* moves that fail, and leave the target as it is */

/* Mappings that lie in [p, p + n). */
static int mappings(const char *p, size_t n) {
  char line[512];
  int count = 0;
  FILE *const f = fopen("/proc/self/maps", "r");
  ck_assert_ptr_nonnull(f);
  while (fgets(line, sizeof(line), f)) {
    unsigned long start, end;
    ck_assert_int_eq(sscanf(line, "%lx-%lx", &start, &end), 2);
    count += start < (unsigned long)p + n && end > (unsigned long)p;
  }
  fclose(f);
  return count;
}

/* What pages_move calls. */
long syscall(long number, ...) {
  long a[6];
  long (*real)(long, ...);
  va_list args;
  va_start(args, number);
  for (size_t i = 0; i < 6; i++) {
    a[i] = va_arg(args, long);
  }
  va_end(args);
  if (number == SYS_mremap && refuse && refuse--) {
    errno = ENOMEM;
    return -1;
  }
  if (number == SYS_mremap && old_kernel &&
      mappings((const char *)a[0], (size_t)a[1]) > 1) {
    munmap((void *)a[4], (size_t)a[2]);
    errno = EFAULT;
    return -1;
  }
  *(void **)&real = dlsym(RTLD_NEXT, "syscall");
  return real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

/* n frames at an address that is a multiple of their size. */
static char *map(size_t n) {
  char *const p = mmap(NULL, (n + 1) * FRAME, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  ck_assert_ptr_ne(p, MAP_FAILED);
  return p + (-(unsigned long)p & (FRAME - 1));
}

/* Frames in an order of their own, so that neighbours do not become one
   mapping. */
static char *map_apart(size_t n) {
  char *const p = map(n);
  for (size_t i = 0; i < n; i++) {
    ck_assert_ptr_ne(mmap(p + (i * 5 + 3) % n * FRAME, FRAME,
                          PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0),
                     MAP_FAILED);
  }
  for (size_t i = 0; i < n; i++) {
    char *const q = map(1);
    memset(q, (int)i + 1, FRAME);
    ck_assert_ptr_eq(
        mremap(q, FRAME, FRAME, MREMAP_MAYMOVE | MREMAP_FIXED, p + i * FRAME),
        p + i * FRAME);
  }
  return p;
}

static bool whole(const char *p, size_t n) {
  unsigned char in[FRAME / 4096];
  for (size_t i = 0; i < n; i++) {
    if (mincore((void *)(p + i * FRAME), FRAME, in) != 0) {
      return false;
    }
  }
  return true;
}

static void before(void) {
  old_kernel = false;
  refuse = 0;
}

static void after(void) {
  frames_destroy();
}

START_TEST(pages_move_on_any_kernel) {
  old_kernel = _i;
  ck_assert_int_eq(frames_create(FRAMES * FRAME), 0);
  char *const from = map_apart(FRAMES);
  char *const to = map(FRAMES);
  frames_keep((unsigned long)from, (unsigned long)from + FRAMES * FRAME);
  ck_assert_uint_eq(frames_bytes(), FRAMES * FRAME);
  ck_assert(whole(from, FRAMES));
  unsigned long start = (unsigned long)to;
  ck_assert_uint_eq(frames_give(&start, start + FRAMES * FRAME),
                    FRAMES * FRAME);
  ck_assert_uint_eq(frames_bytes(), 0);
  bool seen[FRAMES + 1] = {false};
  for (size_t i = 0; i < FRAMES; i++) {
    ck_assert_int_eq(to[i * FRAME], to[(i + 1) * FRAME - 1]);
    ck_assert(to[i * FRAME] >= 1 && to[i * FRAME] <= FRAMES);
    seen[(int)to[i * FRAME]] = true;
  }
  for (size_t i = 1; i <= FRAMES; i++) {
    ck_assert(seen[i]);
  }
}
END_TEST

START_TEST(what_cannot_be_moved_stays) {
  ck_assert_int_eq(frames_create(FRAMES * FRAME), 0);
  char *const from = map_apart(FRAMES);
  refuse = 1000;
  frames_keep((unsigned long)from, (unsigned long)from + FRAMES * FRAME);
  ck_assert_uint_eq(frames_bytes(), 0);
  for (size_t i = 0; i < FRAMES; i++) {
    ck_assert_int_eq(from[i * FRAME], (int)i + 1);
  }
  refuse = 0;
  frames_keep((unsigned long)from, (unsigned long)from + FRAMES * FRAME);
  ck_assert_uint_eq(frames_bytes(), FRAMES * FRAME);
  refuse = 1000;
  char *const to = map(FRAMES);
  unsigned long start = (unsigned long)to;
  ck_assert_uint_eq(frames_give(&start, start + FRAMES * FRAME), 0);
  ck_assert(whole(to, FRAMES));
}
END_TEST

START_TEST(no_more_is_kept_than_there_are_places) {
  ck_assert_int_eq(frames_create(3 * FRAME), 0);
  char *const from = map_apart(FRAMES);
  frames_keep((unsigned long)from + 4096, (unsigned long)from + FRAMES * FRAME);
  ck_assert_uint_eq(frames_bytes(), 3 * FRAME);
  ck_assert_int_eq(from[0], 1);
  ck_assert_int_eq(from[4 * FRAME], 5);
  frames_trim(FRAME + 1);
  ck_assert_uint_eq(frames_bytes(), FRAME);
  frames_trim(0);
  ck_assert_uint_eq(frames_bytes(), 0);
  frames_keep((unsigned long)from, (unsigned long)from + FRAME);
  ck_assert_uint_eq(frames_bytes(), FRAME);
}
END_TEST

START_TEST(without_places_nothing_is_kept) {
  ck_assert_int_eq(frames_create(FRAME - 1), -1);
  char *const from = map_apart(1);
  frames_keep((unsigned long)from, (unsigned long)from + FRAME);
  ck_assert_uint_eq(frames_bytes(), 0);
  ck_assert_int_eq(from[0], 1);
  unsigned long start = (unsigned long)from;
  ck_assert_uint_eq(frames_give(&start, start + FRAME), 0);
  frames_trim(0);
}
END_TEST

int main(void) {
  Suite *const s = suite_create("frames");
  TCase *const t = tcase_create("all");
  tcase_add_checked_fixture(t, before, after);
  tcase_add_loop_test(t, pages_move_on_any_kernel, 0, 2);
  tcase_add_test(t, what_cannot_be_moved_stays);
  tcase_add_test(t, no_more_is_kept_than_there_are_places);
  tcase_add_test(t, without_places_nothing_is_kept);
  suite_add_tcase(s, t);
  return check_run(s);
}
