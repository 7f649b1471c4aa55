/* Bringing records into an order that is known, in place.

   Along the cycles of the permutation: the first record of a path is laid
   aside, which leaves a hole to be filled with the record that belongs there,
   and so on until that is one laid aside. Where the next record lies is known
   only when the last step is done, so that one path would wait for memory at
   each; several at once don't, as what each wants next is fetched while the
   others move. Paths may begin on one cycle: each then ends where another has
   begun. */
#include "em/kernel/permute.h"

#include "em/kernel/record.h"

enum {
  PATHS = 16,       /* at once */
  ASIDE = 64 << 10, /* bytes of records laid aside, if not just one */
  LINE = 64,
  LINES = 4 /* of a record, to be fetched; hardware goes on */
};

struct path {
  size_t hole, next; /* to be filled, and with which record */
};

struct permuting {
  char *records;
  size_t size, n;
  void *from;
  char *aside; /* `most` records */
  int most;
  int paths; /* now: as many records are aside */
  struct path path[PATHS];
  size_t begin[PATHS]; /* where what is aside was */
  size_t seen;         /* all before are in place, or on a path */
};

static int most_paths(size_t size) {
  const size_t most = ASIDE / size;
  return most < 1 ? 1 : most < PATHS ? (int)most : PATHS;
}

size_t permute_work(size_t size) {
  return (size_t)most_paths(size) * size;
}

RECORD_INLINE size_t from_get(const struct permuting *p, size_t width,
                              size_t i) {
  return width == 4 ? ((const uint32_t *)p->from)[i]
                    : (size_t)((const uint64_t *)p->from)[i];
}

RECORD_INLINE void from_set(struct permuting *p, size_t width, size_t i) {
  if (width == 4) {
    ((uint32_t *)p->from)[i] = (uint32_t)i;
  } else {
    ((uint64_t *)p->from)[i] = i;
  }
}

RECORD_INLINE char *place(const struct permuting *p, size_t i) {
  return p->records + i * p->size;
}

RECORD_INLINE char *aside(const struct permuting *p, int i) {
  return p->aside + (size_t)i * p->size;
}

/* A path comes to a hole, and looks at what is to fill it. */
RECORD_INLINE void enter(struct permuting *p, size_t width, struct path *path,
                         size_t hole) {
  const size_t next = from_get(p, width, hole);
  from_set(p, width, hole);
  *path = (struct path){hole, next};
  __builtin_prefetch((const char *)p->from + next * width, 1);
  for (size_t at = 0; at < p->size && at < LINES * LINE; at += LINE) {
    __builtin_prefetch(place(p, next) + at, 1);
  }
}

/* Begins at the first record that is not in place; false if all are, or on a
   path. */
RECORD_INLINE bool begin(struct permuting *p, size_t width) {
  size_t i = p->seen;
  while (i < p->n && from_get(p, width, i) == i) {
    i++;
  }
  p->seen = i;
  if (i == p->n) {
    return false;
  }
  record_copy(aside(p, p->paths), place(p, i), p->size);
  p->begin[p->paths] = i;
  enter(p, width, &p->path[p->paths++], i);
  return true;
}

/* Ends a path with a record that was laid aside. The last path takes its place,
   and what is aside last that record's. */
RECORD_INLINE void end(struct permuting *p, struct path *path) {
  const int last = --p->paths;
  int found = 0;
  while (p->begin[found] != path->next) {
    found++;
  }
  record_copy(place(p, path->hole), aside(p, found), p->size);
  *path = p->path[last];
  if (found != last) {
    record_copy(aside(p, found), aside(p, last), p->size);
  }
  p->begin[found] = p->begin[last];
}

RECORD_INLINE void walk(struct permuting *p, size_t width) {
  while (p->paths < p->most && begin(p, width)) {
    continue;
  }
  while (p->paths > 0) {
    for (int i = 0; i < p->paths; i++) {
      struct path *const path = &p->path[i];
      /* Each place is entered once: one that was is where a path began. */
      if (from_get(p, width, path->next) == path->next) {
        end(p, path);
        begin(p, width);
      } else {
        record_copy(place(p, path->hole), place(p, path->next), p->size);
        enter(p, width, path, path->next);
      }
    }
  }
}

void permute(void *records, size_t size, size_t n, void *from, size_t width,
             void *work) {
  struct permuting p = {
      .records = records,
      .size = size,
      .n = n,
      .from = from,
      .aside = work,
      .most = most_paths(size),
  };
  if (width == 4) {
    walk(&p, 4);
  } else {
    walk(&p, 8);
  }
}
