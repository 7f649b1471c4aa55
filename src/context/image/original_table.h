/* The libraries that ld.so has loaded, and what is known of each. */
#ifndef PEMS_CONTEXT_IMAGE_ORIGINAL_TABLE_H
#define PEMS_CONTEXT_IMAGE_ORIGINAL_TABLE_H

#include "context/image/image_file.h"

#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum original_kind {
  ORIGINAL_SHARED,  /* one for all ranks */
  ORIGINAL_PROGRAM, /* each rank has a copy from the start, */
  ORIGINAL_LINKED,  /* of this, too: image.library[linked] */
  ORIGINAL_OPENED,  /* a rank that opens it gets a copy */
};

/* A word of the image that holds an address in a library of which ranks have
   copies: its place, and the address relative to that library's base. */
struct original_word {
  uint64_t at, value;
  int owner; /* index */
};

struct original {
  int index;
  enum original_kind kind;
  int linked;
  struct link_map *map;
  void *handle;                  /* of dlopen, kept */
  const struct image_file *file; /* NULL if shared */

  /* If opened at run time: */
  struct image_file *own_file;
  char *pristine; /* [data, data_end) of the image: relocated, but before any
                     constructor has run */
  uint64_t data, data_end;
  struct original_word *word;
  size_t nwords;
  struct original **need; /* what must be there in copies, first what
                             DT_NEEDED names, in its order */
  int nneeds, direct;     /* how many it names */
  const void *visited;    /* by a walk */
  bool bound;             /* words and need are known */
  bool stays;             /* as ld.so has it: is never unloaded */
  bool constructed;       /* the original itself, for what is shared */
  bool stray;             /* shared, though not as it is in all jobs */
  bool at_start;          /* it was there before any rank opened anything, */
  bool in_scope;          /* and all find its symbols: came with the program */
  bool chosen;            /* kind is what it will be */
  bool seen;              /* a rank has opened it, or what needs it */
};

/* All of the following are called under a lock of the caller's. */

/* What ld.so knows by this map; NULL if it is not in the table. */
struct original *original_find(const struct link_map *map);
/* Adds it, as shared; NULL with errno: memory is short. */
struct original *original_add(struct link_map *map);
/* Finds it, or adds it. */
struct original *original_of(struct link_map *map);
struct original *original_number(int index);
int original_count(void);
/* The one that a DT_NEEDED of this name means, or NULL. */
struct original *original_named(const char *name);
/* Does an address lie in it? Never in what is shared. */
bool original_holds(const struct original *o, const void *p);
/* The library that an address lies in, if ranks have copies of it, or NULL. */
struct original *original_at(const void *p);
/* Are the n bytes at `at` of the image among those in o->pristine? */
static inline bool original_keeps(const struct original *o, uint64_t at,
                                  size_t n) {
  return at >= o->data && at < o->data_end && o->data_end - at >= n;
}
/* Forgets all. */
void original_table_end(void);

#endif
