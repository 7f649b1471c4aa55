#include "tasks/bag_map.h"

#include <errno.h>
#include <string.h>

#include "os/native.h"

#define BLOCK 255 /* bags: a block takes 4 KiB */
#define AHEAD 8

struct task_map_block {
  int n;
  struct task_map_entry entry[BLOCK];
};

void task_map_free(struct task_bag_map *map) {
  for (size_t i = 0; i < map->n; i++) {
    native_free(map->block[i]);
  }
  native_free(map->block);
  native_free(map->last);
  memset(map, 0, sizeof(*map));
}

/* The first block that ends at or after `end`; n if there is none. */
static size_t find_block(const struct task_bag_map *map, uint64_t end) {
  size_t low = 0, high = map->n;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (map->last[middle] < end) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

static int find_entry(const struct task_map_block *block, uint64_t end) {
  int low = 0, high = block->n;
  while (low < high) {
    const int middle = (low + high) / 2;
    if (block->entry[middle].end < end) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

struct task_map_place task_map_seek(const struct task_bag_map *map,
                                    uint64_t end) {
  struct task_map_place at = {find_block(map, end), 0};
  if (at.block < map->n) {
    at.entry = find_entry(map->block[at.block], end);
  }
  return at;
}

struct task_map_place task_map_behind(const struct task_bag_map *map) {
  return (struct task_map_place){map->n, 0};
}

struct task_bag *task_map_next(const struct task_bag_map *map,
                               struct task_map_place *at) {
  if (at->block == map->n) {
    return NULL;
  }
  const struct task_map_block *const block = map->block[at->block];
  struct task_bag *const bag = block->entry[at->entry].bag;
  /* Most bags that are passed are empty, and that is all that is read. */
  if (at->entry + AHEAD < block->n) {
    __builtin_prefetch(block->entry[at->entry + AHEAD].bag);
  }
  if (++at->entry == block->n) {
    at->block++;
    at->entry = 0;
  }
  return bag;
}

struct task_bag *task_map_previous(const struct task_bag_map *map,
                                   struct task_map_place *at) {
  if (at->entry == 0) {
    if (at->block == 0) {
      return NULL;
    }
    at->entry = map->block[--at->block]->n;
  }
  at->entry--;
  return map->block[at->block]->entry[at->entry].bag;
}

struct task_bag *task_map_find(const struct task_bag_map *map, uint64_t end,
                               int lmf) {
  struct task_map_place at = task_map_seek(map, end);
  for (;;) {
    struct task_bag *bag = task_map_next(map, &at);
    if (!bag || bag->end != end || bag->lmf > lmf) {
      return NULL;
    }
    if (bag->lmf == lmf) {
      return bag;
    }
  }
}

/* --- adding --- */

static int grow(struct task_bag_map *map) {
  if (map->n < map->most) {
    return 0;
  }
  const size_t most = map->most ? 2 * map->most : 16;
  struct task_map_block **block =
      native_realloc(map->block, most * sizeof(*block));
  if (!block) {
    return ENOMEM;
  }
  map->block = block;
  uint64_t *last = native_realloc(map->last, most * sizeof(*last));
  if (!last) {
    return ENOMEM;
  }
  map->last = last;
  map->most = most;
  return 0;
}

/* An empty block at place i. */
static int add_block(struct task_bag_map *map, size_t i) {
  struct task_map_block *block = native_alloc(sizeof(*block));
  if (!block || grow(map)) {
    native_free(block);
    return ENOMEM;
  }
  memmove(map->block + i + 1, map->block + i,
          (map->n - i) * sizeof(*map->block));
  memmove(map->last + i + 1, map->last + i, (map->n - i) * sizeof(*map->last));
  block->n = 0;
  map->block[i] = block;
  map->n++;
  return 0;
}

/* Gives half of block i to a new one behind it; nearly nothing if it is the
   last one, for priorities mostly grow. */
static int split(struct task_bag_map *map, size_t i) {
  if (add_block(map, i + 1)) {
    return ENOMEM;
  }
  struct task_map_block *const from = map->block[i], *const to =
                                                         map->block[i + 1];
  const int keep = i + 2 == map->n ? BLOCK - 1 : BLOCK / 2;
  to->n = from->n - keep;
  memcpy(to->entry, from->entry + keep, (size_t)to->n * sizeof(*to->entry));
  from->n = keep;
  map->last[i + 1] = map->last[i];
  map->last[i] = from->entry[keep - 1].end;
  return 0;
}

/* The place where it belongs, in a block that is there. */
static struct task_map_place place_for(const struct task_bag_map *map,
                                       const struct task_bag *bag) {
  struct task_map_place at = task_map_seek(map, bag->end), next = at;
  for (const struct task_bag *b; (b = task_map_next(map, &next)) &&
                                 task_bag_before(b, bag->end, bag->lmf);) {
    at = next;
  }
  if (at.block == map->n) {
    at.block--;
    at.entry = map->block[at.block]->n;
  }
  return at;
}

static int add_first(struct task_bag_map *map, struct task_bag *bag) {
  if (add_block(map, 0)) {
    return ENOMEM;
  }
  map->block[0]->entry[0] = (struct task_map_entry){bag->end, bag};
  map->block[0]->n = 1;
  map->last[0] = bag->end;
  map->bags = 1;
  return 0;
}

int task_map_add(struct task_bag_map *map, struct task_bag *bag) {
  if (!map->n) {
    return add_first(map, bag);
  }
  struct task_map_place at = place_for(map, bag);
  if (map->block[at.block]->n == BLOCK) {
    if (split(map, at.block)) {
      return ENOMEM;
    }
    at = place_for(map, bag);
  }
  struct task_map_block *const block = map->block[at.block];
  memmove(block->entry + at.entry + 1, block->entry + at.entry,
          (size_t)(block->n - at.entry) * sizeof(*block->entry));
  block->entry[at.entry] = (struct task_map_entry){bag->end, bag};
  block->n++;
  map->last[at.block] = block->entry[block->n - 1].end;
  map->bags++;
  return 0;
}

/* --- removing --- */

static void remove_block(struct task_bag_map *map, size_t i) {
  native_free(map->block[i]);
  map->n--;
  memmove(map->block + i, map->block + i + 1,
          (map->n - i) * sizeof(*map->block));
  memmove(map->last + i, map->last + i + 1, (map->n - i) * sizeof(*map->last));
}

void task_map_remove(struct task_bag_map *map, struct task_map_place *at) {
  task_map_previous(map, at);
  struct task_map_block *const block = map->block[at->block];
  block->n--;
  memmove(block->entry + at->entry, block->entry + at->entry + 1,
          (size_t)(block->n - at->entry) * sizeof(*block->entry));
  map->bags--;
  if (!block->n) {
    remove_block(map, at->block);
    return;
  }
  map->last[at->block] = block->entry[block->n - 1].end;
  if (at->entry == block->n) {
    at->block++;
    at->entry = 0;
  }
}
