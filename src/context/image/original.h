/* What ld.so has loaded of each library, for copies made at run time. */
#ifndef PEMS_CONTEXT_IMAGE_ORIGINAL_H
#define PEMS_CONTEXT_IMAGE_ORIGINAL_H

#include "context/image/image_file.h"

#include <link.h>
#include <stdbool.h>

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
};

/* All of the following are called under a lock of the caller's. */

/* Learns what ld.so has loaded so far, when no copies are there yet; the
   program and its libraries are f's. 0, or an errno value with *error filled
   in. */
int original_start(const struct image_file *f, struct pems_error *error);
void original_end(void);

/* As dlopen of the name or path by a library with `runpath` (stub.h). No
   constructor of what ranks get copies of runs. NULL: `why` says so as dlerror
   does. RTLD_NOLOAD: NULL with an empty `why` if it is not there. */
struct original *original_open(const char *name, const char *runpath, int flags,
                               char *why, size_t size);

/* The library that an address lies in, if ranks have copies of it, or NULL. */
struct original *original_at(const void *p);
/* What ld.so knows by this map; NULL if memory is short. */
struct original *original_of(struct link_map *map);
struct original *original_number(int index);
int original_count(void);

/* Who is told of each library that is opened at run time and shared (`why`, or
   NULL where that is how it is for all jobs). NULL: nobody. */
void original_on_shared(void (*note)(const struct link_map *map,
                                     const char *why));

#endif
