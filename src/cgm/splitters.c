/* Splitters from regular samples.

   Every rank sends the keys of s elements at regular places of its sorted list,
   with the length of the list. Of each sample x rank 0 then knows how many
   elements of all ranks are before x: between `least` and `most`, which differ
   by at most N/s. So where an even share begins at rank t of the order, it lies
   between the last sample with most <= t and the first one with least >= t. */
#include "cgm/splitters.h"

#include <stdbool.h>
#include <string.h>

#include "cgm/exchange.h"
#include "cgm/fault.h"
#include "cgm/kernel.h"
#include "cgm/memory.h"
#include "em/kernel/record.h"
#include "os/bits.h"

enum {
  PER_RANK = 16,       /* s = 16 v: low and high are N/(16 v) apart */
  FEW_BYTES = 1 << 13, /* or as many as are that long, if it is more */
};

/* But rank 0 holds no more than so many bytes of samples, or v^2 samples. */
#define SAMPLE_BYTES (UINT64_C(1) << 24)

/* s: all ranks know it without asking. */
static uint64_t samples_of(const struct pems_cgm *m, size_t size, int exact) {
  const uint64_t v = (uint64_t)m->size;
  if (!exact) {
    return v;
  }
  const uint64_t wanted = bits_max(PER_RANK * v, FEW_BYTES / size);
  return bits_max(v, bits_min(wanted, SAMPLE_BYTES / (v * size)));
}

/* Place of sample i of s in a list of n > s elements; of all, if n <= s. */
static uint64_t place(uint64_t n, uint64_t s, uint64_t i) {
  return n <= s ? i : n / s * i + n % s * i / s;
}

/* --- messages: words, then keys --- */

enum { ALIGNED = 16 }; /* bytes: as by malloc, for those who compare */

static size_t align(size_t bytes) {
  return bits_round_up(bytes, ALIGNED);
}

/* From each rank: what it tells, in ALIGNED bytes, then s samples. */
struct samples {
  size_t bytes; /* of one message */
  uint64_t s;
  struct pems_record key; /* the record without what is not its key */
  size_t offset;          /* of the key in the record */
};

static struct samples samples_plan(const struct pems_cgm *m,
                                   const struct pems_record *record,
                                   int exact) {
  struct samples p = {.key = *record};
  if (!record->compare) {
    p.key.size = pems_record_key_bytes(record);
    p.key.key_offset = 0;
    p.offset = record->key_offset;
  }
  p.s = samples_of(m, p.key.size, exact);
  p.bytes = align(ALIGNED + p.s * p.key.size);
  return p;
}

static uint64_t message_word(const char *message) {
  uint64_t word;
  memcpy(&word, message, sizeof(word));
  return word;
}

/* Where there is a fault the list need not be there. */
static void write_samples(const struct pems_cgm *m, const struct samples *p,
                          const struct pems_cgm_list *list, char *message) {
  const uint64_t n = m->fault == MPI_SUCCESS ? list->n : 0;
  const uint64_t word = pems_cgm_tell(m, n);
  char *to = message + ALIGNED;
  memcpy(message, &word, sizeof(word));
  for (uint64_t i = 0; i < bits_min(p->s, n); i++, to += p->key.size) {
    memcpy(to, (char *)pems_cgm_at(list, place(n, p->s, i)) + p->offset,
           p->key.size);
  }
}

/* To all: a head, then pivots. */
struct head {
  uint64_t total;
  int32_t fault, rank; /* of the first that has one */
};

/* An element of all: the place decides among equal ones. */
struct pivot {
  uint64_t place;
  int64_t rank; /* BEFORE_ALL, or the machine's size: behind all */
};              /* then the key */

enum { BEFORE_ALL = -1 };

static size_t pivot_bytes(const struct samples *p) {
  return align(sizeof(struct pivot) + p->key.size);
}

/* --- rank 0 chooses --- */

/* A sample that the sweep has come to. */
struct sample {
  const char *key;
  struct pivot pivot;
  uint64_t least, most; /* elements before it */
};

struct sweep {
  const struct pems_cgm *m;
  const struct samples *p;
  const char *messages; /* of all ranks */
  struct record_order order;
  uint64_t *next;       /* of each rank: samples passed */
  uint64_t least, most; /* elements before those that come next, but theirs */
  struct pems_cgm_list sequence; /* uint64_t: s * rank + number, in order */
};

static const char *message_of(const struct sweep *w, int rank) {
  return w->messages + (size_t)rank * w->p->bytes;
}

static uint64_t length_of(const struct sweep *w, int rank) {
  return pems_cgm_told_number(message_word(message_of(w, rank)));
}

static const char *key_of(const struct sweep *w, uint64_t number) {
  return message_of(w, (int)(number / w->p->s)) + ALIGNED +
         number % w->p->s * w->p->key.size;
}

static int by_order(const void *a, const void *b, void *context) {
  const struct sweep *const w = context;
  uint64_t x, y;
  memcpy(&x, a, sizeof(x));
  memcpy(&y, b, sizeof(y));
  const int c = record_order_compare(&w->order, key_of(w, x), key_of(w, y));
  return c != 0 ? c : (x > y) - (x < y);
}

static int put_in_order(struct pems_cgm *m, struct sweep *w) {
  const struct pems_record numbers = {
      .size = sizeof(uint64_t), .compare = by_order, .context = w};
  uint64_t n = 0;
  for (int r = 0; r < m->size; r++) {
    n += bits_min(w->p->s, length_of(w, r));
  }
  w->sequence.size = sizeof(uint64_t);
  if (pems_cgm_allocate(m, &w->sequence, n) != 0) {
    return -1;
  }
  uint64_t *to = w->sequence.at;
  for (int r = 0; r < m->size; r++) {
    for (uint64_t i = 0; i < bits_min(w->p->s, length_of(w, r)); i++) {
      *to++ = (uint64_t)r * w->p->s + i;
    }
  }
  return pems_cgm_sort_here(m, &w->sequence, &numbers);
}

/* Elements of a list that are surely, and perhaps, before what comes after its
   first i samples. */
static uint64_t surely(uint64_t n, uint64_t s, uint64_t i) {
  return i == 0 ? 0 : place(n, s, i - 1) + 1;
}

static uint64_t perhaps(uint64_t n, uint64_t s, uint64_t i) {
  return i >= bits_min(n, s) ? n : place(n, s, i);
}

/* The i-th sample of all; called for all in turn. */
static struct sample pass(struct sweep *w, uint64_t i) {
  const uint64_t number = ((const uint64_t *)w->sequence.at)[i];
  const int r = (int)(number / w->p->s);
  const uint64_t n = length_of(w, r), s = w->p->s, at = w->next[r]++;
  struct sample x = {
      .key = key_of(w, number),
      .pivot = {place(n, s, at), r},
  };
  x.least = w->least - surely(n, s, at) + x.pivot.place;
  x.most = w->most; /* of its own list exactly these, too */
  w->least += surely(n, s, at + 1) - surely(n, s, at);
  w->most += perhaps(n, s, at + 1) - perhaps(n, s, at);
  return x;
}

static void write_pivot(const struct sweep *w, char *at,
                        const struct sample *x) {
  memcpy(at, &x->pivot, sizeof(x->pivot));
  if (x->key != NULL) {
    memcpy(at + sizeof(x->pivot), x->key, w->p->key.size);
  }
}

/* Pivots of ranks 1, 2, ...: low and high one after another, or one for both.
   The targets rise, and so do the bounds. */
static void choose(struct sweep *w, uint64_t total, int exact, char *to) {
  const struct pems_cgm *const m = w->m;
  const size_t bytes = pivot_bytes(w->p), step = bytes << exact;
  struct sample low = {.pivot = {0, BEFORE_ALL}};
  const struct sample behind = {.pivot = {0, m->size}};
  int lows = 1, highs = 1;
  for (uint64_t i = 0; i < w->sequence.n; i++) {
    const struct sample x = pass(w, i);
    for (; exact && lows < m->size && x.most > pems_cgm_first(m, total, lows);
         lows++) {
      write_pivot(w, to + (size_t)(lows - 1) * step, &low);
    }
    for (; highs < m->size; highs++) {
      const uint64_t t = pems_cgm_first(m, total, highs);
      if (exact ? x.least < t : x.least + x.most < 2 * t) {
        break;
      }
      write_pivot(w, to + (size_t)(highs - 1) * step + (step - bytes), &x);
    }
    low = x;
  }
  for (; exact && lows < m->size; lows++) {
    write_pivot(w, to + (size_t)(lows - 1) * step, &low);
  }
  for (; highs < m->size; highs++) {
    write_pivot(w, to + (size_t)(highs - 1) * step + (step - bytes), &behind);
  }
}

/* Rank 0: from all samples, the head and the pivots. */
static int answer(struct pems_cgm *m, const struct samples *p,
                  const char *messages, int exact, char *reply) {
  struct sweep w = {.m = m, .p = p, .messages = messages};
  struct head head = {0};
  for (int r = 0; r < m->size; r++) {
    const uint64_t word = message_word(message_of(&w, r));
    head.total += pems_cgm_told_number(word);
    if (pems_cgm_told_fault(word) && !head.fault) {
      head.fault = pems_cgm_told_fault(word);
      head.rank = r;
    }
  }
  memcpy(reply, &head, sizeof(head));
  if (head.fault) {
    return 0;
  }
  record_order(&p->key, &w.order);
  memset(m->plan.send, 0, (size_t)m->size * sizeof(uint64_t));
  w.next = m->plan.send;
  const int failed = put_in_order(m, &w);
  if (!failed) {
    choose(&w, head.total, exact, reply + sizeof(head));
  }
  pems_cgm_list_free(&w.sequence);
  return failed;
}

/* Gathers samples; at rank 0 the reply is made. */
static int gather(struct pems_cgm *m, const struct pems_cgm_list *list,
                  const struct samples *p, int exact, char *reply) {
  const bool root = m->rank == 0;
  struct pems_cgm_list mine = {.size = p->bytes}, all = {.size = p->bytes};
  MPI_Datatype type;
  if (pems_cgm_allocate_zero(m, &mine, 1) != 0 ||
      (root && pems_cgm_allocate(m, &all, (uint64_t)m->size) != 0)) {
    pems_cgm_list_free(&mine);
    return pems_cgm_fail_here(m);
  }
  write_samples(m, p, list, mine.at);
  int error = pems_cgm_message(m, p->bytes, &type);
  if (error == MPI_SUCCESS) {
    m->counts.supersteps++;
    m->counts.bytes += root ? 0 : p->bytes;
    error = MPI_Gather(mine.at, 1, type, all.at, 1, type, 0, m->comm);
    MPI_Type_free(&type);
  }
  if (error == MPI_SUCCESS && root && answer(m, p, all.at, exact, reply) != 0) {
    error = pems_cgm_fail_here(m);
  }
  pems_cgm_list_free(&mine);
  pems_cgm_list_free(&all);
  return error;
}

static int bcast(struct pems_cgm *m, const struct pems_cgm_list *reply) {
  MPI_Datatype type;
  int error = pems_cgm_message(m, reply->n, &type);
  if (error != MPI_SUCCESS) {
    return error;
  }
  m->counts.supersteps++;
  if (m->rank == 0) {
    m->counts.bytes += reply->n * ((size_t)m->size - 1);
  }
  error = MPI_Bcast(reply->at, 1, type, 0, m->comm);
  MPI_Type_free(&type);
  return error;
}

/* --- all cut --- */

/* `whole`: room for a record. */
static uint64_t cut(const struct pems_cgm *m, const struct pems_cgm_list *list,
                    const struct pems_record *record, const struct samples *p,
                    const char *at, char *whole) {
  struct pivot pivot;
  memcpy(&pivot, at, sizeof(pivot));
  if (pivot.rank == BEFORE_ALL) {
    return 0;
  }
  if (pivot.rank == m->size) {
    return list->n;
  }
  if (pivot.rank == m->rank) {
    return pivot.place;
  }
  memcpy(whole + p->offset, at + sizeof(pivot), p->key.size);
  return record_rank(record, list->at, list->n, whole, m->rank < pivot.rank);
}

static int cut_all(struct pems_cgm *m, const struct pems_cgm_list *list,
                   const struct pems_record *record, const struct samples *p,
                   int exact, const char *pivots,
                   const struct pems_cgm_cuts *cuts) {
  const size_t bytes = pivot_bytes(p), step = bytes << exact;
  struct pems_cgm_list whole = {.size = record->size};
  if (pems_cgm_allocate(m, &whole, 1) != 0) {
    return pems_cgm_fail_here(m);
  }
  cuts->low[0] = cuts->high[0] = 0;
  for (int r = 1; r < m->size; r++, pivots += step) {
    cuts->low[r] = cut(m, list, record, p, pivots, whole.at);
    cuts->high[r] = exact ? cut(m, list, record, p, pivots + bytes, whole.at)
                          : cuts->low[r];
  }
  cuts->low[m->size] = cuts->high[m->size] = list->n;
  pems_cgm_list_free(&whole);
  return MPI_SUCCESS;
}

int pems_cgm_split(struct pems_cgm *machine, const struct pems_cgm_list *list,
                   const struct pems_record *record, int exact,
                   const struct pems_cgm_cuts *cuts) {
  const struct samples p = samples_plan(machine, record, exact);
  const size_t pivots = ((size_t)machine->size - 1) << exact;
  struct pems_cgm_list reply = {.size = 1};
  struct head head;
  if (pems_cgm_allocate_zero(machine, &reply,
                             sizeof(head) + pivots * pivot_bytes(&p)) != 0) {
    return pems_cgm_fail_here(machine);
  }
  int error = gather(machine, list, &p, exact, reply.at);
  if (error == MPI_SUCCESS) {
    error = bcast(machine, &reply);
  }
  memcpy(&head, reply.at, sizeof(head));
  if (error == MPI_SUCCESS && head.fault) {
    error = pems_cgm_fail_all(machine, head.rank, head.fault);
  }
  if (error == MPI_SUCCESS) {
    machine->plan.total = head.total;
    error = cut_all(machine, list, record, &p, exact,
                    (char *)reply.at + sizeof(head), cuts);
  }
  pems_cgm_list_free(&reply);
  return error;
}
