/* Forming runs: buffers that are filled, sorted and written, all at once. */
#ifndef PEMS_EM_SORT_RUN_BUILDER_H
#define PEMS_EM_SORT_RUN_BUILDER_H

#include <stddef.h>

#include "em/sort/sort.h"

/* Two buffers of M/2 go round (Dementiev and Sanders 2003, section 2.1): while
   the caller fills one, the other is sorted and written by threads of the
   builder. One thread calls these functions. After an error only
   run_builder_free is of use; the error comes from whichever call notices it
   first. */
struct run_builder;

/* What the caller fills. */
struct run_builder_buffer {
  char *base;     /* aligned to pages */
  size_t bytes;   /* that may be used: records of a run, and for kernels that
                     do not sort in place two units more */
  size_t records; /* that may be given */
};

/* With the memory of *s, which holds the runs that come out. */
int run_builder_new(struct run_builder **f, struct sort *s,
                    struct pems_error *error);
/* Whatever is under way is waited for and dropped. NULL is allowed. */
void run_builder_free(struct run_builder *f);

/* The next buffer, when there is one. What it held before may still be on its
   way to the disk: see run_builder_ready. */
int run_builder_take(struct run_builder *f, struct run_builder_buffer **buffer,
                     struct pems_error *error);
/* Waits until the first n bytes of the buffer may be written. */
int run_builder_ready(struct run_builder *f, struct run_builder_buffer *buffer,
                      size_t n, struct pems_error *error);
/* Gives it back with n > 0 records, beside each other from `first` on. */
int run_builder_give(struct run_builder *f, struct run_builder_buffer *buffer,
                     void *first, size_t n, struct pems_error *error);
/* The caller now waits for reads, or no longer: if the sorting threads have
   nothing to do meanwhile, that is why. */
void run_builder_reading(struct run_builder *f, int reading);
/* More will come than one buffer holds; known before the second is given, it
   lets the first be written earlier. */
void run_builder_more(struct run_builder *f);

/* All was given: returns when all runs are written. But where there was one
   buffer only, and `keep`, it stays in memory and no run is made; see
   run_builder_kept. The other buffers are freed. */
int run_builder_finish(struct run_builder *f, int keep,
                       struct pems_error *error);
/* Records kept in memory, 0 if there are runs. */
size_t run_builder_kept(const struct run_builder *f);
/* Bytes that are held with them. */
size_t run_builder_kept_bytes(const struct run_builder *f);
/* Records [first, first + n) of those kept, in the user's form: where they are,
   or copied to `out`. Thread-safe for other records and other `out`. Each
   record is asked for once or always by `out` NULL; where the kernel does not
   sort in place `out` is needed. */
void *run_builder_kept_records(struct run_builder *f, size_t first, size_t n,
                               void *out);
/* CPU time of threads beside the team, in nanoseconds. */
uint64_t run_builder_cpu_ns(const struct run_builder *f);

#endif
