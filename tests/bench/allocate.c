/* What reserving the space of contexts is worth: writes them in pieces, as
   ranks fill their memory from superstep to superstep, then reads them one
   after another (Figure C.1 of D. E. Robillard's thesis on PEMS2). Plain files
   and system calls, nothing of pems.

     allocate MODE ORDER CONTEXT DATA [DIR]

   MODE is reserve (the files' space is allocated first, by fallocate) or grow
   (it is when something is written). ORDER is forward (contexts are filled from
   their beginnings on) or random (each piece wherever it comes). FILES files,
   as of so many processes, hold CONTEXTS contexts of CONTEXT bytes, of which
   only the first are used: DATA bytes in all, whatever CONTEXT. Direct I/O.
   Sizes take K, M, G. Prints

     RESULT bench=allocate mode= order= context= data= write_seconds=
       read_seconds= extents= reserved=

   with the seconds of all writes (that to reserve included) and of all reads,
   the number of extents of the files where data is, and the bytes that they
   occupy. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/fiemap.h>
#include <linux/fs.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
  FILES = 4,
  CONTEXTS = 32, /* of all files */
  PIECE = 64 << 10,
  REQUEST = 1 << 20, /* of a read */
  EXTENTS = 256,     /* asked for at once */
};

struct bench {
  uint64_t context, used; /* bytes of each, and of them with data */
  int fd[FILES];
  char *buffer; /* REQUEST bytes */
};

static _Noreturn void fail(const char *what) {
  fprintf(stderr, "allocate: %s: %s\n", what, strerror(errno));
  exit(1);
}

static uint64_t size_of(const char *text) {
  char *end;
  const uint64_t n = strtoull(text, &end, 10);
  switch (*end) {
  case 'K':
    return n << 10;
  case 'M':
    return n << 20;
  case 'G':
    return n << 30;
  default:
    return n;
  }
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Files without names: nothing is left, whatever happens. */
static void open_files(struct bench *b, const char *dir) {
  for (int i = 0; i < FILES; i++) {
    b->fd[i] = open(dir, O_TMPFILE | O_RDWR | O_DIRECT, 0600);
    if (b->fd[i] < 0) {
      fail(dir);
    }
  }
}

static void reserve(const struct bench *b) {
  for (int i = 0; i < FILES; i++) {
    if (fallocate(b->fd[i], 0, 0, (off_t)(CONTEXTS / FILES * b->context))) {
      fail("fallocate");
    }
  }
}

static off_t place(const struct bench *b, int context) {
  return (off_t)((uint64_t)(context / FILES) * b->context);
}

/* Pieces' numbers in an order that is not that of the file. */
static uint64_t shuffled(uint64_t i, uint64_t pieces) {
  return i * 7919 % pieces; /* a prime that does not divide `pieces` */
}

/* A piece of every context, in turn, then another of each. */
static void write_all(const struct bench *b, bool random) {
  const uint64_t pieces = b->used / PIECE;
  for (uint64_t n = 0; n < pieces; n++) {
    for (int i = 0; i < CONTEXTS; i++) {
      const uint64_t at = PIECE * (random ? shuffled(n, pieces) : n);
      if (pwrite(b->fd[i % FILES], b->buffer, PIECE, place(b, i) + (off_t)at) !=
          PIECE) {
        fail("write");
      }
    }
  }
  for (int i = 0; i < FILES; i++) {
    if (fdatasync(b->fd[i])) {
      fail("fdatasync");
    }
  }
}

static void read_all(const struct bench *b) {
  for (int i = 0; i < CONTEXTS; i++) {
    for (uint64_t at = 0; at < b->used; at += REQUEST) {
      if (pread(b->fd[i % FILES], b->buffer, REQUEST,
                place(b, i) + (off_t)at) != REQUEST) {
        fail("read");
      }
    }
  }
}

/* Extents of a file with data; those that are only reserved don't count. */
static uint64_t extents_of(int fd) {
  struct fiemap *const map =
      calloc(1, sizeof(*map) + EXTENTS * sizeof(struct fiemap_extent));
  uint64_t found = 0, start = 0;
  bool last = !map;
  while (!last) {
    memset(map, 0, sizeof(*map));
    map->fm_start = start;
    map->fm_length = FIEMAP_MAX_OFFSET;
    map->fm_extent_count = EXTENTS;
    if (ioctl(fd, FS_IOC_FIEMAP, map) || map->fm_mapped_extents == 0) {
      break;
    }
    for (uint32_t i = 0; i < map->fm_mapped_extents; i++) {
      const struct fiemap_extent *const e = &map->fm_extents[i];
      found += !(e->fe_flags & FIEMAP_EXTENT_UNWRITTEN);
      last |= (e->fe_flags & FIEMAP_EXTENT_LAST) != 0;
      start = e->fe_logical + e->fe_length;
    }
  }
  free(map);
  return found;
}

static void result(const struct bench *b, const char *mode, const char *order,
                   double wrote, double took) {
  uint64_t extents = 0, bytes = 0;
  for (int i = 0; i < FILES; i++) {
    struct stat s;
    if (fstat(b->fd[i], &s)) {
      fail("stat");
    }
    extents += extents_of(b->fd[i]);
    bytes += (uint64_t)s.st_blocks * 512;
  }
  printf("RESULT bench=allocate mode=%s order=%s context=%llu data=%llu "
         "write_seconds=%.4f read_seconds=%.4f extents=%llu reserved=%llu\n",
         mode, order, (unsigned long long)b->context,
         (unsigned long long)(b->used * CONTEXTS), wrote, took,
         (unsigned long long)extents, (unsigned long long)bytes);
}

/* True for the second of two words; ends the program for another one. */
static bool choose(const char *word, const char *first, const char *second) {
  if (strcmp(word, first) != 0 && strcmp(word, second) != 0) {
    fprintf(stderr, "allocate: %s: give %s or %s\n", word, first, second);
    exit(2);
  }
  return strcmp(word, second) == 0;
}

int main(int argc, char **argv) {
  struct bench b = {0};
  if (argc < 5) {
    fprintf(stderr, "usage: allocate reserve|grow forward|random CONTEXT DATA "
                    "[DIR]\n");
    return 2;
  }
  const bool grow = choose(argv[1], "reserve", "grow");
  const bool random = choose(argv[2], "forward", "random");
  b.context = size_of(argv[3]);
  b.used = size_of(argv[4]) / CONTEXTS;
  if (b.used == 0 || b.used % REQUEST || b.used > b.context) {
    fprintf(stderr,
            "allocate: %s of data: give a multiple of %d MiB that fits "
            "into %d contexts\n",
            argv[4], CONTEXTS, CONTEXTS);
    return 2;
  }
  open_files(&b, argc > 5 ? argv[5] : "/var/tmp");
  if (posix_memalign((void **)&b.buffer, 4096, REQUEST)) {
    fail("memory");
  }
  memset(b.buffer, 1, REQUEST);
  const double begin = now();
  if (!grow) {
    reserve(&b);
  }
  write_all(&b, random);
  const double wrote = now();
  read_all(&b);
  result(&b, argv[1], argv[2], wrote - begin, now() - wrote);
  free(b.buffer);
  return 0;
}
