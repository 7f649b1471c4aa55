/* What a program's calls for memory return where an allocation fails, each in
   its turn: the errors that the standards have for that, and nothing is lost.
   Blocks of the context are played: linked with --wrap for those functions and
   the native ones. */
#define _GNU_SOURCE
#include "interpose/malloc.h"

#include <check.h>
#include <errno.h>
#include <limits.h>
#include <malloc.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <wchar.h>

#include "base/self.h"
#include "check_main.h"
#include "context/calls/allocate.h"
#include "os/native.h"
#include "vp/vp.h"

static struct context context;
static struct vp vp = {.context = &context};

/* --- memory, of the context and not, of what is tried --- */

enum { MOST = 64 };

static struct block {
  void *p;
  size_t n;
  bool in_context;
} block[MOST];
static bool trying, once;
static long left;

static bool is_out(void) {
  if (!trying) {
    return false;
  }
  const long n = left--;
  return n == 0 || (n < 0 && !once);
}

static struct block *block_of(const void *p) {
  for (int i = 0; p && i < MOST; i++) {
    if (block[i].p == p) {
      return &block[i];
    }
  }
  return NULL;
}

static void *note(void *p, size_t n, bool in_context) {
  for (int i = 0; trying && p; i++) {
    if (!block[i].p) {
      block[i] = (struct block){p, n, in_context};
      break;
    }
  }
  return p;
}

static void forget(const void *p) {
  struct block *const b = block_of(p);
  if (b) {
    *b = (struct block){0};
  }
}

static int blocks(void) {
  int n = 0;
  for (int i = 0; i < MOST; i++) {
    n += block[i].p != NULL;
  }
  return n;
}

void *__real_native_alloc(size_t n);
void *__real_native_zalloc(size_t count, size_t size);
void *__real_native_realloc(void *p, size_t n);
void *__real_native_aligned(size_t align, size_t n);
void __real_native_free(void *p);
void *__wrap_native_alloc(size_t n);
void *__wrap_native_zalloc(size_t count, size_t size);
void *__wrap_native_realloc(void *p, size_t n);
void *__wrap_native_aligned(size_t align, size_t n);
void __wrap_native_free(void *p);
struct context *__wrap_context_of(const void *p);
void *__wrap_context_alloc(struct context *c, size_t n, size_t align);
void *__wrap_context_zalloc(struct context *c, size_t n);
void *__wrap_context_realloc(struct context *c, void *p, size_t n);
void __wrap_context_free(struct context *c, void *p);

static void *none(void) {
  errno = ENOMEM;
  return NULL;
}

void *__wrap_native_alloc(size_t n) {
  return is_out() ? none() : note(__real_native_alloc(n), n, false);
}

void *__wrap_native_zalloc(size_t count, size_t size) {
  return is_out()
             ? none()
             : note(__real_native_zalloc(count, size), count * size, false);
}

void *__wrap_native_realloc(void *p, size_t n) {
  if (is_out()) {
    return none();
  }
  forget(p);
  return note(__real_native_realloc(p, n), n, false);
}

void *__wrap_native_aligned(size_t align, size_t n) {
  return is_out() ? none() : note(__real_native_aligned(align, n), n, false);
}

void __wrap_native_free(void *p) {
  forget(p);
  __real_native_free(p);
}

struct context *__wrap_context_of(const void *p) {
  const struct block *const b = block_of(p);
  return b && b->in_context ? &context : NULL;
}

/* A context does not set errno. */
void *__wrap_context_alloc(struct context *c, size_t n, size_t align) {
  (void)c;
  return is_out() ? NULL : note(__real_native_aligned(align, n), n, true);
}

void *__wrap_context_zalloc(struct context *c, size_t n) {
  void *const p = __wrap_context_alloc(c, n, 16);
  return p ? memset(p, 0, n) : NULL;
}

void *__wrap_context_realloc(struct context *c, void *p, size_t n) {
  void *const q = __wrap_context_alloc(c, n, 16);
  const size_t had = block_of(p)->n;
  if (q) {
    memcpy(q, p, had < n ? had : n);
    __wrap_context_free(c, p);
  }
  return q;
}

void __wrap_context_free(struct context *c, void *p) {
  (void)c;
  forget(p);
  __real_native_free(p);
}

/* --- trying --- */

/* What a program does; nothing of Check's, which allocates, too. 0, ENOMEM, or
   -1: wrong. */
typedef int program(void);

static int try(program *f, long n, bool one) {
  self.vp = &vp;
  left = n;
  once = one;
  errno = 0;
  trying = true;
  const int code = f();
  trying = false;
  self.vp = NULL;
  ck_assert_msg(blocks() == 0, "allocation %ld: %d blocks lost", n, blocks());
  return code;
}

/* At least `least` allocations of it fail, each with an error. `spared`: libc
   may do without one of its own. */
static void try_all(program *f, int least, bool spared) {
  for (int i = 0; i < 2; i++) {
    int failures = 0;
    for (long n = 0;; n++) {
      const int code = try(f, n, i);
      if (left >= 0) {
        ck_assert_int_eq(code, 0);
        break;
      }
      ck_assert_msg(code == ENOMEM || (spared && code == 0),
                    "allocation %ld: %d", n, code);
      failures += code != 0;
    }
    ck_assert_int_ge(failures, least);
  }
}

static void every(program *f, int least) {
  try_all(f, least, false);
}

/* Not seen through by the compiler. */
static void *volatile kept;
static char place;
static volatile size_t huge = SIZE_MAX;

static int result(void *p) {
  const int code = p ? 0 : errno == ENOMEM ? ENOMEM : -1;
  kept = p;
  free(kept);
  return code;
}

/* --- the family --- */

static int with_malloc(void) {
  return result(malloc(100));
}

static int with_calloc(void) {
  return result(calloc(10, 10));
}

static int with_memalign(void) {
  return result(memalign(64, 100));
}

static int with_aligned_alloc(void) {
  return result(aligned_alloc(64, 128));
}

static int with_valloc(void) {
  return result(valloc(100));
}

static int with_pvalloc(void) {
  return result(pvalloc(100));
}

START_TEST(a_block_or_enomem) {
  every(with_malloc, 1);
  every(with_calloc, 1);
  every(with_memalign, 1);
  every(with_aligned_alloc, 1);
  every(with_valloc, 1);
  every(with_pvalloc, 1);
}
END_TEST

/* errno is left as it is. */
static int with_posix_memalign(void) {
  void *p = &place;
  const int code = posix_memalign(&p, 64, 100);
  if (errno || (code && p != &place)) {
    return -1;
  }
  if (!code) {
    free(p);
  }
  return code;
}

START_TEST(posix_memalign_returns_it) {
  every(with_posix_memalign, 1);
}
END_TEST

static int grow(void *grown(void *p)) {
  char *const p = malloc(10);
  if (!p) {
    return errno == ENOMEM ? ENOMEM : -1;
  }
  strcpy(p, "as it was");
  char *const q = grown(p);
  const int code = q ? 0 : errno == ENOMEM ? ENOMEM : -1;
  kept = q ? q : p;
  const bool same = strcmp(kept, "as it was") == 0;
  free(kept);
  return same ? code : -1;
}

static void *by_realloc(void *p) {
  return realloc(p, 1000);
}

static void *by_reallocarray(void *p) {
  return reallocarray(p, 10, 100);
}

static int with_realloc(void) {
  return grow(by_realloc);
}

static int with_reallocarray(void) {
  return grow(by_reallocarray);
}

/* The old one stays. */
START_TEST(a_block_grows_or_stays) {
  every(with_realloc, 2);
  every(with_reallocarray, 2);
}
END_TEST

/* By pointers: compilers hold that those they know leave errno alone. */
static void *(*volatile its_calloc)(size_t, size_t) = calloc;
static void *(*volatile its_reallocarray)(void *, size_t,
                                          size_t) = reallocarray;
static void *(*volatile its_pvalloc)(size_t) = pvalloc;

static int too_large(void) {
  void *volatile p = malloc(10);
  int wrong = p == NULL;
  errno = 0;
  kept = its_calloc(huge / 2, 3);
  wrong += kept != NULL || errno != ENOMEM;
  errno = 0;
  kept = its_reallocarray(p, huge / 2, 3);
  wrong += kept != NULL || errno != ENOMEM;
  errno = 0;
  kept = its_pvalloc(huge - 10);
  wrong += kept != NULL || errno != ENOMEM;
  free(p);
  return wrong ? -1 : 0;
}

START_TEST(what_no_number_holds_is_refused) {
  ck_assert_int_eq(try(too_large, INT_MAX, false), 0);
}
END_TEST

/* --- what libc hands out --- */

static int with_strdup(void) {
  return result(strdup("text"));
}

static int with_strndup(void) {
  return result(strndup("text", 2));
}

static int with_wcsdup(void) {
  return result(wcsdup(L"text"));
}

static int with_realpath(void) {
  return result(realpath("/tmp/..", NULL));
}

static int with_getcwd(void) {
  return result(getcwd(NULL, 0));
}

static int with_sized_getcwd(void) {
  return result(getcwd(NULL, PATH_MAX));
}

START_TEST(a_string_or_enomem) {
  every(with_strdup, 1);
  every(with_strndup, 1);
  every(with_wcsdup, 1);
  every(with_sized_getcwd, 1);
}
END_TEST

/* First libc's, then the program's. */
START_TEST(what_libc_allocates_is_not_lost) {
  try_all(with_realpath, 2, true);
  try_all(with_getcwd, 2, true);
}
END_TEST

static int with_asprintf(void) {
  char *text = NULL;
  if (asprintf(&text, "%d words", 12) < 0) {
    return errno == ENOMEM ? ENOMEM : -1;
  }
  const int code = strcmp(text, "12 words") == 0 ? 0 : -1;
  free(text);
  return code;
}

START_TEST(asprintf_says_no) {
  every(with_asprintf, 1);
}
END_TEST

static FILE *lines;

/* The second line is longer than what is taken at first. */
static int with_getline(void) {
  char *line = NULL;
  size_t n = 0;
  int code = 0;
  rewind(lines);
  for (int i = 0; i < 2 && !code; i++) {
    const ssize_t length = getline(&line, &n, lines);
    code = length == (i ? 1001 : 6) ? 0 : errno == ENOMEM ? ENOMEM : -1;
  }
  kept = line;
  free(kept);
  return code;
}

START_TEST(getline_says_no) {
  lines = tmpfile();
  ck_assert_ptr_nonnull(lines);
  fprintf(lines, "short\n%01000d\n", 7);
  fflush(lines);
  rewind(lines);
  ck_assert_int_eq(getc(lines), 's'); /* the stream's buffer is there */
  every(with_getline, 2);
  fclose(lines);
}
END_TEST

int main(void) {
  malloc_note_objects();
  const TTest *const tests[] = {a_block_or_enomem,
                                posix_memalign_returns_it,
                                a_block_grows_or_stays,
                                what_no_number_holds_is_refused,
                                a_string_or_enomem,
                                what_libc_allocates_is_not_lost,
                                asprintf_says_no,
                                getline_says_no,
                                NULL};
  return check_main("malloc_shortage", tests);
}
