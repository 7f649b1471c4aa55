/* malloc, realloc, free and their kin between collectives: contents stay, also
   when they are swapped, sent and received. */
#define _GNU_SOURCE
#include "test.h"

#include <errno.h>
#include <malloc.h>
#include <stdbool.h>

enum { SLOTS = 300, ROUNDS = 60 };

struct block {
  unsigned char *bytes;
  size_t n;
  uint64_t seed;
};
static struct block blocks[SLOTS];
static uint64_t dice;

static bool is_intact(const struct block *b) {
  unsigned char expected[256];
  uint64_t seed = b->seed;
  const size_t n = b->n < sizeof(expected) ? b->n : sizeof(expected);
  stream(expected, n, seed);
  if (memcmp(b->bytes, expected, n) != 0) {
    return false;
  }
  return b->n == 0 || b->bytes[b->n - 1] == (unsigned char)(seed ^ b->n) ||
         b->n <= sizeof(expected);
}

static void fill(struct block *b) {
  stream(b->bytes, b->n < 256 ? b->n : 256, b->seed);
  if (b->n > 256) {
    b->bytes[b->n - 1] = (unsigned char)(b->seed ^ b->n);
  }
}

static size_t random_size(void) {
  switch (pick(&dice, 8)) {
  case 0:
    return 1 + pick(&dice, 200000);
  case 1:
    return 4096 + pick(&dice, 3) - 1;
  case 2:
    return pick(&dice, 2);
  default:
    return 1 + pick(&dice, 500);
  }
}

static void *allocate(size_t n) {
  void *p = NULL;
  const size_t align = (size_t)16 << pick(&dice, 9);
  switch (pick(&dice, 6)) {
  case 0:
    p = calloc(n, 1);
    for (size_t i = 0; p && i < n; i++) {
      if (((unsigned char *)p)[i]) {
        fail("calloc of %zu bytes", n);
        break;
      }
    }
    break;
  case 1:
    if (posix_memalign(&p, align, n) || (uintptr_t)p % align) {
      fail("posix_memalign %zu", align);
    }
    break;
  case 2:
    p = aligned_alloc(align, (n + align - 1) / align * align);
    if ((uintptr_t)p % align) {
      fail("aligned_alloc %zu", align);
    }
    break;
  case 3:
    p = memalign(align, n);
    if ((uintptr_t)p % align) {
      fail("memalign %zu", align);
    }
    break;
  default:
    p = malloc(n);
  }
  if (p && (uintptr_t)p % 16) {
    fail("unaligned");
  }
  if (p && malloc_usable_size(p) < n) {
    fail("malloc_usable_size");
  }
  return p;
}

static void change(struct block *b) {
  if (!is_intact(b)) {
    fail("a block of %zu bytes changed", b->n);
  }
  const unsigned what = pick(&dice, 3);
  const size_t n = random_size();
  if (what == 0 && b->bytes && n > 0) {
    const size_t kept = n < b->n ? n : b->n;
    unsigned char head[256];
    const size_t shown = kept < 256 ? kept : 256;
    memcpy(head, b->bytes, shown);
    b->bytes = realloc(b->bytes, n);
    if (memcmp(head, b->bytes, shown) != 0) {
      fail("realloc from %zu to %zu", b->n, n);
    }
  } else {
    free(b->bytes);
    b->bytes = allocate(n);
  }
  b->n = n;
  b->seed = seed_of(dice, rank, 0);
  fill(b);
}

/* Blocks are exchanged with the neighbours straight from the heap. */
static void exchange(int n) {
  unsigned char *in = malloc((size_t)n * (size_t)size + 1);
  unsigned char *out = malloc((size_t)n * (size_t)size + 1);
  for (int i = 0; i < size; i++) {
    stream(out + i * n, (size_t)n, seed_of((uint64_t)n, rank, i));
  }
  MPI_Alltoall(out, n, MPI_BYTE, in, n, MPI_BYTE, MPI_COMM_WORLD);
  for (int i = 0; i < size; i++) {
    stream(out, (size_t)n, seed_of((uint64_t)n, i, rank));
    if (memcmp(out, in + i * n, (size_t)n) != 0) {
      fail("alltoall of %d bytes", n);
    }
  }
  free(in);
  free(out);
}

static void strings(void) {
  char *copy = strdup("a string of some length"), *printed = NULL, *line = NULL;
  size_t room = 0;
  if (asprintf(&printed, "rank %d %s", rank, copy) < 0) {
    fail("asprintf");
  }
  FILE *file = fmemopen(printed, strlen(printed), "r");
  if (getline(&line, &room, file) != (ssize_t)strlen(printed) ||
      strcmp(line, printed) != 0) {
    fail("getline");
  }
  fclose(file);
  MPI_Barrier(MPI_COMM_WORLD);
  line = realloc(line, 10000);
  printed = realloc(printed, 20000);
  memset(line, 1, 10000);
  memset(printed, 2, 20000);
  if (strcmp(copy, "a string of some length") != 0) {
    fail("strdup");
  }
  free(copy);
  free(printed);
  free(line);
}

static void limits(void) {
  free(NULL);
  errno = 0;
  volatile size_t huge = SIZE_MAX / 2;
  if (malloc(huge) || errno != ENOMEM) {
    fail("malloc of half of everything: errno %d", errno);
  }
  errno = 0;
  if (calloc(huge, 3) || errno != ENOMEM) {
    fail("calloc that overflows: errno %d", errno);
  }
  char *p = malloc(100);
  memset(p, 9, 100);
  char *grown = realloc(p, huge);
  if (grown) {
    fail("realloc to half of everything");
    p = grown;
  }
  for (int i = 0; i < 100; i++) {
    if (p[i] != 9) {
      fail("a failed realloc changed the block");
    }
  }
  free(p);
}

int main(int argc, char **argv) {
  begin(&argc, &argv);
  dice = (uint64_t)rank + 1;
  for (int round = 0; round < ROUNDS; round++) {
    for (int i = 0; i < 200; i++) {
      change(&blocks[pick(&dice, SLOTS)]);
    }
    if (left_out()) {
      continue;
    }
    exchange(round * 37 % 5000);
    if (round % 10 == 0) {
      strings();
    }
  }
  for (int i = 0; i < SLOTS; i++) {
    if (!is_intact(&blocks[i])) {
      fail("a block of %zu bytes changed", blocks[i].n);
    }
    free(blocks[i].bytes);
  }
  limits();
  return end();
}
