/* SPDX-License-Identifier: BSD-3-Clause */
/* Sorting more records than fit in memory.

   Multi-way merge sort as in Dementiev and Sanders, Asynchronous Parallel Disk
   Sorting (SPAA 2003): sorted runs are formed and written, then merged; I/O
   overlaps with computation. Functions of one sorter must not be
   called concurrently; different sorters may be used by different threads, also
   on the same disks. */
#ifndef PEMS_SORT_H
#define PEMS_SORT_H

#include <stddef.h>
#include <stdint.h>

#include <pems/disk.h>
#include <pems/record.h>
#include <pems/status.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* How runs are formed (section 2.1). */
enum pems_runs {
  PEMS_RUNS_HALF, /* of M/2: one is sorted while another is read or written */
  PEMS_RUNS_LONG, /* about 2M of random input: replacement selection by batches;
                     fewer runs, more computation; almost sorted input
                     becomes one run */
};

/* The order in which blocks are fetched for merging (section 2.4). */
enum pems_fetch {
  PEMS_FETCH_OPTIMAL, /* by the duality with queued writing (Hutchinson, Sanders
                         and Vitter 2001) */
  PEMS_FETCH_NAIVE,   /* in the order in which the merge needs them */
};

/* All fields but `record` may be 0 or NULL for a default. */
struct pems_sort_options {
  size_t size; /* sizeof of this struct; 0: that of version 0.1 */
  struct pems_record record;
  uint64_t memory; /* M in bytes while forming runs: all memory that pems uses
                      for this sort; 0: a quarter of the memory of the cgroup or
                      machine */
  uint64_t merge_memory;    /* M while merging; 0: as memory */
  int threads;              /* k, that compute; 0: one per core */
  int merge_threads;        /* k while merging; 0: as threads */
  struct pems_disks *disks; /* remain the caller's; NULL: opens `scratch` */
  struct pems_disks_options scratch;
  size_t block; /* B in bytes, a multiple of PEMS_DISK_UNIT; 0: 1 to 8 MiB, less
                   if the budget is small */
  uint64_t count; /* expected records, a hint for choosing B; 0: unknown */
  enum pems_runs runs;
  enum pems_deal deal;
  enum pems_fetch fetch;
  int write_buffers;    /* blocks while merging; 0: max(t/4, 2D) of t */
  int read_buffers;     /* r, blocks beside one per run; 0: all the others */
  int prefetch_buffers; /* w of the r for which the fetch order is computed; 0:
                           2D + 0.3 (r - 2D) */
  const char *kernel; /* how to sort and merge in memory, see pems_sort_kernels;
                         NULL: the fastest suitable one */
  uint64_t seed;      /* of the randomised dealing */
  /* Called periodically from the calling thread with the bytes done and to be
     done over all phases (`todo` is 0 while unknown). May be NULL. */
  void (*progress)(void *arg, uint64_t done, uint64_t todo);
  void *progress_arg;
  /* NULL, or what is 0 until a signal handler, another thread or `progress`
     sets it: the sort then ends with ECANCELED at the next piece of its work.
     What it sorts is as it was before. */
  const volatile int *stop;
};

/* The cost of one phase. */
struct pems_sort_phase {
  double seconds;
  double cpu_seconds;         /* of the threads that sort and merge */
  struct pems_disk_counts io; /* scratch, and the files of pems_sort_file */
};

struct pems_sort_counts {
  uint64_t records;
  uint64_t runs; /* formed */
  int passes;    /* merge passes; 0: everything fit in memory */
  size_t block;  /* B in bytes */
  int disks;     /* D */
  int threads;   /* k */
  int read_buffers, prefetch_buffers, write_buffers; /* of the last pass */
  uint64_t memory; /* peak bytes of buffers and data structures */
  const char *kernel;
  struct pems_sort_phase form, merge;
};

/* --- files --- */

/* Sorts the records of file `from` into file `to`, which may be the same file.
   A new file gets mode 0666 & ~umask, an existing one keeps its mode. The
   result is written without a name or under another one and appears only when
   complete: after a failure the old `to` is unchanged and nothing else is left.
   A file with hard links, or that a new one cannot replace without losing its
   owner, ACL or attributes, is overwritten then: see OUTPUT in pems-sort(1).
   EINVAL if the size of `from` is not a multiple of the record size. `counts`
   may be NULL. */
int pems_sort_file(const char *from, const char *to,
                   const struct pems_sort_options *options,
                   struct pems_sort_counts *counts, struct pems_error *error);

/* Result of one scan over records. The sums do not depend on the order: they
   are equal for two files exactly if one is a permutation of the other, except
   with probability 2^-64. */
struct pems_sort_check {
  uint64_t count;    /* records */
  uint64_t sum[2];   /* sums of two hashes over the records */
  int sorted;        /* in the order described */
  uint64_t disorder; /* index of the first record that is smaller than its
                        predecessor */
};

/* Scans a file; *options as for pems_sort_file. */
int pems_sort_check_file(const char *path,
                         const struct pems_sort_options *options,
                         struct pems_sort_check *check,
                         struct pems_error *error);
/* The same for records in memory, piece by piece. Initialise *check to 0 except
   sorted = 1. `last` is memory of the caller, of one record's size, which pems
   uses from piece to piece. */
void pems_sort_check_piece(struct pems_sort_check *check,
                           const struct pems_record *record,
                           const void *records, size_t count, void *last);

/* --- an array in memory --- */

/* Bytes of work memory for pems_sort_array: 0 for records of 4, 8 or 16 bytes
   with a key, and of 24 or 32 with one of 8 at a multiple of 8, unless a stable
   sort is requested and the record is larger than its key; otherwise at most 16
   per record, or half of the records, and at least 64 KiB or one record.
   SIZE_MAX if there are too many records or the record description is invalid.
   Thread-safe. */
size_t pems_sort_array_work(size_t n, const struct pems_record *record);
/* Sorts n records in memory in the calling thread, with the kernel that sorters
   use for a run; input in ascending or descending order is recognised.
   Allocates nothing (256 KiB of the stack are enough), so it suits a rank of an
   MPI program or one of many threads: `work` has pems_sort_array_work(n,
   record) bytes aligned as by malloc (NULL if 0). Records need no alignment,
   but are sorted faster if aligned as uint64_t, or to their size if smaller.
   EINVAL for an invalid record description, and for more than 2^32 - 1 records
   of over 32 bytes with a comparison function. Thread-safe. */
int pems_sort_array(void *records, size_t n, const struct pems_record *record,
                    void *work, struct pems_error *error);

/* --- a sorter: push all, then pull --- */

struct pems_sorter;

/* Makes an empty sorter. EINVAL: invalid options. ENOMEM: the budget is too
   small (the text says how much is needed). Also the errors of pems_disks_open.
   On failure *sorter is NULL. Keeps a copy of *options. */
int pems_sorter_new(struct pems_sorter **sorter,
                    const struct pems_sort_options *options,
                    struct pems_error *error);
/* Frees the sorter in any state. NULL is allowed. */
void pems_sorter_free(struct pems_sorter *sorter);

/* Adds copies of n records. After an error only pems_sorter_free may be called.
 */
int pems_sorter_push(struct pems_sorter *sorter, const void *records, size_t n,
                     struct pems_error *error);
/* The same without a copy: pems_sorter_space returns space for *n records (at
   least 1); after filling in 0 to *n of them from the beginning, pass their
   number to pems_sorter_filled. */
int pems_sorter_space(struct pems_sorter *sorter, void **space, size_t *n,
                      struct pems_error *error);
int pems_sorter_filled(struct pems_sorter *sorter, size_t n,
                       struct pems_error *error);

/* Ends the input: the records in memory are sorted and, unless all records fit
   in merge_memory, written. Frees the buffers for forming runs, but for pages
   that merging will use again, at most merge_memory: the system may take them
   until the first pull. */
int pems_sorter_finish(struct pems_sorter *sorter, struct pems_error *error);

/* Returns the next *n records in order in *records; *n is 0 at the end. They
   may be read until the next call; see pems_sorter_back for consuming fewer.
   The first call allocates merge_memory, the one that returns 0 frees it. */
int pems_sorter_pull(struct pems_sorter *sorter, const void **records,
                     size_t *n, struct pems_error *error);
/* The next n records, or as many as there are, to memory of the caller, which
   may be where they were pushed from: record i goes to `to` + i * stride bytes.
   *n becomes their number. From the first record that is written on,
   options->stop is not heeded: if the call succeeds, what had been pushed from
   there is sorted, and if it ends with ECANCELED, nothing has been written. */
int pems_sorter_pull_into(struct pems_sorter *sorter, void *to,
                          ptrdiff_t stride, size_t *n,
                          struct pems_error *error);
/* Returns the last n records of the last pull: the next pull begins with them.
 */
void pems_sorter_back(struct pems_sorter *sorter, size_t n);
/* One record, or NULL at the end or on failure (then *error is filled in; set
   error->code to 0 before the call to distinguish them). */
const void *pems_sorter_next(struct pems_sorter *sorter,
                             struct pems_error *error);

void pems_sorter_counts(const struct pems_sorter *sorter,
                        struct pems_sort_counts *counts);

/* Minimum memory (and merge_memory) in bytes of a sorter with these options,
   for options->count records or, if that is 0, for any number in one merge pass
   of at least two runs. 0 if the options are invalid. */
uint64_t pems_sort_least_memory(const struct pems_sort_options *options);

/* The names of all kernels, best first, NULL-terminated. Static memory. */
const char *const *pems_sort_kernels(void);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
