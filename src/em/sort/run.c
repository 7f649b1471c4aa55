#include "em/sort/run.h"

#include <errno.h>
#include <string.h>

#include "base/failure.h"
#include "os/native.h"

void runs_init(struct runs *all, struct memory *memory,
               struct pems_disks *disks, size_t block, size_t record_size) {
  *all = (struct runs){
      .memory = memory,
      .disks = disks,
      .block = block,
      .record_size = record_size,
      .per_block = block / record_size,
  };
}

void run_free_block(struct runs *all, struct run *run, size_t i) {
  if (run->at[i].disk >= 0) {
    pems_block_free(all->disks, run->at[i], all->block);
  }
  run->at[i].disk = -1;
}

/* Bytes that a block of a run takes in memory. */
static int64_t entry_bytes(const struct runs *all) {
  return (int64_t)(sizeof(struct pems_block) + all->record_size);
}

void runs_drop(struct runs *all, struct run *run) {
  for (size_t i = 0; i < run->blocks; i++) {
    run_free_block(all, run, i);
  }
  memory_note(all->memory, -(int64_t)run->room * entry_bytes(all));
  native_free(run->at);
  native_free(run->least);
  *run = (struct run){0};
}

void runs_clear(struct runs *all) {
  for (size_t i = 0; i < all->count; i++) {
    runs_drop(all, &all->run[i]);
  }
  native_free(all->run);
  all->run = NULL;
  all->count = all->room = 0;
}

struct run *runs_add(struct runs *all) {
  if (all->count == all->room) {
    const size_t room = all->room ? 2 * all->room : 16;
    struct run *const run = native_realloc(all->run, room * sizeof(*run));
    if (!run) {
      return NULL;
    }
    all->run = run;
    all->room = room;
  }
  all->run[all->count] = (struct run){0};
  return &all->run[all->count++];
}

int run_resize(struct runs *all, struct run *run, size_t room) {
  if (room < run->blocks) {
    room = run->blocks;
  }
  if (room == run->room || room == 0) {
    return 0;
  }
  struct pems_block *const at = native_realloc(run->at, room * sizeof(*at));
  if (!at) {
    return ENOMEM;
  }
  run->at = at;
  char *const least = native_realloc(run->least, room * all->record_size);
  if (least) {
    run->least = least;
  } else if (room > run->room) {
    return ENOMEM;
  }
  /* Where it was to shrink, `at` has, so that room is no more than that. */
  memory_note(all->memory,
              ((int64_t)room - (int64_t)run->room) * entry_bytes(all));
  run->room = room;
  return least ? 0 : ENOMEM;
}

static int grow(struct runs *all, struct run *run) {
  return run_resize(all, run, run->room + run->room / 4 + 4);
}

int run_add_block(struct runs *all, struct run *run, struct pems_dealer *dealer,
                  const void *least, size_t records, struct pems_block *at,
                  struct pems_error *error) {
  if (run->blocks == run->room && grow(all, run)) {
    return failure(error, ENOMEM,
                   "memory: %zu blocks of a run: free some of it", run->blocks);
  }
  const int failed = pems_block_new(all->disks, dealer, all->block, at, error);
  if (failed) {
    return failed;
  }
  run->at[run->blocks] = *at;
  memcpy(run->least + run->blocks * all->record_size, least, all->record_size);
  run->blocks++;
  run->records += records;
  return 0;
}

size_t run_block_records(const struct runs *all, const struct run *run,
                         size_t i) {
  return i + 1 < run->blocks
             ? all->per_block
             : (size_t)(run->records - (uint64_t)i * all->per_block);
}

size_t run_bytes(const struct runs *all, size_t records) {
  const size_t n = records * all->record_size;
  return (n + PEMS_DISK_UNIT - 1) & ~(size_t)(PEMS_DISK_UNIT - 1);
}
