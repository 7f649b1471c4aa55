/* Tables for unwinding of code that programs make. The compiler's run-time
   library, which all ranks share, keeps one list of them, and looks into all
   whenever anybody throws or takes a backtrace. A rank's lie in its memory,
   which may be on disk or gone; so each rank has a list of its own. */
#include "interpose/unwind.h"

#include "base/need.h"
#include "base/self.h"
#include "interpose/malloc.h"
#include "interpose/real.h"
#include "os/native.h"
#include "vp/vp.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))
#define CALLER __builtin_return_address(0)

/* One that is not told of any more has no beginning, and is used again. */
struct unwind_table {
  struct unwind_table *next;
  const unsigned char *_Atomic begin;
};

struct bases { /* struct dwarf_eh_bases of libgcc */
  void *text, *data, *function;
};

typedef void table_fn(void *begin);
typedef const void *find_fn(void *pc, struct bases *bases);
EXPORT table_fn __register_frame, __deregister_frame;
EXPORT find_fn _Unwind_Find_FDE;

enum real_one { REGISTER, DEREGISTER, FIND, REALS };

/* NULL where the library is not there: another one unwinds. */
static real_function *real_one(enum real_one which) {
  static const char *const names[REALS] = {
      "__register_frame", "__deregister_frame", "_Unwind_Find_FDE"};
  static real_function *_Atomic known[REALS];
  real_function *f = atomic_load(&known[which]);
  if (!f) {
    f = real_of_library("libgcc_s.so", names[which]);
    atomic_store(&known[which], f);
  }
  return f;
}

/* --- a rank's list --- */

static void keep(struct vp *vp, const unsigned char *begin) {
  for (struct unwind_table *t = atomic_load(&vp->tables); t; t = t->next) {
    const unsigned char *unused = NULL;
    if (atomic_compare_exchange_strong(&t->begin, &unused, begin)) {
      return;
    }
  }
  struct unwind_table *const fresh =
      need_alloc(sizeof(*fresh), "tables for unwinding");
  atomic_init(&fresh->begin, begin);
  fresh->next = atomic_load(&vp->tables);
  while (!atomic_compare_exchange_weak(&vp->tables, &fresh->next, fresh)) {
  }
}

static bool drop(struct vp *vp, const unsigned char *begin) {
  for (struct unwind_table *t = atomic_load(&vp->tables); t; t = t->next) {
    const unsigned char *expected = begin;
    if (atomic_compare_exchange_strong(&t->begin, &expected, NULL)) {
      return true;
    }
  }
  return false;
}

bool unwind_has_tables(const struct vp *vp) {
  bool has = false;
  for (struct unwind_table *t = atomic_load(&vp->tables); t; t = t->next) {
    has = has || atomic_load(&t->begin);
  }
  return has;
}

void unwind_end(struct vp *vp) {
  struct unwind_table *t = atomic_exchange(&vp->tables, NULL);
  while (t) {
    struct unwind_table *const next = t->next;
    native_free(t);
    t = next;
  }
}

/* --- what a table says (.eh_frame, Linux Standard Base) --- */

enum {
  ENCODED_SIZE = 0x0f,
  ENCODED_SIGNED = 0x08,
  ENCODED_BASE = 0x70,
  ENCODED_HERE = 0x10,
  ENCODED_INDIRECT = 0x80,
  ENCODED_UNKNOWN = 0xff,
};

static uint32_t word_at(const unsigned char *p) {
  uint32_t word;
  memcpy(&word, p, sizeof(word));
  return word;
}

static const unsigned char *skip_leb(const unsigned char *p) {
  while (*p & 0x80) {
    p++;
  }
  return p + 1;
}

/* 0 for what has no fixed size. */
static size_t size_of(unsigned char encoding) {
  switch (encoding & ENCODED_SIZE & ~ENCODED_SIGNED) {
  case 0:
    return sizeof(void *);
  case 2:
    return 2;
  case 3:
    return 4;
  case 4:
    return 8;
  default:
    return 0;
  }
}

static uint64_t number_at(const unsigned char *p, unsigned char encoding) {
  uint64_t n = 0;
  const size_t size = size_of(encoding);
  memcpy(&n, p, size); /* little-endian machines only, as pems */
  if (encoding & ENCODED_SIGNED && size < sizeof(n) &&
      n >> (8 * size - 1) != 0) {
    n |= ~(uint64_t)0 << 8 * size;
  }
  return n;
}

/* How addresses are written in what belongs to a common entry. */
static unsigned char encoding_of(const unsigned char *common) {
  const unsigned char *p = common + 8; /* behind its length and number */
  const bool old = *p++ == 1;
  const char *letter = (const char *)p;
  p = skip_leb(skip_leb(p + strlen(letter) + 1));
  p = old ? p + 1 : skip_leb(p);
  if (*letter++ != 'z') {
    return *--letter ? ENCODED_UNKNOWN : 0;
  }
  p = skip_leb(p);
  for (; *letter && *letter != 'R'; letter++) {
    if (*letter == 'P') {
      p += 1 + size_of(*p);
    } else if (*letter == 'L') {
      p++;
    }
  }
  return *letter ? *p : 0;
}

/* Does the entry whose number is at `p` cover pc? */
static bool covers(const unsigned char *p, uintptr_t pc, uintptr_t *start) {
  const unsigned char e = encoding_of(p - word_at(p));
  const size_t n = size_of(e);
  const unsigned base = e & ENCODED_BASE;
  if (e & ENCODED_INDIRECT || n == 0 || (base && base != ENCODED_HERE)) {
    return false;
  }
  p += sizeof(uint32_t);
  const uint64_t length = number_at(p + n, e & ENCODED_SIZE & ~ENCODED_SIGNED);
  *start = number_at(p, e) + (base ? (uintptr_t)p : 0);
  return pc - *start < length;
}

static const void *find(const unsigned char *p, uintptr_t pc,
                        struct bases *bases) {
  enum { EXTENDED = 0xffffffff };
  uint32_t n;
  for (; (n = word_at(p)) != 0 && n != EXTENDED; p += sizeof(n) + n) {
    const unsigned char *const number = p + sizeof(n);
    uintptr_t start;
    if (word_at(number) != 0 && covers(number, pc, &start)) {
      *bases = (struct bases){.function = (void *)start};
      return p;
    }
  }
  return NULL;
}

/* --- what programs and libraries call --- */

EXPORT void __register_frame(void *begin) {
  table_fn *const real = (table_fn *)real_one(REGISTER);
  if (real_one(FIND) && malloc_is_program(CALLER)) {
    keep(self.vp, begin);
  } else if (real) {
    real(begin);
  }
}

EXPORT void __deregister_frame(void *begin) {
  table_fn *const real = (table_fn *)real_one(DEREGISTER);
  if ((!self.vp || !drop(self.vp, begin)) && real) {
    real(begin);
  }
}

/* From within the library, too. */
EXPORT const void *_Unwind_Find_FDE(void *pc, struct bases *bases) {
  find_fn *const real = (find_fn *)real_one(FIND);
  const void *found = real ? real(pc, bases) : NULL;
  struct unwind_table *t = self.vp ? atomic_load(&self.vp->tables) : NULL;
  for (; t && !found; t = t->next) {
    const unsigned char *const begin = atomic_load(&t->begin);
    found = begin ? find(begin, (uintptr_t)pc, bases) : NULL;
  }
  return found;
}
