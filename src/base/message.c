#define _GNU_SOURCE
#include "base/message.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define LINE_MAX_BYTES 8192

static msg_end_fn *end_job = msg_quit;
static msg_first_fn *is_first;
static msg_said_fn *has_said;
static atomic_int silent;
static atomic_int unnoticing;
static void (*noticed)(const char *line);
static atomic_int failed;
static char host[256];
/* Set in the thread whose failure ends the job. */
static _Thread_local int ending;

_Noreturn void msg_quit(int status) {
  for (;;) {
    syscall(SYS_exit_group, status);
  }
}

int msg_failing(void) {
  return atomic_load(&failed);
}

void msg_set_first(msg_first_fn *first, msg_said_fn *said) {
  is_first = first;
  has_said = said;
}

void msg_set_end(msg_end_fn *end) {
  end_job = end;
}

void msg_set_host(const char *name) {
  snprintf(host, sizeof(host), "%s", name);
}

void msg_set_speaker(bool speaks) {
  atomic_store(&silent, !speaks);
}

static bool begins_row(const char *text, size_t n) {
  return n > 2 && memcmp(text, "\n  ", 3) == 0;
}

void msg_clean(char *text, size_t n) {
  for (size_t i = 0; i < n; i++) {
    if (((unsigned char)text[i] < ' ' || text[i] == 127) &&
        !begins_row(text + i, n - i)) {
      text[i] = '?';
    }
  }
}

/* Writes "[host NAME: ]<formatted>"; returns its length without what did not
   fit. */
static size_t write_line(char *to, size_t size, bool here, const char *format,
                         va_list args) {
  size_t used = 0;
  if (here && *host) {
    used = (size_t)snprintf(to, size, "host %s: ", host);
  }
  const int n = vsnprintf(to + used, size - used, format, args);
  used += n > 0 ? (size_t)n : 0;
  used = used < size ? used : size - 1;
  msg_clean(to, used);
  return used;
}

/* One write(2), so that lines of several processes do not mix. */
static void say(bool here, const char *format, va_list args) {
  static const char prefix[] = "pems: ";
  enum { PREFIX = sizeof(prefix) - 1 };
  char line[LINE_MAX_BYTES];
  if (atomic_load(&silent)) {
    return;
  }
  memcpy(line, prefix, PREFIX);
  size_t used = PREFIX + write_line(line + PREFIX, sizeof(line) - PREFIX, here,
                                    format, args);
  line[used++] = '\n';
  /* Nothing sensible can be done if stderr is gone. */
  const ssize_t written = write(STDERR_FILENO, line, used);
  (void)written;
}

/* Returns in the first thread that fails; others wait for the end. */
static void begin_failing(int status) {
  /* The end function itself failed: waiting for it would last for ever. */
  if (ending) {
    msg_quit(status);
  }
  if (atomic_exchange(&failed, 1)) {
    for (;;) {
      pause();
    }
  }
  ending = 1;
}

_Noreturn void msg_end(int status) {
  begin_failing(status);
  end_job(status);
  msg_quit(status);
}

static _Noreturn void fail(int status, bool here, const char *format,
                           va_list args) {
  begin_failing(status);
  if (!is_first || is_first()) {
    say(here, format, args);
    if (has_said) {
      has_said();
    }
  }
  end_job(status);
  msg_quit(status);
}

_Noreturn void msg_fail(int status, const char *format, ...) {
  va_list args;
  va_start(args, format);
  fail(status, false, format, args);
}

_Noreturn void msg_fail_here(int status, const char *format, ...) {
  va_list args;
  va_start(args, format);
  fail(status, true, format, args);
}

void msg_warn(const char *format, ...) {
  va_list args;
  va_start(args, format);
  say(false, format, args);
  va_end(args);
}

void msg_warn_here(const char *format, ...) {
  va_list args;
  va_start(args, format);
  say(true, format, args);
  va_end(args);
}

void msg_set_noticing(bool notices) {
  atomic_store(&unnoticing, !notices);
}

void msg_set_notice(void (*notice)(const char *line)) {
  noticed = notice;
}

void msg_notice(const char *format, ...) {
  va_list args;
  if (atomic_load(&unnoticing)) {
    return;
  }
  va_start(args, format);
  if (noticed) {
    char line[LINE_MAX_BYTES];
    write_line(line, sizeof(line), true, format, args);
    noticed(line);
  } else {
    say(true, format, args);
  }
  va_end(args);
}
