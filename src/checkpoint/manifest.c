#define _GNU_SOURCE
#include "checkpoint/manifest.h"

#include "base/failure.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

static const char title[] = "pems checkpoint 1\n";

#define MIB ((uint64_t)1 << 20)
#define TIB (MIB * MIB)
enum { RANKS = 65536 };

/* Numbers of one line each, in this order, and what they can be where a job has
   written them: limits and places are made of some of them. */
static const struct number {
  const char *name;
  size_t field;
  uint64_t least, most;
} numbers[] = {
    {"superstep", offsetof(struct manifest, superstep), 0, INT64_MAX},
    {"sequence", offsetof(struct manifest, sequence), 1, INT64_MAX},
    {"time", offsetof(struct manifest, time), 0, 253402300799 /* 9999 */},
    {"stack-limit", offsetof(struct manifest, stack_limit), 65536, TIB},
    {"context", offsetof(struct manifest, context), 2 * MIB, 64 * TIB},
    {"stack", offsetof(struct manifest, stack), 4096, TIB},
    {"images", offsetof(struct manifest, images), 0, 64 * TIB},
    {"messages", offsetof(struct manifest, messages), 0, RANKS},
    {"landmark", offsetof(struct manifest, landmark), 0, UINT64_MAX},
    {"stack-guard", offsetof(struct manifest, guards.stack), 0, UINT64_MAX},
    {"pointer-guard", offsetof(struct manifest, guards.pointer), 0, UINT64_MAX},
    {"identity-bytes", offsetof(struct manifest, identity.bytes), 1, 64 * MIB},
    {"identity-sum", offsetof(struct manifest, identity.sum), 0, UINT64_MAX},
};
enum { NUMBERS = sizeof(numbers) / sizeof(*numbers) };

static const struct word {
  const char *name;
  size_t field;
} words[] = {
    {"program", offsetof(struct manifest, program)},
    {"directory", offsetof(struct manifest, directory)},
    {"host", offsetof(struct manifest, hosts)},
};
enum { WORDS = sizeof(words) / sizeof(*words) };

struct checkpoint_sum manifest_sum(const void *p, size_t n) {
  return (struct checkpoint_sum){n, XXH3_64bits(p, n)};
}

/* --- writing --- */

/* So that each is one line, whatever bytes it has. */
static void put_word(FILE *to, const char *name, const char *word) {
  fprintf(to, "%s ", name);
  for (const unsigned char *c = (const unsigned char *)word; *c; c++) {
    if (*c > ' ' && *c != '%' && *c < 127) {
      putc(*c, to);
    } else {
      fprintf(to, "%%%02x", *c);
    }
  }
  putc('\n', to);
}

static void put_all(const struct manifest *from, FILE *to) {
  fputs(title, to);
  for (int i = 0; i < WORDS; i++) {
    const char *const word =
        *(char *const *)((const char *)from + words[i].field);
    put_word(to, words[i].name, word ? word : "");
  }
  for (int i = 0; i < NUMBERS; i++) {
    fprintf(to, "%s %" PRIu64 "\n", numbers[i].name,
            *(const uint64_t *)((const char *)from + numbers[i].field));
  }
  fprintf(to, "arguments %d\n", from->arguments);
  for (int i = 0; i < from->arguments; i++) {
    put_word(to, "argument", from->argument[i]);
  }
  fprintf(to, "ranks %d\n", from->v);
  for (int i = 0; i < from->v; i++) {
    fprintf(to, "rank %" PRIu64 " %016" PRIx64 "\n", from->rank[i].bytes,
            from->rank[i].sum);
  }
}

int manifest_write(const struct manifest *from, FILE *to,
                   struct pems_error *error) {
  char *text = NULL;
  size_t n = 0;
  FILE *const f = open_memstream(&text, &n);
  if (f) {
    put_all(from, f);
  }
  int code = f && fclose(f) == 0 ? 0 : ENOMEM;
  if (!code &&
      (fwrite(text, 1, n, to) != n ||
       fprintf(to, "sum %016" PRIx64 "\n", manifest_sum(text, n).sum) < 0)) {
    code = errno ? errno : EIO;
  }
  free(text);
  return code ? failure(error, code, "cannot write a checkpoint: %s",
                        strerror(code))
              : 0;
}

/* --- reading --- */

struct reading {
  char *at; /* the next line */
  int line;
  const char *beyond; /* a number that is out of its range, or NULL */
};

/* The rest of the next line if it begins with that name; else NULL. */
static char *take(struct reading *r, const char *name) {
  char *const line = r->at, *const end = strchr(line, '\n');
  const size_t n = strlen(name);
  if (!end || strncmp(line, name, n) != 0 || line[n] != ' ') {
    return NULL;
  }
  *end = '\0';
  r->at = end + 1;
  r->line++;
  return line + n + 1;
}

static int digit(char c) {
  return isdigit((unsigned char)c) ? c - '0' : c - 'a' + 10;
}

static char *take_word(struct reading *r, const char *name) {
  const char *from = take(r, name);
  char *const word = from ? malloc(strlen(from) + 1) : NULL;
  char *to = word;
  for (; word && *from; from++) {
    const bool coded = *from == '%' && isxdigit((unsigned char)from[1]) &&
                       isxdigit((unsigned char)from[2]);
    *to++ = coded ? (char)(16 * digit(from[1]) + digit(from[2])) : *from;
    from += coded ? 2 : 0;
  }
  if (word) {
    *to = '\0';
  }
  return word;
}

static bool take_number(struct reading *r, const char *name, uint64_t *n) {
  const char *const from = take(r, name);
  char *end;
  if (!from || !isdigit((unsigned char)*from)) {
    return false;
  }
  errno = 0;
  *n = strtoull(from, &end, 10);
  return !errno && !*end;
}

static bool take_between(struct reading *r, const char *name, uint64_t least,
                         uint64_t most, uint64_t *n) {
  if (!take_number(r, name, n)) {
    return false;
  }
  const bool good = *n >= least && *n <= most;
  r->beyond = good ? NULL : name;
  return good;
}

static bool take_count(struct reading *r, const char *name, int most, int *n) {
  uint64_t count;
  const bool good = take_between(r, name, 1, (uint64_t)most, &count);
  *n = good ? (int)count : 0;
  return good;
}

static bool take_arguments(struct reading *r, struct manifest *to) {
  enum { MOST = 1 << 20 };
  int n;
  if (!take_count(r, "arguments", MOST, &n)) {
    return false;
  }
  to->argument = calloc((size_t)n + 1, sizeof(*to->argument));
  while (to->argument && to->arguments < n) {
    char *const word = take_word(r, "argument");
    if (!word) {
      return false;
    }
    to->argument[to->arguments++] = word;
  }
  return to->argument;
}

/* Contexts of all ranks, and their stacks, have addresses of their own. */
static bool have_addresses(struct reading *r, const struct manifest *m) {
  const bool good = (m->context + m->stack) * (uint64_t)m->v <= 128 * TIB;
  r->beyond = good ? NULL : "context";
  return good;
}

static bool take_ranks(struct reading *r, struct manifest *to) {
  if (!take_count(r, "ranks", RANKS, &to->v) || !have_addresses(r, to)) {
    return false;
  }
  to->rank = calloc((size_t)to->v, sizeof(*to->rank));
  for (int i = 0; to->rank && i < to->v; i++) {
    const char *const line = take(r, "rank");
    if (!line || sscanf(line, "%" SCNu64 " %" SCNx64, &to->rank[i].bytes,
                        &to->rank[i].sum) != 2) {
      return false;
    }
  }
  return to->rank;
}

static bool take_all(struct reading *r, struct manifest *to) {
  if (strncmp(r->at, title, strlen(title)) != 0) {
    return false;
  }
  r->at += strlen(title);
  r->line++;
  for (int i = 0; i < WORDS; i++) {
    char **const word = (char **)((char *)to + words[i].field);
    *word = take_word(r, words[i].name);
    if (!*word) {
      return false;
    }
  }
  for (int i = 0; i < NUMBERS; i++) {
    const struct number *const a = &numbers[i];
    if (!take_between(r, a->name, a->least, a->most,
                      (uint64_t *)((char *)to + a->field))) {
      return false;
    }
  }
  return take_arguments(r, to) && take_ranks(r, to);
}

/* All of it, and '\0'. */
static char *read_text(FILE *from, size_t *n) {
  enum { MOST = 64 << 20 };
  size_t room = 4096;
  char *text = malloc(room);
  *n = 0;
  while (text && !feof(from) && !ferror(from)) {
    if (*n + 1 == room) {
      room *= 2;
      char *const more = room <= MOST ? realloc(text, room) : NULL;
      if (!more) {
        free(text);
        return NULL;
      }
      text = more;
    }
    *n += fread(text + *n, 1, room - 1 - *n, from);
  }
  if (text) {
    text[*n] = '\0';
  }
  return text;
}

/* The last line, which is cut off, has the sum of those before. */
static bool sum_is_right(char *text, size_t n) {
  enum { LAST = sizeof("sum 0123456789abcdef\n") - 1 };
  char line[LAST + 1];
  if (n < LAST) {
    return false;
  }
  snprintf(line, sizeof(line), "sum %016" PRIx64 "\n",
           manifest_sum(text, n - LAST).sum);
  const bool right = strlen(text) == n && strcmp(text + n - LAST, line) == 0;
  text[n - LAST] = '\0';
  return right;
}

int manifest_read(struct manifest *to, FILE *from, const char *name,
                  struct pems_error *error) {
  size_t n;
  *to = (struct manifest){0};
  char *const text = read_text(from, &n);
  if (!text || ferror(from)) {
    free(text);
    return failure(error, text ? EIO : ENOMEM, "cannot read a checkpoint: %s",
                   name);
  }
  struct reading r = {.at = text, .line = 1};
  int code = 0;
  to->sum = manifest_sum(text, n).sum;
  if (!sum_is_right(text, n)) {
    code = failure(error, EILSEQ,
                   "checkpoint: %s: it is not as pems wrote it: restart from "
                   "the one before",
                   name);
  } else if (!take_all(&r, to) || *r.at) {
    code = r.beyond ? failure(error, EILSEQ,
                              "checkpoint: %s: %s: out of its range: restart "
                              "from the one before",
                              name, r.beyond)
                    : failure(error, EILSEQ,
                              "checkpoint: %s: line %d: not understood: "
                              "restart with the version of pems that wrote it",
                              name, r.line);
  }
  free(text);
  return code;
}

void manifest_free(struct manifest *which) {
  for (int i = 0; i < WORDS; i++) {
    free(*(char **)((char *)which + words[i].field));
  }
  for (int i = 0; i < which->arguments; i++) {
    free(which->argument[i]);
  }
  free(which->argument);
  free(which->rank);
  *which = (struct manifest){0};
}
