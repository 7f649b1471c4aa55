#include "config.h"

#include "wrappers/hosts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Adds the first n bytes of `name` unless it is there. */
static int add_host(struct hosts *h, const char *name, size_t n) {
  for (int i = 0; i < h->n; i++)
    if (strlen(h->names[i]) == n && memcmp(h->names[i], name, n) == 0)
      return 0;
  char **const more = realloc(h->names, ((size_t)h->n + 1) * sizeof *more);
  if (!more)
    return -1;
  h->names = more;
  h->names[h->n] = strndup(name, n);
  if (!h->names[h->n])
    return -1;
  h->n++;
  return 0;
}

static void forget(struct hosts *h) {
  for (int i = 0; i < h->n; i++)
    free(h->names[i]);
  h->n = 0;
}

int hosts_add_list(struct hosts *h, const char *list, char *err,
                   size_t err_size) {
  if (!h->listed)
    forget(h);
  h->listed = true;
  for (const char *at = list;; at++) {
    const size_t n = strcspn(at, ",:");
    if (n == 0 || add_host(h, at, n)) {
      snprintf(err, err_size, "%s: give the names of hosts with commas between",
               list);
      return -1;
    }
    at += strcspn(at, ",");
    if (!*at)
      return 0;
  }
}

int hosts_add_file(struct hosts *h, const char *path, char *err,
                   size_t err_size) {
  if (h->listed)
    return 0;
  FILE *const f = fopen(path, "r");
  if (!f) {
    snprintf(err, err_size, "%s: %s: give a file with one host in each line",
             path, strerror(errno));
    return -1;
  }
  char *line = NULL;
  size_t size = 0;
  int status = 0;
  while (status == 0 && getline(&line, &size, f) > 0) {
    const char *const name = line + strspn(line, " \t");
    const size_t n = strcspn(name, " \t\r\n#:");
    if (n)
      status = add_host(h, name, n);
  }
  free(line);
  fclose(f);
  if (status == 0 && h->n)
    return 0;
  snprintf(err, err_size, "%s: no host in it: give one in each line", path);
  return -1;
}
