/* Random operations on priority queues with random records and options, beside
   a model. Operations are counted as records that come or go, and
   calls with none.

   PQUEUE_OPERATIONS of each run (10^7 with PEMS_TEST_LONG), PQUEUE_RUNS, and
   PQUEUE_SEED, of the first run: each next one has the next. A run that fails
   tells its seed. */
#define _GNU_SOURCE
#include "pqueue_model.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>

#include "check_main.h"
#include "em/kernel/kernel.h"
#include "pems/pqueue.h"
#include "pems/sort.h"

enum { THREADS = 4, MOST_SIZE = 64 };

/* Which keys come. */
enum spread {
  SPREAD_RANDOM,
  SPREAD_FEW,
  SPREAD_UP,
  SPREAD_DOWN,
  SPREAD_EQUAL,
  SPREAD_AHEAD, /* a little ahead of what came out last */
  SPREADS,
};

/* How much is done at once. */
enum style { STYLE_ALL, STYLE_SINGLE, STYLE_BULK, STYLE_LIMIT, STYLES };

struct trial {
  unsigned seed;
  struct pems_pqueue_options o;
  struct pems_pqueue *q;
  struct model m;
  enum spread spread;
  enum style style;
  uint64_t clock; /* for keys that go up or down */
  size_t most;    /* records that shall be in it */
  bool growing;   /* more come than go */
  bool eager;     /* the first is looked at after every push */
  uint64_t done;  /* operations */
  char *records;  /* to be pushed, or popped: `most` of them */
  void *room;
  char text[300]; /* all of this, for messages */
};

static uint64_t state;
static struct pems_error error;

static uint64_t draw(void) {
  uint64_t x = state += UINT64_C(0x9e3779b97f4a7c15);
  x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
  return x ^ x >> 31;
}

static size_t below(size_t n) {
  return (size_t)(draw() % n);
}

/* From 0 to n, small numbers as likely as large ones. */
static size_t some(size_t n) {
  const size_t bits = below(65 - (size_t)__builtin_clzll(n | 1));
  const size_t x = below(((size_t)1 << bits) + 1);
  return x < n ? x : n;
}

static void stop(const struct trial *t, const char *what) {
  ck_abort_msg("PQUEUE_SEED=%u, after %llu operations: %s (%s)", t->seed,
               (unsigned long long)t->done, what, t->text);
}

static void must(const struct trial *t, bool holds, const char *what) {
  if (!holds) {
    stop(t, what);
  }
}

/* A call returned this. */
static void fine(const struct trial *t, int code) {
  if (code) {
    stop(t, error.text);
  }
}

/* --- records --- */

/* Bytes by which a function compares. */
struct region {
  size_t offset, size;
};

static int compare_region(const void *a, const void *b, void *context) {
  const struct region *const r = context;
  return memcmp((const char *)a + r->offset, (const char *)b + r->offset,
                r->size);
}

static struct region region;

/* What is not 0 of the key is a number of at most 8 bytes. */
static void put_number(char *key, enum pems_key type, size_t bytes,
                       uint64_t x) {
  const float f32 = (float)x;
  const double f64 = (double)x;
  const unsigned __int128 u128 = (unsigned __int128)x << 60;
  memset(key, 0, bytes);
  switch (type) {
  case PEMS_KEY_F32:
    memcpy(key, &f32, bytes);
    break;
  case PEMS_KEY_F64:
    memcpy(key, &f64, bytes);
    break;
  case PEMS_KEY_U128:
    memcpy(key, &u128, bytes);
    break;
  case PEMS_KEY_BYTES:
    for (size_t i = 0; i < bytes && i < 8; i++) {
      key[bytes - 1 - i] = (char)(x >> (8 * i));
    }
    break;
  default:
    memcpy(key, &x, bytes);
  }
}

static size_t key_bytes(const struct pems_record *r) {
  return r->compare ? r->key_size : pems_record_key_bytes(r);
}

/* The number of what is first now, or of nothing. */
static uint64_t first_number(const struct trial *t) {
  const struct pems_record *const r = &t->o.record;
  uint64_t x = 0;
  if (t->m.n > 0 && !r->compare && r->key == PEMS_KEY_U64) {
    memcpy(&x, model_first(&t->m) + r->key_offset, 8);
  }
  return x;
}

static void draw_record(struct trial *t, char *record) {
  const struct pems_record *const r = &t->o.record;
  const size_t bytes = key_bytes(r);
  char *const key = record + r->key_offset;
  uint64_t x = draw();
  for (size_t i = 0; i < r->size; i++) {
    if (i % 8 == 0) {
      x = draw();
    }
    record[i] = (char)(x >> (i % 8 * 8));
  }
  switch (t->spread) {
  case SPREAD_FEW:
    put_number(key, r->key, bytes, below(5) * UINT64_C(0x0101010101));
    break;
  case SPREAD_UP:
    put_number(key, r->key, bytes, t->clock++);
    break;
  case SPREAD_DOWN:
    put_number(key, r->key, bytes, UINT32_MAX - t->clock++);
    break;
  case SPREAD_EQUAL:
    put_number(key, r->key, bytes, 77);
    break;
  case SPREAD_AHEAD:
    put_number(key, r->key, bytes, first_number(t) + below(1000));
    break;
  default:; /* as it is: floats that are no numbers, too */
  }
}

/* n of them. */
static const char *draw_records(struct trial *t, size_t n) {
  for (size_t i = 0; i < n; i++) {
    draw_record(t, t->records + i * t->o.record.size);
  }
  return t->records;
}

static const char *record_of(const struct trial *t, size_t i) {
  return t->records + i * t->o.record.size;
}

/* One that is before all, somewhere within, or behind all, perhaps. */
static void make_limit(struct trial *t, char *limit) {
  const struct pems_record *const r = &t->o.record;
  draw_record(t, limit);
  switch (below(5)) {
  case 0:
    put_number(limit + r->key_offset, r->key, key_bytes(r), UINT64_MAX);
    break;
  case 1:
    put_number(limit + r->key_offset, r->key, key_bytes(r), 0);
    break;
  case 2:
    if (t->m.n > 0) {
      memcpy(limit, model_first(&t->m), r->size);
    }
    break;
  case 3:
    if (t->m.n > 0) {
      memcpy(limit, model_at(&t->m, below(t->m.n)), r->size);
    }
    break;
  default:; /* it is random */
  }
}

/* --- one by one --- */

static void expect_size(const struct trial *t) {
  must(t, pems_pqueue_size(t->q) == t->m.n, "the size is wrong");
  must(t, !pems_pqueue_empty(t->q) == (t->m.n > 0), "`empty` is wrong");
}

static void add_to_model(struct trial *t, size_t n) {
  for (size_t i = 0; i < n; i++) {
    model_push(&t->m, record_of(t, i));
  }
  t->done += n;
}

static void take_from_model(struct trial *t, const char *record) {
  const char *const wrong = model_pop(&t->m, record);
  if (wrong) {
    stop(t, wrong);
  }
  t->done++;
}

/* Copies the first record to `record`. Returns whether there is one. */
static bool look(struct trial *t, char *record) {
  error.code = 0;
  const void *const top = pems_pqueue_top(t->q, &error);
  must(t, error.code == 0, error.text);
  must(t, (top != NULL) == (t->m.n > 0), "`top` of what is empty, or none");
  if (!top) {
    return false;
  }
  memcpy(record, top, t->o.record.size);
  const char *const wrong = model_refuses(&t->m, record);
  must(t, !wrong, wrong);
  return true;
}

static void pop(struct trial *t) {
  char record[MOST_SIZE];
  const bool known = below(2) && look(t, record);
  const int code = pems_pqueue_pop(t->q, known ? NULL : record, &error);
  if (t->m.n == 0) {
    must(t, code == ENOENT, "popped from an empty queue");
  } else {
    fine(t, code);
    /* What `top` has shown is what is gone. */
    take_from_model(t, record);
  }
}

static void push(struct trial *t, size_t n) {
  char record[MOST_SIZE];
  fine(t, pems_pqueue_push(t->q, draw_records(t, n), n, &error));
  add_to_model(t, n);
  if (t->eager) {
    look(t, record);
  }
}

static void singles(struct trial *t) {
  for (size_t i = below(300); i > 0; i--) {
    if (below(4) > 0 ? t->growing : !t->growing) {
      push(t, 1);
    } else {
      pop(t);
    }
  }
}

/* --- in bulk --- */

struct pusher {
  struct trial *t;
  pthread_t thread;
  int number;
  size_t first, end, piece; /* records; pushed at once, at most */
  int failed;
};

static void *push_part(void *arg) {
  struct pusher *const p = arg;
  size_t n;
  for (size_t at = p->first; at < p->end && !p->failed; at += n) {
    n = p->end - at < p->piece ? p->end - at : p->piece;
    p->failed =
        pems_pqueue_bulk_push(p->t->q, p->number, record_of(p->t, at), n, NULL);
  }
  return NULL;
}

/* By so many threads, at most as many as were asked for. */
static void push_parts(struct trial *t, size_t n, int threads) {
  struct pusher pusher[THREADS];
  const int turn = (int)below((size_t)t->o.threads);
  for (int i = 0; i < threads; i++) {
    pusher[i] = (struct pusher){
        .t = t,
        .number = (turn + i) % t->o.threads,
        .first = n * (size_t)i / (size_t)threads,
        .end = n * (size_t)(i + 1) / (size_t)threads,
        .piece = 1 + some(5000),
    };
    must(t, pthread_create(&pusher[i].thread, NULL, push_part, &pusher[i]) == 0,
         "no thread");
  }
  for (int i = 0; i < threads; i++) {
    pthread_join(pusher[i].thread, NULL);
    must(t, !pusher[i].failed, "bulk_push failed");
  }
}

static void push_bulk(struct trial *t, size_t n) {
  const uint64_t estimates[] = {0, n, n / 3, 5 * n + 1};
  draw_records(t, n);
  fine(t, pems_pqueue_bulk_push_begin(t->q, estimates[below(4)], &error));
  if (n > 0 || below(2)) {
    push_parts(t, n, 1 + (int)below((size_t)t->o.threads));
  }
  fine(t, pems_pqueue_bulk_push_end(t->q, &error));
  add_to_model(t, n);
}

static void pop_bulk(struct trial *t, size_t max) {
  size_t n = max + 1;
  const size_t wanted = t->m.n < max ? t->m.n : max;
  fine(t, pems_pqueue_bulk_pop(t->q, t->records, max, &n, &error));
  must(t, n == wanted, "bulk_pop gave another number of records");
  for (size_t i = 0; i < n; i++) {
    take_from_model(t, record_of(t, i));
  }
}

static bool before(const struct trial *t, const char *a, const char *b) {
  return model_before(&t->m, a, b);
}

static void pop_to_limit(struct trial *t, size_t max) {
  char limit[MOST_SIZE];
  int more = 7;
  size_t n = max + 1;
  make_limit(t, limit);
  fine(t, pems_pqueue_bulk_pop_limit(t->q, limit, t->records, max, &n,
                                     below(4) ? &more : NULL, &error));
  must(t, n <= max, "more than were wanted");
  for (size_t i = 0; i < n; i++) {
    must(t, before(t, record_of(t, i), limit), "not before the limit");
    take_from_model(t, record_of(t, i));
  }
  const bool left = t->m.n > 0 && before(t, model_first(&t->m), limit);
  must(t, !left || n == max, "some before the limit were left out");
  must(t, more == 7 || more == left, "`more` is wrong");
}

/* --- with a limit --- */

static bool limit_look(struct trial *t, const char *limit, const char **top) {
  const bool there = t->m.n > 0 && before(t, model_first(&t->m), limit);
  error.code = 0;
  *top = pems_pqueue_limit_top(t->q, &error);
  must(t, error.code == 0, error.text);
  must(t, (*top != NULL) == there, "limit_top beyond the limit, or none");
  if (*top) {
    const char *const wrong = model_refuses(&t->m, *top);
    must(t, !wrong, wrong);
  }
  return there;
}

static void limit_push(struct trial *t, const char *limit, size_t n) {
  const struct pems_record *const r = &t->o.record;
  draw_records(t, n);
  for (size_t i = 0; i < n; i++) {
    if (before(t, record_of(t, i), limit)) {
      memcpy(t->records + i * r->size + r->key_offset, limit + r->key_offset,
             key_bytes(r));
    }
  }
  fine(t, pems_pqueue_limit_push(t->q, t->records, n, &error));
  add_to_model(t, n);
}

static void limit_step(struct trial *t, const char *limit) {
  char record[MOST_SIZE];
  const char *top;
  const int there = limit_look(t, limit, &top);
  if (there) {
    memcpy(record, top, t->o.record.size);
    if (below(2)) {
      limit_push(t, limit, below(3));
      must(t, memcmp(record, top, t->o.record.size) == 0,
           "limit_push has changed what limit_top gave");
    }
  }
  const int code =
      pems_pqueue_limit_pop(t->q, below(2) ? record : NULL, &error);
  must(t, code == (there ? 0 : ENOENT), "limit_pop");
  if (there) {
    take_from_model(t, record);
  } else {
    t->done++;
  }
}

static void limit_section(struct trial *t, size_t steps) {
  char limit[MOST_SIZE];
  const uint64_t estimates[] = {0, steps, 9};
  make_limit(t, limit);
  fine(t, pems_pqueue_limit_begin(t->q, limit, estimates[below(3)], &error));
  for (size_t i = 0; i < steps; i++) {
    if (t->growing && below(2) && t->m.n < t->most) {
      limit_push(t, limit, below(100) ? 1 : some(t->most / 8));
    } else {
      limit_step(t, limit);
    }
    if (below(64) == 0) {
      expect_size(t);
    }
  }
  fine(t, pems_pqueue_limit_end(t->q, &error));
}

/* --- a run --- */

static void step(struct trial *t) {
  const size_t much = t->most / 2 + 1;
  const int what =
      t->style == STYLE_ALL ? 1 + (int)below(STYLES - 1) : (int)t->style;
  if (what == STYLE_LIMIT) {
    limit_section(t, some(2000));
  } else if (what == STYLE_SINGLE && below(8)) {
    singles(t);
  } else if (below(4) > 0 ? t->growing : !t->growing) {
    (what == STYLE_SINGLE ? push : push_bulk)(t, some(much));
  } else {
    (below(2) ? pop_bulk : pop_to_limit)(t, some(much));
  }
  expect_size(t);
  t->done++;
  if (t->m.n > t->most) {
    t->growing = false;
  } else if (t->m.n < t->most / 16) {
    t->growing = true;
  }
}

static void choose_key(struct pems_record *r) {
  do {
    r->key = (enum pems_key)(1 + below(PEMS_KEY_BYTES));
  } while (pems_record_key_bytes(&(struct pems_record){
               .size = r->size, .key = r->key, .key_size = 1}) > r->size);
  r->key_size = r->key == PEMS_KEY_BYTES ? 1 + below(r->size) : 0;
  r->key_offset = below(r->size - pems_record_key_bytes(r) + 1);
  r->descending = below(3) == 0;
}

static void choose_record(struct pems_record *r) {
  static const size_t usual[] = {1, 8, 8, 12, 16, 24, 64};
  *r = (struct pems_record){.size = below(2) ? 1 + below(MOST_SIZE)
                                             : usual[below(7)]};
  choose_key(r);
  if (below(6) == 0) {
    r->key = PEMS_KEY_BYTES;
    r->key_size = 1 + below(r->size);
    r->key_offset = below(r->size - r->key_size + 1);
    r->descending = 0;
    region = (struct region){r->key_offset, r->key_size};
    r->compare = compare_region;
    r->context = &region;
  }
}

static const char *choose_kernel(const struct pems_record *r) {
  const char *const *const all = pems_sort_kernels();
  size_t n = 0;
  while (all[n]) {
    n++;
  }
  const char *const name = all[below(n)];
  return below(3) && kernel_find(r, name) ? name : NULL;
}

static void choose_memory(struct trial *t) {
  const uint64_t least = pems_pqueue_least_memory(&t->o);
  const uint64_t more[] = {0, least / 4, below(least), 4 * below(least)};
  must(t, least > 0, "no memory is enough");
  t->o.memory = least + more[below(4)];
  if (below(4) == 0) {
    t->o.memory = (t->o.memory + 63) / 64 * 64;
    t->room = aligned_alloc(64, (size_t)t->o.memory);
    ck_assert_ptr_nonnull(t->room);
    t->o.room = t->room;
  }
}

/* As in a table: what is 0 is pems's to choose. */
static void choose_options(struct trial *t) {
  static const char *const paths[] = {"/var/tmp", "/var/tmp", "/var/tmp"};
  static const char *const io[] = {"mem", "mem", "mem", "unix", "uring"};
  static const size_t blocks[] = {0, 4096, 4096, 8192, 65536};
  static const size_t heaps[] = {0, 4096, 20000};
  static const size_t buffers[] = {0, 8192, 100000};
  static const int arrays[] = {0, 2, 2, 3, 8};
  t->o = (struct pems_pqueue_options){
      .threads = 1 + (int)below(THREADS),
      .scratch = {.path = paths,
                  .count = 1 + (int)below(3),
                  .io = io[below(5)],
                  .depth = 1 + (int)below(4)},
      .block = blocks[below(5)],
      .heap = heaps[below(3)],
      .extract_buffer = buffers[below(3)],
      .arrays = arrays[below(5)],
      .external_arrays = arrays[below(5)],
      .deal = (enum pems_deal)below(3),
      .seed = draw(),
  };
  choose_record(&t->o.record);
  t->o.kernel = choose_kernel(&t->o.record);
}

static void describe(struct trial *t) {
  const struct pems_pqueue_options *const o = &t->o;
  snprintf(t->text, sizeof(t->text),
           "record=%zu key=%d+%zu:%zu descending=%d compare=%d memory=%llu "
           "room=%d threads=%d io=%s disks=%d block=%zu heap=%zu extract=%zu "
           "arrays=%d external=%d kernel=%s spread=%d style=%d most=%zu",
           o->record.size, o->record.key, o->record.key_offset,
           o->record.key_size, o->record.descending, o->record.compare != NULL,
           (unsigned long long)o->memory, o->room != NULL, o->threads,
           o->scratch.io, o->scratch.count, o->block, o->heap,
           o->extract_buffer, o->arrays, o->external_arrays,
           o->kernel ? o->kernel : "any", t->spread, t->style, t->most);
}

static void begin(struct trial *t, unsigned seed, uint64_t operations) {
  *t = (struct trial){.seed = seed, .growing = true};
  state = seed;
  choose_options(t);
  describe(t);
  choose_memory(t);
  t->spread = (enum spread)below(SPREADS);
  t->style = (enum style)below(STYLES);
  t->eager = below(3) == 0;
  /* From what fits to many times that; and it fills up some times at least. */
  const size_t fits = (size_t)t->o.memory / t->o.record.size;
  const size_t factors[] = {fits / 2, 2 * fits, 6 * fits};
  const size_t cap = (size_t)operations / 8;
  t->most = factors[below(3)];
  if (t->most > cap) {
    t->most = cap;
  }
  t->records = malloc((2 * t->most + 512) * t->o.record.size);
  ck_assert_ptr_nonnull(t->records);
  describe(t);
  model_init(&t->m, &t->o.record);
  fine(t, pems_pqueue_new(&t->q, &t->o, &error));
}

/* Lists of blocks are beside the budget: of each on disk where it lies and its
   first record, twice and with its place in the order while arrays are
   merged. */
static uint64_t lists(const struct trial *t,
                      const struct pems_pqueue_counts *c) {
  const uint64_t size = t->o.record.size;
  const uint64_t blocks = 2 * c->most * size / (c->block - size + 1) + 60;
  return blocks * 2 * (sizeof(struct pems_block) + size + 16);
}

static void expect_counts(const struct trial *t) {
  struct pems_pqueue_counts c;
  pems_pqueue_counts(t->q, &c);
  must(t, c.pushed - c.popped == t->m.n, "the counts are wrong");
  must(t, c.memory <= t->o.memory + lists(t, &c),
       "it has taken more memory than it was given");
}

START_TEST(operations) {
  const char *const seed = getenv("PQUEUE_SEED");
  const char *const given = getenv("PQUEUE_OPERATIONS");
  const uint64_t wanted = given                      ? strtoull(given, NULL, 10)
                          : getenv("PEMS_TEST_LONG") ? 10000000
                                                     : 200000;
  struct trial t;
  begin(&t, (seed ? (unsigned)atoi(seed) : 1) + (unsigned)_i, wanted);
  while (t.done < wanted) {
    step(&t);
  }
  while (t.m.n > 0) {
    pop_bulk(&t, t.most + 1);
  }
  expect_counts(&t);
  pems_pqueue_free(t.q);
  model_clear(&t.m);
  free(t.records);
  free(t.room);
}
END_TEST

static int runs(void) {
  const char *const given = getenv("PQUEUE_RUNS");
  return given                      ? atoi(given)
         : getenv("PEMS_TEST_FEW")  ? 5
         : getenv("PEMS_TEST_LONG") ? 50
                                    : 50;
}

int main(void) {
  Suite *const s = suite_create("pqueue_random");
  TCase *const t = tcase_create("pqueue_random");
  tcase_set_timeout(t, getenv("PEMS_TEST_LONG") ? 3000 : 300);
  tcase_add_loop_test(t, operations, 0, runs());
  suite_add_tcase(s, t);
  return check_run(s);
}
