#include "mpi/p2p/letter.h"

#include "base/message.h"
#include "base/need.h"
#include "config/memory_used.h"
#include "disk/paged.h"
#include "disk/spill.h"
#include "os/native.h"
#include "vp/vp.h"

#include <stdatomic.h>
#include <string.h>

enum {
  CHUNK = 256 << 10,
  BESIDE = 1 << 10, /* contents of up to so many bytes lie beside the letter */
};

static struct {
  size_t bound;
  struct spill *spill;
} letters = {.bound = SIZE_MAX};

void letters_start(size_t bound, const char *dir) {
  letters.bound = bound;
  letters.spill = spill_open(dir);
}

void letters_end(void) {
  spill_close(letters.spill);
  letters.spill = NULL;
}

static size_t memory_of(size_t contents) {
  return sizeof(struct letter) + contents;
}

bool letters_room(size_t n) {
  return memory_used_now(MEMORY_LETTERS) + memory_of(n) <=
         memory_used_bound(MEMORY_LETTERS, letters.bound);
}

static bool take(size_t n) {
  if (letters.spill) {
    return memory_used_take(MEMORY_LETTERS, n, letters.bound);
  }
  memory_used_add(MEMORY_LETTERS, n);
  return true;
}

static struct letter *init(struct letter *l, size_t n) {
  if (!l) {
    need_fail("a message");
  }
  memset(l, 0, sizeof(*l));
  l->handle = handle_make(HANDLE_MESSAGE);
  l->bytes = n;
  return l;
}

/* Counted already. */
static struct letter *make_counted(size_t n, size_t room) {
  struct letter *l = init(native_alloc(memory_of(room)), n);
  l->counted = true;
  return l;
}

/* More memory than was meant for letters, where the disk is full. */
static struct letter *overdraw(size_t n, size_t room) {
  static atomic_flag said = ATOMIC_FLAG_INIT;
  memory_used_add(MEMORY_LETTERS, memory_of(room));
  if (!atomic_flag_test_and_set(&said)) {
    msg_warn_here(
        "messages that wait for their receivers: no room in the first "
        "scratch directory: they are kept in memory: free some or name "
        "another directory with --pems-disk");
  }
  return make_counted(n, room);
}

/* With room for so many bytes of its n beside it. */
static struct letter *make(size_t n, size_t room) {
  if (take(memory_of(room))) {
    return make_counted(n, room);
  }
  struct letter *l = paged_alloc(memory_of(room));
  return l ? init(l, n) : overdraw(n, room);
}

struct letter *letter_new(size_t n) {
  return make(n, 0);
}

/* With room for its contents: beside it, or in the file. */
static struct letter *make_room(size_t n) {
  uint64_t at;
  struct letter *l;
  if (n <= BESIDE || letters_room(n) || !letters.spill) {
    l = make(n, n);
  } else if (spill_take(letters.spill, n, &at)) {
    l = make(n, 0);
    l->where = LETTER_SPILLED;
    l->spill = at;
  } else {
    l = overdraw(n, n);
  }
  l->kept = true;
  return l;
}

struct letter *letter_pack(const struct layout_span *s, size_t n) {
  struct letter *l = make_room(n);
  if (l->where == LETTER_HERE) {
    span_pack(s, 0, l->here, n);
    return l;
  }
  /* The system must not read a context by itself. */
  char *chunk = need_alloc(n < CHUNK ? n : CHUNK, "a message");
  for (size_t at = 0, m; at < n; at += m) {
    m = n - at < CHUNK ? n - at : CHUNK;
    span_pack(s, at, chunk, m);
    spill_write(letters.spill, l->spill + at, chunk, m);
  }
  native_free(chunk);
  return l;
}

struct letter *letter_begin(size_t n) {
  return make_room(n);
}

void letter_write(struct letter *l, size_t position, const char *bytes,
                  size_t n) {
  if (l->where == LETTER_HERE) {
    memcpy(l->here + position, bytes, n);
  } else if (n) {
    spill_write(letters.spill, l->spill + position, bytes, n);
  }
}

struct letter *letter_copy(const char *bytes, size_t n) {
  struct letter *l = make_room(n);
  letter_write(l, 0, bytes, n);
  return l;
}

void letter_read(const struct letter *l, size_t position, char *out, size_t n) {
  if (l->where == LETTER_HERE) {
    memcpy(out, l->here + position, n);
  } else if (n) {
    spill_read(letters.spill, l->spill + position, out, n);
  }
}

void letter_unpack(const struct letter *l, const struct layout_span *s,
                   size_t n) {
  if (l->where == LETTER_HERE) {
    span_unpack(s, 0, l->here, n);
    return;
  }
  char *chunk = need_alloc(n < CHUNK ? n : CHUNK, "a message");
  for (size_t at = 0, m; at < n; at += m) {
    m = n - at < CHUNK ? n - at : CHUNK;
    spill_read(letters.spill, l->spill + at, chunk, m);
    span_unpack(s, at, chunk, m);
  }
  native_free(chunk);
}

void letter_free(struct letter *l) {
  const bool spilled = l->where == LETTER_SPILLED;
  if (spilled) {
    spill_give(letters.spill, l->spill, l->bytes);
  }
  handle_end(&l->handle);
  if (!l->counted) {
    paged_free(l);
    return;
  }
  memory_used_sub(MEMORY_LETTERS,
                  memory_of(l->kept && !spilled ? l->bytes : 0));
  native_free(l);
}

size_t letter_eager_limit(void) {
  return memory_plan_letter(&vps.plan.memory);
}
