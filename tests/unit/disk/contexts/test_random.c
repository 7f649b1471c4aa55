/* Contexts under random use by several threads at once, each the VP of one:
   every byte of every block, of the programs' data and of all messages is
   compared with a copy in native memory, and the budget is watched. */
#define _GNU_SOURCE
#include "config.h"

#include "base/counters.h"
#include "context/calls/allocate.h"
#include "context/calls/create.h"
#include "context/context.h"
#include "context/delivery/access.h"
#include "context/delivery/expect.h"
#include "context/residency/residency.h"
#include "context/residency/track.h"
#include "context/store/space.h"
#include "disk/contexts/internal.h"
#include "drivers/scratch.h"

#include "check_main.h"
#include "os/pages.h"

#include <check.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define KIB ((size_t)1 << 10)
#define MIB ((size_t)1 << 20)

enum { VPS = 5, BLOCKS = 16, PIECES = 4, ROUNDS = 6 };
enum { DATA = 6 * PAGE, JOBS = VPS * PIECES };

/* Bytes of a message. */
static size_t largest(size_t mu) {
  return mu / 8;
}

/* A job's memory; the seeds of one entry share its contexts. */
struct setting {
  int share; /* of SEEDS, in thousandths */
  const char *io;
  size_t mu, spare; /* resident bytes: running * mu + spare */
  int running;      /* VPs at once */
  size_t boundary;  /* bytes */
  size_t stripe;
  bool evict_always;
};

static const struct setting settings[] = {
    {120, "mem", 256 * KIB, 0, 1, MIB, 0, false},
    {120, "mem", 256 * KIB, 0, 2, 0, 0, false},
    {110, "mem", 256 * KIB, 64 * KIB, 3, 64 * KIB, 0, true},
    {110, "mem", 512 * KIB, 512 * KIB, 1, MIB, 16 * KIB, false},
    {90, "mem", MIB, 700 * KIB, 1, 8 * KIB, 0, false},
    {20, "mem", 6 * MIB, 2 * MIB, 1, MIB, 0, false},
    {70, "unix", 256 * KIB, 0, 1, MIB, 0, false},
    {70, "unix", 256 * KIB, 0, 2, 0, 16 * KIB, false},
    {30, "unix", 256 * KIB, 192 * KIB, 3, 64 * KIB, 0, true},
    {20, "unix", 512 * KIB, 256 * KIB, 2, 8 * KIB, 64 * KIB, true},
    {60, "unix", MIB, 512 * KIB, 1, MIB, 0, false},
    {5, "unix", 6 * MIB, 0, 1, MIB, 256 * KIB, false},
    {30, "aio", 256 * KIB, 64 * KIB, 2, MIB, 0, false},
    {10, "aio", MIB, 0, 1, 64 * KIB, 64 * KIB, true},
    {30, "uring", 256 * KIB, 64 * KIB, 2, MIB, 0, false},
    {10, "uring", MIB, 0, 1, 64 * KIB, 64 * KIB, true},
    {80, "mmap", 512 * KIB, 0, 2, MIB, 0, false},
    {10, "fault:mem,delay=200", 256 * KIB, 64 * KIB, 2, MIB, 0, false},
    {5, "fault:unix,delay=300", 256 * KIB, 0, 1, MIB, 0, true},
};
enum { SETTINGS = sizeof(settings) / sizeof(*settings) };

/* Random programs in all; those that take much I/O have fewer. */
enum { SEEDS = 300, LONG_SEEDS = 20000 };

/* Bytes of a context, and what bytes [lo, hi) of them must be. The others were
   never written. */
struct block {
  char *bytes, *copy;
  size_t n, lo, hi;
  const char *last; /* what happened to it last */
  int round;        /* when */
};

/* A part of a message that is to be delivered by someone. */
struct job {
  int to; /* VP */
  char *place;
  const char *bytes;
  size_t n;
};

struct vp {
  int index, round;
  uint64_t dice;
  size_t live; /* bytes of its heap blocks */
  int blocks;
  struct block block[BLOCKS];
  struct block data;   /* of its program */
  struct block parcel; /* parts of it are overwritten by messages */
  struct block mail;   /* others read and write it; under mail_lock */
  pthread_mutex_t mail_lock;
  atomic_int pending; /* jobs of its parcel that others have still to do */
  pthread_mutex_t jobs_lock;
  int jobs;
  struct job job[JOBS]; /* that it is to do for others */
};

static char dir[64], dirs[160];
static struct disks *disks;
static struct vp vps[VPS];
static sem_t tokens; /* VPs that may run */
static atomic_int working;
static atomic_bool failed;
static uint64_t seed;
static struct pems_error error;

static void wrong(const char *format, ...) {
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  va_list args;
  va_start(args, format);
  pthread_mutex_lock(&lock);
  if (!failed) {
    vsnprintf(error.text, sizeof(error.text), format, args);
  }
  failed = true;
  pthread_mutex_unlock(&lock);
  va_end(args);
}

static uint64_t roll64(uint64_t *dice) {
  uint64_t x = *dice += 0x9e3779b97f4a7c15u;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return x ^ x >> 31;
}

/* Less than n. */
static size_t roll(struct vp *v, size_t n) {
  return roll64(&v->dice) % n;
}

static struct context *context_of_vp(const struct vp *v) {
  return context_get(v->index);
}

static size_t heap_room(const struct setting *s) {
  return s->mu - DATA - 2 * 64 * KIB;
}

/* --- blocks --- */

static void random_bytes(struct vp *v, char *p, size_t n) {
  for (; n >= 8; p += 8, n -= 8) {
    const uint64_t x = roll64(&v->dice);
    memcpy(p, &x, 8);
  }
  while (n--) {
    *p++ = (char)roll64(&v->dice);
  }
}

/* Both copies get the same new bytes. */
static void write_part(struct vp *v, struct block *b, size_t at, size_t n,
                       const char *what) {
  const size_t kind = roll(v, 6);
  if (kind == 0) {
    memset(b->copy + at, 0, n);
  } else if (kind <= 2) { /* compressible */
    memset(b->copy + at, (int)roll(v, 255) + 1, n);
  } else {
    random_bytes(v, b->copy + at, n);
  }
  memcpy(b->bytes + at, b->copy + at, n);
  b->last = what;
  b->round = v->round;
}

static void compare(const struct vp *v, const struct block *b, size_t at,
                    const char *found, size_t n, const char *what) {
  if (n == 0 || memcmp(b->copy + at, found, n) == 0) {
    return;
  }
  size_t i = 0;
  while (b->copy[at + i] == found[i]) {
    i++;
  }
  wrong("seed %llu, round %d, %s of context %d: byte %zu of %zu is %02x, not "
        "%02x; last %s in round %d",
        (unsigned long long)seed, v->round, what, v->index, at + i, b->n,
        (unsigned char)found[i], (unsigned char)b->copy[at + i], b->last,
        b->round);
}

static void compare_all(const struct vp *v, const struct block *b,
                        const char *what) {
  compare(v, b, b->lo, b->bytes + b->lo, b->hi - b->lo, what);
}

/* The context is held; where it has no more memory, the block is empty. */
static void make_block(struct vp *v, struct block *b, size_t n, bool whole) {
  *b = (struct block){.n = n, .hi = n, .last = "filled", .round = v->round};
  b->bytes = context_alloc(context_of_vp(v), n, (size_t)16 << roll(v, 9));
  if (!b->bytes) {
    *b = (struct block){0};
    return;
  }
  if (!whole) {
    b->lo = roll(v, n);
    b->hi = b->lo + roll(v, n - b->lo + 1);
  }
  b->copy = malloc(n);
  write_part(v, b, b->lo, b->hi - b->lo, "filled");
  v->live += n;
}

/* Also when the context is not held. */
static void free_block(struct vp *v, struct block *b) {
  if (!b->bytes) {
    return;
  }
  context_free(context_of_vp(v), b->bytes);
  free(b->copy);
  v->live -= b->n;
  *b = (struct block){0};
}

static void forget_block(struct vp *v, int i) {
  free_block(v, &v->block[i]);
  v->block[i] = v->block[--v->blocks];
}

static void add_block(struct vp *v, const struct setting *s) {
  size_t n = 1;
  switch (roll(v, 5)) {
  case 0:
    n += roll(v, s->mu / 3);
    break;
  case 1:
    n = 2 * PAGE - 1 + roll(v, 3);
    break;
  case 2:
    n += roll(v, s->mu / 12);
    break;
  default:
    n += roll(v, 3000);
  }
  /* What is free may be in pieces. */
  while (v->blocks &&
         (v->blocks == BLOCKS || v->live + n > heap_room(s) / 5 * 3)) {
    forget_block(v, (int)roll(v, (size_t)v->blocks));
  }
  if (v->live + n > heap_room(s) / 5 * 3) {
    return;
  }
  make_block(v, &v->block[v->blocks], n, roll(v, 3));
  if (v->block[v->blocks].bytes) {
    v->blocks++;
  } else {
    wrong("seed %llu: context %d: no %zu bytes with %zu in use",
          (unsigned long long)seed, v->index, n, v->live);
  }
}

static void write_block(struct vp *v, struct block *b) {
  const size_t n = b->hi - b->lo;
  if (n == 0) {
    return;
  }
  const size_t at = roll(v, n);
  switch (roll(v, 4)) {
  case 0:
    write_part(v, b, b->lo, n, "written whole");
    break;
  case 1:
    write_part(v, b, b->lo + at, 1, "written as one byte");
    break;
  case 2: /* strides */
    for (size_t i = at; i < n; i += PAGE + 100) {
      write_part(v, b, b->lo + i, 1 + roll(v, n - i < 40 ? n - i : 40),
                 "written with a stride");
    }
    break;
  default:
    if (b != &v->data) { /* only the heap is counted in parts */
      context_claim(context_of_vp(v), b->bytes + b->lo + at, n - at);
    }
    write_part(v, b, b->lo + at, 1 + roll(v, n - at), "written in part");
  }
}

static void change(struct vp *v, const struct setting *s) {
  const size_t which = roll(v, (size_t)v->blocks + 3);
  if (which < (size_t)v->blocks) {
    if (roll(v, 4) == 0) {
      forget_block(v, (int)which);
    } else {
      write_block(v, &v->block[which]);
    }
  } else if (which == (size_t)v->blocks) {
    write_block(v, &v->data);
  } else {
    add_block(v, s);
  }
}

/* --- messages --- */

/* Reads or writes a part of another's mail, wherever that is. */
static void visit(struct vp *v) {
  struct vp *const to = &vps[roll(v, VPS)];
  struct context *const c = context_of_vp(to);
  struct block *const b = &to->mail;
  const size_t at = roll(v, b->n), n = 1 + roll(v, b->n - at);
  pthread_mutex_lock(&to->mail_lock);
  if (roll(v, 2)) {
    char *const found = malloc(n);
    context_pin(c);
    context_read(c, b->bytes + at, found, n);
    context_unpin(c);
    compare(to, b, at, found, n, "mail as another reads it");
    free(found);
  } else {
    random_bytes(v, b->copy + at, n);
    context_write(c, b->bytes + at, b->copy + at, n);
    b->last = "written by another";
    b->round = v->round;
  }
  pthread_mutex_unlock(&to->mail_lock);
}

static void deliver(const struct job *j) {
  context_write(context_get(j->to), j->place, j->bytes, j->n);
}

/* Does what others have asked for. */
static void serve(struct vp *v) {
  struct job jobs[JOBS];
  pthread_mutex_lock(&v->jobs_lock);
  const int n = v->jobs;
  memcpy(jobs, v->job, (size_t)n * sizeof(*jobs));
  v->jobs = 0;
  pthread_mutex_unlock(&v->jobs_lock);
  for (int i = 0; i < n; i++) {
    deliver(&jobs[i]);
    vps[jobs[i].to].pending--;
  }
}

static void ask(struct vp *of, const struct job *j) {
  vps[j->to].pending++;
  pthread_mutex_lock(&of->jobs_lock);
  of->job[of->jobs++] = *j;
  pthread_mutex_unlock(&of->jobs_lock);
}

/* Cuts [at, at + n) of the parcel into pieces, in a random order. */
static int cut(struct vp *v, size_t at, size_t n, struct job *jobs) {
  int count = 0;
  while (n > 0) {
    const size_t some = count == PIECES - 1 ? n : 1 + roll(v, n);
    jobs[count++] =
        (struct job){v->index, v->parcel.bytes + at, v->parcel.copy + at, some};
    at += some, n -= some;
  }
  for (int i = count - 1; i > 0; i--) {
    const int j = (int)roll(v, (size_t)i + 1);
    const struct job swap = jobs[i];
    jobs[i] = jobs[j];
    jobs[j] = swap;
  }
  return count;
}

/* A part of the parcel will be overwritten: some pieces at once, some by other
   threads. Returns how many of `own` are left for this one. */
static int expect_parcel(struct vp *v, struct job *own) {
  struct context *const c = context_of_vp(v);
  struct block *const b = &v->parcel;
  struct job jobs[PIECES];
  const size_t at = roll(v, b->n), n = 1 + roll(v, b->n - at);
  int left = 0;
  context_expect(c, b->bytes + at, n);
  random_bytes(v, b->copy + at, n);
  b->last = "received";
  b->round = v->round;
  const int count = cut(v, at, n, jobs);
  for (int i = 0; i < count; i++) {
    switch (roll(v, 4)) {
    case 0:
      memcpy(jobs[i].place, jobs[i].bytes, jobs[i].n);
      context_received(c, jobs[i].place, jobs[i].n);
      break;
    case 1:
      own[left++] = jobs[i];
      break;
    default:
      ask(&vps[roll(v, VPS)], &jobs[i]);
    }
  }
  return left;
}

/* --- VPs --- */

static void check_all(struct vp *v) {
  compare_all(v, &v->data, "data");
  compare_all(v, &v->parcel, "parcel");
  for (int i = 0; i < v->blocks; i++) {
    compare_all(v, &v->block[i], "a block");
  }
  pthread_mutex_lock(&v->mail_lock);
  compare_all(v, &v->mail, "mail");
  if (roll(v, 3) == 0) {
    write_block(v, &v->mail);
  }
  pthread_mutex_unlock(&v->mail_lock);
}

static void live_a_round(struct vp *v, const struct setting *s) {
  struct context *const c = context_of_vp(v);
  struct job own[PIECES];
  int left = 0;
  sem_wait(&tokens);
  context_acquire(c);
  context_expect_end(c);
  check_all(v);
  for (size_t i = roll(v, 6); i > 0; i--) {
    change(v, s);
  }
  for (size_t i = roll(v, 3); i > 0; i--) {
    visit(v);
  }
  serve(v);
  if (roll(v, 3)) {
    left = expect_parcel(v, own);
  }
  context_release(c);
  sem_post(&tokens);
  if (v->blocks && roll(v, 4) == 0) {
    forget_block(v, (int)roll(v, (size_t)v->blocks));
  }
  for (int i = 0; i < left; i++) {
    deliver(&own[i]);
  }
  if (roll(v, 4) == 0) {
    visit(v);
  }
  while (v->pending) {
    serve(v);
    usleep(20);
  }
}

static const struct setting *setting; /* of the threads */

static void *live(void *arg) {
  struct vp *const v = arg;
  for (v->round = 1; v->round <= ROUNDS && !failed; v->round++) {
    serve(v);
    live_a_round(v, setting);
  }
  working--;
  while (working) {
    serve(v);
    usleep(20);
  }
  serve(v);
  return NULL;
}

/* --- seeds --- */

static void begin_vp(struct vp *v) {
  struct context *const c = context_of_vp(v);
  v->dice = seed * 1000003 + (uint64_t)v->index;
  v->round = 0;
  context_acquire(c);
  make_block(v, &v->parcel, 1 + roll(v, largest(setting->mu)), true);
  make_block(v, &v->mail, 1 + roll(v, setting->mu / 16), true);
  ck_assert_ptr_nonnull(v->parcel.bytes);
  ck_assert_ptr_nonnull(v->mail.bytes);
  for (int i = 0; i < 10 && v->live < heap_room(setting) / 2; i++) {
    add_block(v, setting);
  }
  context_release(c);
}

/* With `last` the VP has ended. */
static void end_vp(struct vp *v, bool last) {
  struct context *const c = context_of_vp(v);
  context_acquire(c);
  check_all(v);
  while (v->blocks) {
    forget_block(v, 0);
  }
  free_block(v, &v->parcel);
  free_block(v, &v->mail);
  if (last) {
    context_discard(c);
  } else {
    context_release(c);
  }
}

static void run_seed(uint64_t budget, bool last) {
  pthread_t thread[VPS];
  uint64_t most = 0;
  for (int i = 0; i < VPS; i++) {
    begin_vp(&vps[i]);
  }
  working = VPS;
  for (int i = 0; i < VPS; i++) {
    ck_assert_int_eq(pthread_create(&thread[i], NULL, live, &vps[i]), 0);
  }
  while (working) {
    const uint64_t now = contexts_resident_bytes();
    most = now > most ? now : most;
    usleep(50);
  }
  for (int i = 0; i < VPS; i++) {
    pthread_join(thread[i], NULL);
  }
  for (int i = 0; i < VPS; i++) {
    end_vp(&vps[i], last);
  }
  ck_assert_msg(!failed, "%s", error.text);
  ck_assert_msg(most <= budget, "seed %llu: %llu bytes resident, budget %llu",
                (unsigned long long)seed, (unsigned long long)most,
                (unsigned long long)budget);
}

static void adopt(struct vp *v) {
  char *const data = mmap(NULL, DATA, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ck_assert_ptr_ne(data, MAP_FAILED);
  v->data = (struct block){
      .bytes = data, .copy = malloc(DATA), .n = DATA, .hi = DATA};
  write_part(v, &v->data, 0, DATA, "initialised");
  const struct image image = {.data = data, .data_len = DATA};
  const int result = context_adopt(context_of_vp(v), &image, v->index, &error);
  ck_assert_msg(result == 0, "%s", error.text);
}

static void make_dirs(void) {
  char one[80], two[80];
  strcpy(dir, "/var/tmp/test_model-XXXXXX");
  ck_assert_ptr_nonnull(mkdtemp(dir));
  snprintf(one, sizeof(one), "%s/1", dir);
  snprintf(two, sizeof(two), "%s/2", dir);
  ck_assert_int_eq(mkdir(one, 0700) | mkdir(two, 0700), 0);
  snprintf(dirs, sizeof(dirs), "%s,%s", one, two);
}

static void before(void) {
  failed = false;
  seed = 0;
  make_dirs();
  memset(vps, 0, sizeof(vps));
  for (int i = 0; i < VPS; i++) {
    vps[i].index = i;
    pthread_mutex_init(&vps[i].mail_lock, NULL);
    pthread_mutex_init(&vps[i].jobs_lock, NULL);
  }
}

static void after(void) {
  char name[80];
  contexts_destroy();
  disks_close(disks);
  disks = NULL;
  for (int i = 0; i < VPS; i++) {
    if (vps[i].data.bytes) {
      munmap(vps[i].data.bytes, DATA);
    }
    free(vps[i].data.copy);
  }
  for (int i = 1; i <= 2; i++) {
    snprintf(name, sizeof(name), "%s/%d", dir, i);
    ck_assert_int_eq(rmdir(name), 0);
  }
  ck_assert_int_eq(rmdir(dir), 0);
}

static int seeds_in_all(void) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return SEEDS / 3;
#else
  return getenv("PEMS_TEST_FEW")    ? SEEDS / 15
         : getenv("PEMS_TEST_LONG") ? LONG_SEEDS
                                    : SEEDS;
#endif
}

#define COMPRESS_FAST (HAVE_LZ4 ? COMPRESS_LZ4 : COMPRESS_NONE)
#define COMPRESS_SMALL (HAVE_ZSTD ? COMPRESS_ZSTD : COMPRESS_NONE)

/* Ways to decide what is moved; the last ones need a handler of SIGSEGV. */
static const struct way {
  const struct policy *policy;
  enum option_swapin swapin;
  enum option_track track;
  enum option_compress compress;
} ways[] = {
    {&policy_alternate, SWAPIN_EAGER, TRACK_AUTO, COMPRESS_NONE},
    {&policy_id, SWAPIN_LAZY, TRACK_ASYNC, COMPRESS_NONE},
    {&policy_alternate, SWAPIN_AUTO, TRACK_ASYNC, COMPRESS_NONE},
    {&policy_id, SWAPIN_AUTO, TRACK_AUTO, COMPRESS_NONE},
    {&policy_alternate, SWAPIN_PAGES, TRACK_ASYNC, COMPRESS_NONE},
    {&policy_alternate, SWAPIN_EAGER, TRACK_ASYNC, COMPRESS_FAST},
    {&policy_id, SWAPIN_EAGER, TRACK_FAULT, COMPRESS_SMALL},
    {&policy_id, SWAPIN_EAGER, TRACK_FAULT, COMPRESS_NONE},
};
enum { WAYS = sizeof(ways) / sizeof(*ways) };

static void on_fault(int number, siginfo_t *info, void *context) {
  (void)context;
  if (!track_fault(info->si_addr)) {
    signal(number, SIG_DFL);
  }
}

static void set_up(uint64_t budget, const struct way *way) {
  const struct disks_options on = {.dirs = dirs,
                                   .io = setting->io,
                                   .stripe = setting->stripe,
                                   .reserve = way == ways};
  ck_assert_msg(disks_open(&disks, &on, VPS, setting->mu, &error) == 0, "%s",
                error.text);
  const struct contexts_options o = {
      .n = VPS,
      .mu = setting->mu,
      .resident = budget,
      .disks = disks,
      .k = setting->running,
      .bounce_count = 2,
      .bounce_bytes = 2 * 64 * KIB,
      .boundary_bytes = setting->boundary,
      .policy = way->policy,
      .swapin = way->swapin,
      .track = way->track,
      .compress = disks_mapped(disks) ? COMPRESS_NONE : way->compress,
      .compress_bytes = 4 * MIB};
  ck_assert_msg(contexts_create(&o, &error) == 0, "%s", error.text);
  const struct sigaction action = {.sa_sigaction = on_fault,
                                   .sa_flags = SA_SIGINFO};
  sigaction(SIGSEGV, &action, NULL);
}

/* Nothing lies on the disks but where space was granted. */
static void expect_no_more_than_granted(void) {
  enum { TREES = 64 << 10 }; /* of the file system, for each file */
  uint64_t granted = 0, taken = 0;
  if (strcmp(setting->io, "unix") != 0 || disks_reserved(disks)) {
    return;
  }
  for (int i = 0; i < VPS; i++) {
    granted += space_on_disk() ? context_get(i)->granted : 0;
  }
  for (int i = 0; i < disks->count; i++) {
    struct stat st;
    ck_assert_int_eq(fstat(((struct scratch *)disks->disk[i].file)->fd, &st),
                     0);
    taken += (uint64_t)st.st_blocks * 512;
  }
  ck_assert_uint_le(taken, granted + (unsigned)disks->count * TREES);
}

START_TEST(every_byte_is_as_the_model_says) {
  setting = &settings[_i / WAYS];
  const struct way *const way = &ways[_i % WAYS];
  const int seeds = seeds_in_all() * setting->share / 1000 / WAYS + 1;
  const char *arguments;
  if (!driver_find(setting->io, &arguments)) {
    printf("SKIP %d random programs: no driver %s\n", seeds, setting->io);
    return;
  }
  const uint64_t budget =
      (uint64_t)setting->running * setting->mu + setting->spare;
  if (setting->evict_always) {
    setenv(CONTEXT_EVICT_ALWAYS, "1", 1);
  } else {
    unsetenv(CONTEXT_EVICT_ALWAYS);
  }
  set_up(budget, way);
  sem_init(&tokens, 0, (unsigned)setting->running);
  for (int i = 0; i < VPS; i++) {
    adopt(&vps[i]);
  }
  for (int i = 0; i < seeds; i++) {
    seed = (uint64_t)_i * 100000 + (uint64_t)i;
    run_seed(budget, i == seeds - 1);
    expect_no_more_than_granted();
  }
  if (disks_mapped(disks)) {
    return;
  }
  ck_assert_uint_eq(contexts_resident_bytes(), 0);
  if (seeds >= 10) { /* else chance may have it that all fits */
    ck_assert_uint_gt(counter_get(swaps_out), (unsigned)seeds / 2);
  }
}
END_TEST

int main(void) {
  Suite *const s = suite_create("model");
  TCase *const t = tcase_create("all");
  tcase_set_timeout(t, getenv("PEMS_TEST_LONG") ? 900 : 120);
  tcase_add_checked_fixture(t, before, after);
  tcase_add_loop_test(t, every_byte_is_as_the_model_says, 0, SETTINGS * WAYS);
  suite_add_tcase(s, t);
  return check_run(s);
}
