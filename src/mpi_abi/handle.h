/* What all objects that pems gives out as MPI handles begin with:
   communicators, groups, requests, messages, windows, files, sessions. How a
   handle represents its object is the ABI's matter (abi.h); Fortran's is a
   number of the process, or, where checkpoints are taken, of the rank: handles
   are in the program's memory, and name the same objects in other processes. */
#ifndef PEMS_MPI_ABI_HANDLE_H
#define PEMS_MPI_ABI_HANDLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum handle_kind {
  HANDLE_NONE,
  HANDLE_COMM = 0x70e50001,
  HANDLE_GROUP,
  HANDLE_REQUEST,
  HANDLE_MESSAGE,
  HANDLE_WIN,
  HANDLE_FILE,
  HANDLE_SESSION,
  HANDLE_TYPE, /* these four: carried.h */
  HANDLE_OP,
  HANDLE_INFO,
  HANDLE_ERRHANDLER,
};

struct handle {
  uint32_t kind; /* enum handle_kind; something else once it is freed */
  int fortran;   /* its number, or 0: none was asked for */
};

static inline struct handle handle_make(enum handle_kind kind) {
  return (struct handle){kind, 0};
}
/* To be called before the object's memory is freed: gives the number back. */
void handle_end(struct handle *h);

/* Is p an object of this kind? p may be NULL or a predefined handle of the real
   library (any readable memory of that size). */
static inline bool handle_is(const void *p, enum handle_kind kind) {
  return p && ((const struct handle *)p)->kind == (uint32_t)kind;
}
/* p as an object of this kind, which begins with its struct handle; NULL if it
   is none. */
static inline void *handle_object(void *p, enum handle_kind kind) {
  return handle_is(p, kind) ? p : NULL;
}

/* The number of an object, and the object of a number: NULL if there is none,
   or none of that kind. Numbers start where those of the real library's own
   handles do not reach. Thread-safe; the object of a number is found without a
   lock. */
int handle_c2f(struct handle *h);
struct handle *handle_numbered(int number);
struct handle *handle_f2c(enum handle_kind kind, int number);

/* --- the same in other processes --- */

/* Are handles the same in other processes: numbers of each rank's own, and in C
   addresses that stand for them? */
extern bool handles_fixed;
/* From now on, before any was given out. Fails like need_alloc. */
void handles_fix(int ranks);
/* h becomes the object of a number that the calling rank had in another
   process. False: it is none, or in use. */
bool handle_restore(struct handle *h, int number);
/* The object of a rank with the next number above `number` (0: any), or NULL.
   For that rank's thread, or while it has stopped. */
struct handle *handle_next(int rank, int number);

void *handle_fixed_address(struct handle *h);
void *handle_at_fixed_address(const void *address);

/* Where handles are addresses: the one that the program gets for an object,
   and the object behind one, or, if it is none of these, the address itself.
   NULL is NULL. */
static inline void *handle_shown(const void *object) {
  struct handle *const h = (struct handle *)(uintptr_t)object;
  return handles_fixed && h ? handle_fixed_address(h) : h;
}
static inline void *handle_behind(const void *address) {
  return handles_fixed ? handle_at_fixed_address(address)
                       : (void *)(uintptr_t)address;
}

#endif
