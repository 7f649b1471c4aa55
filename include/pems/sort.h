/* Sorting more records than fit in memory.

   Multi-way merge sort as in Dementiev and Sanders, Asynchronous Parallel Disk
   Sorting (SPAA 2003): sorted runs are formed and written, then merged, while
   the disks read and write all the time. Not a function here is thread-safe
   beside others on the same sorter; different sorters may be used by different
   threads, on the same disks, too. */
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
  PEMS_RUNS_HALF, /* of M/2: one is sorted while another moves */
  PEMS_RUNS_LONG, /* about 2M of random input: replacement selection by batches;
                     fewer runs, more work; input that is nearly in order
                     becomes one run */
};

/* The order in which blocks are fetched for merging (section 2.4). */
enum pems_fetch {
  PEMS_FETCH_OPTIMAL, /* by the duality with queued writing (Hutchinson, Sanders
                         and Vitter 2001) */
  PEMS_FETCH_NAIVE,   /* as the merge will need them */
};

/* All fields but `record` may be 0 or NULL: then pems chooses. */
struct pems_sort_options {
  size_t size; /* sizeof of this struct; 0: that of version 0.1 */
  struct pems_record record;
  uint64_t memory;          /* M in bytes, while runs are formed; all of pems's
                               memory for this sort counts; 0: a quarter of what the
                               cgroup or the machine has */
  uint64_t merge_memory;    /* M while merging; 0: as memory */
  int threads;              /* k, that compute; 0: one per core */
  int merge_threads;        /* k while merging; 0: as threads */
  struct pems_disks *disks; /* stay the caller's; NULL: `scratch` is opened */
  struct pems_disks_options scratch;
  size_t block;   /* B in bytes, a multiple of PEMS_DISK_UNIT; 0: 1 to 8
                     MiB, or less where the budget wants it */
  uint64_t count; /* records expected; a hint for choosing B. 0: unknown */
  enum pems_runs runs;
  enum pems_deal deal;
  enum pems_fetch fetch;
  int write_buffers;    /* blocks while merging; 0: max(t/4, 2D) of t */
  int read_buffers;     /* r, blocks beside one per run; 0: all the others */
  int prefetch_buffers; /* w of the r for which the fetch order is computed; 0:
                           2D + 0.3 (r - 2D) */
  const char *kernel;   /* how to sort and merge in memory, see
                           pems_sort_kernels; NULL: the fastest that can */
  uint64_t seed;        /* of the randomised dealing */
  /* Called now and then from the thread that calls pems, with bytes done and to
     do of all phases (`todo` 0: unknown yet). May be NULL. */
  void (*progress)(void *arg, uint64_t done, uint64_t todo);
  void *progress_arg;
};

/* What one phase cost. */
struct pems_sort_phase {
  double seconds;
  double cpu_seconds;         /* of the threads that sort and merge */
  struct pems_disk_counts io; /* scratch, and the files of pems_sort_file */
};

struct pems_sort_counts {
  uint64_t records;
  uint64_t runs; /* formed */
  int passes;    /* merge passes; 0: all was in memory */
  size_t block;  /* B in bytes */
  int disks;     /* D */
  int threads;   /* k */
  int read_buffers, prefetch_buffers, write_buffers; /* of the last pass */
  uint64_t memory; /* the most bytes held at once for buffers and structures */
  const char *kernel;
  struct pems_sort_phase form, merge;
};

/* --- files --- */

/* Sorts the records of file `from` into file `to`, which has mode 0666 & ~umask
   if it is new, else keeps its mode; it may be the same file. It is written
   under another name (or none) and appears when all is done: whatever fails, an
   old `to` stays and nothing else is left. EINVAL if the size of `from` is not
   a multiple of the record's. `counts` may be NULL. */
int pems_sort_file(const char *from, const char *to,
                   const struct pems_sort_options *options,
                   struct pems_sort_counts *counts, struct pems_error *error);

/* What one scan over records tells. The sums do not depend on the order: equal
   for two files if (but for 2^-64) one is a permutation of the other. */
struct pems_sort_check {
  uint64_t count;    /* records */
  uint64_t sum[2];   /* sums of two hashes over the records */
  int sorted;        /* in the order described */
  uint64_t disorder; /* the first record before its predecessor, from 0 */
};

/* Scans a file; *options as for sorting it. */
int pems_sort_check_file(const char *path,
                         const struct pems_sort_options *options,
                         struct pems_sort_check *check,
                         struct pems_error *error);
/* The same for records in memory, in pieces: begin with *check all 0 but sorted
   = 1, and `last` (the record's size in bytes) is the caller's, for use by pems
   from piece to piece. */
void pems_sort_check_piece(struct pems_sort_check *check,
                           const struct pems_record *record,
                           const void *records, size_t count, void *last);

/* --- an array in memory --- */

/* Bytes of work memory for pems_sort_array: 0 for records of 4, 8 or 16 bytes
   with a key, unless there is more in them than the key and they are to be
   stable; else at most 16 per record, or half of the records (but 64 KiB or one
   record in any case). SIZE_MAX if there are too many, or the record is wrong.
   Thread-safe. */
size_t pems_sort_array_work(size_t n, const struct pems_record *record);
/* Sorts n records in memory in this thread, with what sorters use for a run;
   what is in order already, or the other way round, is recognised. For a rank
   of an MPI program or one of many threads: memory is all the caller's, `work`
   of pems_sort_array_work(n, record) bytes with the alignment of malloc (NULL
   if that is 0). Records need no alignment; that of uint64_t, or of the record
   if it is smaller, is faster. EINVAL for a wrong record, and for more than
   2^32 - 1 records of over 32 bytes with a comparison function. Thread-safe. */
int pems_sort_array(void *records, size_t n, const struct pems_record *record,
                    void *work, struct pems_error *error);

/* --- a sorter: push all, then pull --- */

struct pems_sorter;

/* A sorter without records. EINVAL for what is wrong in the options, ENOMEM if
   the budget is too small (the text says how much is needed), and as
   pems_disks_open. On failure *sorter is NULL. Keeps a copy of *options. */
int pems_sorter_new(struct pems_sorter **sorter,
                    const struct pems_sort_options *options,
                    struct pems_error *error);
/* Frees all, whatever it is doing. NULL is allowed. */
void pems_sorter_free(struct pems_sorter *sorter);

/* Adds n records, which are copied. After an error only pems_sorter_free is of
   use. */
int pems_sorter_push(struct pems_sorter *sorter, const void *records, size_t n,
                     struct pems_error *error);
/* The same without a copy: space for *n records (1 or more) to be filled in,
   then say how many were (0 to *n), from the beginning. */
int pems_sorter_space(struct pems_sorter *sorter, void **space, size_t *n,
                      struct pems_error *error);
int pems_sorter_filled(struct pems_sorter *sorter, size_t n,
                       struct pems_error *error);

/* No more records: what is in memory is sorted and, unless all of it fits in
   merge_memory, written. Buffers for forming runs are freed. */
int pems_sorter_finish(struct pems_sorter *sorter, struct pems_error *error);

/* Pulls: *records points to *n records in order, of those not pulled yet; *n is
   0 at the end. They are the caller's to read, until the next call; to look
   at fewer, see pems_sorter_back. The first call takes merge_memory, the one
   that returns 0 frees it. */
int pems_sorter_pull(struct pems_sorter *sorter, const void **records,
                     size_t *n, struct pems_error *error);
/* Gives the last n records of what was pulled last back: the next pull begins
   with them. */
void pems_sorter_back(struct pems_sorter *sorter, size_t n);
/* One record, or NULL at the end or on failure (then *error is filled in; set
   error->code to 0 before to tell). */
const void *pems_sorter_next(struct pems_sorter *sorter,
                             struct pems_error *error);

void pems_sorter_counts(const struct pems_sorter *sorter,
                        struct pems_sort_counts *counts);

/* Bytes of memory (and of merge_memory) without which no sorter with these
   options works, for options->count records or, where that is 0, any number in
   one merge pass of at least two runs. 0 if the options are wrong. */
uint64_t pems_sort_least_memory(const struct pems_sort_options *options);

/* The names of all kernels, best first, NULL-terminated: static. */
const char *const *pems_sort_kernels(void);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
