/* The file of one rank in a checkpoint: blocks, each with a sum of its own, and
   one that says that this was all. */
#ifndef PEMS_CHECKPOINT_BLOCKS_H
#define PEMS_CHECKPOINT_BLOCKS_H

#include <limits.h>
#include <stddef.h>
#include <stdint.h>

#include <pems/status.h>

/* What a block has; numbers are written to files. */
enum checkpoint_kind {
  CHECKPOINT_END = 1, /* nothing; `at` is the number of blocks before */
  CHECKPOINT_RANK,    /* what pems knows of the rank */
  CHECKPOINT_HEAP,    /* where its heap has blocks */
  CHECKPOINT_MEMORY,  /* bytes at an address of its context */
  CHECKPOINT_STACK,   /* bytes at an address of its stack */
  CHECKPOINT_NAMES,   /* texts, each ended with '\0' */
  CHECKPOINT_EXITS,   /* functions to call when it ends */
  CHECKPOINT_OBJECTS, /* of MPI, that its program has */
  /* Its requests, and messages that it has not received: */
  CHECKPOINT_MESSAGES,
  CHECKPOINT_POINTERS, /* shared ones of files that it owns */
  CHECKPOINT_WINDOWS,  /* what others have done to its windows */
  /* What it has of its process and of the C library (interpose/keep.h): */
  CHECKPOINT_SIGNALS = 32,   /* its actions */
  CHECKPOINT_TIMERS,         /* its interval timers */
  CHECKPOINT_KEYS,           /* of thread-specific data, and their values */
  CHECKPOINT_THREAD_OBJECTS, /* thread_local ones with destructors */
  CHECKPOINT_LOCALE,         /* a text */
  CHECKPOINT_DESCRIPTORS,    /* how many files it has open */
  CHECKPOINT_FILE,           /* one of them; `at` is its number */
  CHECKPOINT_STREAMS,        /* where its FILE objects are */
  CHECKPOINT_MAPPINGS,       /* how many files it has mapped */
  CHECKPOINT_MAPPING,        /* one of them; `at` is its address */
  CHECKPOINT_LIBRARIES,      /* that it has opened */
  CHECKPOINT_LAST = 63,
};

enum { CHECKPOINT_LARGEST = 1 << 20 }; /* bytes of a block */

struct checkpoint_block {
  enum checkpoint_kind kind;
  uint64_t at;
  size_t n; /* bytes */
};

/* What is known of a file when it is complete. */
struct checkpoint_sum {
  uint64_t bytes, sum;
};

/* What a file has before its end. */
struct checkpoint_tail {
  uint64_t blocks;
  struct checkpoint_sum sum;
};

struct checkpoint_out {
  int fd;
  char path[PATH_MAX];
  uint64_t blocks;
  struct checkpoint_sum sum;
  struct checkpoint_tail tail; /* when it is finished */
  char *copy; /* NULL: what is written does not change meanwhile; else bytes of
                 a block */
};

/* All return 0, or an errno value with *error filled in, and are for one thread
   at a time. */

/* A new file. After any error it is of no use, but is to be closed. */
int checkpoint_create(struct checkpoint_out *o, const char *path,
                      struct pems_error *error);
/* A file that was finished: more is to be added to it, and it is to be finished
   once more. */
int checkpoint_create_more(struct checkpoint_out *o, const char *path,
                           const struct checkpoint_tail *tail,
                           struct pems_error *error);
/* From now on what is added may be written to by others meanwhile: which of its
   bytes are in the file is then not known, but their sums are right. */
int checkpoint_put_changing(struct checkpoint_out *o, struct pems_error *error);
/* Adds n bytes from p, cut into blocks; none for 0 bytes. */
int checkpoint_put(struct checkpoint_out *o, enum checkpoint_kind kind,
                   uint64_t at, const void *p, size_t n,
                   struct pems_error *error);
/* Adds memory at its address, without what is zero. */
int checkpoint_put_memory(struct checkpoint_out *o, const void *p, size_t n,
                          struct pems_error *error);
/* Ends the file, which is on disk then: *sum tells what it is. */
int checkpoint_finish(struct checkpoint_out *o, struct checkpoint_sum *sum,
                      struct pems_error *error);
void checkpoint_close(struct checkpoint_out *o);

struct checkpoint_in {
  int fd;
  char path[PATH_MAX];
  uint64_t blocks;
  uint64_t due; /* the sum that the next block is to have */
  struct checkpoint_sum sum;
};

/* Any file of a checkpoint, to be read: a regular one, so that no FIFO in its
   place is waited for. */
int checkpoint_open_file(int *fd, const char *path, struct pems_error *error);
int checkpoint_open(struct checkpoint_in *in, const char *path,
                    struct pems_error *error);
/* What comes next; its bytes are to be read. After CHECKPOINT_END comes
   nothing. */
int checkpoint_next(struct checkpoint_in *in, struct checkpoint_block *b,
                    struct pems_error *error);
/* Its bytes, to memory for b->n. They are there also where their sum is wrong,
   which is EILSEQ. */
int checkpoint_get(struct checkpoint_in *in, const struct checkpoint_block *b,
                   void *to, struct pems_error *error);
/* The next block, which is to be of this kind: its bytes, for native_free, and
   how many. After an error there is nothing to be freed. */
int checkpoint_take(struct checkpoint_in *in, enum checkpoint_kind kind,
                    void **bytes, size_t *n, struct pems_error *error);
void checkpoint_shut(struct checkpoint_in *in);

/* Reads all of a file: is it what the sum tells? NULL: only, are all its blocks
   as they were written? */
int checkpoint_verify(const char *path, const struct checkpoint_sum *sum,
                      struct pems_error *error);
/* Is the name that of a file of so many bytes? */
int checkpoint_look(const char *path, const struct checkpoint_sum *sum,
                    struct pems_error *error);

#endif
