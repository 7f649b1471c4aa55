/* The files of a report, and how numbers and texts stand in them. */
#define _GNU_SOURCE
#include "report/report_parts.h"

#include "base/failure.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *const report_state[TRACE_STATES] = {
    "compute", "deliver", "network", "others", "slot", "swap", "disk"};
const char *const report_state_text[TRACE_STATES] = {
    "computing",          "delivering",       "on the network",
    "waiting for others", "waiting for slot", "waiting for context",
    "waiting for disk"};
const char *const report_bytes[TRACE_BYTES] = {"in",      "out",  "memory",
                                               "written", "read", "sent"};
const unsigned report_color[TRACE_STATES] = {
    0x228833, 0x4477aa, 0xaa3377, 0xdddddd, 0xccbb44, 0xee6677, 0x66ccee};

int report_fail(struct pems_error *error, int code, const char *dir) {
  return failure(error, code,
                 "report: %s: %s: name a directory that can be written with "
                 "--pems-report",
                 dir, strerror(code));
}

static int fail_file(struct report_file *r, int code) {
  unlink(r->temporary);
  return failure(r->error, code, "report: %s: %s: %s", r->path, strerror(code),
                 code == ENOMEM
                     ? "free some memory"
                     : "free some space, or name another directory with "
                       "--pems-report");
}

int report_create(struct report_file *r, const char *dir, const char *name,
                  int process, struct pems_error *error) {
  char file[REPORT_LONGEST_NAME];
  r->f = NULL;
  r->error = error;
  snprintf(file, sizeof(file), name, process);
  if (snprintf(r->path, sizeof(r->path), "%s/%s", dir, file) >=
          (int)sizeof(r->path) ||
      snprintf(r->temporary, sizeof(r->temporary), "%s/%s.tmp", dir, file) >=
          (int)sizeof(r->temporary)) {
    return report_fail(error, ENAMETOOLONG, "the directory");
  }
  unlink(r->temporary);
  const int fd =
      open(r->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  r->f = fd < 0 ? NULL : fdopen(fd, "w");
  if (!r->f) {
    const int code = errno;
    if (fd >= 0) {
      close(fd);
    }
    return fail_file(r, code);
  }
  return 0;
}

int report_close(struct report_file *r, int wrong) {
  errno = 0;
  int code = wrong ? wrong : fflush(r->f) == 0 ? 0 : errno;
  if (!code && ferror(r->f)) {
    code = EIO;
  }
  if (fclose(r->f) != 0 && !code) {
    code = errno;
  }
  if (!code && rename(r->temporary, r->path) != 0) {
    code = errno;
  }
  return code ? fail_file(r, code) : 0;
}

/* --- numbers and strings --- */

void report_seconds(FILE *f, uint64_t ns) {
  fprintf(f, "%llu.%09llu", (unsigned long long)(ns / 1000000000),
          (unsigned long long)(ns % 1000000000));
}

void report_micros(FILE *f, uint64_t ns) {
  fprintf(f, "%llu.%03llu", (unsigned long long)(ns / 1000),
          (unsigned long long)(ns % 1000));
}

/* Bytes of the UTF-8 character at s, 0 if it is none. */
static int utf8_length(const unsigned char *s) {
  const int n = *s < 0x80   ? 1
                : *s < 0xc2 ? 0
                : *s < 0xe0 ? 2
                : *s < 0xf0 ? 3
                : *s < 0xf5 ? 4
                            : 0;
  for (int i = 1; i < n; i++) {
    if ((s[i] & 0xc0) != 0x80) {
      return 0;
    }
  }
  return n;
}

void report_string(FILE *f, const char *s) {
  fputc('"', f);
  while (*s) {
    const int n = utf8_length((const unsigned char *)s);
    if (n == 0) {
      fputc('?', f);
    } else if (*s == '"' || *s == '\\') {
      fprintf(f, "\\%c", *s);
    } else if (n == 1 && ((unsigned char)*s < ' ' || *s == '<')) {
      /* No "</script>" in a page. */
      fprintf(f, "\\u%04x", (unsigned)*s);
    } else {
      fwrite(s, 1, n, f);
    }
    s += n ? n : 1;
  }
  fputc('"', f);
}
