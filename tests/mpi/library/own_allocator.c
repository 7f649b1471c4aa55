/* Memory of the allocator that the program is linked with: how much that says
   is in use, and what the blocks hold while their rank waits. */
#include "test.h"

#include <stdbool.h>

/* Of jemalloc and tcmalloc; none of them in a plain program. */
int mallctl(const char *, void *, size_t *, void *, size_t)
    __attribute__((weak));
int MallocExtension_GetNumericProperty(const char *, size_t *)
    __attribute__((weak));

enum { BLOCKS = 2000, MOST = 40000, ROUNDS = 4 };

static size_t in_use(void) {
  uint64_t epoch = 1;
  size_t n = 0, size = sizeof(n);
  if (mallctl) {
    mallctl("epoch", NULL, NULL, &epoch, sizeof(epoch));
    mallctl("stats.allocated", &n, &size, NULL, 0);
  } else if (MallocExtension_GetNumericProperty) {
    MallocExtension_GetNumericProperty("generic.current_allocated_bytes", &n);
  }
  return n;
}

static size_t length(int i, int round) {
  return 1 + ((size_t)i * 7919 + (size_t)round * 104729 + (size_t)rank) % MOST;
}

static unsigned char value(int i, int round) {
  return (unsigned char)(i * 31 + round * 7 + rank + 1);
}

static void fill(unsigned char **block, int round) {
  for (int i = round % 2; i < BLOCKS; i += 2) {
    block[i] = realloc(block[i], length(i, round));
    memset(block[i], value(i, round), length(i, round));
  }
}

/* Blocks that this round has made, and those that the one before has. */
static int wrong(unsigned char *const *block, int round) {
  int n = 0;
  for (int i = 0; i < BLOCKS; i++) {
    const int made = i % 2 == round % 2 ? round : round - 1;
    for (size_t at = 0; block[i] && at < length(i, made); at++) {
      n += block[i][at] != value(i, made);
    }
  }
  return n;
}

int main(int argc, char **argv) {
  static unsigned char *block[BLOCKS];
  begin(&argc, &argv);
  const size_t before = in_use();
  for (int round = 0; round < ROUNDS; round++) {
    fill(block, round);
    MPI_Barrier(MPI_COMM_WORLD);
    const int bad = wrong(block, round);
    printf("rank %d, round %d: %d wrong\n", rank, round, bad);
  }
  const bool counted = in_use() > before + (size_t)MOST / 4 * BLOCKS;
  for (int i = 0; i < BLOCKS; i++) {
    free(block[i]);
  }
  printf("rank %d: the allocator %s\n", rank,
         counted ? "has counted this" : "was another");
  return end();
}
