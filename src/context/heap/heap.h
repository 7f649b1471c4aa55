/* The allocator of one context: first fit from the lowest address, merging
   neighbours, so that a context stays dense and few bytes are swapped. Blocks
   of up to 512 bytes come from slabs (heap_slab.h), larger ones are pieces of
   the space (heap_space.h) with a header of 16 bytes. */
#ifndef PEMS_CONTEXT_HEAP_HEAP_H
#define PEMS_CONTEXT_HEAP_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct heap;

struct heap_extent {
  char *start; /* page-aligned */
  size_t len;  /* bytes, a multiple of the page size */
};

/* Makes a heap over [base, base + limit); base is 2 MiB-aligned, the range is
   zero, and where limit is no multiple of the page size the rest of the last
   page belongs to it (extents are whole pages). The struct itself, the map of
   its pages and the tree of free ranges come from `native` memory (mmap, no
   reserve; resident are about 30 bytes per free range and 1 byte per page in
   slabs), never from the range; headers of live blocks lie in the range, so
   every call but heap_top, heap_live and heap_swapped needs it to be readable
   and writable. Nothing is kept in free memory. Not thread-safe: the caller
   locks. NULL if out of memory. */
struct heap *heap_create(void *base, size_t limit);
void heap_destroy(struct heap *h);

/* Lowest fit of at least n bytes aligned to `align` (a power of two, at least
   16 is given anyway). n == 0 gives a unique pointer. NULL when the limit is
   reached or n is absurd; the caller sets errno. */
void *heap_alloc(struct heap *h, size_t n, size_t align);
/* As heap_alloc, zeroed; memory that was never handed out is not touched. */
void *heap_zalloc(struct heap *h, size_t n);
/* Grows in place where the neighbour is free, else moves to the lowest fit,
   which may overlap the old block; the result is aligned to 16 only. p may not
   be NULL, n not 0. On NULL p is still valid; NULL also if p is no live block
   (heap_usable_size tells). */
void *heap_realloc(struct heap *h, void *p, size_t n);
/* Returns 0, or -1 if p is no live block of h (a double or wild free, any
   address at all): then nothing has changed. */
int heap_free(struct heap *h, void *p);
/* 0 if p is no live block of h. */
size_t heap_usable_size(const struct heap *h, const void *p);

/* The live block that holds p, which may be any address in the range: 1, and
   where it begins and its usable bytes; 0 if p is in none; -1 if that cannot be
   told (a header was overwritten). Takes time per block. */
int heap_block(const struct heap *h, const void *p, char **start, size_t *size);

/* --- whole pages that the program maps; n, align and addresses are multiples
   of the page size --- */

/* The lowest n bytes aligned to `align`; NULL as heap_alloc. The first *old
   bytes may have any contents, the rest is zero. */
void *heap_map(struct heap *h, size_t n, size_t align, size_t *old);
/* [at, at + n); false if some of it is in use, or beyond the limit. `at` may be
   any page of the range. */
bool heap_map_at(struct heap *h, void *at, size_t n, size_t *old);
/* Gives back the pages of [at, at + n) in the range that were mapped, none if
   none was. */
void heap_unmap(struct heap *h, void *at, size_t n);
/* How many bytes from `at` on, up to `end`, both in the range, are alike:
 *mapped, or not. */
size_t heap_mapped(const struct heap *h, const void *at, const void *end,
                   bool *mapped);

/* End of the used part: all live blocks lie below. */
char *heap_top(const struct heap *h);
/* Pages from here on were never used, or are gone: blocks that were freed may
   have left theirs above heap_top. */
char *heap_used_to(const struct heap *h);
/* Live bytes (as asked for, rounded up to the allocator's grain). */
size_t heap_live(const struct heap *h);

/* The pages that hold live blocks or heap structures, in address order, gaps
   of less than `merge` bytes closed; pages wholly inside free blocks are left
   out (their contents may vanish: the heap must not need them afterwards).
   Empty slabs that were kept are given back first, which may lower the top.
   Takes time per free range of at least a page, or `merge` if that is more.
   Writes up to max extents; when more are needed, the last ones are merged so
   that they fit. Returns their number. */
size_t heap_extents(struct heap *h, size_t merge, struct heap_extent *out,
                    size_t max);

/* After the range was swapped out and in again, pages outside the extents may
   be zero or garbage, and memory above heap_top is not known to be zero unless
   `zeroed`. */
void heap_swapped(struct heap *h, int zeroed);

/* From now on blocks lie in the first `now` bytes of the range, later perhaps
   in `most`, both at most the limit it was made with and above heap_top: what
   is not granted yet is not used. */
void heap_limit(struct heap *h, size_t now, size_t most);
/* After heap_alloc, heap_zalloc or heap_realloc has returned NULL: to what
   heap_limit must raise `now` for the same call to succeed, or 0 if `most`
   would not do. A block is not moved down for want of room that can be had so.
 */
size_t heap_lacks(const struct heap *h);

/* What another process needs to go on with the heap, beside the contents of
   heap_extents: so many bytes; then these. Nothing may be asked of the heap in
   between. */
size_t heap_save_size(struct heap *h);
void heap_save(const struct heap *h, void *to);
/* Its top, as an offset from its base; SIZE_MAX if those are no such bytes. */
size_t heap_saved_top(const void *from, size_t n);
/* The heap becomes that one, which had the same base; memory of the range that
   is not in its extents must be zero. As heap_state_load (heap_state.h). */
int heap_load(struct heap *h, const void *from, size_t n);

/* Walks over everything: 0 if the heap is consistent, else -1; for tests. */
int heap_check(const struct heap *h);

#endif
