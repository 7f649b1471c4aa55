/* Touches a given part of its memory in every superstep, and only reads some of
   that: what a program's habits cost that swaps.

   Each rank holds an array of MIB mebibytes. In every superstep it visits
   --read percent of the array's pages, adds the superstep's number to every
   word of the first --write percent (of the array) of them, compares the others
   with what they should be, and waits for the others. Where:
     same    always at the start of the array, in order
     moving  in order from a place that each superstep chooses anew at random
     pages   single pages at random
   At the end every word is checked. A plain MPI program:
     touch MIB SUPERSTEPS [--read PERCENT] [--write PERCENT]
           [--where same|moving|pages] */
#include <inttypes.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  EXIT_USAGE = 2,
  PAGE_WORDS = 4096 / sizeof(uint64_t),
  PAGES_PER_MIB = (1 << 20) / 4096,
};

enum where { SAME, MOVING, PAGES };

struct load {
  uint64_t pages;      /* of a rank's array */
  uint64_t supersteps; /* after the first, which fills it */
  uint64_t visited;    /* pages in each superstep */
  uint64_t changed;    /* of them */
  enum where where;
  int rank;
};

/* A rank's memory and what was done to it. */
struct array {
  uint64_t *words;
  uint64_t *added; /* to each word of a page, by the writes so far */
  uint64_t wrong;  /* words that were not as they should be */
};

/* Bijective mixing of all bits: the finalizer of splitmix64. */
static uint64_t mix(uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

/* What word i of a rank's array holds at first: different everywhere. */
static uint64_t first_value(int rank, uint64_t i) {
  return ((uint64_t)rank << 40) + i;
}

static void fill(const struct load *l, struct array *a) {
  for (uint64_t i = 0; i < l->pages * PAGE_WORDS; i++) {
    a->words[i] = first_value(l->rank, i);
  }
}

static void write_page(struct array *a, uint64_t page, uint64_t x) {
  uint64_t *const words = a->words + page * PAGE_WORDS;
  for (int i = 0; i < PAGE_WORDS; i++) {
    words[i] += x;
  }
  a->added[page] += x;
}

static void check_page(const struct load *l, struct array *a, uint64_t page) {
  const uint64_t start = page * PAGE_WORDS;
  uint64_t wrong = 0;
  for (uint64_t i = start; i < start + PAGE_WORDS; i++) {
    wrong += a->words[i] != first_value(l->rank, i) + a->added[page];
  }
  a->wrong += wrong;
}

/* The n-th page that a superstep visits. */
static uint64_t page_to_visit(const struct load *l, uint64_t step, uint64_t n) {
  const uint64_t place = ((uint64_t)l->rank << 32) + step;
  switch (l->where) {
  case MOVING:
    return (mix(place) + n) % l->pages;
  case PAGES:
    return mix((place << 20) ^ mix(n)) % l->pages;
  case SAME:
    break;
  }
  return n;
}

static void visit(const struct load *l, struct array *a, uint64_t step) {
  for (uint64_t n = 0; n < l->visited; n++) {
    const uint64_t page = page_to_visit(l, step, n);
    if (n < l->changed) {
      write_page(a, page, step);
    } else {
      check_page(l, a, page);
    }
  }
}

static void *allocate(const struct load *l, uint64_t n, size_t size) {
  void *const p = calloc(n > 0 ? n : 1, size);
  if (p == NULL) {
    fprintf(stderr,
            "touch: rank %d: out of memory, bytes wanted: %" PRIu64 "\n",
            l->rank, n * size);
    exit(EXIT_FAILURE);
  }
  return p;
}

/* Returns the number of wrong words on all ranks; *seconds is the time of the
   supersteps, without the first and the last, which touch everything. */
static uint64_t run(const struct load *l, double *seconds) {
  struct array a = {.wrong = 0};
  a.added = allocate(l, l->pages, sizeof(*a.added));
  a.words = allocate(l, l->pages * PAGE_WORDS, sizeof(*a.words));
  fill(l, &a);
  MPI_Barrier(MPI_COMM_WORLD);
  *seconds = -MPI_Wtime();
  for (uint64_t step = 1; step <= l->supersteps; step++) {
    visit(l, &a, step);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  *seconds += MPI_Wtime();
  for (uint64_t page = 0; page < l->pages; page++) {
    check_page(l, &a, page);
  }
  free(a.words);
  free(a.added);

  uint64_t total;
  MPI_Allreduce(&a.wrong, &total, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
  return total;
}

/* Reads a number from 0 to `max`. Returns it, or -1. */
static double parse_number(const char *text, double max) {
  char *end;
  const double x = strtod(text, &end);
  return end != text && *end == '\0' && x >= 0 && x <= max ? x : -1;
}

/* Returns 0, or -1 if there is no such word. */
static int parse_where(const char *text, enum where *where) {
  static const char *const words[] = {"same", "moving", "pages"};
  for (int i = 0; i < 3; i++) {
    if (strcmp(text, words[i]) == 0) {
      *where = (enum where)i;
      return 0;
    }
  }
  return -1;
}

/* Returns 0 or -1. */
static int parse(struct load *l, int argc, char **argv) {
  double numbers[2] = {-1, -1}; /* MIB, SUPERSTEPS */
  double read = 100;
  double write = 100;
  int n = 0;
  for (int i = 1; i < argc; i++) {
    const char *const next = i + 1 < argc ? argv[i + 1] : "";
    bool bad = false;
    if (strcmp(argv[i], "--read") == 0) {
      bad = (read = parse_number(next, 100)) < 0;
      i++;
    } else if (strcmp(argv[i], "--write") == 0) {
      bad = (write = parse_number(next, 100)) < 0;
      i++;
    } else if (strcmp(argv[i], "--where") == 0) {
      bad = parse_where(next, &l->where) != 0;
      i++;
    } else {
      bad = n == 2 || (numbers[n++] = parse_number(argv[i], 1 << 20)) < 0;
    }
    if (bad) {
      return -1;
    }
  }
  if (n < 2) {
    return -1;
  }
  l->pages = (uint64_t)(numbers[0] * PAGES_PER_MIB);
  l->supersteps = (uint64_t)numbers[1];
  l->visited = (uint64_t)((double)l->pages * read / 100);
  l->changed = (uint64_t)((double)l->pages * write / 100);
  if (l->changed > l->visited) {
    l->changed = l->visited;
  }
  return 0;
}

int main(int argc, char **argv) {
  struct load load = {.where = SAME};
  int ranks;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &load.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);

  if (parse(&load, argc, argv) != 0) {
    if (load.rank == 0) {
      fprintf(stderr, "usage: touch MIB SUPERSTEPS [--read PERCENT] "
                      "[--write PERCENT] [--where same|moving|pages]\n");
    }
    MPI_Finalize();
    return EXIT_USAGE;
  }

  double seconds;
  const uint64_t wrong = run(&load, &seconds);
  if (load.rank == 0) {
    printf("RESULT app=touch pages_per_rank=%" PRIu64 " ranks=%d "
           "supersteps=%" PRIu64 " visited=%" PRIu64 " changed=%" PRIu64
           " seconds=%.6f wrong=%" PRIu64 "\n",
           load.pages, ranks, load.supersteps, load.visited, load.changed,
           seconds, wrong);
  }
  MPI_Finalize();
  return wrong == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
