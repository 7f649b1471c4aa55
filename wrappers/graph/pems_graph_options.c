#define _GNU_SOURCE
#include "wrappers/graph/pems_graph_options.h"

#include "config.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/message.h"
#include "base/text.h"
#include "config/size.h"
#include "digraph/digraph_out.h"
#include "em/core/defaults.h"

enum { OPTIONS_MOST = 48, FIRST_CODE = 256, HELP_COLUMN = 28 };

static char letter_of(const struct graph_option *o) {
  return strcmp(o->name, "output") == 0 ? 'o' : '\0';
}

/* --- help --- */

static void print_option(const char *name, char letter, const char *operand,
                         const char *help) {
  char left[80];
  struct text t = text_in(left, sizeof(left));
  text_add(&t, "  --%s%s%s", name, operand ? " " : "", operand ? operand : "");
  printf("%-*s ", HELP_COLUMN - 1, left);
  if (strlen(left) > HELP_COLUMN - 1) {
    printf("\n%*s", HELP_COLUMN, "");
  }
  for (const char *c = help; *c; c++) {
    putchar(*c);
    if (*c == '\n') {
      printf("%*s", HELP_COLUMN, "");
    }
  }
  if (letter) {
    printf(" (-%c)", letter);
  }
  putchar('\n');
}

static _Noreturn void help(const char *command, const char *usage,
                           const struct graph_option *options) {
  printf("usage: pems-graph %s %s\n\nOptions:\n", command, usage);
  for (const struct graph_option *o = options; o->name; o++) {
    print_option(o->name, letter_of(o), o->operand, o->help);
  }
  print_option("help", 'h', NULL, "print this");
  print_option("version", 'V', NULL, "print the version");
  puts("\nSizes: bytes, or with K, M, G, T. See pems-graph(1).");
  exit(0);
}

/* --- values --- */

static uint64_t read_number(const struct graph_option *o, const char *text) {
  char *end = NULL;
  errno = 0;
  const unsigned long long n = strtoull(text, &end, 10);
  if (!isdigit((unsigned char)*text) || *end || errno) {
    msg_fail(MSG_USAGE, "--%s: %s: give a whole number", o->name, text);
  }
  return n;
}

static uint64_t read_size(const struct graph_option *o, const char *text) {
  uint64_t n;
  if (size_parse(text, &n) || n == 0) {
    msg_fail(MSG_USAGE, "--%s: %s: give a size, such as 4096, 64M or 1.5G",
             o->name, text);
  }
  return n;
}

static void add_disk(struct graph_machine *machine, const char *path) {
  if (machine->disks == GRAPH_DISKS_MOST) {
    msg_fail(MSG_USAGE, "--disk: %s: one too many: give at most %d", path,
             GRAPH_DISKS_MOST);
  }
  machine->disk[machine->disks++] = path;
}

static void set(const struct graph_option *o, const char *value) {
  switch (o->kind) {
  case GRAPH_COUNT:
    *(uint64_t *)o->value = read_number(o, value);
    break;
  case GRAPH_SIZE:
    *(uint64_t *)o->value = read_size(o, value);
    break;
  case GRAPH_TEXT:
    *(const char **)o->value = value;
    break;
  case GRAPH_DISK:
    add_disk(o->value, value);
    break;
  case GRAPH_FLAG:
    *(int *)o->value = 1;
    break;
  }
}

int graph_option_int(uint64_t n) {
  return n > INT_MAX ? INT_MAX : (int)n;
}

/* --- the machine --- */

void graph_machine_complete(struct graph_machine *machine) {
  if (!machine->memory) {
    machine->memory = defaults_memory() / 5 * 16; /* that is a quarter */
  }
}

struct pems_disks_options
graph_machine_scratch(const struct graph_machine *machine) {
  return (struct pems_disks_options){.path =
                                         machine->disks ? machine->disk : NULL,
                                     .count = machine->disks,
                                     .io = machine->io};
}

/* --- one after the other --- */

struct table {
  struct option longs[OPTIONS_MOST + 3];
  char shorts[2 * OPTIONS_MOST + 8];
  int n;
};

/* A colon at first: getopt says nothing itself, and tells what is missing. */
static void make_table(struct table *t, const struct graph_option *options) {
  struct text shorts = text_in(t->shorts, sizeof(t->shorts));
  text_add(&shorts, ":hV");
  t->n = 0;
  for (const struct graph_option *o = options; o->name && t->n < OPTIONS_MOST;
       o++) {
    const bool value = o->kind != GRAPH_FLAG;
    t->longs[t->n] =
        (struct option){o->name, value ? required_argument : no_argument, NULL,
                        FIRST_CODE + t->n};
    t->n++;
    if (letter_of(o)) {
      text_add(&shorts, "%c%s", letter_of(o), value ? ":" : "");
    }
  }
  t->longs[t->n] = (struct option){"help", no_argument, NULL, 'h'};
  t->longs[t->n + 1] = (struct option){"version", no_argument, NULL, 'V'};
  t->longs[t->n + 2] = (struct option){0};
}

static const struct graph_option *option_of(const struct graph_option *options,
                                            int code) {
  if (code >= FIRST_CODE) {
    return &options[code - FIRST_CODE];
  }
  const struct graph_option *o = options;
  while (o->name && letter_of(o) != code) {
    o++;
  }
  return o;
}

static void read_words(int argc, char **argv, const char *usage,
                       const char **words, int least, int most) {
  for (int i = 0; i < most; i++) {
    words[i] = optind + i < argc ? argv[optind + i] : NULL;
  }
  if (argc - optind > most) {
    msg_fail(MSG_USAGE, "%s: %s: one word too many: see pems-graph %s --help",
             argv[0], argv[optind + most], argv[0]);
  }
  if (argc - optind < least) {
    msg_fail(MSG_USAGE, "%s: a word is missing: give %.*s", argv[0],
             (int)strcspn(usage, "\n"), usage);
  }
}

void graph_options_add(struct graph_option *all, size_t most,
                       const struct graph_option *more) {
  size_t at = 0;
  while (all[at].name) {
    at++;
  }
  for (; more && more->name && at + 1 < most; more++) {
    all[at++] = *more;
  }
}

void graph_options_read(int argc, char **argv, const char *usage,
                        const struct graph_option *options, const char **words,
                        int least, int most) {
  struct table t;
  make_table(&t, options);
  optind = 0;
  for (int code;
       (code = getopt_long(argc, argv, t.shorts, t.longs, NULL)) >= 0;) {
    switch (code) {
    case 'h':
      help(argv[0], usage, options);
    case 'V':
      puts("pems-graph (pems) " PACKAGE_VERSION);
      exit(0);
    case ':':
      msg_fail(MSG_USAGE,
               "option: %s: it needs a value: see pems-graph %s "
               "--help",
               argv[optind - 1], argv[0]);
    case '?':
      msg_fail(MSG_USAGE,
               "option: %s: unknown, ambiguous or with a value that "
               "it does not take: see pems-graph %s --help",
               argv[optind - 1], argv[0]);
    default:
      set(option_of(options, code), optarg);
    }
  }
  read_words(argc, argv, usage, words, least, most);
}

void graph_options_output(const char *input, const char *output) {
  struct stat in, out;
  if (input && output && !digraph_out_standard(output) &&
      stat(input, &in) == 0 && stat(output, &out) == 0 &&
      in.st_dev == out.st_dev && in.st_ino == out.st_ino &&
      S_ISREG(in.st_mode)) {
    msg_fail(MSG_USAGE, "output: %s: is the input: name another file", output);
  }
}

int graph_option_choice(const char *name, const char *const *list,
                        const char *word) {
  char all[200];
  struct text t = text_in(all, sizeof(all));
  for (int i = 0; list[i]; i++) {
    if (strcmp(list[i], word) == 0) {
      return i;
    }
    text_add(&t, "%s%s", !i ? "" : list[i + 1] ? ", " : " or ", list[i]);
  }
  msg_fail(MSG_USAGE, "%s: %s: give %s", name, word, all);
}

enum digraph_format graph_option_format(const char *option, const char *name) {
  const enum digraph_format format =
      name ? digraph_format_named(name) : DIGRAPH_BY_NAME;
  if (name && format == DIGRAPH_BY_NAME) {
    msg_fail(MSG_USAGE, "--%s: %s: there is no such format: give %s", option,
             name, DIGRAPH_FORMATS);
  }
  return format;
}

double graph_option_real(const char *name, const char *text) {
  char *end = NULL;
  const double value = strtod(text, &end);
  if (end == text || *end || !isfinite(value) || value <= 0) {
    msg_fail(MSG_USAGE, "--%s: %s: give a number above 0, such as 0.01", name,
             text);
  }
  return value;
}

struct generate_weights graph_option_weights(const char *text) {
  unsigned long least = 1, most = 0;
  int one = 0, two = 0; /* characters of either form */
  if (!text) {
    return (struct generate_weights){0};
  }
  if (sscanf(text, "%10lu%n", &most, &one) != 1 || text[one]) {
    (void)sscanf(text, "%10lu:%10lu%n", &least, &most, &two);
  }
  if (strpbrk(text, "+- ") || text[two ? two : one] || least > most ||
      most > UINT32_MAX || most == 0) {
    msg_fail(MSG_USAGE,
             "--weights: %s: give the least and the greatest one, as 1:100, or "
             "the greatest alone, as 100, below 2^32",
             text);
  }
  return (struct generate_weights){(uint32_t)least, (uint32_t)most};
}

_Noreturn void graph_options_fail(const struct pems_error *error) {
  msg_fail(MSG_USAGE, "%s", error->text);
}
