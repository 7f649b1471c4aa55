/* getopt, getopt_long and getopt_long_only with the variables of this copy;
   GNU behaviour and messages throughout, which tests compare with libc's. */
#define _GNU_SOURCE
#include <getopt.h>
#include <libintl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

char *optarg;
int optind = 1, opterr = 1, optopt = '?';

enum order { PERMUTE, REQUIRE_ORDER, RETURN_IN_ORDER };

/* What one call knows of the command line. */
struct line {
  int argc;
  char **argv;
  const char *shorts; /* past '+' or '-' */
  const struct option *longs;
  int *long_index;
  bool long_only;
  bool tell; /* print errors */
};

/* What lasts between calls. */
static bool started;
static int bad_option; /* becomes optopt after each call */
static enum order order;
static char *next;               /* rest of a cluster of short options */
static int skipped, skipped_end; /* operands passed over: argv[skipped ... ) */

__attribute__((format(printf, 2, 3))) static void
complain(const struct line *l, const char *format, ...) {
  if (!l->tell) {
    return;
  }
  va_list args;
  va_start(args, format);
  vfprintf(stderr, dgettext("libc", format), args);
  va_end(args);
}

static void begin(const char *shorts, bool posix) {
  if (optind == 0) {
    optind = 1;
  }
  skipped = skipped_end = optind;
  next = NULL;
  if (shorts[0] == '-') {
    order = RETURN_IN_ORDER;
  } else if (shorts[0] == '+' || posix || getenv("POSIXLY_CORRECT")) {
    order = REQUIRE_ORDER;
  } else {
    order = PERMUTE;
  }
  started = true;
}

static void reverse(char **argv, int from, int to) {
  while (from < --to) {
    char *t = argv[from];
    argv[from++] = argv[to];
    argv[to] = t;
  }
}

/* Moves the operands passed over behind the options read since. */
static void pass_operands(char **argv) {
  if (skipped == skipped_end) {
    skipped = optind;
  } else if (skipped_end != optind) {
    reverse(argv, skipped, skipped_end);
    reverse(argv, skipped_end, optind);
    reverse(argv, skipped, optind);
    skipped += optind - skipped_end;
  }
  skipped_end = optind;
}

static bool is_operand(const char *arg) {
  return arg[0] != '-' || arg[1] == '\0';
}

static int missing(const struct line *l) {
  return l->shorts[0] == ':' ? ':' : '?';
}

static bool same_effect(const struct option *a, const struct option *b) {
  return a->has_arg == b->has_arg && a->flag == b->flag && a->val == b->val;
}

/* Option i begins with text[0..len) and competes with the first that does. */
static bool competes(const struct line *l, int first, int i, const char *text,
                     size_t len) {
  return strncmp(l->longs[i].name, text, len) == 0 &&
         (i == first || l->long_only ||
          !same_effect(&l->longs[first], &l->longs[i]));
}

static void list_candidates(const struct line *l, const char *dashes,
                            const char *text, size_t len, int first) {
  if (!l->tell) {
    return;
  }
  flockfile(stderr);
  complain(l, "%s: option '%s%s' is ambiguous; possibilities:", l->argv[0],
           dashes, text);
  for (int i = first; l->longs[i].name; i++) {
    if (competes(l, first, i, text, len)) {
      fprintf(stderr, " '%s%s'", dashes, l->longs[i].name);
    }
  }
  fprintf(stderr, "\n");
  funlockfile(stderr);
}

enum { NO_MATCH = -1, AMBIGUOUS = -2 };

/* The option whose name is text[0..len), or the only one it abbreviates. */
static int match(const struct line *l, const char *text, size_t len,
                 int *first) {
  *first = NO_MATCH;
  bool ambiguous = false;
  for (int i = 0; l->longs[i].name; i++) {
    if (strncmp(l->longs[i].name, text, len) == 0 &&
        strlen(l->longs[i].name) == len) {
      return i;
    }
  }
  for (int i = 0; l->longs[i].name; i++) {
    if (strncmp(l->longs[i].name, text, len) != 0) {
      continue;
    }
    if (*first == NO_MATCH) {
      *first = i;
    } else {
      ambiguous |= competes(l, *first, i, text, len);
    }
  }
  return ambiguous ? AMBIGUOUS : *first;
}

static int refuse_long(const char *new_next) {
  next = (char *)new_next;
  optind++;
  bad_option = 0;
  return '?';
}

/* Takes the argument of long option o, if it has one; 0 or what to return. */
static int long_argument(const struct line *l, const struct option *o,
                         char *equals, const char *dashes) {
  if (*equals) {
    if (o->has_arg) {
      optarg = equals + 1;
      return 0;
    }
    complain(l, "%s: option '%s%s' doesn't allow an argument\n", l->argv[0],
             dashes, o->name);
    bad_option = o->val;
    return '?';
  }
  if (o->has_arg != required_argument) {
    return 0;
  }
  if (optind < l->argc) {
    optarg = l->argv[optind++];
    return 0;
  }
  complain(l, "%s: option '%s%s' requires an argument\n", l->argv[0], dashes,
           o->name);
  bad_option = o->val;
  return missing(l);
}

/* The long option at `next`; -1: try it as a cluster of short ones. */
static int read_long(const struct line *l, bool long_only, const char *dashes) {
  struct line here = *l;
  here.long_only = long_only;
  char *equals = next + strcspn(next, "=");
  const size_t len = (size_t)(equals - next);
  int first;
  const int i = match(&here, next, len, &first);
  if (i == AMBIGUOUS) {
    list_candidates(&here, dashes, next, len, first);
    return refuse_long(next + strlen(next));
  }
  if (i == NO_MATCH) {
    if (long_only && l->argv[optind][1] != '-' && strchr(l->shorts, *next)) {
      return -1;
    }
    complain(l, "%s: unrecognized option '%s%s'\n", l->argv[0], dashes, next);
    return refuse_long(NULL);
  }
  const struct option *o = &l->longs[i];
  optind++;
  next = NULL;
  const int failed = long_argument(l, o, equals, dashes);
  if (failed) {
    return failed;
  }
  if (l->long_index) {
    *l->long_index = i;
  }
  if (o->flag == NULL) {
    return o->val;
  }
  *o->flag = o->val;
  return 0;
}

static int lacks_argument(const struct line *l, char c) {
  complain(l, "%s: option requires an argument -- '%c'\n", l->argv[0], c);
  bad_option = c;
  return missing(l);
}

/* "-W name" is "--name" when the short options hold "W;". */
static int read_w(const struct line *l, char c) {
  if (*next == '\0') {
    if (optind == l->argc) {
      return lacks_argument(l, c);
    }
    next = l->argv[optind];
  }
  return read_long(l, false, "-W ");
}

static int short_argument(const struct line *l, char c, bool optional) {
  int result = c;
  if (*next != '\0') {
    optarg = next;
    optind++;
  } else if (!optional) {
    if (optind == l->argc) {
      result = lacks_argument(l, c);
    } else {
      optarg = l->argv[optind++];
    }
  }
  next = NULL;
  return result;
}

static int read_short(const struct line *l) {
  const char c = *next++;
  const char *spec = strchr(l->shorts, c);
  if (*next == '\0') {
    optind++;
  }
  if (spec == NULL || c == ':' || c == ';') {
    complain(l, "%s: invalid option -- '%c'\n", l->argv[0], c);
    bad_option = c;
    return '?';
  }
  if (spec[0] == 'W' && spec[1] == ';' && l->longs) {
    return read_w(l, c);
  }
  if (spec[1] == ':') {
    return short_argument(l, c, spec[2] == ':');
  }
  return c;
}

/* Steps over operands and "--". True: argv[optind] is to be looked at. */
static bool find_option(const struct line *l) {
  char **argv = l->argv;
  if (skipped_end > optind) {
    skipped_end = optind;
  }
  if (skipped > optind) {
    skipped = optind;
  }
  if (order == PERMUTE) {
    pass_operands(argv);
    while (optind < l->argc && is_operand(argv[optind])) {
      optind++;
    }
    skipped_end = optind;
  }
  if (optind != l->argc && strcmp(argv[optind], "--") == 0) {
    optind++;
    pass_operands(argv);
    optind = skipped_end = l->argc;
  }
  if (optind != l->argc) {
    return true;
  }
  if (skipped != skipped_end) {
    optind = skipped;
  }
  return false;
}

static int next_option(const struct line *l) {
  if (next == NULL || *next == '\0') {
    if (!find_option(l)) {
      return -1;
    }
    char *arg = l->argv[optind];
    if (is_operand(arg)) {
      if (order == REQUIRE_ORDER) {
        return -1;
      }
      optarg = arg;
      optind++;
      return 1;
    }
    if (l->longs && arg[1] == '-') {
      next = arg + 2;
      return read_long(l, l->long_only, "--");
    }
    if (l->longs && l->long_only && (arg[2] || !strchr(l->shorts, arg[1]))) {
      next = arg + 1;
      const int c = read_long(l, true, "-");
      if (c != -1) {
        return c;
      }
    }
    next = arg + 1;
  }
  return read_short(l);
}

static int run(struct line l, bool posix) {
  if (l.argc < 1) {
    return -1;
  }
  optarg = NULL;
  if (optind == 0 || !started) {
    begin(l.shorts, posix);
  }
  if (l.shorts[0] == '-' || l.shorts[0] == '+') {
    l.shorts++;
  }
  l.tell = opterr && l.shorts[0] != ':';
  const int c = next_option(&l);
  optopt = bad_option;
  return c;
}

/* getopt's prototype promises not to change argv, and it does. */
static struct line line(int argc, char *const *argv, const char *shorts) {
  return (struct line){.argc = argc, .argv = (char **)argv, .shorts = shorts};
}

int getopt(int argc, char *const *argv, const char *shorts) {
  return run(line(argc, argv, shorts), false);
}

/* What unistd.h calls getopt for programs that ask for POSIX only. */
int __posix_getopt(int argc, char *const *argv, const char *shorts);
int __posix_getopt(int argc, char *const *argv, const char *shorts) {
  return run(line(argc, argv, shorts), true);
}

int getopt_long(int argc, char *const *argv, const char *shorts,
                const struct option *longs, int *long_index) {
  struct line l = line(argc, argv, shorts);
  l.longs = longs;
  l.long_index = long_index;
  return run(l, false);
}

int getopt_long_only(int argc, char *const *argv, const char *shorts,
                     const struct option *longs, int *long_index) {
  struct line l = line(argc, argv, shorts);
  l.longs = longs;
  l.long_index = long_index;
  l.long_only = true;
  return run(l, false);
}
