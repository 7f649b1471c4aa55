#include "em/sort/replacement_selection.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/failure.h"
#include "em/sort/parallel_merge.h"
#include "em/sort/run_writer.h"
#include "os/bits.h"
#include "os/native.h"

/* Pages in all, about: more waste less at the ends of sequences, but are more
   pieces to merge. */
#define PAGES 1024
#define LEAST_PAGE ((size_t)4096)
/* Blocks of a run on their way to the disk. */
#define WRITE_BLOCKS 6

#define NONE UINT32_MAX

struct page {
  uint32_t next;     /* in its sequence, or among the free ones */
  size_t begin, end; /* its records, of those that fit */
};

/* Sorted records in pages. */
struct sequence {
  uint32_t first, last; /* or NONE */
};

/* A collection of sequences, in the order of their chunks. */
struct queue {
  struct sequence *sequence;
  size_t count, room;
  uint64_t records;
};

struct replacement {
  struct sort *s;
  size_t page_bytes, per_page; /* records */
  uint32_t pages, free_page, free_pages;
  struct page *page;
  char *data;
  size_t data_bytes;
  struct queue now, next;    /* Q and Q' */
  char *bound;               /* the last record written of this run */
  bool bounded;              /* there is one */
  struct run run;            /* being written */
  struct run_writer *writer; /* or NULL */
  char *work;
  size_t work_each;
  struct kernel_piece *piece; /* pages of them */
  uint32_t *piece_page;
  size_t *end;
};

/* --- sizes --- */

struct sizes {
  size_t page_bytes, pages, work_each, all; /* `all` without the pages' data */
};

static size_t rounded(size_t n) {
  return bits_round_up(n, LEAST_PAGE);
}

static struct sizes sizes_for(const struct pems_record *r,
                              const struct kernel *kernel, int threads,
                              size_t block, size_t bytes) {
  struct sizes z;
  z.page_bytes = rounded(bytes / PAGES);
  if (z.page_bytes < rounded(r->size)) {
    z.page_bytes = rounded(r->size);
  }
  z.pages = bytes / z.page_bytes + 1;
  z.work_each = parallel_merge_work(r, kernel, z.pages);
  z.all = z.work_each * (size_t)threads + WRITE_BLOCKS * block +
          z.pages * (sizeof(struct page) + sizeof(struct kernel_piece) + 16) +
          LEAST_PAGE * 4;
  return z;
}

size_t replacement_least(const struct pems_record *record,
                         const struct kernel *kernel, int threads, size_t block,
                         size_t chunk) {
  /* Two chunks in pages that are not quite full. */
  const size_t bytes = 3 * chunk * record->size + 16 * rounded(record->size);
  const struct sizes z = sizes_for(record, kernel, threads, block, bytes);
  return z.all + bytes + 16 * z.page_bytes;
}

/* --- memory --- */

static int take_memory(struct replacement *q, size_t bytes) {
  struct memory *const m = &q->s->memory;
  const size_t pages = q->pages;
  q->page = native_alloc(pages * sizeof(*q->page));
  q->piece = native_alloc(pages * sizeof(*q->piece));
  q->piece_page = native_alloc(pages * sizeof(*q->piece_page));
  q->end = native_alloc(pages * sizeof(*q->end));
  q->bound = native_alloc(q->s->o.record.size);
  q->data_bytes = bytes;
  q->data = memory_get(m, bytes);
  q->work = memory_get(m, q->work_each * (size_t)q->s->o.threads);
  return q->page && q->piece && q->piece_page && q->end && q->bound &&
                 q->data && q->work
             ? 0
             : ENOMEM;
}

void replacement_free(struct replacement *q) {
  if (!q) {
    return;
  }
  run_writer_free(q->writer);
  runs_drop(&q->s->runs, &q->run);
  memory_put(&q->s->memory, q->data, q->data_bytes);
  memory_put(&q->s->memory, q->work, q->work_each * (size_t)q->s->o.threads);
  native_free(q->page);
  native_free(q->piece);
  native_free(q->piece_page);
  native_free(q->end);
  native_free(q->bound);
  native_free(q->now.sequence);
  native_free(q->next.sequence);
  native_free(q);
}

static int no_memory(struct pems_error *error) {
  return failure(error, ENOMEM, "memory for long runs: too little: give more");
}

int replacement_new(struct replacement **q, struct sort *s, size_t bytes,
                    size_t chunk, struct pems_error *error) {
  const struct pems_record *const r = &s->o.record;
  const struct sizes z =
      sizes_for(r, s->kernel, s->o.threads, s->plan.block, bytes);
  struct replacement *const new = native_zalloc(1, sizeof(*new));
  if (!new || bytes < replacement_least(r, s->kernel, s->o.threads,
                                        s->plan.block, chunk)) {
    native_free(new);
    return no_memory(error);
  }
  new->s = s;
  new->page_bytes = z.page_bytes;
  new->per_page = z.page_bytes / r->size;
  new->pages = (uint32_t)((bytes - z.all) / z.page_bytes);
  new->work_each = z.work_each;
  if (take_memory(new, new->pages *z.page_bytes)) {
    replacement_free(new);
    return no_memory(error);
  }
  new->free_page = NONE;
  for (uint32_t i = new->pages; i-- > 0;) {
    new->page[i].next = new->free_page;
    new->free_page = i;
  }
  new->free_pages = new->pages;
  *q = new;
  return 0;
}

/* --- pages and sequences --- */

static char *record_at(const struct replacement *q, uint32_t page, size_t i) {
  return q->data + page * q->page_bytes + i * q->s->o.record.size;
}

static uint32_t take_page(struct replacement *q) {
  const uint32_t i = q->free_page;
  q->free_page = q->page[i].next;
  q->free_pages--;
  q->page[i] = (struct page){.next = NONE};
  return i;
}

static void give_page(struct replacement *q, uint32_t i) {
  q->page[i].next = q->free_page;
  q->free_page = i;
  q->free_pages++;
}

static void append(struct replacement *q, struct sequence *s, uint32_t page) {
  if (s->first == NONE) {
    s->first = page;
  } else {
    q->page[s->last].next = page;
  }
  s->last = page;
}

static int keep(struct queue *to, struct sequence s, uint64_t records) {
  if (records == 0) {
    return 0;
  }
  if (to->count == to->room) {
    const size_t room = to->room ? 2 * to->room : 64;
    struct sequence *const more =
        native_realloc(to->sequence, room * sizeof(*more));
    if (!more) {
      return ENOMEM;
    }
    to->sequence = more;
    to->room = room;
  }
  to->sequence[to->count++] = s;
  to->records += records;
  return 0;
}

/* How many records of a page are before where the run is now: they have to wait
   for the next. */
static size_t late(const struct replacement *q, uint32_t page) {
  const struct page *const p = &q->page[page];
  return !q->bounded
             ? 0
             : q->s->kernel->rank(&q->s->o.record, record_at(q, page, p->begin),
                                  p->end - p->begin, q->bound, 0);
}

/* --- writing --- */

/* The pages with the smallest n records of Q: no sequence can give more than
   all of them. Returns how many; *there: records in them. */
static int list_pieces(struct replacement *q, size_t n, size_t *there) {
  int pieces = 0;
  *there = 0;
  for (size_t i = 0; i < q->now.count; i++) {
    size_t listed = 0;
    for (uint32_t p = q->now.sequence[i].first; p != NONE && listed < n;
         p = q->page[p].next) {
      const struct page *const page = &q->page[p];
      q->piece[pieces] = (struct kernel_piece){record_at(q, p, page->begin),
                                               page->end - page->begin};
      q->piece_page[pieces++] = p;
      listed += page->end - page->begin;
    }
    *there += listed;
  }
  return pieces;
}

/* Drops what was merged, and sequences that are empty. */
static void advance(struct replacement *q, int pieces) {
  for (int i = 0; i < pieces; i++) {
    q->page[q->piece_page[i]].begin += q->end[i];
  }
  size_t kept = 0;
  for (size_t i = 0; i < q->now.count; i++) {
    struct sequence s = q->now.sequence[i];
    while (s.first != NONE && q->page[s.first].begin == q->page[s.first].end) {
      const uint32_t gone = s.first;
      s.first = q->page[gone].next;
      give_page(q, gone);
    }
    if (s.first != NONE) {
      q->now.sequence[kept++] = s;
    }
  }
  q->now.count = kept;
}

static int begin_run(struct replacement *q, struct pems_error *error) {
  return q->writer ? 0
                   : run_writer_new(&q->writer, q->s, WRITE_BLOCKS, &q->run,
                                    NULL, error);
}

/* The run is complete: Q' is the next. */
static int end_run(struct replacement *q, struct pems_error *error) {
  const struct queue empty = q->now;
  if (q->writer) {
    const int failed = run_writer_finish(q->writer, error);
    if (failed) {
      return failed;
    }
    run_writer_free(q->writer);
    q->writer = NULL;
    run_resize(&q->s->runs, &q->run, q->run.blocks);
    struct run *const run = runs_add(&q->s->runs);
    if (!run) {
      return no_memory(error);
    }
    *run = q->run;
    q->run = (struct run){0};
  }
  q->now = q->next;
  q->next = empty;
  q->next.count = 0;
  q->next.records = 0;
  q->bounded = false;
  return 0;
}

/* Writes the smallest n records of Q, or as many as there are. When it is empty
   the run ends: its last block may not be full. */
static int write_some(struct replacement *q, size_t n,
                      struct pems_error *error) {
  const size_t size = q->s->o.record.size;
  int failed = begin_run(q, error);
  while (n > 0 && q->now.records > 0 && !failed) {
    void *space;
    size_t room, there;
    failed = run_writer_space(q->writer, &space, &room, error);
    if (failed) {
      break;
    }
    room = room < q->now.records ? room : (size_t)q->now.records;
    const struct parallel_merge b = {
        .record = &q->s->o.record,
        .kernel = q->s->kernel,
        .team = q->s->team,
        .piece = q->piece,
        .pieces = list_pieces(q, room, &there),
        .end = q->end,
        .work = q->work,
        .work_each = q->work_each,
    };
    parallel_merge(&b, there, room, space);
    memcpy(q->bound, (char *)space + (room - 1) * size, size);
    q->bounded = true;
    advance(q, b.pieces);
    q->now.records -= room;
    failed = run_writer_filled(q->writer, room, error);
    n -= n < room ? n : room;
  }
  return failed || q->now.records ? failed : end_run(q, error);
}

/* --- chunks --- */

static int make_room(struct replacement *q, uint32_t pages,
                     struct pems_error *error) {
  int failed = 0;
  while (q->free_pages < pages && !failed) {
    failed = q->now.records == 0
                 ? end_run(q, error)
                 : write_some(q, (size_t)(pages - q->free_pages) * q->per_page,
                              error);
  }
  return failed;
}

/* Where the page is cut, what is behind gets a page of its own. */
static uint32_t split_page(struct replacement *q, uint32_t page, size_t at) {
  struct page *const p = &q->page[page];
  const uint32_t new = take_page(q);
  const size_t n = p->end - at;
  memcpy(record_at(q, new, 0), record_at(q, page, at), n * q->s->o.record.size);
  q->page[new].end = n;
  p->end = at;
  return new;
}

int replacement_add(struct replacement *q, size_t n, replacement_copy_fn *copy,
                    void *arg, struct pems_error *error) {
  struct sequence now = {NONE, NONE}, next = {NONE, NONE};
  uint64_t waiting = 0;
  int failed =
      make_room(q, (uint32_t)((n + q->per_page - 1) / q->per_page) + 1, error);
  if (failed) {
    return failed;
  }
  for (size_t first = 0; first < n; first += q->per_page) {
    const uint32_t page = take_page(q);
    const size_t left = n - first;
    q->page[page].end = left < q->per_page ? left : q->per_page;
    copy(arg, first, q->page[page].end, record_at(q, page, 0));
    const size_t cut = now.first == NONE ? late(q, page) : 0;
    waiting += cut;
    if (cut == q->page[page].end) {
      append(q, &next, page);
    } else if (cut) {
      const uint32_t rest = split_page(q, page, cut);
      append(q, &next, page);
      append(q, &now, rest);
    } else {
      append(q, &now, page);
    }
  }
  failed = keep(&q->now, now, n - waiting);
  if (!failed) {
    failed = keep(&q->next, next, waiting);
  }
  return failed ? no_memory(error) : 0;
}

int replacement_finish(struct replacement *q, struct pems_error *error) {
  int failed = 0;
  while (!failed && (q->now.records || q->next.records)) {
    failed =
        q->now.records ? write_some(q, SIZE_MAX, error) : end_run(q, error);
  }
  return failed;
}
