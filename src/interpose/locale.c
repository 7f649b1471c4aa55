#define _GNU_SOURCE
#include "interpose/locale.h"
#include "interpose/real.h"

#include "base/failure.h"
#include "base/self.h"
#include "checkpoint/blocks.h"
#include "os/native.h"
#include "vp/vp.h"

#include <errno.h>
#include <locale.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <wchar.h>

#define EXPORT __attribute__((visibility("default")))

/* What it has for wide characters of a locale is the process's, though it takes
   memory when a rank converts some first. */
static void load_wide(void) {
  mbstate_t state = {0};
  wchar_t is;
  (void)mbrtowc(&is, "a", 1, &state);
}

EXPORT char *setlocale(int category, const char *locale) {
  INTERPOSE_REAL(setlocale)
  self_enter();
  char *const is = real(category, locale);
  if (locale && is) {
    load_wide();
  }
  self_leave();
  return is;
}

/* Called from the copy of a rank: here the process's functions are meant. */
EXPORT void pems_process_environment(const char *entry) {
  const size_t n = strcspn(entry, "=");
  char *const name = native_alloc(n + 1);
  self_enter();
  if (name) {
    memcpy(name, entry, n);
    name[n] = '\0';
    (void)(entry[n] ? setenv(name, entry + n + 1, 1) : unsetenv(name));
  }
  self_leave();
  native_free(name);
}

/* The first of these reads the file of the time zone. */

EXPORT void tzset(void) {
  INTERPOSE_REAL(tzset)
  self_enter();
  real();
  self_leave();
}

EXPORT struct tm *localtime_r(const time_t *time, struct tm *to) {
  INTERPOSE_REAL(localtime_r)
  self_enter();
  struct tm *const is = real(time, to);
  self_leave();
  return is;
}

EXPORT time_t mktime(struct tm *from) {
  INTERPOSE_REAL(mktime)
  self_enter();
  const time_t is = real(from);
  self_leave();
  return is;
}

EXPORT size_t strftime(char *to, size_t n, const char *format,
                       const struct tm *time) {
  INTERPOSE_REAL(strftime)
  self_enter();
  const size_t is = real(to, n, format, time);
  self_leave();
  return is;
}

/* Messages may be translated, and their files stay open. */

EXPORT char *strerror(int number) {
  INTERPOSE_REAL(strerror)
  self_enter();
  char *const is = real(number);
  self_leave();
  return is;
}

EXPORT char *strerror_l(int number, locale_t locale) {
  INTERPOSE_REAL(strerror_l)
  self_enter();
  char *const is = real(number, locale);
  self_leave();
  return is;
}

/* --- locales of a rank --- */

/* They are memory that nobody could save; what the C library has read for them
   is not. */
static void count(long change) {
  if (self.vp && !self.inside && !self.helper) {
    self.vp->native += change;
  }
}

/* The one that needs no memory. */
static bool is_static(locale_t locale) {
  static locale_t c;
  INTERPOSE_REAL(newlocale)
  if (!c) {
    c = real(LC_ALL_MASK, "C", (locale_t)0);
  }
  return !locale || locale == c;
}

EXPORT locale_t newlocale(int mask, const char *name, locale_t base) {
  INTERPOSE_REAL(newlocale)
  const long had = !is_static(base);
  self_enter();
  const locale_t is = real(mask, name, base);
  self_leave();
  count(is ? !is_static(is) - had : 0);
  return is;
}

EXPORT locale_t duplocale(locale_t from) {
  INTERPOSE_REAL(duplocale)
  self_enter();
  const locale_t is = real(from);
  self_leave();
  count(!is_static(is));
  return is;
}

EXPORT void freelocale(locale_t locale) {
  INTERPOSE_REAL(freelocale)
  count(-(long)!is_static(locale));
  self_enter();
  real(locale);
  self_leave();
}

/* --- in checkpoints --- */

int locale_save(struct checkpoint_out *o, struct pems_error *error) {
  const char *const is = setlocale(LC_ALL, NULL);
  return checkpoint_put(o, CHECKPOINT_LOCALE, 0, is, strlen(is) + 1, error);
}

/* Ranks of the process that go on already have set the same. */
int locale_load(struct checkpoint_in *in, struct pems_error *error) {
  void *bytes;
  size_t n;
  int code = checkpoint_take(in, CHECKPOINT_LOCALE, &bytes, &n, error);
  if (code) {
    return code;
  }
  char *const was = bytes;
  was[n - 1] = '\0';
  if (strcmp(was, setlocale(LC_ALL, NULL)) != 0 && !setlocale(LC_ALL, was)) {
    code = failure(error, ENOENT,
                   "restart: locale %s: this machine does not have it", was);
  }
  native_free(bytes);
  return code;
}
