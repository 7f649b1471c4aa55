/* The libraries that one VP has opened: for opened*.c. */
#ifndef PEMS_CONTEXT_IMAGE_OPENED_SET_H
#define PEMS_CONTEXT_IMAGE_OPENED_SET_H

#include "context/image/image.h"
#include "context/image/opened_host.h"

#include <stdbool.h>
#include <stdint.h>

struct original;     /* context/image/original.h */
struct opened_space; /* in opened_set.c */

/* Of its data; more stay in memory. */
enum { OPENED_PARTS = 4 };

/* A handle: of a copy, or of what is shared or was there from the start. */
struct opened {
  struct opened *next, *before; /* in the order of construction */
  struct original *of;
  struct original *root; /* it came when this was opened */
  int opens;             /* by dlopen */
  bool global, stays;    /* RTLD_GLOBAL, RTLD_NODELETE were given */
  bool is_self;          /* the program */
  struct image img;      /* of a copy */
  char *wanted;          /* where it is to lie; NULL: anywhere, */
  bool placed;           /* or at addresses that are the VP's in each process */
  struct image_part part[OPENED_PARTS]; /* of its data, if they are the VP's */
  int parts;                            /* memory */
  char *home;                           /* of all of them, or NULL; */
  char *had;                            /* if the VP has one for it already */
  uint64_t beside;                      /* bytes that count beside contexts */
  bool built;                           /* it is a copy, and complete */
  bool is_new;       /* its constructors have not been asked for */
  bool constructed;  /* they have begun */
  bool needed, dead; /* what closing finds */
  bool ending;       /* its destructors have been asked for */
};

/* Which of the VP's threads opens or closes. */
struct opened_turn {
  _Atomic uint32_t taken;
  _Atomic(const void *) owner;
  int depth;
};

struct opened_set {
  struct opened *first, *last;
  struct opened self; /* what dlopen(NULL) gives */
  struct opened_turn turn;
  struct opened_space *space; /* opened in namespaces of their own */
  int rank;
  char *dir;
  struct opened_host host;
};

void opened_set_append(struct opened_set *set, struct opened *o);
void opened_set_remove(struct opened_set *set, struct opened *o);
/* The VP's handle for a library, or NULL. */
struct opened *opened_find(const struct opened_set *set,
                           const struct original *of);
/* What the program is given for it: the address where the VP has the library,
   or the program, which is another process's, too, where copies have places.
   Back: NULL if it is none. */
void *opened_handle(const struct image *img, const struct opened *o);
struct opened *opened_by_handle(const struct image *img, const void *handle);
/* Addresses for a copy of it that no other has, or NULL: there are none. */
char *opened_set_place(const struct opened_set *set,
                       const struct image_file *f);
/* Where the VP has the library, or NULL. */
char *opened_base(const struct image *img, const struct original *of);
/* The library whose copy of this VP has this code, or NULL. */
struct original *opened_owner(const struct image *img, const void *code);

/* What a VP has opened by dlmopen in a namespace of its own: ld.so has loaded
   that anew, and nobody else has it, so that the VP's handles are ld.so's. */

/* One more dlmopen has returned this handle. 0 or ENOMEM. */
int opened_space_add(struct image *img, void *handle);
bool opened_space_has(const struct image *img, const void *handle);
/* One more dlclose was called; it is forgotten after the last. */
void opened_space_drop(struct image *img, const void *handle);
/* Forgets all. They stay open: ld.so does not unload a libc safely where
   threads run. */
void opened_space_end(struct image *img);

#endif
