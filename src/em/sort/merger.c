#include "em/sort/merger.h"

#include <errno.h>
#include <stdbool.h>

#include "base/failure.h"
#include "em/core/request_list.h"
#include "em/sort/fetch_order.h"
#include "em/sort/parallel_merge.h"
#include "os/clock.h"
#include "os/native.h"

/* Less than this, in bytes per thread, is merged only if there is no more. */
#define LEAST_BATCH ((size_t)64 << 10)

#define NONE UINT32_MAX

/* A buffer of a block. */
struct slot {
  struct pems_request request;
  char *buf;
  const char *at; /* the first record not merged yet */
  size_t left;    /* records from there on */
  uint32_t need;  /* which block it holds, by the order of need */
  uint32_t next;  /* slot of the next block of the same run that is here */
};

/* The blocks of a run that are here. */
struct chain {
  uint32_t first, last; /* slots, or NONE */
};

struct merger {
  struct sort *s;
  struct sort_merge_plan plan;
  struct run *run; /* count of them */
  size_t count;
  int last;
  size_t needs; /* blocks in all */
  struct fetch_order_entry
      *need;         /* in the order in which they are needed: sigma */
  uint32_t *fetch;   /* sigma', or NULL: the same */
  uint32_t *slot_of; /* of each need, or NONE */
  size_t fetched;    /* requests made */
  size_t here;       /* needs that are in chains, the first of all */
  size_t loaded;     /* records in chains */
  struct slot *slot;
  uint32_t slots, free_slot; /* free ones are linked by next */
  char *buffers;
  struct chain *chain; /* per run */
  struct kernel_piece *piece;
  uint32_t *piece_slot; /* where each piece is */
  size_t *end;          /* and how much of it is taken */
  char *work;           /* plan.merge_work per member of the team */
  int64_t noted;        /* bytes of all this but buffers and work */
};

static const struct pems_record *record_of(const struct merger *m) {
  return &m->s->o.record;
}

static const char *least_of(const struct merger *m, size_t need) {
  const struct fetch_order_entry p = m->need[need];
  return m->run[p.run].least + (size_t)p.block * m->s->runs.record_size;
}

/* --- memory --- */

static size_t buffer_bytes(const struct merger *m) {
  return (size_t)m->slots * m->s->plan.block;
}

static size_t work_bytes(const struct merger *m) {
  return m->plan.merge_work * (size_t)m->s->o.merge_threads;
}

static int take_memory(struct merger *m) {
  struct memory *const memory = &m->s->memory;
  m->need = native_alloc((m->needs + 1) * sizeof(*m->need));
  m->slot_of = native_alloc((m->needs + 1) * sizeof(*m->slot_of));
  m->slot = native_zalloc(m->slots, sizeof(*m->slot));
  m->chain = native_alloc(m->count * sizeof(*m->chain));
  m->piece = native_alloc(m->slots * sizeof(*m->piece));
  m->piece_slot = native_alloc(m->slots * sizeof(*m->piece_slot));
  m->end = native_alloc(m->slots * sizeof(*m->end));
  m->noted = (int64_t)(m->needs * (sizeof(*m->need) + 3 * sizeof(uint32_t)) +
                       m->count * sizeof(*m->chain) +
                       m->slots * (sizeof(*m->slot) + sizeof(*m->piece) + 12));
  memory_note(memory, m->noted);
  m->buffers = memory_get(memory, buffer_bytes(m));
  m->work = memory_get(memory, work_bytes(m));
  return m->need && m->slot_of && m->slot && m->chain && m->piece &&
                 m->piece_slot && m->end && m->buffers && m->work
             ? 0
             : ENOMEM;
}

static void free_memory(struct merger *m) {
  struct memory *const memory = &m->s->memory;
  memory_put(memory, m->buffers, buffer_bytes(m));
  memory_put(memory, m->work, work_bytes(m));
  memory_note(memory, -m->noted);
  native_free(m->need);
  native_free(m->fetch);
  native_free(m->slot_of);
  native_free(m->slot);
  native_free(m->chain);
  native_free(m->piece);
  native_free(m->piece_slot);
  native_free(m->end);
  native_free(m);
}

/* --- the order of fetching --- */

static int order_fetches(struct merger *m) {
  const int disks = pems_disks_count(m->s->disks);
  if (disks == 1 || m->s->o.fetch == PEMS_FETCH_NAIVE) {
    return 0;
  }
  int *const disk = native_alloc((m->needs + 1) * sizeof(*disk));
  m->fetch = native_alloc((m->needs + 1) * sizeof(*m->fetch));
  int error = disk && m->fetch ? 0 : ENOMEM;
  if (!error) {
    for (size_t i = 0; i < m->needs; i++) {
      disk[i] = m->run[m->need[i].run].at[m->need[i].block].disk;
    }
    error = fetch_order_fetches(disk, m->needs, disks, (size_t)m->plan.prefetch,
                                m->fetch);
  }
  native_free(disk);
  return error;
}

/* --- fetching --- */

static void start_fetch(struct merger *m, uint32_t need,
                        struct request_list *list) {
  const uint32_t i = m->free_slot;
  struct slot *const slot = &m->slot[i];
  const struct fetch_order_entry p = m->need[need];
  const struct run *const run = &m->run[p.run];
  m->free_slot = slot->next;
  const size_t records = run_block_records(&m->s->runs, run, p.block);
  const size_t skip = p.block == 0 ? run->skip : 0;
  slot->need = need;
  slot->at = slot->buf + skip * m->s->o.record.size;
  slot->left = records - skip;
  slot->next = NONE;
  slot->request = (struct pems_request){
      .block = run->at[p.block],
      .buf = slot->buf,
      .n = run_bytes(&m->s->runs, records),
  };
  m->slot_of[need] = i;
  request_list_add(list, &slot->request);
}

/* Every free buffer gets the next block. */
static void fetch_more(struct merger *m) {
  struct request_list list = {.disks = m->s->disks};
  while (m->fetched < m->needs && m->free_slot != NONE) {
    const uint32_t next =
        m->fetch ? m->fetch[m->fetched] : (uint32_t)m->fetched;
    start_fetch(m, next, &list);
    m->fetched++;
  }
  request_list_start(&list);
}

static void free_slot(struct merger *m, uint32_t i) {
  struct slot *const slot = &m->slot[i];
  const struct fetch_order_entry p = m->need[slot->need];
  run_free_block(&m->s->runs, &m->run[p.run], p.block);
  m->slot_of[slot->need] = NONE;
  slot->next = m->free_slot;
  m->free_slot = i;
}

/* --- what is here --- */

/* The next block that is needed has come: into the chain of its run. */
static int accept(struct merger *m, struct pems_error *error) {
  const uint32_t i = m->slot_of[m->here];
  struct slot *const slot = &m->slot[i];
  struct chain *const chain = &m->chain[m->need[m->here].run];
  const int failed = pems_request_wait(m->s->disks, &slot->request);
  if (failed) {
    return sort_io_failure(error, failed, "reading a run");
  }
  if (chain->first == NONE) {
    chain->first = i;
  } else {
    m->slot[chain->last].next = i;
  }
  chain->last = i;
  m->loaded += slot->left;
  m->here++;
  return 0;
}

/* Waits for the next block that is needed. */
static int accept_next(struct merger *m, struct pems_error *error) {
  const uint64_t begin = clock_ns();
  const int failed = accept(m, error);
  m->s->counts.merge.io.read_wait_ns += clock_ns() - begin;
  return failed;
}

/* Takes in what has come already, as far as `wanted` records can make use of
   it. */
static int accept_come(struct merger *m, size_t wanted,
                       struct pems_error *error) {
  const size_t enough = wanted + m->count * m->s->runs.per_block;
  while (m->here < m->needs && m->loaded < enough &&
         m->slot_of[m->here] != NONE &&
         pems_request_test(&m->slot[m->slot_of[m->here]].request)) {
    const int failed = accept(m, error);
    if (failed) {
      return failed;
    }
  }
  return 0;
}

/* Lists the pieces of what may be merged now: all that is before the first
   record that is not here. Every block but the last of a chain is, wholly.
   Returns how many; *records in all. */
static int list_pieces(struct merger *m, size_t *records) {
  const bool all = m->here == m->needs;
  const uint32_t bound_run = all ? 0 : m->need[m->here].run;
  const char *const bound = all ? NULL : least_of(m, m->here);
  int pieces = 0;
  *records = 0;
  for (uint32_t q = 0; q < m->count; q++) {
    for (uint32_t i = m->chain[q].first; i != NONE; i = m->slot[i].next) {
      const struct slot *const slot = &m->slot[i];
      size_t n = slot->left;
      if (!all && i == m->chain[q].last) {
        n = m->s->kernel->rank(record_of(m), slot->at, n, bound,
                               q <= bound_run);
      }
      if (n == 0) {
        continue;
      }
      m->piece[pieces] = (struct kernel_piece){slot->at, n};
      m->piece_slot[pieces++] = i;
      *records += n;
    }
  }
  return pieces;
}

/* --- merging a batch --- */

/* What was merged is gone; blocks that are empty make room for others. */
static void advance(struct merger *m, int pieces) {
  const size_t size = m->s->o.record.size;
  for (int p = 0; p < pieces; p++) {
    struct slot *const slot = &m->slot[m->piece_slot[p]];
    struct chain *const chain = &m->chain[m->need[slot->need].run];
    slot->at += m->end[p] * size;
    slot->left -= m->end[p];
    m->loaded -= m->end[p];
    if (slot->left == 0) {
      chain->first = slot->next;
      free_slot(m, m->piece_slot[p]);
    }
  }
  fetch_more(m);
}

static void merge_batch(struct merger *m, int pieces, size_t there, size_t n,
                        char *out) {
  const struct parallel_merge b = {
      .record = record_of(m),
      .kernel = m->s->kernel,
      .team = m->s->team,
      .piece = m->piece,
      .pieces = pieces,
      .end = m->end,
      .work = m->work,
      .work_each = m->plan.merge_work,
      .last = m->last,
  };
  parallel_merge(&b, there, n, out);
  advance(m, pieces);
}

int merger_fill(struct merger *m, void *out, size_t room, size_t *n,
                struct pems_error *error) {
  const size_t size = m->s->o.record.size;
  const size_t least = LEAST_BATCH * (size_t)m->s->o.merge_threads / size + 1;
  *n = 0;
  while (*n < room && (m->loaded > 0 || m->here < m->needs)) {
    size_t there;
    const size_t wanted = room - *n;
    int failed = accept_come(m, wanted, error);
    const int pieces = failed ? 0 : list_pieces(m, &there);
    /* Little is worth waiting for more, if more is on its way: it has no
       buffer where all are full of what may be merged. */
    if (!failed && m->here < m->needs && m->slot_of[m->here] != NONE &&
        (pieces == 0 || (there < least && there < wanted))) {
      failed = accept_next(m, error);
      if (!failed) {
        continue;
      }
    }
    if (failed) {
      return failed;
    }
    const size_t taken = there < wanted ? there : wanted;
    merge_batch(m, pieces, there, taken, (char *)out + *n * size);
    *n += taken;
  }
  return 0;
}

/* --- beginning and end --- */

static void link_slots(struct merger *m) {
  m->free_slot = NONE;
  for (uint32_t i = m->slots; i-- > 0;) {
    m->slot[i].buf = m->buffers + (size_t)i * m->s->plan.block;
    m->slot[i].next = m->free_slot;
    m->free_slot = i;
  }
  for (size_t i = 0; i < m->needs; i++) {
    m->slot_of[i] = NONE;
  }
  for (size_t q = 0; q < m->count; q++) {
    m->chain[q] = (struct chain){NONE, NONE};
  }
}

int merger_new(struct merger **m, struct sort *s,
               const struct sort_merge_plan *plan, size_t first, size_t count,
               int last, struct pems_error *error) {
  struct merger *const new = native_zalloc(1, sizeof(*new));
  if (!new) {
    return failure(error, ENOMEM, "memory: merging %zu runs: free some", count);
  }
  new->s = s;
  new->plan = *plan;
  new->run = &s->runs.run[first];
  new->count = count;
  new->last = last;
  new->slots = (uint32_t)(count + (size_t)plan->read_buffers);
  for (size_t i = 0; i < count; i++) {
    new->needs += new->run[i].blocks;
  }
  int failed = take_memory(new);
  if (!failed) {
    link_slots(new);
    failed = fetch_order_needs(&s->runs, new->run, count, &s->o.record,
                               s->kernel, new->need);
  }
  if (!failed) {
    failed = order_fetches(new);
  }
  if (failed) {
    free_memory(new);
    return failure(error, failed, "memory: merging %zu runs: give more", count);
  }
  fetch_more(new);
  *m = new;
  return 0;
}

void merger_free(struct merger *m) {
  if (!m) {
    return;
  }
  for (size_t i = 0; i < m->needs; i++) {
    if (m->slot_of[i] != NONE && i >= m->here) {
      pems_request_wait(m->s->disks, &m->slot[m->slot_of[i]].request);
    }
  }
  free_memory(m);
}
