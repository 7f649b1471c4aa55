#include "settings.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

enum { EXIT_USAGE = 2 };

static const char *program = "";

/* What is wrong with the command line, and the end. */
static _Noreturn void refuse(const char *what, const char *value,
                             const char *remedy) {
  fprintf(stderr, "%s: %s: %s: %s\n", program, what, value, remedy);
  exit(EXIT_USAGE);
}

static _Noreturn void help(const char *usage, const struct setting *settings) {
  printf("usage: %s %s\n", program, usage);
  for (const struct setting *s = settings; s->name; s++) {
    printf("  --%s %s\n", s->name, s->help);
  }
  exit(EXIT_SUCCESS);
}

/* Bits by which a suffix shifts a size; -1 if it is none. */
static int shift_of(const char *suffix) {
  static const char letters[] = "KMG";
  if (*suffix == '\0') {
    return 0;
  }
  const char *const at = strchr(letters, *suffix);
  return at && suffix[1] == '\0' ? 10 * (int)(at - letters + 1) : -1;
}

static uint64_t number(const struct setting *s, const char *value) {
  char *end = NULL;
  errno = 0;
  /* strtoull takes a sign, and blanks before it. */
  const bool digit = *value >= '0' && *value <= '9';
  const uint64_t n = strtoull(value, &end, 10);
  const int shift = s->kind == SETTING_SIZE ? shift_of(end) : *end ? -1 : 0;
  if (errno || !digit || shift < 0 || n << shift >> shift != n) {
    refuse(s->name, value, "give a number, as 100 or, of sizes, 256M");
  }
  return n << shift;
}

static void add_disk(struct settings_machine *machine, const char *path) {
  if (machine->disks == SETTINGS_DISKS_MOST) {
    refuse("disk", path, "too many disks");
  }
  machine->disk[machine->disks++] = path;
}

static void set(const struct setting *s, const char *value) {
  switch (s->kind) {
  case SETTING_COUNT:
  case SETTING_SIZE:
    *(uint64_t *)s->value = number(s, value);
    break;
  case SETTING_TEXT:
    *(const char **)s->value = value;
    break;
  case SETTING_DISK:
    add_disk(s->value, value);
    break;
  case SETTING_FLAG:
    *(int *)s->value = 1;
    break;
  }
}

static const struct setting *find(const struct setting *settings,
                                  const char *name, size_t length) {
  for (const struct setting *s = settings; s->name; s++) {
    if (strlen(s->name) == length && memcmp(s->name, name, length) == 0) {
      return s;
    }
  }
  return NULL;
}

/* Reads the option at argv[i]; returns where its last word is. */
static int read_option(const struct setting *settings, char **argv, int i) {
  const char *const name = argv[i] + 2;
  const size_t length = strcspn(name, "=");
  const struct setting *const s = find(settings, name, length);
  if (!s) {
    refuse("unknown option", argv[i], "see --help");
  }
  const char *value = name[length] ? name + length + 1 : NULL;
  if (s->kind == SETTING_FLAG && value) {
    refuse("option", argv[i], "it takes no value");
  }
  if (s->kind != SETTING_FLAG && !value) {
    value = argv[++i];
  }
  if (s->kind != SETTING_FLAG && !value) {
    refuse("option", name, "it needs a value");
  }
  set(s, value);
  return i;
}

void settings_read(int argc, char **argv, const char *usage,
                   const struct setting *settings, const char **words,
                   int least, int most) {
  const char *const slash = strrchr(argv[0], '/');
  int count = 0;
  program = slash ? slash + 1 : argv[0];
  for (int i = 1; i < argc; i++) {
    if (strcmp(argv[i], "--help") == 0) {
      help(usage, settings);
    }
    if (strncmp(argv[i], "--", 2) == 0) {
      i = read_option(settings, argv, i);
    } else if (count < most) {
      words[count++] = argv[i];
    } else {
      refuse("too many words", argv[i], "see --help");
    }
  }
  if (count < least) {
    refuse("a word is missing", usage, "see --help");
  }
  while (count < most) {
    words[count++] = NULL;
  }
}

int settings_choice(const char *name, const char *const *list,
                    const char *word) {
  for (int i = 0; list[i]; i++) {
    if (strcmp(list[i], word) == 0) {
      return i;
    }
  }
  refuse(name, word, "there is none of that name; see --help");
}

struct pems_disks *settings_disks(const struct settings_machine *machine) {
  const struct pems_disks_options options = {
      .path = machine->disks ? machine->disk : NULL,
      .count = machine->disks,
      .io = machine->io};
  struct pems_disks *disks = NULL;
  struct pems_error error;
  if (pems_disks_open(&disks, &options, &error)) {
    settings_fail(&error);
  }
  return disks;
}

_Noreturn void settings_fail(const struct pems_error *error) {
  fprintf(stderr, "%s: %s\n", program, error->text);
  exit(EXIT_FAILURE);
}

uint64_t settings_file_size(const char *path) {
  struct stat s;
  if (stat(path, &s)) {
    fprintf(stderr, "%s: cannot read %s: %s\n", program, path, strerror(errno));
    exit(EXIT_FAILURE);
  }
  return (uint64_t)s.st_size;
}

static double seconds_of(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

double settings_seconds(void) {
  return seconds_of(CLOCK_MONOTONIC);
}

double settings_cpu_seconds(void) {
  return seconds_of(CLOCK_PROCESS_CPUTIME_ID);
}
