/* Is it sorted, and is it still the same records? */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/failure.h"
#include "disk/file.h"
#include "em/core/defaults.h"
#include "em/core/memory.h"
#include "em/core/team.h"
#include "em/kernel/parts.h"
#include "em/kernel/record.h"
#include "em/sort/sort.h"
#include "os/native.h"
#include "pems/sort.h"

/* Read at a time, about, in bytes; two such pieces are in memory. */
#define PIECE ((size_t)4 << 20)
#define REQUEST ((size_t)1 << 20)
/* Parts of a piece that the team shares out. */
#define PARTS 8

/* --- hashes --- */

static uint64_t mixed(uint64_t x) {
  x ^= x >> 32;
  x *= UINT64_C(0xd6e8feb86659fd93);
  x ^= x >> 29;
  x *= UINT64_C(0xa0761d6478bd642f);
  return x ^ x >> 32;
}

/* The last 1 to 7 bytes of a record as a number, the first the lowest. */
RECORD_INLINE uint64_t load_tail(const char *at, size_t n) {
  return __builtin_bswap64(record_load_bytes(at, n) << (64 - 8 * n));
}

RECORD_INLINE uint64_t hash(const char *at, size_t n) {
  uint64_t h = UINT64_C(0x9e3779b97f4a7c15) ^ n, word;
  for (; n >= sizeof(word); n -= sizeof(word), at += sizeof(word)) {
    memcpy(&word, at, sizeof(word));
    h = (h ^ word) * UINT64_C(0xe7037ed1a0b428db);
    h ^= h >> 31;
  }
  if (n) {
    h = (h ^ load_tail(at, n)) * UINT64_C(0xe7037ed1a0b428db);
  }
  return mixed(h);
}

RECORD_INLINE void add_records(struct pems_sort_check *check,
                               const char *records, size_t n, size_t size) {
  uint64_t sum = 0, other = 0;
  for (size_t i = 0; i < n; i++) {
    const uint64_t h = hash(records + i * size, size);
    sum += h;
    other += mixed(h + UINT64_C(0x589965cc75374cc3));
  }
  check->sum[0] += sum;
  check->sum[1] += other;
}

/* Small records by loops that know their size: finding it out would take longer
   than hashing them. */
static void add(struct pems_sort_check *check, const char *records, size_t n,
                size_t size) {
  switch (size) {
  case 2:
    add_records(check, records, n, 2);
    break;
  case 4:
    add_records(check, records, n, 4);
    break;
  case 8:
    add_records(check, records, n, 8);
    break;
  case 16:
    add_records(check, records, n, 16);
    break;
  default:
    add_records(check, records, n, size);
  }
}

/* --- pieces --- */

static void found_disorder(struct pems_sort_check *check, uint64_t at) {
  if (check->sorted || at < check->disorder) {
    check->disorder = at;
  }
  check->sorted = 0;
}

/* The records of a piece, from number `first` on; not how the first one is to
   the one before. */
static void scan(struct pems_sort_check *check, const struct pems_record *r,
                 const char *records, size_t n, uint64_t first) {
  struct record_order o;
  add(check, records, n, r->size);
  if (!check->sorted) {
    return;
  }
  record_order(r, &o);
  const size_t ordered = record_ordered(&o, records, n, false);
  if (ordered < n) {
    found_disorder(check, first + ordered);
  }
}

void pems_sort_check_piece(struct pems_sort_check *check,
                           const struct pems_record *record,
                           const void *records, size_t count, void *last) {
  const char *const at = records;
  if (count == 0) {
    return;
  }
  if (check->sorted && check->count > 0 &&
      record_compare(record, at, last) < 0) {
    found_disorder(check, check->count);
  }
  scan(check, record, at, count, check->count);
  check->count += count;
  memcpy(last, at + (count - 1) * record->size, record->size);
}

/* --- files --- */

struct piece {
  char *buf;      /* whole units of the file */
  char *at;       /* the first record there */
  uint64_t first; /* its number */
  size_t n;       /* records; 0: none */
  struct pems_request *request;
  int requests;
};

struct scanner {
  const struct pems_record *record;
  struct disk_file *file;
  struct team *team;
  uint64_t records; /* of the file */
  size_t step;      /* of a piece */
  struct piece piece[2];
  struct pems_sort_check part[PARTS];
};

/* Bytes of a piece's buffer: records may begin and end within a unit. */
static size_t buffer_bytes(const struct scanner *s) {
  return (s->step * s->record->size / PEMS_DISK_UNIT + 2) * PEMS_DISK_UNIT;
}

static void start_piece(struct scanner *s, struct piece *p, uint64_t first) {
  const size_t size = s->record->size;
  const uint64_t left = first < s->records ? s->records - first : 0;
  p->first = first;
  p->n = left < s->step ? (size_t)left : s->step;
  p->requests = 0;
  const uint64_t unit = PEMS_DISK_UNIT, from = first * size / unit * unit;
  const uint64_t to = (first * size + p->n * size + unit - 1) / unit * unit;
  const size_t bytes = p->n ? (size_t)(to - from) : 0;
  p->at = p->buf + (first * size - from);
  for (size_t done = 0, part; done < bytes; done += part) {
    struct pems_request *r = &p->request[p->requests++];
    part = bytes - done < REQUEST ? bytes - done : REQUEST;
    *r = (struct pems_request){
        .block = {0, from + done}, .buf = p->buf + done, .n = part};
    disk_file_start(s->file, &r, 1);
  }
}

static int wait_piece(struct scanner *s, struct piece *p,
                      struct pems_error *error) {
  int failed = 0;
  for (int i = 0; i < p->requests; i++) {
    const int code = disk_file_wait(s->file, &p->request[i]);
    if (code && !failed) {
      failed = failure(error, code, "%s: reading: %s: check the disk",
                       disk_file_path(s->file), strerror(code));
    }
  }
  p->requests = 0;
  return failed;
}

struct work {
  struct scanner *s;
  struct piece *p;
};

/* Compares the first record of a part with the last one of the part before,
   which lies ahead of it, unless the part begins where the piece does: with
   fewer records than parts that is not part 0, which is empty. */
static void scan_part(void *arg, int part, int member) {
  const struct work *const w = arg;
  const struct pems_record *const r = w->s->record;
  struct pems_sort_check *const check = &w->s->part[part];
  const size_t begin = part_begin(w->p->n, PARTS, part);
  const size_t end = part_begin(w->p->n, PARTS, part + 1);
  const char *const at = w->p->at + begin * r->size;
  (void)member;
  *check = (struct pems_sort_check){.sorted = 1};
  if (begin == end) {
    return;
  }
  if (begin > 0 && record_compare(r, at, at - r->size) < 0) {
    found_disorder(check, w->p->first + begin);
  }
  scan(check, r, at, end - begin, w->p->first + begin);
}

static void scan_piece(struct scanner *s, struct piece *p,
                       struct pems_sort_check *check, char *last) {
  const size_t size = s->record->size;
  struct work w = {s, p};
  if (p->first > 0 && record_compare(s->record, p->at, last) < 0) {
    found_disorder(check, p->first);
  }
  team_run(s->team, PARTS, scan_part, &w);
  for (int i = 0; i < PARTS; i++) {
    check->sum[0] += s->part[i].sum[0];
    check->sum[1] += s->part[i].sum[1];
    if (!s->part[i].sorted) {
      found_disorder(check, s->part[i].disorder);
    }
  }
  check->count += p->n;
  memcpy(last, p->at + (p->n - 1) * size, size);
}

static int scan_file(struct scanner *s, struct pems_sort_check *check,
                     char *last, struct pems_error *error) {
  int failed = 0;
  uint64_t first = 0;
  start_piece(s, &s->piece[0], 0);
  for (int i = 0; s->piece[i].n > 0; i ^= 1) {
    first += s->step;
    start_piece(s, &s->piece[i ^ 1], first);
    failed = wait_piece(s, &s->piece[i], error);
    if (failed) {
      break;
    }
    scan_piece(s, &s->piece[i], check, last);
  }
  wait_piece(s, &s->piece[0], NULL);
  wait_piece(s, &s->piece[1], NULL);
  return failed;
}

/* With the file open. */
static int check_records(struct scanner *s, const struct pems_sort_options *o,
                         struct pems_sort_check *check,
                         struct pems_error *error) {
  struct memory memory;
  const uint64_t bytes = disk_file_size(s->file);
  const size_t size = o->record.size, buffer = buffer_bytes(s);
  const size_t requests = buffer / REQUEST + 1;
  char *const last = native_alloc(size);
  int failed = last ? team_new(&s->team,
                               o->threads > 0 ? o->threads : defaults_threads())
                    : ENOMEM;
  memory_init(&memory, UINT64_MAX);
  for (int i = 0; i < 2 && !failed; i++) {
    s->piece[i].buf = memory_get(&memory, buffer);
    s->piece[i].request = native_alloc(requests * sizeof(*s->piece[i].request));
    failed = s->piece[i].buf && s->piece[i].request ? 0 : ENOMEM;
  }
  if (failed) {
    failure(error, failed, "memory: %zu bytes to check a file: free some",
            2 * buffer);
  } else if (bytes % size) {
    failed = failure(error, EINVAL,
                     "%s: %llu bytes: no multiple of the record of %zu bytes",
                     disk_file_path(s->file), (unsigned long long)bytes, size);
  } else {
    failed = scan_file(s, check, last, error);
  }
  for (int i = 0; i < 2; i++) {
    memory_put(&memory, s->piece[i].buf, buffer);
    native_free(s->piece[i].request);
  }
  memory_destroy(&memory);
  team_free(s->team);
  native_free(last);
  return failed;
}

int pems_sort_check_file(const char *path,
                         const struct pems_sort_options *options,
                         struct pems_sort_check *check,
                         struct pems_error *error) {
  struct pems_sort_options o;
  int failed = sort_options(&o, options, error);
  failed = failed ? failed : pems_record_check(&o.record, error);
  if (failed) {
    return failed;
  }
  struct scanner *const s = native_zalloc(1, sizeof(*s));
  if (!s) {
    return failure(error, ENOMEM, "memory: checking a file: free some");
  }
  s->record = &o.record;
  s->step = PIECE / o.record.size + 1;
  *check = (struct pems_sort_check){.sorted = 1};
  failed = disk_file_open(&s->file, path, o.scratch.io, o.scratch.depth, error);
  if (!failed) {
    s->records = disk_file_size(s->file) / o.record.size;
    failed = check_records(s, &o, check, error);
  }
  disk_file_close(s->file);
  native_free(s);
  return failed;
}
