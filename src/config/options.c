#define _GNU_SOURCE
#include "config/options.h"

#include "config.h"

#include "base/failure.h"
#include "base/lifeline.h"
#include "config/size.h"
#include "os/bits.h"
#include "policy/policy.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define KIB 1024ull
#define MIB (1024 * KIB)
#define TIB (1024 * 1024 * MIB)

enum kind { COUNT, SIZE, TEXT, DIRS, SWITCH, CHOICE, COMPRESS };

/* X(name, kind, least, most, operand, help) */
#define OPTIONS(X)                                                             \
  X(v, COUNT, 1, 65536, "N", "virtual processors (ranks) in the whole job")    \
  X(universe, COUNT, 1, 65536, "N",                                            \
    "ranks that the job may come to by MPI_Comm_spawn (default: those of -n)") \
  X(procs, COUNT, 1, 65536, "P", "real processes (default: one per host)")     \
  X(split, CHOICE, 0, 0, "even|auto",                                          \
    "virtual processors per process: equal, or by its cores, disks and room")  \
  X(k, COUNT, 1, 65536, "K", "virtual processors running at once per process") \
  X(memory, SIZE, 16 * MIB, 64 * TIB, "SIZE",                                  \
    "memory of each process, all included")                                    \
  X(context, SIZE, 64 * KIB, 64 * TIB, "SIZE",                                 \
    "maximum memory of each virtual processor")                                \
  X(stack, SIZE, 256 * KIB, TIB, "SIZE",                                       \
    "stack of each virtual processor (default: as 'ulimit -s' says)")          \
  X(sigma, SIZE, 64 * KIB, 64 * TIB, "SIZE",                                   \
    "buffer for communication, part of the memory")                            \
  X(alpha, COUNT, 1, 1048576, "N",                                             \
    "maximum number of messages sent to a process at once")                    \
  X(disk, DIRS, 0, 0, "DIR[,DIR...]",                                          \
    "scratch directories, one per disk (default: $TMPDIR or /var/tmp)")        \
  X(io, TEXT, 0, 0, "DRIVER", "I/O driver (pemsinfo lists them)")              \
  X(depth, COUNT, 1, 1024, "N", "requests in flight per disk (default: 4)")    \
  X(stripe, SIZE, 4096, 64 * TIB, "SIZE",                                      \
    "spread each context over all disks in pieces of this size")               \
  X(reserve, CHOICE, 0, 0, "used|all",                                         \
    "take disk space as ranks allocate memory, or all of it at the start")     \
  X(order, CHOICE, 0, 0, POLICY_WORDS,                                         \
    "run ranks that are still in memory first, or by number")                  \
  X(swapin, CHOICE, 0, 0, "auto|eager|lazy|parts|pages",                       \
    "read whole contexts, or only pages that are touched, or what is faster")  \
  X(track, CHOICE, 0, 0, "auto|async|fault|off",                               \
    "how to detect unchanged memory, which is not written again")              \
  X(compress, COMPRESS, 0, 0, "none|lz4|zstd|auto",                            \
    "compress contexts on their way to disk (also zstd:LEVEL)")                \
  X(bind, CHOICE, 0, 0, "auto|none|core|numa",                                 \
    "bind virtual processors to cores or NUMA nodes")                          \
  X(between, CHOICE, 0, 0, "auto|read|copy",                                   \
    "large messages between processes of a host: read, or copied by the MPI")  \
  X(checkpoint, TEXT, 0, 0, "DIR[,every=N][,keep=N][,on-term]",                \
    "save the job in DIR at every N-th superstep, or as often, to restart it") \
  X(restart, TEXT, 0, 0, "DIR",                                                \
    "go on from the newest checkpoint in DIR (pemsrun --restart=DIR)")         \
  X(report, TEXT, 0, 0, "DIR",                                                 \
    "write tables, plots and a trace to DIR at the end")                       \
  X(shared, TEXT, 0, 0, "LIB[,LIB...]",                                        \
    "libraries that virtual processors share instead of having copies")        \
  X(strict, SWITCH, 0, 0, NULL,                                                \
    "fail instead of warning if the machine cannot do what is asked")          \
  X(stats, SWITCH, 0, 0, NULL, "print counters at the end")                    \
  X(tag, SWITCH, 0, 0, NULL,                                                   \
    "begin each line of output with the rank: [1,RANK]<stdout>:")              \
  X(progress, SWITCH, 0, 0, NULL, "show progress while running")               \
  X(check, SWITCH, 0, 0, NULL, "check the program's use of MPI for mistakes")  \
  X(debug, SWITCH, 0, 0, NULL,                                                 \
    "accepted and ignored: debuggers see the program as it is")

const struct option_spec option_specs[] = {
#define SPEC(name, kind, least, most, operand, help) {#name, operand, help},
    OPTIONS(SPEC)
#undef SPEC
        {NULL, NULL, NULL}};

/* How the value of the option in the same row of option_specs is read. */
static const struct rule {
  enum kind kind;
  size_t field; /* offset in struct options */
  uint64_t least, most;
} rules[] = {
#define RULE(name, kind, least, most, operand, help)                           \
  {kind, offsetof(struct options, name), least, most},
    OPTIONS(RULE)
#undef RULE
};

#define NAME_MAX_BYTES 32

static const char argument_prefix[] = "--pems-";
static const char variable_prefix[] = "PEMS_";
static const char test_prefix[] = "PEMS_TEST_";

/* Where a setting came from, as the user spelled it, and where to say so. */
struct source {
  const char *prefix;
  struct pems_error *error;
};

/* "memory" -> "--pems-memory" or "PEMS_MEMORY". */
static const char *spell(const struct source *s, const char *name,
                         char buf[64]) {
  snprintf(buf, 64, "%s%.*s", s->prefix, NAME_MAX_BYTES, name);
  if (s->prefix == variable_prefix) {
    for (char *c = buf; *c; c++) {
      *c = (char)toupper((unsigned char)*c);
    }
  }
  return buf;
}

static int complain(const struct source *s, int code, const char *name,
                    const char *value, const char *what) {
  char buf[64];
  return failure(s->error, code, "%s: %s: %s", spell(s, name, buf), value,
                 what);
}

/* Insertions, deletions, replacements and swaps of neighbours that turn a into
   b, the case of letters ignored. Both are at most NAME_MAX_BYTES long. */
static size_t edit_distance(const char *a, size_t na, const char *b,
                            size_t nb) {
  size_t rows[3][NAME_MAX_BYTES + 1];
  size_t *before = rows[0], *last = rows[1], *row = rows[2];
  for (size_t j = 0; j <= nb; j++) {
    last[j] = j;
  }
  for (size_t i = 1; i <= na; i++) {
    row[0] = i;
    for (size_t j = 1; j <= nb; j++) {
      const int ca = tolower((unsigned char)a[i - 1]);
      const int cb = tolower((unsigned char)b[j - 1]);
      row[j] = bits_min(last[j] + 1, row[j - 1] + 1);
      row[j] = bits_min(row[j], last[j - 1] + (ca != cb));
      if (i > 1 && j > 1 && ca == tolower((unsigned char)b[j - 2]) &&
          cb == tolower((unsigned char)a[i - 2])) {
        row[j] = bits_min(row[j], before[j - 2] + 1);
      }
    }
    size_t *const free_row = before;
    before = last;
    last = row;
    row = free_row;
  }
  return last[nb];
}

static const char *nearest(const char *name, size_t n) {
  const char *best = option_specs[0].name;
  size_t least = SIZE_MAX;
  n = bits_min(n, NAME_MAX_BYTES);
  for (const struct option_spec *s = option_specs; s->name; s++) {
    const size_t d = edit_distance(name, n, s->name, strlen(s->name));
    if (d < least) {
      least = d;
      best = s->name;
    }
  }
  return best;
}

/* `text` is the whole argument or variable, `name` the part after the
   prefix, n bytes long. */
static int complain_unknown(const struct source *s, const char *name,
                            size_t n) {
  char known[64];
  spell(s, nearest(name, n), known);
  return failure(s->error, EINVAL, "unknown option: %s%.*s: did you mean %s?",
                 s->prefix, (int)bits_min(n, 256), name, known);
}

/* The row of a name in option_specs, or -1. Variables are in upper case. */
static int find(const struct source *s, const char *name, size_t n) {
  char known[NAME_MAX_BYTES + 1];
  for (int i = 0; option_specs[i].name; i++) {
    snprintf(known, sizeof(known), "%s", option_specs[i].name);
    if (s->prefix == variable_prefix) {
      for (char *c = known; *c; c++) {
        *c = (char)toupper((unsigned char)*c);
      }
    }
    if (strlen(known) == n && memcmp(known, name, n) == 0) {
      return i;
    }
  }
  return -1;
}

static int count_parse(const char *text, uint64_t *count) {
  char *end;
  if (!isdigit((unsigned char)*text)) {
    return -1;
  }
  errno = 0;
  *count = strtoull(text, &end, 10);
  return errno || *end ? -1 : 0;
}

/* 16777216 -> "16M": as the user would type it. */
static const char *size_short(uint64_t bytes, char buf[24]) {
  const char *unit = "BKMGT";
  for (; bytes && bytes % 1024 == 0 && unit[1]; unit++) {
    bytes /= 1024;
  }
  snprintf(buf, 24, "%llu%c", (unsigned long long)bytes, *unit);
  return buf;
}

static int set_number(int i, void *field, const char *value,
                      const struct source *s) {
  const struct rule *r = &rules[i];
  const bool is_size = r->kind == SIZE;
  uint64_t x;
  const int bad = is_size ? size_parse(value, &x) : count_parse(value, &x);
  if (bad || x < r->least || x > r->most) {
    char what[96], least[24], most[24];
    if (is_size) {
      snprintf(what, sizeof(what), "give a size from %s to %s, such as 1.5G",
               size_short(r->least, least), size_short(r->most, most));
    } else {
      snprintf(what, sizeof(what), "give a number from %llu to %llu",
               (unsigned long long)r->least, (unsigned long long)r->most);
    }
    return complain(s, EINVAL, option_specs[i].name, value, what);
  }
  if (is_size) {
    *(uint64_t *)field = x;
  } else {
    *(int *)field = (int)x;
  }
  return 0;
}

static bool has_empty_part(const char *list) {
  return *list == '\0' || *list == ',' || list[strlen(list) - 1] == ',' ||
         strstr(list, ",,");
}

static int set_text(int i, char **field, const char *value,
                    const struct source *s) {
  if (*value == '\0') {
    return complain(s, EINVAL, option_specs[i].name, "\"\"", "give a name");
  }
  if (rules[i].kind == DIRS && has_empty_part(value)) {
    return complain(s, EINVAL, option_specs[i].name, value,
                    "a name is empty: give directories with commas between");
  }
  char *const copy = strdup(value);
  if (!copy) {
    return complain(s, ENOMEM, option_specs[i].name, value, "out of memory");
  }
  free(*field);
  *field = copy;
  return 0;
}

static int set_switch(int i, bool *field, const char *value,
                      const struct source *s) {
  static const char *const words[][2] = {
      {"no", "yes"}, {"0", "1"}, {"false", "true"}, {"off", "on"}};
  for (size_t w = 0; w < sizeof(words) / sizeof(*words); w++) {
    for (int on = 0; on < 2; on++) {
      if (strcasecmp(value, words[w][on]) == 0) {
        *field = on;
        return 0;
      }
    }
  }
  return complain(s, EINVAL, option_specs[i].name, value, "give yes or no");
}

/* The operand lists the words; the field is the place of the one given. */
static int set_choice(int i, int *field, const char *value,
                      const struct source *s) {
  const char *word = option_specs[i].operand;
  const size_t n = strlen(value);
  for (int choice = 0; *word; choice++) {
    const size_t len = strcspn(word, "|");
    if (len == n && memcmp(word, value, n) == 0) {
      *field = choice;
      return 0;
    }
    word += len + (word[len] == '|');
  }
  char what[96];
  snprintf(what, sizeof(what), "give one of %s", option_specs[i].operand);
  return complain(s, EINVAL, option_specs[i].name, *value ? value : "\"\"",
                  what);
}

/* What compresses, and the least and the highest level that may be given. */
static const struct compressor {
  const char *word;
  int there; /* was pems built with it? */
  uint64_t least, most;
} compressors[] = {
    [COMPRESS_NONE] = {"none", 1, 0, 0},
    [COMPRESS_LZ4] = {"lz4", HAVE_LZ4, 0, 0},
    [COMPRESS_ZSTD] = {"zstd", HAVE_ZSTD, 1, 19},
    [COMPRESS_AUTO] = {"auto", HAVE_LZ4 || HAVE_ZSTD, 0, 0},
};
enum { COMPRESSORS = sizeof(compressors) / sizeof(*compressors) };

/* The place of "WORD" or "WORD:LEVEL", or -1. */
static int find_compressor(const char *value, uint64_t *level) {
  const size_t n = strcspn(value, ":");
  *level = 0;
  for (int i = 0; i < COMPRESSORS; i++) {
    const struct compressor *const k = &compressors[i];
    if (strlen(k->word) != n || memcmp(k->word, value, n) != 0) {
      continue;
    }
    const bool good = value[n] == '\0' ||
                      (count_parse(value + n + 1, level) == 0 &&
                       *level >= k->least && *level <= k->most && k->most);
    return good ? i : -1;
  }
  return -1;
}

static int set_compress(int i, struct options *o, const char *value,
                        const struct source *s) {
  uint64_t level;
  const int which = find_compressor(value, &level);
  if (which < 0) {
    return complain(s, EINVAL, option_specs[i].name, *value ? value : "\"\"",
                    "give none, auto, lz4, zstd or zstd:LEVEL, of 1 to 19");
  }
  if (!compressors[which].there) {
    return complain(s, EINVAL, option_specs[i].name, value,
                    "pems was built without its library: give none, or "
                    "configure pems again where that is installed");
  }
  o->compress = which;
  o->compress_level = (int)level;
  return 0;
}

static int set(struct options *o, int i, const char *value,
               const struct source *s) {
  void *const field = (char *)o + rules[i].field;
  switch (rules[i].kind) {
  case COUNT:
  case SIZE:
    return set_number(i, field, value, s);
  case TEXT:
  case DIRS:
    return set_text(i, field, value, s);
  case CHOICE:
    return set_choice(i, field, value, s);
  case COMPRESS:
    return set_compress(i, o, value, s);
  case SWITCH:
    break;
  }
  return set_switch(i, field, value, s);
}

/* PEMS_CC and the like tell pemscc which compiler to call; a shell that exports
   them also runs programs. The last are pemsrun's, for src/mpi_below. */
static bool is_not_ours(const char *variable) {
  static const char *const others[] = {"PEMS_CC=",
                                       "PEMS_CXX=",
                                       "PEMS_FC=",
                                       LIFELINE_VARIABLE "=",
                                       LIFELINE_BEGUN_VARIABLE "=",
                                       FLAVOUR_VARIABLE "="};
  for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
    if (strncmp(variable, others[i], strlen(others[i])) == 0) {
      return true;
    }
  }
  return strncmp(variable, test_prefix, strlen(test_prefix)) == 0;
}

/* An empty variable counts as not set, as is usual in shells. */
static int read_variable(struct options *o, const char *variable,
                         const struct source *s) {
  if (is_not_ours(variable)) {
    return 0;
  }
  const char *const name = variable + strlen(variable_prefix);
  const size_t n = strcspn(name, "=");
  const int i = find(s, name, n);
  if (i < 0) {
    return complain_unknown(s, name, n);
  }
  if (name[n] == '\0' || name[n + 1] == '\0') {
    return 0;
  }
  return set(o, i, name + n + 1, s);
}

bool options_is_option(const char *arg) {
  return arg[0] == '-' && arg[1] && !isdigit((unsigned char)arg[1]);
}

/* Reads argv[*at] and sets *at to the argument behind it and its value. */
static int read_argument(struct options *o, int *at, int argc, char **argv,
                         const struct source *s) {
  const char *const name = argv[(*at)++] + strlen(argument_prefix);
  const size_t n = strcspn(name, "=");
  const int i = find(s, name, n);
  if (i < 0) {
    return complain_unknown(s, name, n);
  }
  if (name[n] == '=') {
    return set(o, i, name + n + 1, s);
  }
  if (rules[i].kind == SWITCH) {
    return set(o, i, "yes", s);
  }
  if (*at >= argc || options_is_option(argv[*at])) {
    char what[96];
    snprintf(what, sizeof(what), "give %s%s=%s", s->prefix,
             option_specs[i].name, option_specs[i].operand);
    return complain(s, EINVAL, option_specs[i].name, "no value", what);
  }
  return set(o, i, argv[(*at)++], s);
}

static int read_arguments(struct options *o, int *argc, char **argv,
                          const struct source *s) {
  int from = 1, to = 1;
  while (from < *argc && strcmp(argv[from], "--") != 0) {
    if (strncmp(argv[from], argument_prefix, strlen(argument_prefix)) != 0) {
      argv[to++] = argv[from++];
      continue;
    }
    const int code = read_argument(o, &from, *argc, argv, s);
    if (code) {
      return code;
    }
  }
  while (from < *argc) {
    argv[to++] = argv[from++];
  }
  if (to < *argc) {
    argv[to] = NULL;
    *argc = to;
  }
  return 0;
}

int options_parse(struct options *o, int *argc, char **argv, char *const *env,
                  struct pems_error *error) {
  *o = (struct options){0};
  const struct source variables = {variable_prefix, error};
  int code = 0;
  for (; env && *env && !code; env++) {
    if (strncmp(*env, variable_prefix, strlen(variable_prefix)) == 0) {
      code = read_variable(o, *env, &variables);
    }
  }
  const struct source arguments = {argument_prefix, error};
  if (!code && argc && argv && *argc > 0) {
    code = read_arguments(o, argc, argv, &arguments);
  }
  return code;
}

int options_set(struct options *o, const char *name, const char *value,
                struct pems_error *error) {
  const struct source s = {argument_prefix, error};
  const int i = find(&s, name, strlen(name));
  return i < 0 ? complain_unknown(&s, name, strlen(name))
               : set(o, i, value, &s);
}

int options_set_ranks(struct options *o, const char *arg, const char *value,
                      struct pems_error *error) {
  const struct source s = {argument_prefix, NULL};
  const struct rule *const r = &rules[find(&s, "v", 1)];
  return options_set(o, "v", value, NULL)
             ? failure(error, EINVAL,
                       "%s: %s: give the number of ranks, %llu to %llu", arg,
                       value, (unsigned long long)r->least,
                       (unsigned long long)r->most)
             : 0;
}

/* The names in a new list, those that are relative behind `here`. `comma` is
   what stands between them, "" where there is just one. NULL: no memory. */
static char *absolute_names(const char *names, const char *comma,
                            const char *here) {
  char *list = NULL;
  size_t size;
  FILE *const f = open_memstream(&list, &size);
  if (!f) {
    return NULL;
  }
  for (const char *name = names;;) {
    const int n = (int)strcspn(name, comma);
    fprintf(f, "%s%s%.*s", *name == '/' ? "" : here, *name == '/' ? "" : "/", n,
            name);
    name += n;
    if (!*name) {
      break;
    }
    fputc(*name++, f);
  }
  if (fclose(f) == 0) {
    return list;
  }
  free(list);
  return NULL;
}

int options_keep_places(struct options *o, struct pems_error *error) {
  const struct {
    char **names;
    const char *comma;
  } all[] = {{&o->disk, ","}, {&o->report, ""}, {&o->restart, ""}};
  char *const here = getcwd(NULL, 0);
  int code = 0;
  for (size_t i = 0; i < sizeof(all) / sizeof(*all) && !code; i++) {
    /* Without an absolute name of their directory they stay as they are, and so
       does a list that would be cut at its commas. */
    if (!*all[i].names || !here || strpbrk(here, all[i].comma)) {
      continue;
    }
    char *const list = absolute_names(*all[i].names, all[i].comma, here);
    if (list) {
      free(*all[i].names);
      *all[i].names = list;
    } else {
      code = failure(error, ENOMEM, "%s: out of memory", *all[i].names);
    }
  }
  free(here);
  return code;
}

void options_free(struct options *o) {
  for (size_t i = 0; i < sizeof(rules) / sizeof(*rules); i++) {
    if (rules[i].kind == TEXT || rules[i].kind == DIRS) {
      free(*(char **)((char *)o + rules[i].field));
    }
  }
  *o = (struct options){0};
}
