#include "base/need.h"

#include <errno.h>
#include <stdint.h>

#include "base/limit.h"
#include "base/message.h"
#include "os/native.h"

static const char *advice(char text[LIMIT_TEXT], size_t n) {
  return limit_advice(text, LIMIT_MEMORY, ENOMEM, n,
                      "give pems more with --pems-memory");
}

static _Noreturn void fail_short(size_t n, const char *what) {
  char text[LIMIT_TEXT];
  msg_fail_here(MSG_FAILED, "out of memory: %s: %zu bytes: %s", what, n,
                advice(text, n));
}

_Noreturn void need_fail(const char *what) {
  char text[LIMIT_TEXT];
  msg_fail_here(MSG_FAILED, "out of memory: %s: %s", what, advice(text, 0));
}

void *need_alloc(size_t n, const char *what) {
  void *p = native_alloc(n ? n : 1);
  if (!p) {
    fail_short(n, what);
  }
  return p;
}

void *need_zalloc(size_t count, size_t size, const char *what) {
  void *p = native_zalloc(count ? count : 1, size ? size : 1);
  if (!p) {
    size_t n;
    fail_short(__builtin_mul_overflow(count, size, &n) ? SIZE_MAX : n, what);
  }
  return p;
}

void *need_realloc(void *p, size_t n, const char *what) {
  void *more = native_realloc(p, n ? n : 1);
  if (!more) {
    fail_short(n, what);
  }
  return more;
}
