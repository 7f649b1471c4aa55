#define _GNU_SOURCE
#include "wrappers/sort/pems_sort_options.h"
#include "config/size.h"

#include "config.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/message.h"
#include "base/text.h"
#include "config/options.h"

/* --- the options --- */

enum which {
  HELP = 'h',
  OUTPUT = 'o',
  SHOW_VERSION = 'V',
  RECORD = 256,
  KEY,
  REVERSE,
  STABLE,
  MEMORY,
  DISK,
  IO,
  DEPTH,
  THREADS,
  BLOCK,
  RUNS,
  FETCH,
  DEAL,
  KERNEL,
  CHECK,
  VERIFY,
  PROGRESS,
  STATS,
};

struct spec {
  enum which option;
  const char *name;
  const char *operand; /* "[=MAX]": may be missing; NULL: none */
  const char *help;    /* lines of it */
};

static const struct spec specs[] = {
    {RECORD, "record", "BYTES",
     "size of a record; default: the end of the key"},
    {KEY, "key", "KEY",
     "[OFFSET:]TYPE, where TYPE is u8, u16, u32, u64, u128,\n"
     "i8, i16, i32, i64, f32 or f64, or OFFSET:LENGTH for\n"
     "bytes in the order of memcmp; then :desc for the\n"
     "largest first; several keys in order of importance;\n"
     "default: the whole record"},
    {REVERSE, "reverse", NULL, "largest first"},
    {STABLE, "stable", NULL,
     "records with equal keys keep the order of the input"},
    {OUTPUT, "output", "FILE", "the output file (-o FILE)"},
    {MEMORY, "memory", "SIZE",
     "memory to use; default: a quarter of what there is"},
    {DISK, "disk", "PATH",
     "directory, file or device for scratch space; may be\n"
     "given more than once; default: $TMPDIR or /var/tmp"},
    {IO, "io", "DRIVER", "unix (default), aio, uring, mmap or mem"},
    {DEPTH, "depth", "N", "requests in flight per disk; default: 4"},
    {THREADS, "threads", "N", "computing threads; default: one per core"},
    {BLOCK, "block", "SIZE", "size of transfers to scratch space"},
    {RUNS, "runs", "half|long", "how runs are formed; default: half"},
    {FETCH, "fetch", "optimal|naive",
     "order of reading ahead; default: optimal"},
    {DEAL, "deal", "cyclic|stripe|random",
     "dealing of blocks to disks; default: cyclic"},
    {KERNEL, "kernel", "NAME",
     "how to sort in memory; default: the fastest one"},
    {CHECK, "check", NULL, "only check whether INPUT is sorted"},
    {VERIFY, "verify", NULL, "compare count and checksum afterwards"},
    {PROGRESS, "progress", NULL,
     "show progress on stderr: phase, bytes, rate, time left"},
    {STATS, "stats", NULL, "print statistics on stderr"},
    {HELP, "help", NULL, "print this (-h)"},
    {SHOW_VERSION, "version", NULL, "print the version (-V)"},
};
enum { SPECS = sizeof(specs) / sizeof(*specs) };

#define HELP_COLUMN 28

static void print_spec(const struct spec *s) {
  char left[64];
  struct text t = text_in(left, sizeof(left));
  text_add(&t, "  --%s", s->name);
  if (s->operand) {
    text_add(&t, "%s%s", *s->operand == '[' ? "" : " ", s->operand);
  }
  printf("%-*s ", HELP_COLUMN - 1, left);
  if (strlen(left) > HELP_COLUMN - 1) {
    printf("\n%*s", HELP_COLUMN, "");
  }
  for (const char *c = s->help; *c; c++) {
    putchar(*c);
    if (*c == '\n') {
      printf("%*s", HELP_COLUMN, "");
    }
  }
  putchar('\n');
}

static void help(void) {
  puts("usage: pems-sort [options] INPUT OUTPUT\n"
       "       pems-sort [options] --check INPUT\n"
       "       pems-sort --lines [options of sort(1)] [file]...\n"
       "       pems-sort --csv|--tsv [--header] [options] [file]...\n"
       "\n"
       "Sorts a file that may be larger than memory: records of a fixed size, "
       "or\n"
       "lines, as sort(1) does (see pems-sort --lines --help). - stands for\n"
       "standard input or output. OUTPUT may be the same file as INPUT: it is\n"
       "replaced when the sort has finished.\n"
       "\n"
       "Options for records:");
  for (int i = 0; i < SPECS; i++) {
    print_spec(&specs[i]);
  }
  puts("\n"
       "Sizes: bytes, or with K, M, G, T. Numbers are in this machine's byte\n"
       "order. See pems-sort(1).");
}

/* --- values --- */

static uint64_t read_number(const char *what, const char *text, uint64_t least,
                            uint64_t most) {
  char *end;
  errno = 0;
  const unsigned long long n = strtoull(text, &end, 10);
  if (!isdigit((unsigned char)*text) || *end || errno || n < least ||
      n > most) {
    msg_fail(MSG_USAGE, "--%s: %s: give a number from %llu to %llu", what, text,
             (unsigned long long)least, (unsigned long long)most);
  }
  return n;
}

static uint64_t read_size(const char *what, const char *text) {
  uint64_t n;
  if (size_parse(text, &n) || n == 0) {
    msg_fail(MSG_USAGE, "--%s: %s: give a size, such as 4096, 64M or 1.5G",
             what, text);
  }
  return n;
}

/* The index of a word in "one|two|three". */
static int read_word(const struct spec *s, const char *text) {
  const size_t n = strlen(text);
  int index = 0;
  for (const char *at = s->operand; *at; index++) {
    const size_t word = strcspn(at, "|");
    if (word == n && strncmp(at, text, n) == 0) {
      return index;
    }
    at += word + (at[word] == '|');
  }
  msg_fail(MSG_USAGE, "--%s: %s: give %s", s->name, text, s->operand);
}

static void read_key(struct sort_keys *keys, const char *text) {
  struct sort_key key;
  if (sort_key_read(&key, text)) {
    msg_fail(MSG_USAGE,
             "--key: %s: give [OFFSET:]TYPE, such as u64 or 8:f32, or "
             "OFFSET:LENGTH, such as 0:10, and :desc for the largest first",
             text);
  }
  if (sort_keys_add(keys, &key)) {
    msg_fail(MSG_USAGE, "--key: %s: one too many: give at most %d", text,
             SORT_MOST_KEYS);
  }
}

/* --- one after the other --- */

/* Which options were given, and with which values: what must fit together is
   checked when all are known. */
struct given {
  int times[SPECS];
  const char *value[SPECS]; /* NULL: none */
};

static int index_of(enum which option) {
  int i = 0;
  while (specs[i].option != option) {
    i++;
  }
  return i;
}

static bool was_given(const struct given *g, enum which option) {
  return g->times[index_of(option)] > 0;
}

static const char *value_or_none(const char *value) {
  return value ? value : "without a value";
}

/* Refuses a second value, which would silently replace the first. Only disks
   and keys can be several. */
static void note_given(struct given *g, const struct spec *s,
                       const char *value) {
  const int i = (int)(s - specs);
  const char *const before = g->value[i];
  const int differs = !value != !before || (value && strcmp(value, before));
  g->times[i]++;
  if (s->option == DISK || s->option == KEY) {
    return;
  }
  if (g->times[i] > 1 && differs) {
    msg_fail(MSG_USAGE, "--%s: %s: given before as %s: give one of them",
             s->name, value_or_none(value), value_or_none(before));
  }
  g->value[i] = value;
}

static void add_disk(struct sort_command *c, const char *path) {
  int *const n = &c->sort.scratch.count;
  if (*n == SORT_MOST_DISKS) {
    msg_fail(MSG_USAGE, "--disk: %s: give at most %d", path, SORT_MOST_DISKS);
  }
  c->disk[(*n)++] = path;
  c->sort.scratch.path = c->disk;
}

static void read_tuning(struct sort_command *c, const struct spec *s,
                        const char *value) {
  struct pems_sort_options *const o = &c->sort;
  switch ((int)s->option) {
  case MEMORY:
    o->memory = read_size(s->name, value);
    break;
  case DISK:
    add_disk(c, value);
    break;
  case IO:
    o->scratch.io = value;
    break;
  case DEPTH:
    o->scratch.depth = (int)read_number(s->name, value, 1, 1024);
    break;
  case THREADS:
    o->threads = (int)read_number(s->name, value, 1, 1024);
    break;
  case BLOCK:
    o->block = read_size(s->name, value);
    break;
  case RUNS:
    o->runs = (enum pems_runs)read_word(s, value);
    break;
  case FETCH:
    o->fetch = (enum pems_fetch)read_word(s, value);
    break;
  case DEAL:
    o->deal = (enum pems_deal)read_word(s, value);
    break;
  case KERNEL:
    o->kernel = value;
    break;
  }
}

static void read_switch(struct sort_command *c, enum which option) {
  switch ((int)option) {
  case REVERSE:
    c->sort.record.descending = 1;
    break;
  case STABLE:
    c->sort.record.stable = 1;
    break;
  case CHECK:
    c->check = 1;
    break;
  case VERIFY:
    c->verify = 1;
    break;
  case PROGRESS:
    c->progress = 1;
    break;
  case STATS:
    c->stats = 1;
    break;
  case HELP:
    help();
    exit(fflush(stdout) ? MSG_FAILED : 0);
  case SHOW_VERSION:
    puts("pems-sort (pems) " PACKAGE_VERSION);
    exit(fflush(stdout) ? MSG_FAILED : 0);
  }
}

static void read_option(struct sort_command *c, const struct spec *s,
                        const char *value) {
  switch ((int)s->option) {
  case RECORD:
    c->sort.record.size =
        (size_t)read_number(s->name, value, 1, PEMS_RECORD_MOST);
    break;
  case KEY:
    read_key(&c->keys, value);
    break;
  case OUTPUT:
    c->output = value;
    break;
  default:
    if (s->operand) {
      read_tuning(c, s, value);
    } else {
      read_switch(c, s->option);
    }
  }
}

/* --- all together --- */

static void fill_in_record(struct sort_command *c, const struct given *given) {
  struct pems_record *const r = &c->sort.record;
  const int key = was_given(given, KEY), record = was_given(given, RECORD);
  struct pems_error error;
  if (!key && !record) {
    msg_fail(MSG_USAGE, "record: not given: say --key, --record or --lines");
  }
  if (!record) {
    r->size = sort_keys_end(&c->keys);
  }
  if (!key) {
    const struct sort_key all = {.type = PEMS_KEY_BYTES, .size = r->size};
    (void)sort_keys_add(&c->keys, &all);
  }
  if (sort_keys_describe(&c->keys, r, &error)) {
    msg_fail(MSG_USAGE, "%s", error.text);
  }
}

/* Options that say something about sorting only. */
static void check_alone(const struct given *given) {
  static const enum which others[] = {VERIFY, STATS, PROGRESS};
  for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
    if (was_given(given, others[i])) {
      msg_fail(MSG_USAGE, "--check with --%s: nothing is sorted: leave one out",
               specs[index_of(others[i])].name);
    }
  }
}

static void take_files(struct sort_command *c, int argc, char **argv) {
  const int wanted = c->check || c->output ? 1 : 2;
  if (c->check && c->output) {
    msg_fail(MSG_USAGE, "--check with --output: %s: leave one out", c->output);
  }
  if (argc < wanted) {
    msg_fail(MSG_USAGE, "%s: not given: see pems-sort --help",
             argc == 0 ? "INPUT" : "OUTPUT");
  }
  if (argc > wanted) {
    msg_fail(MSG_USAGE, "argument: %s: one too many: see pems-sort --help",
             argv[wanted]);
  }
  c->input = argv[0];
  if (wanted == 2) {
    c->output = argv[1];
  }
}

/* For getopt_long. */
static void long_options(struct option *out) {
  for (int i = 0; i < SPECS; i++) {
    out[i] = (struct option){
        .name = specs[i].name,
        .has_arg = !specs[i].operand          ? no_argument
                   : *specs[i].operand == '[' ? optional_argument
                                              : required_argument,
        .val = (int)specs[i].option,
    };
  }
  out[SPECS] = (struct option){0};
}

static const struct spec *spec_of(int option) {
  for (int i = 0; i < SPECS; i++) {
    if ((int)specs[i].option == option) {
      return &specs[i];
    }
  }
  return NULL;
}

static _Noreturn void refuse(int option, const char *argument) {
  if (option == ':') {
    msg_fail(MSG_USAGE, "option: %s: needs a value: see pems-sort --help",
             argument);
  }
  msg_fail(MSG_USAGE,
           "option: %s: unknown, or with a value that it does not "
           "take: see pems-sort --help",
           argument);
}

/* Without arguments: what they might be. */
static _Noreturn void show_usage(void) {
  (void)dup2(STDERR_FILENO, STDOUT_FILENO);
  help();
  (void)fflush(stdout);
  exit(MSG_USAGE);
}

void sort_options_read(struct sort_command *c, int argc, char **argv) {
  struct option options[SPECS + 1];
  struct given given = {0};
  *c = (struct sort_command){0};
  long_options(options);
  if (argc < 2) {
    show_usage();
  }
  opterr = 0;
  for (;;) {
    const int before = optind;
    const int option = getopt_long(argc, argv, ":ho:V", options, NULL);
    if (option == -1) {
      break;
    }
    if (option == '?' || option == ':') {
      refuse(option, argv[optind > before ? optind - 1 : before]);
    }
    const struct spec *const spec = spec_of(option);
    note_given(&given, spec, optarg);
    read_option(c, spec, optarg);
  }
  fill_in_record(c, &given);
  if (c->check) {
    check_alone(&given);
  }
  take_files(c, argc - optind, argv + optind);
}
