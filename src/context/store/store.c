#include "context/store/store.h"

#include "base/message.h"
#include "context/internal.h"
#include "context/store/crate.h"
#include "context/store/place.h"
#include "context/store/units.h"
#include "disk/contexts/batch.h"
#include "os/bits.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

_Static_assert(DISK_BLOCK == PAGE, "a page is a block");

static struct {
  struct disks *disks;
  bool mapped;
} store;

/* --- the disks --- */

void store_open(struct disks *disks) {
  store.disks = disks;
  store.mapped = disks && disks_mapped(disks);
}

void store_close(void) {
  crate_open(NULL);
  units_close();
  store.disks = NULL;
  store.mapped = false;
}

int store_compress(const struct store_compression *how) {
  return how->how == COMPRESS_NONE || !store_swaps()
             ? 0
             : units_open(store.disks, how->how, how->level, how->users,
                          how->memory);
}

bool store_compresses(void) {
  return units_on();
}

bool store_exists(void) {
  return store.disks;
}

bool store_mapped(void) {
  return store.mapped;
}

bool store_swaps(void) {
  return store.disks && !store.mapped;
}

bool store_lazy(void) {
  return store.disks && !units_on() && disks_lazy(store.disks);
}

bool store_reserved(void) {
  return store.disks && disks_reserved(store.disks);
}

int store_disks(void) {
  return store.disks ? disks_count(store.disks) : 0;
}

int store_home(const struct context *c) {
  return store.disks ? disks_home(store.disks, c->index) : -1;
}

const char *store_dir(const struct context *c) {
  return store.disks ? disks_dir(store.disks, c->index) : "memory";
}

/* The kernel cannot read memory of ours only where it is a mapped page that the
   disk does not give: a write of it fails with EFAULT. */
_Noreturn void store_failed(const struct context *c, const char *what,
                            int error) {
  if (error == EFAULT) {
    what = "reading a mapped page";
    error = EIO;
  }
  msg_fail_here(MSG_FAILED, "%s: context of rank %d in %s: %s", what, c->rank,
                store_dir(c), strerror(error));
}

/* --- space --- */

uint64_t store_bytes_to(const struct context *c, const void *p) {
  return place_offset(c, p);
}

int store_grant(int index, uint64_t from, uint64_t to, const char **dir) {
  return disks_grant(store.disks, index, from, to, dir);
}

void store_release(int index, uint64_t from, uint64_t to) {
  disks_release(store.disks, index, from, to);
}

/* --- transfers --- */

static uint64_t offset(const struct context *c, uintptr_t at) {
  return store_bytes_to(c, (const void *)at);
}

/* What lies in a row on disk. */
static void start_read(struct store_batch *b, uintptr_t at, void *memory,
                       size_t n) {
  const struct context *const c = b->context;
  if (units_on()) {
    units_start_read(context_get(c->index), &b->disks, memory, n, offset(c, at),
                     "reading a message");
  } else {
    disks_start_read(store.disks, &b->disks, c->index, memory, n,
                     offset(c, at));
  }
}

/* What c has in a crate is moved at once, for it is little. Of [at, at + n)
   the first bytes that are there, or not, alike: *moved. */
static size_t on_crate(struct store_batch *b, bool write, uintptr_t at,
                       void *memory, size_t n, bool *moved) {
  struct disks_annexed where;
  *moved = false;
  if (crate_has(b->context)) {
    n = crate_piece(b->context, at, at + n, moved, &where);
    if (*moved) {
      disk_batch_note(&b->disks, crate_move_piece(write, where, memory, n));
    }
  }
  return n;
}

void store_start_read(struct store_batch *b, uintptr_t at, void *memory,
                      size_t n) {
  char *to = memory;
  for (const uintptr_t end = at + n; at < end; at += n, to += n) {
    bool moved;
    n = on_crate(b, false, at, to, place_piece(b->context, at, end), &moved);
    if (!moved) {
      start_read(b, at, to, n);
    }
  }
}

static void start_write(struct store_batch *b, uintptr_t at, const void *memory,
                        size_t n) {
  const struct context *const c = b->context;
  if (units_on()) {
    units_open_for_write(context_get(c->index), n, offset(c, at),
                         "writing a message");
  }
  disks_start_write(store.disks, &b->disks, c->index, memory, n, offset(c, at));
}

void store_start_write(struct store_batch *b, uintptr_t at, const void *memory,
                       size_t n) {
  const char *from = memory;
  for (const uintptr_t end = at + n; at < end; at += n, from += n) {
    bool moved;
    n = on_crate(b, true, at, (void *)from, place_piece(b->context, at, end),
                 &moved);
    if (!moved) {
      start_write(b, at, from, n);
    }
  }
}

void store_wait(struct store_batch *b, const char *what) {
  const int error = disk_batch_wait(&b->disks);
  if (error) {
    store_failed(b->context, what, error);
  }
}

static uint64_t start_moves(const struct ranges *r, bool out,
                            struct store_batch *batch) {
  for (size_t i = 0; i < r->n; i++) {
    const uintptr_t at = r->item[i].start;
    const size_t n = r->item[i].end - at;
    if (out) {
      store_start_write(batch, at, (void *)at, n);
    } else {
      store_start_read(batch, at, (void *)at, n);
    }
  }
  return ranges_total(r);
}

uint64_t store_swap_out(struct context *c, const struct ranges *write,
                        const struct ranges *keep) {
  if (units_on()) {
    return units_swap_out(c, write, keep);
  }
  struct store_batch batch;
  store_begin(&batch, c);
  disk_batch_help(&batch.disks);
  const uint64_t bytes = start_moves(write, true, &batch);
  store_wait(&batch, "swapping out");
  return bytes;
}

uint64_t store_swap_in(struct context *c, const struct ranges *pages,
                       const struct ranges *more) {
  if (units_on()) {
    return units_swap_in(c, pages, more);
  }
  struct store_batch batch;
  store_begin(&batch, c);
  disk_batch_help(&batch.disks);
  const uint64_t bytes =
      start_moves(pages, false, &batch) + start_moves(more, false, &batch);
  store_wait(&batch, "swapping in");
  return bytes;
}

uint64_t store_served_ns(void) {
  return disks_served_ns();
}

int store_read_page(const struct context *c, uintptr_t at, void *memory) {
  return disks_read(store.disks, c->index, memory, PAGE, offset(c, at));
}

void store_rewrite_page(const struct context *c, uintptr_t at,
                        const void *memory) {
  if (store.mapped) {
    (void)disks_map_rewrite(store.disks, c->index, memory, offset(c, at));
  }
}

/* --- which pages have contents on disk --- */

size_t store_piece(const struct context *c, uintptr_t at, uintptr_t end,
                   bool *there) {
  return ranges_piece(&c->on_disk, at, end, there);
}

const struct ranges *store_pages(const struct context *c) {
  return &c->on_disk;
}

void store_wrote(struct context *c, uintptr_t start, uintptr_t end) {
  if (ranges_add(&c->on_disk, start, end) != 0) {
    msg_fail_here(MSG_FAILED, "out of memory: delivering to rank %d", c->rank);
  }
}

int store_outdated(struct context *c, uintptr_t start, uintptr_t end) {
  return ranges_remove(&c->on_disk, start, end);
}

void store_replace(struct context *c, struct ranges *pages) {
  ranges_free(&c->on_disk);
  c->on_disk = *pages;
  *pages = (struct ranges){0};
}

void store_clear(struct context *c) {
  units_clear(c);
  crate_forget(c);
  ranges_free(&c->on_disk);
}

/* --- mappings --- */

/* The data moves into the file: written, since an error of the disk would be a
   signal if it were copied into the mapping. */
static int map_part_to_disk(const struct context *c, struct image_part part,
                            uint64_t at) {
  const int error = disks_write(store.disks, c->index, part.data, part.len, at);
  return error || !part.len
             ? error
             : disks_map(store.disks, c->index, part.data, part.len, at);
}

int store_map_part(const struct context *c, struct image_part part) {
  return map_part_to_disk(c, part, store_bytes_to(c, part.data));
}

int store_map(const struct context *c) {
  int error = 0;
  uint64_t at = 0;
  for (int i = 0; i < image_parts(&c->image) && !error; i++) {
    const struct image_part part = image_part(&c->image, i);
    error = map_part_to_disk(c, part, at);
    at += part.len;
  }
  return error ? error
               : disks_map(store.disks, c->index, c->range,
                           bits_align_up(contexts.mu - at, PAGE), at);
}

int store_map_lazy(const struct context *c, uintptr_t start, uintptr_t end,
                   bool sequential) {
  return disks_map_lazy(store.disks, c->index, (void *)start, end - start,
                        offset(c, start), sequential);
}

void store_forget(const struct context *c, uintptr_t start, uintptr_t end) {
  disks_forget(store.disks, c->index, end - start, offset(c, start));
}
