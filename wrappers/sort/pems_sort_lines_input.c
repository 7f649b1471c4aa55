#define _GNU_SOURCE
#include "wrappers/sort/pems_sort_lines_input.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/message.h"
#include "em/lines/line_source.h"
#include "os/native.h"
#include "wrappers/sort/pems_sort_lines_options.h"

/* Before POSIX.1-2001 keys were given so. */
static void check_obsolete(const char *path) {
  struct stat st;
  if (path[0] == '+' && isdigit((unsigned char)path[1]) && stat(path, &st)) {
    msg_fail(MSG_USAGE,
             "key: %s: obsolete form of a key: use -k, which counts from 1",
             path);
  }
}

static void check_input(const char *path) {
  if (strcmp(path, LINE_STANDARD) != 0 &&
      faccessat(AT_FDCWD, path, R_OK, AT_EACCESS)) {
    msg_fail(MSG_USAGE, "input file: %s: %s: name a file that can be read",
             path, strerror(errno));
  }
}

static FILE *open_names(const char *path) {
  FILE *const f = strcmp(path, LINE_STANDARD) == 0 ? stdin : fopen(path, "re");
  if (!f) {
    msg_fail(MSG_USAGE, "--files0-from: %s: %s: name a file that can be read",
             path, strerror(errno));
  }
  return f;
}

static char *read_names(const char *path, size_t *n) {
  FILE *const f = open_names(path);
  char *names = NULL;
  size_t room = 0, part;
  *n = 0;
  do {
    room = room ? 2 * room : 4096;
    names = native_realloc(names, room + 1);
    if (!names) {
      msg_fail(MSG_USAGE, "memory: names of files: free some");
    }
    part = fread(names + *n, 1, room - *n, f);
    *n += part;
  } while (part > 0);
  if (ferror(f)) {
    msg_fail(MSG_USAGE, "--files0-from: %s: %s: check the file", path,
             strerror(errno));
  }
  names[*n] = '\0';
  return names;
}

static size_t count_names(const char *names, size_t n) {
  size_t count = 0;
  for (size_t i = 0; i < n; i++) {
    count += !names[i];
  }
  return count + (n > 0 && names[n - 1]);
}

static void take_names(struct sort_lines_command *c, const char *from) {
  size_t n;
  c->names = read_names(from, &n);
  c->path = native_realloc(c->path,
                           (count_names(c->names, n) + 1) * sizeof(*c->path));
  if (!c->path) {
    msg_fail(MSG_USAGE, "memory: names of files: free some");
  }
  for (size_t at = 0; at < n; at += strlen(c->names + at) + 1) {
    const char *const name = c->names + at;
    if (!*name || (strcmp(from, LINE_STANDARD) == 0 &&
                   strcmp(name, LINE_STANDARD) == 0)) {
      msg_fail(MSG_USAGE, "--files0-from: %s: name %zu: %s: leave it out", from,
               c->paths + 1,
               *name ? "standard input is read for names already" : "empty");
    }
    c->path[c->paths++] = name;
  }
  if (c->paths == 0) {
    msg_fail(MSG_USAGE, "--files0-from: %s: names no file: name one", from);
  }
}

void sort_lines_input(struct sort_lines_command *c, const char *from, int argc,
                      char **argv) {
  if (from && argc > 0) {
    msg_fail(MSG_USAGE, "argument: %s: beside --files0-from: leave one out",
             argv[0]);
  }
  for (int i = 0; i < argc; i++) {
    check_obsolete(argv[i]);
    c->path[c->paths++] = argv[i];
  }
  if (from) {
    take_names(c, from);
  } else if (argc == 0) {
    c->path[c->paths++] = LINE_STANDARD;
  }
  if (c->check && c->paths > 1) {
    msg_fail(MSG_USAGE, "argument: %s: one too many: -c checks one file",
             c->path[1]);
  }
  for (size_t i = 0; i < c->paths; i++) {
    check_input(c->path[i]);
  }
  c->sort.path = c->path;
  c->sort.paths = c->paths;
}
