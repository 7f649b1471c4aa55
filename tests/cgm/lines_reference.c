/* The sums that apps/hash_lines.c prints, by one process that holds all hashes.
   Paths of files are on stdin, each with a 0 behind it, as `find -print0` tells
   them. Prints "lines different sum order". */
#define _GNU_SOURCE
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static uint64_t *hashes, count, room;

static void add(uint64_t hash) {
  if (count == room) {
    room = 2 * room + 1000;
    hashes = realloc(hashes, room * sizeof(*hashes));
    if (!hashes) {
      perror("lines_reference");
      exit(1);
    }
  }
  hashes[count++] = hash;
}

static uint64_t hash_of(const char *line, size_t n) {
  uint64_t x = UINT64_C(14695981039346656037);
  for (size_t i = 0; i < n; i++) {
    x ^= (unsigned char)line[i];
    x *= UINT64_C(1099511628211);
  }
  x ^= x >> 33;
  x *= UINT64_C(0xff51afd7ed558ccd);
  x ^= x >> 33;
  x *= UINT64_C(0xc4ceb9fe1a85ec53);
  return x ^ (x >> 33);
}

static int ascending(const void *a, const void *b) {
  const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

int main(void) {
  char *path = NULL, *line = NULL;
  size_t path_room = 0, line_room = 0;
  uint64_t different = 0, sum = 0, order = 0;
  while (getdelim(&path, &path_room, 0, stdin) > 0) {
    FILE *const file = fopen(path, "r");
    if (!file) {
      perror(path);
      return 1;
    }
    for (ssize_t n; (n = getline(&line, &line_room, file)) > 0;) {
      add(hash_of(line, (size_t)n - (line[n - 1] == '\n')));
    }
    fclose(file);
  }
  if (count) {
    qsort(hashes, count, sizeof(*hashes), ascending);
  }
  for (uint64_t i = 0; i < count; i++) {
    different += i == 0 || hashes[i] != hashes[i - 1];
    sum += hashes[i];
    order += (i + 1) * hashes[i];
  }
  printf("%" PRIu64 " %" PRIu64 " %016" PRIx64 " %016" PRIx64 "\n", count,
         different, sum, order);
  free(hashes);
  free(path);
  free(line);
  return 0;
}
