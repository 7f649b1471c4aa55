/* Kernels: how runs of records are sorted and merged in memory. */
#ifndef PEMS_EM_KERNEL_KERNEL_H
#define PEMS_EM_KERNEL_KERNEL_H

#include <stdbool.h>
#include <stddef.h>

#include "em/core/team.h"
#include "pems/record.h"

/* A piece of a sorted sequence. */
struct kernel_piece {
  const char *at; /* n records beside each other, in their stored form */
  size_t n;
};

/* Records have two forms: the user's and the stored one, which a kernel may
   choose as it likes it best (a key that is an unsigned number in ascending
   order, say), of the same size. Runs and blocks between `sort` and the last
   merge hold stored records. No function fails: all memory is given. Functions
   are thread-safe as long as what they write is not shared. */
struct kernel {
  const char *name;
  const char *help; /* one line */
  /* True if it can sort such records on this machine. */
  bool (*fits)(const struct pems_record *r);

  /* Bytes of work memory that `sort` needs for n records and k threads. */
  size_t (*sort_work)(const struct pems_record *r, size_t n, int threads);
  /* Sorts n records in the user's form. Afterwards they lie in place in order
     and in stored form, if there is no `emit`; else they may be anywhere, and
     `emit` tells. `records` is aligned to 64 bytes where the size of a record
     is a multiple of 8, `work` always. Calls team_run itself. */
  void (*sort)(const struct pems_record *r, struct team *team, void *records,
               size_t n, void *work);
  /* NULL, or copies [first, first + count) of the sorted order to `out`, in
     stored form, in the calling thread: several may do so at once. */
  void (*emit)(const struct pems_record *r, const void *records, size_t n,
               const void *work, size_t first, size_t count, void *out);

  /* Bytes of work memory that `array` needs for n records; 0: none;
     SIZE_MAX: it cannot sort so many. */
  size_t (*array_work)(const struct pems_record *r, size_t n);
  /* Sorts n records for good, in the calling thread: they lie in place in the
     user's form. `work` is aligned to 16 bytes; the records need not be. */
  void (*array)(const struct pems_record *r, void *records, size_t n,
                void *work);

  /* The order of two stored records. */
  int (*compare)(const struct pems_record *r, const void *a, const void *b);
  /* How many of n stored records in order, beside each other, are before
     `key`; or, where `equal`, not behind it. */
  size_t (*rank)(const struct pems_record *r, const void *records, size_t n,
                 const void *key, int equal);

  /* Bytes of work memory of one `merge` of that many pieces (at most). */
  size_t (*merge_work)(const struct pems_record *r, int pieces);
  /* Merges pieces to `out`, in the calling thread. Equal records come out in
     the order of the pieces if r->stable. Pieces may be empty; those of one run
     follow each other. The result is in stored form, or where `last` in the
     user's. */
  void (*merge)(const struct pems_record *r, const struct kernel_piece *piece,
                int pieces, void *out, void *work, int last);
  /* From the user's form to the stored one, in place, and back; NULL where they
     are the same. */
  void (*encode)(const struct pems_record *r, void *records, size_t n);
  void (*decode)(const struct pems_record *r, void *records, size_t n);
};

/* All kernels, NULL-terminated, best first. */
extern const struct kernel *const kernels[];

/* The first kernel that fits, or the one of that name (a name not NULL); NULL
   if there is none or it does not fit. */
const struct kernel *kernel_find(const struct pems_record *r, const char *name);
/* The same; where there is none *error says so (EINVAL). */
const struct kernel *kernel_choose(const struct pems_record *r,
                                   const char *name, struct pems_error *error);

#endif
