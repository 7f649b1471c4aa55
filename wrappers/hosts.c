#include "config.h"

#include "wrappers/hosts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/failure.h"

enum { MOST_SLOTS = 65536 };

static struct host *find(const struct hosts *h, const char *name, size_t n) {
  for (int i = 0; i < h->n; i++) {
    if (strlen(h->at[i].name) == n && memcmp(h->at[i].name, name, n) == 0) {
      return &h->at[i];
    }
  }
  return NULL;
}

int hosts_add(struct hosts *h, const char *name, size_t n, int slots) {
  struct host *const old = find(h, name, n);
  if (old) {
    old->slots += slots;
    return 0;
  }
  struct host *const more = realloc(h->at, ((size_t)h->n + 1) * sizeof(*more));
  if (!more) {
    return -1;
  }
  h->at = more;
  h->at[h->n] = (struct host){.name = strndup(name, n), .slots = slots};
  if (!h->at[h->n].name) {
    return -1;
  }
  h->relative = h->relative || name[0] == '+';
  h->n++;
  return 0;
}

static void forget(struct hosts *h) {
  for (int i = 0; i < h->n; i++) {
    free(h->at[i].name);
  }
  free(h->at);
  *h = (struct hosts){0};
}

/* The number at `text`, which is to end at one of `ends`: 1 for "*", 0 if it is
   none. */
static int parse_slots(const char *text, const char *ends) {
  char *end;
  const long slots = *text == '*' ? 1 : strtol(text, &end, 10);
  if (*text == '*') {
    end = (char *)text + 1;
  }
  const bool ended = !*end || strchr(ends, *end);
  return ended && slots >= 1 && slots <= MOST_SLOTS ? (int)slots : 0;
}

/* --- --host --- */

/* Adds the one at `at`, whose slots are those of `files` if it has none. */
static int add_item(struct hosts *h, const struct hosts *files,
                    const char *at) {
  const size_t n = strcspn(at, ",:");
  if (n == 0) {
    return -1;
  }
  const struct host *const known = find(files, at, n);
  int slots = known && !find(h, at, n) ? known->slots : 1;
  if (at[n] == ':') {
    slots = parse_slots(at + n + 1, ",");
  }
  return slots ? hosts_add(h, at, n, slots) : -1;
}

int hosts_add_list(struct hosts *h, const char *list,
                   struct pems_error *error) {
  struct hosts files = {0};
  if (!h->listed) {
    files = *h;
    *h = (struct hosts){.listed = true};
  }
  int status = 0;
  for (const char *at = list; status == 0; at++) {
    status = add_item(h, &files, at);
    at += strcspn(at, ",");
    if (!*at) {
      break;
    }
  }
  forget(&files);
  if (status) {
    return failure(error, EINVAL,
                   "%s: give the names of hosts with commas between, with the "
                   "number of processes as in a:4",
                   list);
  }
  return 0;
}

/* --- --hostfile --- */

/* The value of slots= (or count=) in a line; 1 if there is none, 0 if it is
   none. */
static int slots_in(const char *line) {
  static const char *const keys[] = {"slots", "count"};
  static const char blanks[] = " \t\r\n#";
  for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
    for (const char *at = line; (at = strstr(at, keys[i])); at++) {
      const char *value = at + strlen(keys[i]);
      value += strspn(value, " \t");
      if (!strchr(blanks, at[-1]) || *value != '=') {
        continue;
      }
      value++;
      return parse_slots(value + strspn(value, " \t"), blanks);
    }
  }
  return 1;
}

static int add_line(struct hosts *h, char *line) {
  line[strcspn(line, "#\r\n")] = '\0';
  const char *const name = line + strspn(line, " \t");
  const size_t n = strcspn(name, " \t:");
  if (n == 0) {
    return 0;
  }
  const int slots =
      name[n] == ':' ? parse_slots(name + n + 1, " \t") : slots_in(name + n);
  return slots ? hosts_add(h, name, n, slots) : -1;
}

int hosts_add_file(struct hosts *h, const char *path,
                   struct pems_error *error) {
  if (h->listed) {
    return 0;
  }
  FILE *const f = fopen(path, "re");
  if (!f) {
    return failure(error, errno,
                   "%s: %s: give a file with one host in each line", path,
                   strerror(errno));
  }
  char *line = NULL;
  size_t size = 0;
  int status = 0, number = 0;
  while (status == 0 && getline(&line, &size, f) > 0) {
    number++;
    status = add_line(h, line);
  }
  free(line);
  fclose(f);
  if (status) {
    return failure(error, EINVAL,
                   "%s: line %d: give a host and slots, as in a slots=4", path,
                   number);
  }
  return h->n ? 0
              : failure(error, EINVAL,
                        "%s: no host in it: give one in each line", path);
}

/* --- dealing --- */

int hosts_slots(const struct hosts *h) {
  int sum = 0;
  for (int i = 0; i < h->n; i++) {
    sum += h->at[i].slots;
  }
  return sum;
}

void hosts_deal(struct hosts *h, int n) {
  const int slots = hosts_slots(h);
  for (int i = 0; i < h->n; i++) {
    h->at[i].count = n / slots * h->at[i].slots;
  }
  n %= slots;
  for (int round = 0; n > 0; round++) {
    for (int i = 0; i < h->n && n > 0; i++) {
      if (h->at[i].slots > round) {
        h->at[i].count++;
        n--;
      }
    }
  }
}

char *hosts_format(const struct hosts *h, bool once) {
  size_t size = 0;
  char *text = NULL;
  FILE *const f = open_memstream(&text, &size);
  if (!f) {
    return NULL;
  }
  const char *comma = "";
  for (int i = 0; i < h->n; i++) {
    for (int process = 0; process < h->at[i].count && !(once && process);
         process++) {
      fprintf(f, "%s%s", comma, h->at[i].name);
      comma = ",";
    }
  }
  fclose(f);
  return text;
}
