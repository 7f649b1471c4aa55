/* Buffers of who compresses or decompresses units of contexts: a fixed number,
   so that they take no more memory than is planned for them. */
#ifndef PEMS_CONTEXT_STORE_WORKSPACE_H
#define PEMS_CONTEXT_STORE_WORKSPACE_H

#include "config/options.h"
#include "disk/contexts/disk.h"

#include <stddef.h>
#include <stdint.h>

enum {
  WORKSPACE_UNIT = 128 << 10, /* bytes of a buffer */
  WORKSPACE_SLOTS = 2,        /* in one half */
};

struct codec;

/* Units that are under way together. */
struct workspace_half {
  struct disk_batch batch;
  int n; /* of them in use */
  struct {
    char *data; /* WORKSPACE_UNIT bytes, whole pages */
    uint64_t unit;
  } slot[WORKSPACE_SLOTS];
};

/* One half is filled while the other is moved. */
struct workspace {
  struct workspace *next;
  struct codec *codec;
  char *buffers; /* all of them */
  char *plain;   /* one for a unit as it is in memory */
  struct workspace_half half[2];
  int now;
};

/* Up to `most` for compression `how`, as many as `bytes` bytes allow, but at
   least one. 0 or -1: out of memory. */
int workspaces_create(enum option_compress how, int level, int most,
                      size_t bytes);
void workspaces_destroy(void);

/* Waits for a free one, whose halves are empty. The holder may do I/O and wait
   for a context's units_lock, but for nothing else. Thread-safe. */
struct workspace *workspace_take(void);
void workspace_give(struct workspace *w);
int workspaces_count(void);

#endif
