/* Limits of this process (ulimit), where one is what has stopped it. */
#ifndef PEMS_BASE_LIMIT_H
#define PEMS_BASE_LIMIT_H

#include <stdint.h>

/* Operations that limits make fail. */
enum limit_use {
  LIMIT_ADDRESSES, /* addresses without memory: mmap with PROT_NONE */
  LIMIT_MEMORY,    /* mmap, mprotect, mremap, malloc */
  LIMIT_THREAD,    /* pthread_create, fork */
  LIMIT_FILE,      /* open, dup, pipe; write, ftruncate */
};

enum { LIMIT_TEXT = 96 };

/* Returns what to do, for the end of a message, where `use` has failed with the
   errno value `code`: "ulimit -v is 500000 KiB: raise it" in `text` if a limit
   of this process is the cause, else `otherwise`. `bytes` is what it was to
   take: of memory; for a thread, its stack; for a file that was too large, the
   size it was to have. 0: little, the default stack, an unknown size.
   Thread-safe, does not allocate. */
const char *limit_advice(char text[LIMIT_TEXT], enum limit_use use, int code,
                         uint64_t bytes, const char *otherwise);

/* Ends the job (MSG_USAGE) where fewer than `least` files may be open at once:
   MPI says so in pages, or dies. */
void limit_need_files(unsigned least);

/* Each of n ranks of this process is to have as many files open as the process
   might: raises the limit, as far as the hard one allows. A forked child has
   the former one again. Once, before there are ranks. */
void limit_share_files(unsigned n);
/* The soft limit as a program sees it that asks, where it is `is`; and sets the
   one that it sees from now on. Thread-safe. */
uint64_t limit_files(uint64_t is);
void limit_files_become(uint64_t soft);

#endif
