#define _GNU_SOURCE
#include "wrappers/sort/pems_sort_lines_options.h"

#include "config.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/message.h"
#include "os/native.h"
#include "wrappers/sort/pems_sort_lines_input.h"
#include "wrappers/sort/pems_sort_lines_values.h"

/* --- the options --- */

enum {
  HELP = 256,
  SHOW_VERSION,
  LINES,
  CSV,
  TSV,
  HEADER,
  PARALLEL,
  COMPRESS,
  FILES0,
  BATCH,
  SORT,
  RANDOM_SOURCE,
  MEMORY,
  IO,
  DEPTH,
  STATS,
  PROGRESS,
  DEBUG,
};

static const struct option options[] = {
    {"lines", no_argument, NULL, LINES},
    {"csv", no_argument, NULL, CSV},
    {"tsv", no_argument, NULL, TSV},
    {"header", no_argument, NULL, HEADER},
    {"ignore-leading-blanks", no_argument, NULL, 'b'},
    {"dictionary-order", no_argument, NULL, 'd'},
    {"ignore-case", no_argument, NULL, 'f'},
    {"general-numeric-sort", no_argument, NULL, 'g'},
    {"human-numeric-sort", no_argument, NULL, 'h'},
    {"ignore-nonprinting", no_argument, NULL, 'i'},
    {"month-sort", no_argument, NULL, 'M'},
    {"numeric-sort", no_argument, NULL, 'n'},
    {"random-sort", no_argument, NULL, 'R'},
    {"reverse", no_argument, NULL, 'r'},
    {"version-sort", no_argument, NULL, 'V'},
    {"sort", required_argument, NULL, SORT},
    {"check", optional_argument, NULL, 'c'},
    {"key", required_argument, NULL, 'k'},
    {"field-separator", required_argument, NULL, 't'},
    {"merge", no_argument, NULL, 'm'},
    {"output", required_argument, NULL, 'o'},
    {"stable", no_argument, NULL, 's'},
    {"unique", no_argument, NULL, 'u'},
    {"zero-terminated", no_argument, NULL, 'z'},
    {"buffer-size", required_argument, NULL, 'S'},
    {"memory", required_argument, NULL, MEMORY},
    {"temporary-directory", required_argument, NULL, 'T'},
    {"disk", required_argument, NULL, 'T'},
    {"parallel", required_argument, NULL, PARALLEL},
    {"threads", required_argument, NULL, PARALLEL},
    {"compress-program", required_argument, NULL, COMPRESS},
    {"files0-from", required_argument, NULL, FILES0},
    {"batch-size", required_argument, NULL, BATCH},
    {"random-source", required_argument, NULL, RANDOM_SOURCE},
    {"io", required_argument, NULL, IO},
    {"depth", required_argument, NULL, DEPTH},
    {"stats", no_argument, NULL, STATS},
    {"progress", no_argument, NULL, PROGRESS},
    {"debug", no_argument, NULL, DEBUG},
    {"help", no_argument, NULL, HELP},
    {"version", no_argument, NULL, SHOW_VERSION},
    {0},
};

static const char help_text[] =
    "usage: pems-sort --lines|--csv|--tsv [options] [file]...\n"
    "       NAME [options] [file]...     called as sort, gsort, pems-gsort\n"
    "\n"
    "Writes the sorted lines of all files to standard output, as sort(1) "
    "does.\n"
    "Without a file, or for -, reads standard input.\n"
    "\n"
    "Tables (equal keys: in the order of the input):\n"
    "      --csv                    columns between commas, perhaps in quotes\n"
    "      --tsv                    columns between tabs, without quotes\n"
    "      --header                 the first line of each file stays first\n"
    "  -k, --key=COLUMN[:OPTIONS]   by a column: its number, or with --header\n"
    "                               its name; may be repeated. Default: by\n"
    "                               all columns\n"
    "\n"
    "Order:\n"
    "  -b, --ignore-leading-blanks  blanks before a field do not count\n"
    "  -d, --dictionary-order       only blanks, letters and digits count\n"
    "  -f, --ignore-case            lower case letters count as upper case\n"
    "  -g, --general-numeric-sort   by numbers such as 1e6, inf, nan\n"
    "  -h, --human-numeric-sort     by numbers such as 2K, 1G\n"
    "  -i, --ignore-nonprinting     only printable characters count\n"
    "  -k, --key=POS[,POS]          by a part of the line; may be repeated.\n"
    "                               POS: FIELD[.BYTE][OPTIONS], from 1\n"
    "  -M, --month-sort             by names of months\n"
    "  -n, --numeric-sort           by decimal numbers of any length\n"
    "  -R, --random-sort            shuffle, equal keys together\n"
    "      --random-source=FILE     with the random bytes of FILE\n"
    "  -r, --reverse                largest first\n"
    "      --sort=WORD              general-numeric, human-numeric, month,\n"
    "                               numeric, random or version\n"
    "  -s, --stable                 equal keys: in the order of the input\n"
    "  -t, --field-separator=CHAR   what is between fields\n"
    "  -V, --version-sort           numbers within the text by value\n"
    "\n"
    "What is done:\n"
    "  -c, --check                  only check whether the file is sorted\n"
    "  -C, --check=quiet            the same, without a message\n"
    "  -m, --merge                  files are sorted already: merge them\n"
    "  -o, --output=FILE            write to FILE, which may be an input\n"
    "  -u, --unique                 only the first of equal lines\n"
    "  -z, --zero-terminated        lines end with a zero byte\n"
    "      --files0-from=FILE       inputs are named in FILE, each name ends\n"
    "                               with a zero byte\n"
    "\n"
    "Resources:\n"
    "  -S, --buffer-size=SIZE       memory: in K, or with b, K, M, G, T, %\n"
    "      --memory=SIZE            the same, in bytes, or with K, M, G, T\n"
    "  -T, --temporary-directory=D  scratch space; may be repeated (--disk)\n"
    "      --parallel=N             computing threads (--threads)\n"
    "      --compress-program=WORD  runs in scratch space: auto (default:\n"
    "                               on slow disks), none, lz4 or zstd\n"
    "      --batch-size=N           merge at most N runs or files at once\n"
    "      --io=DRIVER, --depth=N   as for records\n"
    "      --progress, --stats      show progress, print statistics\n"
    "      --help, --version\n"
    "\n"
    "The locale (LC_ALL, LC_COLLATE) sets the order; LC_ALL=C is fastest.\n"
    "See pems-sort(1).";

/* --- one after the other --- */

static void set_output(struct sort_lines_command *c, const char *path) {
  if (c->sort.output && strcmp(c->sort.output, path) != 0) {
    msg_fail(MSG_USAGE, "output: %s: given before as %s: give one", path,
             c->sort.output);
  }
  c->sort.output = path;
}

static void set_check(struct sort_lines_command *c, enum sort_check check) {
  if (c->check && c->check != check) {
    msg_fail(MSG_USAGE, "options: -cC: cannot be combined: leave one out");
  }
  c->check = check;
}

static void read_tuning(struct sort_lines_command *c, int option,
                        const char *value) {
  struct line_sort_options *const o = &c->sort;
  switch (option) {
  case 'S':
    o->memory = sort_value_buffer_size(value);
    break;
  case MEMORY:
    o->memory = sort_value_memory(value);
    break;
  case 'T':
    c->disk[c->disks++] = value;
    break;
  case PARALLEL:
    o->threads = (int)sort_value_number("parallel", value, 1, 1024);
    break;
  case COMPRESS:
    o->packing = sort_value_packing(value);
    break;
  case BATCH:
    o->batch = sort_value_number("batch-size", value, 2, 1 << 20);
    break;
  case IO:
    o->scratch.io = value;
    break;
  case DEPTH:
    o->scratch.depth = (int)sort_value_number("depth", value, 1, 1024);
    break;
  }
}

static void set_table(struct sort_lines_command *c, enum sort_table table) {
  if (c->table && c->table != table) {
    msg_fail(MSG_USAGE, "options: --csv --tsv: cannot be combined: give one");
  }
  c->table = table;
}

static void read_what(struct sort_lines_command *c, int option,
                      const char *value) {
  switch (option) {
  case 'c':
  case 'C':
    set_check(c, sort_value_check(option, value));
    break;
  case 'k':
    c->key[c->keys++] = value;
    break;
  case 't':
    c->order.separator = sort_value_separator(value, c->order.separator);
    break;
  case 'm':
    c->sort.merge = true;
    break;
  case 'o':
    set_output(c, value);
    break;
  case 's':
    c->order.stable = true;
    break;
  case 'u':
    c->order.unique = true;
    break;
  case 'z':
    c->order.end = 0;
    break;
  case SORT:
    sort_value_order(&c->order, value);
    break;
  }
}

static void read_other(struct sort_lines_command *c, int option,
                       const char *value) {
  switch (option) {
  case CSV:
    set_table(c, SORT_TABLE_CSV);
    break;
  case TSV:
    set_table(c, SORT_TABLE_TSV);
    break;
  case HEADER:
    c->headed = true;
    break;
  case RANDOM_SOURCE:
    c->random_source = value;
    break;
  case STATS:
    c->stats = true;
    break;
  case PROGRESS:
    c->progress = true;
    break;
  case DEBUG:
    msg_fail(MSG_USAGE, "option: --debug: pems-sort has none: leave it out");
  case HELP:
    puts(help_text);
    exit(0);
  case SHOW_VERSION:
    puts(PACKAGE_STRING);
    exit(0);
  }
}

static void read_option(struct sort_lines_command *c, int option,
                        const char *value) {
  if (option < 256 && strchr("bdfghiMnRrV", option)) {
    key_field_letter(&c->order.all, (char)option, false);
    if (option == 'b') {
      key_field_letter(&c->order.all, 'b', true);
    }
    return;
  }
  read_tuning(c, option, value);
  read_what(c, option, value);
  read_other(c, option, value);
}

static _Noreturn void refuse(int option, const char *argument) {
  if (option == ':') {
    msg_fail(MSG_USAGE, "option: %s: needs a value: see --help", argument);
  }
  if (argument[0] == '-' && isdigit((unsigned char)argument[1])) {
    msg_fail(MSG_USAGE, "option: %s: obsolete form of a key: use -k", argument);
  }
  msg_fail(MSG_USAGE,
           "option: %s: unknown, ambiguous, or with a value that it does not "
           "take: see --help",
           argument);
}

/* --- all of it --- */

static void seed(struct sort_lines_command *c) {
  uint64_t *const to = c->order.random;
  const size_t n = sizeof(c->order.random);
  if (!c->random_source) {
    (void)!getrandom(to, n, 0);
    return;
  }
  FILE *const f = fopen(c->random_source, "re");
  if (!f || fread(to, 1, n, f) != n) {
    msg_fail(MSG_USAGE, "--random-source: %s: %s: name a file of %zu bytes",
             c->random_source, f ? "too short" : strerror(errno), n);
  }
  fclose(f);
}

/* --- tables --- */

static void check_separator(const struct sort_lines_command *c) {
  const int separator = c->order.separator;
  if (c->table == SORT_TABLE_TSV && separator != KEY_BLANKS &&
      separator != '\t') {
    msg_fail(MSG_USAGE, "-t: %c: TSV has tabs: leave one of them out",
             separator);
  }
  if (separator != KEY_BLANKS && separator > 0 && strchr("\"\r\n", separator)) {
    msg_fail(MSG_USAGE, "-t: quote or end of line: give another one");
  }
  if (separator == 0) {
    msg_fail(MSG_USAGE, "-t: \\0: tables have no zero bytes: give another one");
  }
}

static void set_columns(struct sort_lines_command *c) {
  struct key_order *const o = &c->order;
  check_separator(c);
  if (o->end == 0) {
    msg_fail(MSG_USAGE, "option: -z: lines of tables end with newlines: leave "
                        "it out");
  }
  o->columns = true;
  o->quotes = c->table == SORT_TABLE_CSV;
  o->separator = o->separator != KEY_BLANKS ? o->separator
                 : o->quotes                ? ','
                                            : '\t';
  o->end = o->quotes ? 0 : '\n';
}

static void set_keys(struct sort_lines_command *c) {
  struct pems_error error;
  c->columns.order = &c->order;
  for (size_t i = 0; i < c->keys; i++) {
    if (c->table ? sort_columns_add(&c->columns, c->key[i], &error)
                 : key_order_add(&c->order, c->key[i], &error)) {
      msg_fail(MSG_USAGE, "%s", error.text);
    }
  }
  const char *const name = sort_columns_named(&c->columns);
  if (name && !c->headed) {
    msg_fail(MSG_USAGE,
             "key: %s: names are those of a header: give --header, "
             "or a number",
             name);
  }
}

static void set_header(struct sort_lines_command *c) {
  if (!c->headed && !c->table) {
    return;
  }
  c->sort.header = &c->header;
  c->header.row = c->headed;
  c->header.marks = c->table;
  if (c->table) {
    c->header.found = sort_columns_found;
    c->header.arg = &c->columns;
  }
}

static void finish(struct sort_lines_command *c) {
  struct pems_error error;
  if (c->table) {
    set_columns(c);
  }
  set_keys(c);
  set_header(c);
  if (c->check && c->sort.output) {
    msg_fail(MSG_USAGE, "options: -co: cannot be combined: leave one out");
  }
  if (key_order_finish(&c->order, &error)) {
    msg_fail(MSG_USAGE, "%s", error.text);
  }
  seed(c);
  c->sort.order = &c->order;
  if (c->disks) {
    c->sort.scratch.path = c->disk;
    c->sort.scratch.count = (int)c->disks;
  }
}

void sort_lines_read(struct sort_lines_command *c, int argc, char **argv) {
  const char *names = NULL;
  *c = (struct sort_lines_command){0};
  key_order_init(&c->order);
  c->path = native_zalloc((size_t)argc + 1, sizeof(*c->path));
  c->disk = native_zalloc((size_t)argc + 1, sizeof(*c->disk));
  c->key = native_zalloc((size_t)argc + 1, sizeof(*c->key));
  if (!c->path || !c->disk || !c->key) {
    msg_fail(MSG_USAGE, "memory: for arguments: free some");
  }
  opterr = 0;
  for (;;) {
    const int before = optind;
    const int option =
        getopt_long(argc, argv, ":bcCdfghik:mMno:rRsS:t:T:uVz", options, NULL);
    if (option == -1) {
      break;
    }
    if (option == '?' || option == ':') {
      refuse(option, argv[optind > before ? optind - 1 : before]);
    }
    if (option == FILES0) {
      names = optarg;
    }
    read_option(c, option, optarg);
  }
  sort_lines_input(c, names, argc - optind, argv + optind);
  finish(c);
}
