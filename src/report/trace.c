#define _GNU_SOURCE
#include "report/trace_record.h"

#include "base/self.h"
#include "os/clock.h"
#include "os/lock.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

/* 16 MiB of single intervals, 10^6 of them; 20 MiB of rows, or more where VPs
   are so many that each would have too few. */
enum { CHUNKS = 16384, ROWS = 1 << 17, LEAST_ROWS = 32 };

bool trace_on;
struct trace_record trace_record;
const char trace_various[] = "various";

uint64_t trace_now(void) {
  return clock_ns();
}

/* --- memory --- */

static size_t rows_each(int n) {
  const size_t rows = ROWS / (size_t)n & ~(size_t)1;
  return rows < LEAST_ROWS ? LEAST_ROWS : rows;
}

static size_t vps_size(int n) {
  return (size_t)n * sizeof(struct trace_vp);
}

static size_t rows_size(int n) {
  return (size_t)n * rows_each(n) * sizeof(struct trace_row);
}

size_t trace_memory(int n) {
  return n < 1
             ? 0
             : vps_size(n) + rows_size(n) + CHUNKS * sizeof(struct trace_chunk);
}

static int get_memory(struct trace_record *r) {
  const size_t size = trace_memory(r->n);
  void *p = mmap(NULL, size, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (p == MAP_FAILED) {
    return -1;
  }
  /* Each VP's rows grow by themselves: a huge page for each would be waste. */
  (void)madvise(p, size, MADV_NOHUGEPAGE);
  r->memory = p;
  r->memory_size = size;
  r->vp = p;
  struct trace_row *row = (void *)((char *)p + vps_size(r->n));
  r->rows = rows_each(r->n);
  for (int i = 0; i < r->n; i++) {
    r->vp[i].row = row + (size_t)i * r->rows;
  }
  r->chunk = (void *)((char *)row + rows_size(r->n));
  r->chunks = CHUNKS;
  return 0;
}

/* Room for one more item in a list of `per_chunk` in a chunk; NULL once the
   pool has been used up. */
static struct trace_chunk *list_room(struct trace_list *list,
                                     size_t per_chunk) {
  if (list->dropped) {
    list->dropped++;
    return NULL;
  }
  if (list->n % per_chunk == 0) {
    const size_t i = atomic_fetch_add_explicit(&trace_record.chunks_used, 1,
                                               memory_order_relaxed);
    if (i >= trace_record.chunks) {
      list->dropped = 1;
      return NULL;
    }
    struct trace_chunk *chunk = &trace_record.chunk[i];
    if (list->last) {
      list->last->next = chunk;
    } else {
      list->first = chunk;
    }
    list->last = chunk;
  }
  return list->last;
}

/* --- states and supersteps --- */

static struct trace_row *current_row(const struct trace_vp *v) {
  return &v->row[v->n_rows - 1];
}

static void note_interval(struct trace_vp *v, uint32_t state) {
  struct trace_list *list = &v->intervals;
  struct trace_chunk *chunk = list_room(list, TRACE_CHUNK_INTERVALS);
  if (chunk) {
    chunk->interval[list->n++ % TRACE_CHUNK_INTERVALS] =
        (struct trace_interval){v->since, (uint32_t)v->superstep, state};
  } else if (list->dropped == 1) {
    v->known_until = v->since;
  }
}

/* The state lasted until now. */
static void settle_time(struct trace_vp *v, uint64_t now) {
  if (now > v->since) {
    current_row(v)->sums.time[v->state] += now - v->since;
    if (v->state != TRACE_COMPUTE) {
      v->calls.site[v->site].time[v->state] += now - v->since;
    }
    v->since = now;
  }
}

/* What was counted since the last time belongs to this row. */
static void settle_bytes(struct trace_vp *v) {
  struct trace_sums *sums = &current_row(v)->sums;
  for (int i = 0; i < TRACE_BYTES; i++) {
    const uint64_t n = atomic_load_explicit(&v->bytes[i], memory_order_relaxed);
    sums->bytes[i] += n - v->bytes_before[i];
    v->bytes_before[i] = n;
  }
  for (int i = 0; i < 2; i++) {
    const uint64_t n =
        atomic_load_explicit(&v->moving[i], memory_order_relaxed);
    sums->moving[i] += n - v->moving_before[i];
    v->moving_before[i] = n;
  }
}

void trace_sums_add(struct trace_sums *to, const struct trace_sums *from) {
  for (int i = 0; i < TRACE_STATES; i++) {
    to->time[i] += from->time[i];
  }
  for (int i = 0; i < TRACE_BYTES; i++) {
    to->bytes[i] += from->bytes[i];
  }
  for (int i = 0; i < 2; i++) {
    to->moving[i] += from->moving[i];
  }
}

static const char *common(const char *a, const char *b) {
  return strcmp(a, b) == 0 ? a : trace_various;
}

/* Sums rows two by two: half of them are free again. */
static void halve(struct trace_vp *v) {
  for (size_t i = 0; i < v->n_rows / 2; i++) {
    struct trace_row row = v->row[2 * i];
    row.what = common(row.what, v->row[2 * i + 1].what);
    trace_sums_add(&row.sums, &v->row[2 * i + 1].sums);
    v->row[i] = row;
  }
  v->n_rows /= 2;
  v->stride *= 2;
}

static void next_row(struct trace_vp *v, const char *what) {
  if (v->superstep / v->stride == v->n_rows && v->n_rows == trace_record.rows) {
    halve(v);
  }
  if (v->superstep / v->stride < v->n_rows) {
    current_row(v)->what = common(current_row(v)->what, what);
    return;
  }
  v->row[v->n_rows++] = (struct trace_row){.begin = v->since, .what = what};
}

/* The program has called MPI, unless it wants memory: the thread is the VP's
   own. */
static void note_call(struct trace_vp *v, bool allocates) {
  if (v->state == TRACE_COMPUTE && allocates) {
    v->site = 0;
  } else if (v->state == TRACE_COMPUTE) {
    v->site = trace_calls_enter(&v->calls, self.site, self.function);
  }
}

static void note_waited(struct trace_vp *v, uint64_t now) {
  if (v->state == TRACE_OTHERS && now > v->since) {
    trace_calls_waited(&v->calls, v->woken_by, now - v->since);
  }
  v->woken_by = TRACE_ELSEWHERE;
}

void trace_woken_slow(int vp, int by) {
  trace_record.vp[vp].woken_by = by;
}

void trace_resident_slow(uint64_t bytes) {
  trace_series_add(&trace_record.resident, trace_now(), bytes);
}

static void enter(struct trace_vp *v, enum trace_state state, uint64_t now,
                  bool allocates) {
  if (v->ended || v->state == state) {
    return;
  }
  note_call(v, allocates);
  note_waited(v, now);
  settle_time(v, now);
  v->state = state;
  note_interval(v, state);
}

void trace_enter_slow(int vp, enum trace_state state, uint64_t now) {
  enter(&trace_record.vp[vp], state, now, false);
}

void trace_allocate_slow(int vp) {
  enter(&trace_record.vp[vp], TRACE_DISK, trace_now(), true);
}

void trace_superstep_slow(int vp, const char *what) {
  struct trace_vp *v = &trace_record.vp[vp];
  if (v->ended) {
    return;
  }
  note_call(v, false);
  settle_time(v, trace_now());
  settle_bytes(v);
  v->superstep++;
  v->state = TRACE_DELIVER;
  next_row(v, what);
  note_interval(v, TRACE_DELIVER);
}

static void end(struct trace_vp *v, uint64_t now) {
  if (!v->ended) {
    settle_time(v, now);
    v->ended = true;
  }
}

void trace_leave_slow(int vp) {
  end(&trace_record.vp[vp], trace_now());
}

enum trace_state trace_state_of(int vp) {
  return trace_on ? trace_record.vp[vp].state : TRACE_COMPUTE;
}

/* --- bytes --- */

void trace_add_slow(int vp, enum trace_bytes kind, uint64_t n) {
  atomic_fetch_add_explicit(&trace_record.vp[vp].bytes[kind], n,
                            memory_order_relaxed);
}

void trace_move_slow(int vp, bool out, uint64_t begin, uint64_t end,
                     uint64_t bytes) {
  struct trace_vp *v = &trace_record.vp[vp];
  struct trace_list *list = &v->transfers;
  end = end < begin ? begin : end;
  trace_add_slow(vp, out ? TRACE_OUT : TRACE_IN, bytes);
  atomic_fetch_add_explicit(&v->moving[out], end - begin, memory_order_relaxed);
  lock_take(&v->lock);
  struct trace_chunk *chunk = list_room(list, TRACE_CHUNK_TRANSFERS);
  if (chunk) {
    chunk->transfer[list->n++ % TRACE_CHUNK_TRANSFERS] =
        (struct trace_transfer){begin, end, bytes | (out ? TRACE_IS_OUT : 0)};
  }
  lock_give(&v->lock);
}

/* --- start and end --- */

static uint64_t realtime_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

int trace_start(int n, int first_rank) {
  struct trace_record *r = &trace_record;
  *r = (struct trace_record){.n = n, .first_rank = first_rank};
  if (n < 1 || get_memory(r) != 0) {
    *r = (struct trace_record){0};
    return -1;
  }
  r->start = trace_now();
  r->start_realtime = r->zero = realtime_ns();
  for (int i = 0; i < n; i++) {
    struct trace_vp *v = &r->vp[i];
    lock_init(&v->lock, LOCK_TRACE);
    v->since = r->start;
    v->state = TRACE_SLOT;
    v->stride = 1;
    v->woken_by = TRACE_ELSEWHERE;
    v->calls.sites = 1; /* the start and allocations: no call */
    v->row[v->n_rows++] =
        (struct trace_row){.begin = r->start, .what = "start"};
    note_interval(v, TRACE_SLOT);
  }
  trace_on = true;
  return 0;
}

uint64_t trace_zero(void) {
  return trace_record.zero;
}

void trace_set_zero(uint64_t realtime) {
  if (realtime < trace_record.start_realtime) {
    trace_record.zero = realtime;
  }
}

void trace_note(const char *name, const char *value) {
  struct trace_record *r = &trace_record;
  if (trace_on && r->notes < TRACE_NOTES) {
    struct trace_note *note = &r->note[r->notes++];
    snprintf(note->name, sizeof(note->name), "%s", name);
    snprintf(note->value, sizeof(note->value), "%s", value);
  }
}

void trace_set_facts(const struct trace_facts *facts) {
  trace_record.facts = *facts;
}

void trace_set_lacked(uint64_t bytes) {
  trace_record.facts.lacked = bytes;
}

void trace_finish(void) {
  const uint64_t now = trace_now();
  for (int i = 0; i < trace_record.n; i++) {
    end(&trace_record.vp[i], now);
    settle_bytes(&trace_record.vp[i]);
  }
}

uint64_t trace_since_zero(uint64_t now) {
  const struct trace_record *r = &trace_record;
  const uint64_t t = r->start_realtime - r->zero;
  /* A transfer may have begun before the recording. */
  return now > r->start ? t + (now - r->start) : t;
}

uint64_t trace_row_end(const struct trace_vp *v, size_t i) {
  return i + 1 < v->n_rows ? v->row[i + 1].begin : v->since;
}

uint64_t trace_interval_end(const struct trace_vp *v,
                            const struct trace_interval *next) {
  if (next) {
    return next->begin;
  }
  return v->intervals.dropped ? v->known_until : v->since;
}

void trace_end(void) {
  struct trace_record *r = &trace_record;
  trace_on = false;
  for (int i = 0; i < r->n; i++) {
    lock_destroy(&r->vp[i].lock);
  }
  if (r->memory) {
    munmap(r->memory, r->memory_size);
  }
  *r = (struct trace_record){0};
}
