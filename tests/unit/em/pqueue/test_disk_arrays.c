/* Sorted arrays on the disks against a sorted list of all records: arrays of
   any length that come and go, small budgets, little memory, slow and failing
   disks. */
#define _GNU_SOURCE
#include "em/pqueue/disk_arrays.h"

#include <check.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check_main.h"

enum {
  BLOCK = 4096,
  MOST_ARRAYS = 60,
  LEVELS = 3,
  MOST = 1 << 20, /* records in one test */
  LARGEST = 40,   /* bytes of a record */
  ARENA = 300,    /* blocks */
  PIECES = 2 * ARENA
};

/* A record begins with its key, and has its number behind it if it is longer
   than that. */
static struct pems_record record;
static const struct kernel *kernel;
static struct memory memory;
static struct pems_disks *disks;
static struct runs runs;
static struct arena arena;
static struct disk_arrays *x;
static char *arena_memory, *io_buffer;
static struct pems_dealer dealer;
static struct pems_error error;
static uint64_t keys; /* there are so many */
static uint64_t lowest;

/* The model: all keys that are left, in order, from `gone` on. */
static uint64_t *model;
static size_t there, gone;
static uint32_t made; /* records */
static char *seen;    /* of each */

static uint64_t state;

static uint64_t below(uint64_t n) {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return n ? (state >> 3) % n : state;
}

static int by_key(const void *a, const void *b) {
  uint64_t x, y;
  memcpy(&x, a, 8);
  memcpy(&y, b, 8);
  return (x > y) - (x < y);
}

static void begin(const char *io, int count, int depth, size_t size,
                  size_t blocks) {
  static const char *const path[] = {"/var/tmp", "/var/tmp", "/var/tmp"};
  const struct pems_disks_options o = {
      .path = path, .count = count, .io = io, .depth = depth};
  record = (struct pems_record){.size = size, .key = PEMS_KEY_U64};
  kernel = kernel_find(&record, NULL);
  ck_assert_msg(pems_disks_open(&disks, &o, &error) == 0, "%s", error.text);
  memory_init(&memory, UINT64_MAX);
  runs_init(&runs, &memory, disks, BLOCK, size);
  arena_memory = aligned_alloc(BLOCK, ARENA * BLOCK);
  io_buffer = aligned_alloc(BLOCK, BLOCK);
  ck_assert_int_eq(arena_init(&arena, arena_memory, blocks * BLOCK, BLOCK), 0);
  pems_dealer_begin(&dealer, PEMS_DEAL_CYCLIC, 7);
  const struct disk_arrays_options e = {&record, kernel, &runs, &arena};
  ck_assert_int_eq(disk_arrays_new(&x, &e, &error), 0);
  model = malloc(MOST * sizeof(*model));
  seen = calloc(MOST, 1);
  there = gone = 0;
  made = 0;
  lowest = 0;
}

static void end(void) {
  disk_arrays_free(x);
  runs_clear(&runs);
  ck_assert_uint_eq(memory.used, 0);
  ck_assert_uint_eq(arena_free(&arena), arena.units * BLOCK);
  memory_destroy(&memory);
  arena_destroy(&arena);
  pems_disks_close(disks);
  free(arena_memory);
  free(io_buffer);
  free(model);
  free(seen);
}

/* --- arrays --- */

static int move(struct pems_block at, bool write) {
  struct pems_request r = {
      .block = at, .buf = io_buffer, .n = BLOCK, .write = write};
  struct pems_request *const list = &r;
  pems_disks_start(disks, &list, 1);
  return pems_request_wait(disks, &r);
}

/* A run of n sorted records. */
static struct run write_run(const char *items, size_t n) {
  struct run run = {0};
  for (size_t i = 0; i < n; i += runs.per_block) {
    const size_t some = n - i < runs.per_block ? n - i : runs.per_block;
    const char *const at = items + i * record.size;
    struct pems_block block;
    memcpy(io_buffer, at, some * record.size);
    ck_assert_int_eq(
        run_add_block(&runs, &run, &dealer, at, some, &block, &error), 0);
    ck_assert_int_eq(move(block, true), 0);
  }
  return run;
}

static void add_array(size_t n, int level) {
  ck_assert_uint_le(there + n, MOST);
  char *const items = malloc(n * record.size);
  for (size_t i = 0; i < n; i++) {
    const uint64_t key = lowest + below(keys);
    char *const at = items + i * record.size;
    memset(at, 0x33, record.size);
    memcpy(at, &key, 8);
    if (record.size >= 12) {
      memcpy(at + 8, &made, 4);
    }
    made++;
    model[there++] = key;
  }
  qsort(items, n, record.size, by_key);
  qsort(model + gone, there - gone, sizeof(*model), by_key);
  struct run run = write_run(items, n);
  const size_t before = disk_arrays_number(x);
  ck_assert_int_eq(disk_arrays_add(x, &run, level, &error), 0);
  ck_assert_uint_eq(run.records + run.blocks, 0);
  ck_assert_ptr_null(run.at);
  ck_assert_uint_eq(disk_arrays_number(x), before + 1);
  free(items);
}

/* What is left of a run, behind what is there already. */
static size_t read_run(const struct run *run, char *items) {
  size_t n = 0;
  for (size_t b = 0; b < run->blocks; b++) {
    const size_t skip = b ? 0 : run->skip;
    const size_t all = run_block_records(&runs, run, b);
    ck_assert_uint_lt(skip, all);
    ck_assert_int_eq(move(run->at[b], false), 0);
    /* The smallest record is kept, be it gone or not. */
    ck_assert_int_eq(
        memcmp(io_buffer, run->least + b * record.size, record.size), 0);
    memcpy(items + n * record.size, io_buffer + skip * record.size,
           (all - skip) * record.size);
    n += all - skip;
  }
  return n;
}

/* All arrays of a level become one of the next. */
static void merge_level(int level) {
  struct run run[MOST_ARRAYS];
  const size_t count = disk_arrays_level_arrays(x, level);
  const size_t arrays = disk_arrays_number(x);
  const uint64_t records = disk_arrays_records(x);
  char *const items = malloc((there - gone + 1) * record.size);
  size_t n = 0;
  disk_arrays_take(x, level, run);
  ck_assert_uint_eq(disk_arrays_number(x), arrays - count);
  ck_assert_uint_eq(disk_arrays_level_arrays(x, level), 0);
  for (size_t i = 0; i < count; i++) {
    n += read_run(&run[i], items + n * record.size);
    runs_drop(&runs, &run[i]);
  }
  ck_assert_uint_eq(disk_arrays_records(x), records - n);
  if (n) {
    qsort(items, n, record.size, by_key);
    struct run all = write_run(items, n);
    ck_assert_int_eq(disk_arrays_add(x, &all, (level + 1) % LEVELS, &error), 0);
  }
  ck_assert_uint_eq(disk_arrays_records(x), records);
  free(items);
}

/* --- taking records --- */

static void check_record(const char *at, uint64_t want) {
  uint64_t key;
  uint32_t number;
  memcpy(&key, at, 8);
  if (key != want) { /* no assertion: those cost much more than a comparison */
    ck_abort_msg("the wrong record is first");
  }
  if (record.size < 12) {
    return;
  }
  memcpy(&number, at + 8, 4);
  if (number >= made || seen[number]++ || at[record.size - 1] != 0x33) {
    ck_abort_msg("record %u is wrong, or there twice", number);
  }
}

/* Merges the first n of the pieces; they are the first of the model. */
static void merge(const struct kernel_piece *piece, int pieces, size_t n) {
  size_t done[PIECES] = {0};
  for (; n > 0; n--) {
    int best = -1;
    for (int i = 0; i < pieces; i++) {
      if (done[i] < piece[i].n &&
          (best < 0 || by_key(piece[i].at + done[i] * record.size,
                              piece[best].at + done[best] * record.size) < 0)) {
        best = i;
      }
    }
    check_record(piece[best].at + done[best]++ * record.size, model[gone++]);
  }
  disk_arrays_advance(x, done);
}

/* How many of the model are before a key, or not behind it. */
static size_t model_rank(const void *key, int equal) {
  size_t low = gone, high = there;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    const int c = by_key(&model[middle], key);
    if (c < 0 || (c == 0 && equal)) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low - gone;
}

/* Every record that is listed is within the bounds, the blocks of an array are
   in order, and `records` is their sum. Returns how many there should be at
   least: all before the merge limit and the other one. */
static size_t check_pieces(const struct kernel_piece *piece, int pieces,
                           size_t records, const void *limit, int equal,
                           size_t most) {
  const void *const merge_limit = disk_arrays_limit(x);
  size_t sum = 0, least = there - gone;
  for (int i = 0; i < pieces; i++) {
    const char *const last = piece[i].at + (piece[i].n - 1) * record.size;
    ck_assert_uint_gt(piece[i].n, 0);
    ck_assert(!merge_limit || by_key(last, merge_limit) <= 0);
    ck_assert(!limit || by_key(last, limit) < (equal ? 1 : 0));
    sum += piece[i].n;
  }
  ck_assert_uint_eq(sum, records);
  if (limit && model_rank(limit, equal) < least) {
    least = model_rank(limit, equal);
  }
  if (merge_limit && model_rank(merge_limit, 0) < least) {
    least = model_rank(merge_limit, 0);
  }
  ck_assert_uint_ge(records, least < most ? least : most);
  return least;
}

static size_t list(const void *limit, int equal, size_t most,
                   struct kernel_piece *piece, int *pieces) {
  size_t records;
  ck_assert_uint_le(disk_arrays_held(x), PIECES);
  *pieces = disk_arrays_pieces(x, limit, equal, most, piece, &records);
  ck_assert_uint_le((size_t)*pieces, disk_arrays_held(x));
  check_pieces(piece, *pieces, records, limit, equal, most);
  return records;
}

/* Takes up to `most` records, of those up to a limit if there is one. */
static void take(size_t most, const void *limit, int equal) {
  struct kernel_piece piece[PIECES];
  int pieces;
  const size_t records = list(limit, equal, most, piece, &pieces);
  merge(piece, pieces, records < most ? records : most);
  ck_assert_uint_eq(disk_arrays_records(x), there - gone);
}

static void check_memory(size_t held) {
  ck_assert_uint_eq(arena_free(&arena) + held + disk_arrays_held(x) * BLOCK,
                    arena.units * BLOCK);
}

/* Takes everything. */
static void drain(size_t step) {
  while (there > gone) {
    const size_t before = gone;
    const int failed = disk_arrays_load(x, step, 1, &error);
    ck_assert_msg(failed == 0, "%s", error.text);
    take(step, NULL, 0);
    ck_assert_uint_gt(gone, before);
    check_memory(0);
  }
  ck_assert_int_eq(disk_arrays_load(x, step, 1, &error), 0);
  ck_assert_ptr_null(disk_arrays_limit(x));
  ck_assert_uint_eq(disk_arrays_number(x), 0);
  ck_assert_int_eq(disk_arrays_levels(x), -1);
  ck_assert_uint_eq(disk_arrays_held(x), 0);
  for (uint32_t i = 0; record.size >= 12 && i < made; i++) {
    if (!seen[i]) {
      ck_abort_msg("record %u is lost", i);
    }
  }
}

/* --- the tests --- */

static const uint64_t many_keys[] = {1, 3, 1000, UINT64_MAX};
static const size_t sizes[] = {8, 24, LARGEST};

START_TEST(any_number_of_arrays) {
  static const int counts[] = {1, 2, 3, 16, 17, MOST_ARRAYS};
  const size_t size = sizes[_i % 3];
  keys = many_keys[_i / 3];
  for (int c = 0; c < 6; c++) {
    for (int budget = 0; budget < 3; budget++) {
      state = (uint64_t)(_i * 100 + c * 10 + budget + 1);
      begin("mem", 2, 1, size, ARENA);
      for (int i = 0; i < counts[c]; i++) {
        add_array(1 + below(i % 3 ? 8 * runs.per_block : 5), 0);
      }
      ck_assert_uint_eq(disk_arrays_level_arrays(x, 0), (size_t)counts[c]);
      ck_assert_int_eq(disk_arrays_levels(x), 0);
      disk_arrays_budget(x, (size_t)budget * (size_t)counts[c] * 2);
      drain(budget == 1 ? 100 : 5000);
      end();
    }
  }
}
END_TEST

/* One step of a random test; `held` bytes of the arena are in use. */
static void step(size_t *held) {
  const uint64_t limit = lowest + below(keys);
  switch (below(12)) {
  case 0:
    if (disk_arrays_number(x) < MOST_ARRAYS && there < MOST / 2) {
      add_array(1 + below(6 * runs.per_block), (int)below(LEVELS));
    }
    break;
  case 1:
    merge_level((int)below(LEVELS));
    break;
  case 2:
    disk_arrays_budget(x, below(4) ? below(100) : 0);
    break;
  case 3:
    disk_arrays_settle(x);
    break;
  case 4:
    disk_arrays_hint(x);
    break;
  case 5: /* arrays that come are smaller, or larger */
    lowest = (below(2) ? lowest / 2 : lowest + below(keys)) % (UINT64_MAX / 4);
    break;
  case 6:
    take(below(2000), &limit, (int)below(2));
    break;
  case 7: /* memory comes and goes */
    if (*held) {
      arena_put(&arena, arena_memory, *held);
      *held = 0;
    } else if (arena_get_largest(&arena, BLOCK, SIZE_MAX, held) !=
               arena_memory) {
      ck_abort_msg("the external arrays take the low end");
    }
    break;
  default: {
    const int failed = disk_arrays_load(x, below(3000), below(1000), &error);
    ck_assert_msg(failed == 0 || failed == ENOBUFS, "%s", error.text);
    if (failed) {
      struct kernel_piece piece[PIECES];
      int pieces;
      ck_assert_uint_eq(list(NULL, 0, SIZE_MAX, piece, &pieces), 0);
      ck_assert_uint_gt(*held, 0);
      arena_put(&arena, arena_memory, *held);
      *held = 0;
    }
    take(below(3000), NULL, 0);
  }
  }
}

START_TEST(random_steps) {
  static const char *const io[] = {"mem", "fault:mem,delay=50", "unix"};
  const size_t size = sizes[_i % 3];
  keys = many_keys[_i / 9] / 4 + 1;
  state = (uint64_t)_i + 1;
  begin(io[_i / 3 % 3], 1 + _i % 3, 1, size, ARENA);
  size_t held = 0;
  const int steps = _i / 3 % 3 == 2 ? 100 : 400; /* real disks are slow */
  for (int i = 0; i < steps; i++) {
    step(&held);
    check_memory(held);
    ck_assert_uint_eq(disk_arrays_records(x), there - gone);
  }
  if (held) {
    arena_put(&arena, arena_memory, held);
  }
  drain(4000);
  end();
}
END_TEST

/* Waits for as many as are asked for, where there is memory. */
START_TEST(as_many_as_wanted) {
  keys = UINT64_MAX;
  state = 5;
  begin("mem", 2, 4, 8, ARENA);
  for (int i = 0; i < 10; i++) {
    add_array(20 * runs.per_block, 0);
  }
  disk_arrays_budget(x, ARENA);
  for (size_t least = 1; least < 60000; least *= 3) {
    struct kernel_piece piece[PIECES];
    int pieces;
    ck_assert_int_eq(disk_arrays_load(x, least, least, &error), 0);
    ck_assert_uint_ge(list(NULL, 0, SIZE_MAX, piece, &pieces), least);
  }
  /* What has come is taken in without waiting. */
  ck_assert_int_eq(disk_arrays_load(x, SIZE_MAX, 0, &error), 0);
  ck_assert_ptr_null(disk_arrays_limit(x));
  struct disk_arrays_counts counts;
  disk_arrays_counts(x, &counts);
  ck_assert_uint_eq(counts.hints, 200);
  ck_assert_uint_eq(counts.cancelled, 0);
  ck_assert_uint_eq(disk_arrays_held(x), 200);
  drain(5000);
  end();
}
END_TEST

/* Blocks that wait for a slow disk are given up for those of a new array. */
START_TEST(a_new_array_comes_first) {
  struct disk_arrays_counts counts;
  struct pems_disk_counts io;
  struct run small;
  keys = 1000;
  state = 5;
  begin("fault:unix,delay=3000", 1, 1, 8, ARENA);
  add_array(20 * runs.per_block, 1);
  disk_arrays_take(x, 1, &small);
  lowest = 1000000;
  add_array(50 * runs.per_block, 0);
  disk_arrays_budget(x, 40);
  disk_arrays_hint(x);
  ck_assert_uint_eq(disk_arrays_held(x), 40);
  ck_assert_int_eq(disk_arrays_add(x, &small, 0, &error), 0);
  disk_arrays_hint(x);
  disk_arrays_counts(x, &counts);
  ck_assert_uint_ge(counts.cancelled, 19);
  ck_assert_uint_ge(counts.hints, 59);
  ck_assert_uint_le(disk_arrays_held(x), 41);
  take(SIZE_MAX, NULL, 0);
  ck_assert_uint_eq(gone, 0);
  /* But for what had begun, they are read before all others. */
  const size_t some = 19 * runs.per_block;
  ck_assert_int_eq(disk_arrays_load(x, some, some, &error), 0);
  disk_arrays_settle(x);
  pems_disks_counts(disks, &io);
  ck_assert_uint_le(io.reads, 20 + 5);
  take(some, NULL, 0);
  ck_assert_uint_eq(gone, some);
  disk_arrays_counts(x, &counts);
  ck_assert_uint_gt(counts.read_wait_ns, 0);
  drain(5000);
  end();
}
END_TEST

/* Nothing is under way, so that memory may move; what had come is kept. */
START_TEST(settled) {
  struct pems_disk_counts before, after;
  keys = UINT64_MAX;
  state = 9;
  begin("fault:unix,delay=2000", 2, 1, 24, ARENA);
  for (int i = 0; i < 5; i++) {
    add_array(10 * runs.per_block, 0);
  }
  disk_arrays_budget(x, 50);
  disk_arrays_hint(x);
  ck_assert_int_eq(disk_arrays_load(x, 10, 10, &error), 0);
  disk_arrays_settle(x);
  ck_assert_uint_lt(disk_arrays_held(x), 50);
  pems_disks_counts(disks, &before);
  char *const copy = malloc(ARENA * BLOCK);
  memcpy(copy, arena_memory, ARENA * BLOCK);
  memset(arena_memory, 0, ARENA * BLOCK);
  memcpy(arena_memory, copy, ARENA * BLOCK);
  pems_disks_counts(disks, &after);
  ck_assert_uint_eq(before.reads, after.reads);
  free(copy);
  drain(1000);
  end();
}
END_TEST

/* A small budget is kept to. */
START_TEST(budgets) {
  keys = UINT64_MAX;
  state = 3;
  begin("mem", 1, 1, 8, ARENA);
  for (int i = 0; i < 8; i++) {
    add_array(20 * runs.per_block, 0);
  }
  for (size_t budget = 0; budget < 100; budget += 7) {
    const size_t most = budget > 9 ? budget : 9;
    disk_arrays_budget(x, budget);
    disk_arrays_hint(x);
    ck_assert_uint_le(disk_arrays_held(x), most);
    ck_assert_int_eq(disk_arrays_load(x, SIZE_MAX, SIZE_MAX, &error), 0);
    ck_assert_uint_eq(disk_arrays_held(x), most);
    take(100, NULL, 0);
  }
  disk_arrays_budget(x, 0);
  drain(300);
  end();
}
END_TEST

START_TEST(no_memory) {
  keys = UINT64_MAX;
  for (size_t blocks = 0; blocks < 7; blocks++) {
    state = blocks + 1;
    begin("mem", 1, 1, 8, ARENA);
    char *const rest = arena_get(&arena, (ARENA - blocks) * BLOCK);
    for (int i = 0; i < 5; i++) {
      add_array(4 * runs.per_block, 0);
    }
    int failed = 0;
    while (gone < there && !failed) {
      failed = disk_arrays_load(x, 1000, 1, &error);
      take(1000, NULL, 0);
    }
    if (blocks < 5) { /* arrays */
      ck_assert_int_eq(failed, ENOBUFS);
    } else {
      ck_assert_int_eq(failed, 0);
    }
    ck_assert(blocks > 4 || strstr(error.text, "free some"));
    arena_put(&arena, rest, (ARENA - blocks) * BLOCK);
    drain(1000);
    end();
  }
}
END_TEST

START_TEST(failures) {
  keys = UINT64_MAX;
  for (int nth = 1; nth < 60; nth += 9) {
    char io[64];
    int failed = 0;
    state = (uint64_t)nth;
    snprintf(io, sizeof(io), "fault:mem,read=%d:EIO", nth);
    begin(io, 2, 2, 8, ARENA);
    for (int i = 0; i < 6; i++) {
      add_array(20 * runs.per_block, 0);
    }
    disk_arrays_budget(x, 30);
    while (!failed && gone < there) {
      failed = disk_arrays_load(x, 1000, 1, &error);
      if (!failed) {
        take(1000, NULL, 0);
      }
    }
    ck_assert_int_eq(failed, EIO);
    ck_assert_int_eq(error.code, EIO);
    ck_assert_ptr_nonnull(strstr(error.text, "reading a sorted array"));
    ck_assert_int_eq(disk_arrays_load(x, 100000, 1, &error), EIO);
    end();
  }
}
END_TEST

/* An array that has begun already. */
START_TEST(an_array_that_begins_later) {
  struct run run[1];
  keys = 1000;
  state = 1;
  begin("mem", 1, 1, 24, ARENA);
  add_array(5 * runs.per_block, 1);
  ck_assert_int_eq(disk_arrays_load(x, 300, 300, &error), 0);
  take(200, NULL, 0);
  disk_arrays_take(x, 1, run);
  ck_assert_uint_eq(run->skip, 200 - runs.per_block);
  ck_assert_uint_eq(run->blocks, 4);
  ck_assert_uint_eq(disk_arrays_held(x), 0);
  ck_assert_int_eq(disk_arrays_add(x, run, 0, &error), 0);
  ck_assert_uint_eq(disk_arrays_records(x), there - gone);
  drain(50);
  end();
}
END_TEST

int main(void) {
  Suite *const s = suite_create("external");
  TCase *const t = tcase_create("all");
  tcase_set_timeout(t, 120);
  tcase_add_loop_test(t, any_number_of_arrays, 0, 12);
  tcase_add_loop_test(t, random_steps, 0, 36);
  tcase_add_test(t, as_many_as_wanted);
  tcase_add_test(t, a_new_array_comes_first);
  tcase_add_test(t, settled);
  tcase_add_test(t, budgets);
  tcase_add_test(t, no_memory);
  tcase_add_test(t, failures);
  tcase_add_test(t, an_array_that_begins_later);
  suite_add_tcase(s, t);
  return check_run(s);
}
