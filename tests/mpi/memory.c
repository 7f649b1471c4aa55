/* Random programs, and every byte of their memory compared with a model: they
   allocate, write all, parts or nothing, free, let system calls read into and
   write from their memory, and communicate. All is determined by a seed.

     memory [-s FIRST-SEED] [-n SEEDS] [-t SUPERSTEPS] [-m BYTES] [-e EVERY]

   A rank has about BYTES (1M; suffixes K, M) of blocks; needs 2.5 times that
   and 1 MiB as its context. All blocks are compared after every superstep, with
   some seeds (or -e) only after every fourth: what lies between is clean, or is
   not touched, for several supersteps. */
#define _GNU_SOURCE
#include "model.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

enum { BLOCKS = 48, GLOBALS = 4, LIBRARY = GLOBALS, FILE_BYTES = 200000 };

static unsigned char few_bytes[7];
static _Alignas(16) unsigned char many_bytes[150001];
static unsigned char initialised[3000] = {1, 2, 3};
static _Alignas(16) unsigned char many_initialised[40960] = {4, 5, 6};

static struct {
  uint64_t first;
  int seeds, steps, every;
  size_t most; /* bytes of blocks of a rank */
} options = {.first = 1, .seeds = 20, .steps = 8, .most = 1 << 20};

/* The program that a seed makes, as far as one rank knows it. It lies on the
   stack, which is never swapped: what it says is to be trusted. */
struct program {
  uint64_t seed, dice, keys;
  int busy, every; /* changes in a superstep; supersteps between comparisons */
  int file;        /* FILE_BYTES of known contents, and room for as many */
  size_t live;     /* bytes of blocks that can be freed */
  int blocks;
  struct block block[BLOCKS];
};

static unsigned roll(struct program *p, size_t below) {
  return pick(&p->dice, (unsigned)below);
}

static uint64_t new_key(struct program *p) {
  return key_of(p->seed, (uint64_t)rank + 1000, p->keys++, 3);
}

/* --- blocks --- */

static size_t random_size(struct program *p) {
  switch (roll(p, 10)) {
  case 0:
    return 1 + roll(p, options.most / 3);
  case 1:
  case 2:
    return 1 + roll(p, options.most / 12);
  case 3:
    return 4095 + roll(p, 3);
  case 4:
  case 5:
    return 1 + roll(p, 40000);
  default:
    return 1 + roll(p, 900);
  }
}

static unsigned char *allocate(struct program *p, size_t n, const char **kind) {
  const size_t align = (size_t)16 << roll(p, 10);
  void *bytes = NULL;
  switch (roll(p, 5)) {
  case 0:
    *kind = "calloc";
    bytes = calloc(n, 1);
    break;
  case 1:
    *kind = "posix_memalign";
    if (posix_memalign(&bytes, align, n)) {
      bytes = NULL;
    }
    break;
  case 2:
    *kind = "realloc";
    bytes = realloc(NULL, n);
    break;
  default:
    *kind = "malloc";
    bytes = malloc(n);
  }
  if (!bytes) {
    printf("rank %d: FAIL: seed %" PRIu64 ": %s of %zu bytes with %zu in use\n",
           rank, p->seed, *kind, n, p->live);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  return bytes;
}

static void free_block(struct program *p, struct block *b) {
  p->live -= b->n;
  free(b->bytes);
  *b = p->block[--p->blocks];
}

/* Frees blocks until `n` bytes more may be allocated; blocks in use by the
   caller come before `first`. */
static void make_room(struct program *p, size_t n, int first) {
  while (p->blocks > first &&
         (p->live + n > options.most || p->blocks == BLOCKS)) {
    free_block(p, &p->block[first + (int)roll(p, (size_t)(p->blocks - first))]);
  }
}

/* Not written, but by calloc. There is room. */
static struct block *new_block(struct program *p, size_t n) {
  struct block *const b = &p->block[p->blocks++];
  b->bytes = allocate(p, n, &b->kind);
  b->n = n;
  b->fixed = 0;
  p->live += n;
  begin_block(b, b->kind[0] == 'c' ? ZERO : UNKNOWN, "allocated");
  return b;
}

static struct block *random_block(struct program *p) {
  struct block *b;
  do {
    b = &p->block[roll(p, (size_t)p->blocks)];
  } while (b == &p->block[LIBRARY]);
  if (!has_room(b, 4)) {
    put_all(b, new_key(p));
  }
  return b;
}

/* A random part of a block, at most `most` bytes. */
static struct piece random_part(struct program *p, const struct block *b,
                                size_t most) {
  struct piece part = {.peer = -1};
  part.at = roll(p, b->n);
  if (roll(p, 3) == 0) {
    part.at -= part.at % smaller(4096, part.at + 1);
  }
  part.n = 1 + roll(p, smaller(b->n - part.at, most));
  return part;
}

static void write_block(struct program *p, struct block *b) {
  struct piece part = random_part(p, b, b->n);
  const struct block *const library = &p->block[LIBRARY];
  part.source.key = new_key(p);
  part.how = "written";
  switch (roll(p, 8)) {
  case 0:
  case 1:
    put_all(b, part.source.key);
    return;
  case 2:
    part.n = 1;
    part.how = "written as one byte";
    break;
  case 3:
    part.run = 1 + roll(p, 100);
    part.stride = part.run + 1 + roll(p, roll(p, 2) ? 200 : 9000);
    break;
  case 4:
    part.source.key = ZERO;
    part.how = "zeroed";
    break;
  case 5:
    part.n = smaller(part.n, library->n);
    part.source = library->log[0].source;
    part.source.from = roll(p, library->n - part.n + 1);
    part.how = "copied from the library";
    memcpy(b->bytes + part.at, library->bytes + part.source.from, part.n);
    note(b, part);
    return;
  default:
    break;
  }
  put_piece(b, part);
}

/* The log knows no more than fits, and nothing of what is new. */
static void resize(struct program *p, struct block *b) {
  const size_t old = b->n, n = random_size(p);
  int kept = 0;
  if (n > old && p->live + n > options.most) {
    return;
  }
  unsigned char *const bytes = realloc(b->bytes, n);
  if (!bytes) {
    printf("rank %d: FAIL: realloc to %zu bytes\n", rank, n);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  p->live += n - old;
  b->bytes = bytes;
  b->n = n;
  for (int i = 0; i < b->pieces; i++) {
    if (b->log[i].at < n) {
      b->log[kept] = b->log[i];
      b->log[kept].n = smaller(b->log[i].n, n - b->log[i].at);
      kept++;
    }
  }
  b->pieces = kept;
  if (n > old) {
    note(b, (struct piece){.at = old,
                           .n = n - old,
                           .source = {.key = UNKNOWN},
                           .how = "grown by realloc",
                           .peer = -1});
  }
}

static void change(struct program *p) {
  struct block *b = random_block(p);
  const size_t n = random_size(p);
  switch (roll(p, 6)) {
  case 0:
    make_room(p, n, LIBRARY + 1);
    b = new_block(p, n);
    if (roll(p, 4)) {
      write_block(p, b);
    }
    return;
  case 1:
    if (!b->fixed) {
      free_block(p, b);
      return;
    }
    break;
  case 2:
    if (!b->fixed) {
      resize(p, b);
      return;
    }
    break;
  default:
    break;
  }
  write_block(p, b);
}

/* --- system calls --- */

static void call_failed(const struct block *b, const char *what,
                        ssize_t result) {
  fail("seed %d, superstep %d: %s, %zu bytes from %s: %s", (int)model_seed,
       model_step, what, b->n, b->kind, result < 0 ? strerror(errno) : "short");
}

static void read_zeros(struct program *p, struct block *b) {
  struct piece part = random_part(p, b, b->n);
  const int file = open("/dev/zero", O_RDONLY);
  const ssize_t n = read(file, b->bytes + part.at, part.n);
  close(file);
  if (n != (ssize_t)part.n) {
    call_failed(b, "read of /dev/zero", n);
  }
  part.how = "read of /dev/zero";
  note(b, part);
}

static void read_pipe(struct program *p, struct block *b) {
  unsigned char bytes[50000];
  struct piece part = random_part(p, b, sizeof(bytes));
  int ends[2];
  part.source.key = new_key(p);
  part.how = "read of a pipe";
  source_bytes(&part.source, 0, bytes, part.n);
  if (pipe(ends) || write(ends[1], bytes, part.n) != (ssize_t)part.n) {
    fail("pipe: %s", strerror(errno));
    return;
  }
  const ssize_t n = read(ends[0], b->bytes + part.at, part.n);
  close(ends[0]);
  close(ends[1]);
  if (n != (ssize_t)part.n) {
    call_failed(b, part.how, n);
  }
  note(b, part);
}

static void read_file(struct program *p, struct block *b) {
  struct piece part = random_part(p, b, FILE_BYTES);
  part.source.key = key_of(0, (uint64_t)rank, 0, 4);
  part.source.from = roll(p, FILE_BYTES - part.n + 1);
  part.how = "pread of a file";
  const ssize_t n =
      pread(p->file, b->bytes + part.at, part.n, (off_t)part.source.from);
  if (n != (ssize_t)part.n) {
    call_failed(b, part.how, n);
  }
  note(b, part);
}

static void write_file(struct program *p, struct block *b) {
  unsigned char bytes[8000];
  const struct piece part = random_part(p, b, FILE_BYTES);
  size_t done = 0;
  ssize_t n = pwrite(p->file, b->bytes + part.at, part.n, FILE_BYTES);
  if (n != (ssize_t)part.n) {
    call_failed(b, "pwrite of a file", n);
    return;
  }
  for (; done < part.n; done += (size_t)n) {
    n = pread(p->file, bytes, smaller(sizeof(bytes), part.n - done),
              (off_t)(FILE_BYTES + done));
    if (n <= 0) {
      call_failed(b, "pread of what was written", n);
      return;
    }
    if (!compare_bytes(b, (int)(b - p->block), part.at + done, bytes, (size_t)n,
                       "pwrite of ")) {
      return;
    }
  }
}

static void call_system(struct program *p) {
  static void (*const calls[])(struct program *, struct block *) = {
      read_zeros, read_pipe, read_file, write_file};
  calls[roll(p, 4)](p, random_block(p));
}

static int make_file(void) {
  const char *const dir = getenv("TMPDIR");
  char name[4096];
  unsigned char bytes[8000];
  const struct source source = {.key = key_of(0, (uint64_t)rank, 0, 4)};
  snprintf(name, sizeof(name), "%s/pems-memory-XXXXXX", dir ? dir : "/tmp");
  const int file = mkstemp(name);
  unlink(name);
  for (size_t at = 0; at < FILE_BYTES; at += sizeof(bytes)) {
    source_bytes(&source, at, bytes, sizeof(bytes));
    if (pwrite(file, bytes, sizeof(bytes), (off_t)at) !=
        (ssize_t)sizeof(bytes)) {
      printf("rank %d: FAIL: %s: %s\n", rank, name, strerror(errno));
      MPI_Abort(MPI_COMM_WORLD, 1);
    }
  }
  return file;
}

/* --- communication: memory_calls.h makes one random call --- */

#include "memory_calls.h"

/* --- comparing --- */

static void check(struct program *p) {
  for (int i = 0; i < p->blocks; i++) {
    struct block *const b = &p->block[i];
    if (!compare_bytes(b, i, 0, b->bytes, b->n, "") && i != LIBRARY) {
      put_all(b, new_key(p)); /* say it once */
    }
  }
}

/* Looks at a few bytes of some blocks. */
static void peek(struct program *p) {
  for (int i = (int)roll(p, 4); i > 0; i--) {
    const int number = (int)roll(p, (size_t)p->blocks);
    const struct block *const b = &p->block[number];
    const struct piece part = random_part(p, b, 300);
    compare_bytes(b, number, part.at, b->bytes + part.at, part.n, "");
  }
}

/* --- programs --- */

static void set_variable(struct program *p, int i, unsigned char *bytes,
                         size_t n, const char *kind) {
  struct block *const b = &p->block[i];
  *b = (struct block){.bytes = bytes, .n = n, .kind = kind, .fixed = 1};
  if (roll(p, 2)) {
    put_all(b, new_key(p));
  } else {
    memset(bytes, 0, n);
    begin_block(b, ZERO, "zeroed");
  }
}

static void start(struct program *p, uint64_t seed) {
  uint64_t common = seed_of(seed, 5, 6);
  p->seed = model_seed = seed;
  model_step = 0;
  p->dice = seed_of(seed, rank, 77);
  p->keys = 0;
  p->live = 0;
  p->busy = (int)pick(&common, 4) * (int)pick(&common, 4);
  p->every = pick(&common, 4) ? 1 : 4;
  if (options.every) {
    p->every = options.every;
  }
  set_variable(p, 0, few_bytes, sizeof(few_bytes), "a small variable");
  set_variable(p, 1, many_bytes, sizeof(many_bytes), "a large variable");
  set_variable(p, 2, initialised, sizeof(initialised), "initialised data");
  set_variable(p, 3, many_initialised, sizeof(many_initialised),
               "large initialised data");
  p->blocks = GLOBALS;
  put_all(new_block(p, library_size()), library_key(p, rank));
  while (p->live < options.most / 3 * 2 && p->blocks < BLOCKS * 2 / 3) {
    const size_t n = smaller(random_size(p), options.most - p->live);
    struct block *const b = new_block(p, n);
    if (roll(p, 6)) {
      put_all(b, new_key(p));
    }
  }
}

static void superstep(struct program *p) {
  for (int i = (int)roll(p, (size_t)p->busy + 1); i > 0; i--) {
    change(p);
  }
  for (int i = p->busy ? (int)roll(p, 3) : 0; i > 0; i--) {
    call_system(p);
  }
  communicate(p);
  if (model_step % p->every == 0 || model_step == options.steps) {
    check(p);
  } else {
    peek(p);
  }
  mix_number(p->live);
  mix_number((uint64_t)p->blocks);
}

static void run(struct program *p, uint64_t seed) {
  char title[32];
  start(p, seed);
  for (model_step = 1; model_step <= options.steps; model_step++) {
    superstep(p);
  }
  while (p->blocks > GLOBALS) {
    free_block(p, &p->block[p->blocks - 1]);
  }
  snprintf(title, sizeof(title), "seed %" PRIu64, seed);
  report(title);
}

static size_t size_from(const char *text) {
  char *unit;
  const size_t n = strtoull(text, &unit, 10);
  return *unit == 'K' ? n << 10 : *unit == 'M' ? n << 20 : n;
}

static int read_options(int argc, char **argv) {
  int option;
  while ((option = getopt(argc, argv, "s:n:t:m:e:")) != -1) {
    switch (option) {
    case 's':
      options.first = strtoull(optarg, NULL, 10);
      break;
    case 'n':
      options.seeds = atoi(optarg);
      break;
    case 't':
      options.steps = atoi(optarg);
      break;
    case 'm':
      options.most = size_from(optarg);
      break;
    case 'e':
      options.every = atoi(optarg);
      break;
    default:
      return -1;
    }
  }
  return optind == argc && options.most >= 65536 ? 0 : -1;
}

int main(int argc, char **argv) {
  struct program program = {0};
  begin(&argc, &argv);
  if (read_options(argc, argv) || size > MOST_RANKS) {
    fprintf(stderr,
            "usage: memory [-s FIRST-SEED] [-n SEEDS] [-t SUPERSTEPS] "
            "[-m BYTES, at least 64K] [-e EVERY], on up to %d ranks\n",
            MOST_RANKS);
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  program.file = make_file();
  for (int i = 0; i < options.seeds; i++) {
    run(&program, options.first + (uint64_t)i);
  }
  close(program.file);
  return end();
}
