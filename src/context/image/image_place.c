#define _GNU_SOURCE
#include "context/image/image_place.h"

#include "base/failure.h"
#include "base/limit.h"
#include "context/image/image_file.h"
#include "os/bits.h"
#include "os/guided.h"
#include "os/holes.h"
#include "os/pages.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

static struct {
  uintptr_t start; /* of all; 0: there are none */
  size_t each;
  int ranks;
  bool guided;
  uintptr_t next; /* the end of what is free of the open one */
  struct holes holes;
} places;

uint64_t image_place_align(const struct image_file *f) {
  uint64_t align = f->page;
  for (int i = 0; i < f->elf.nsegments; i++) {
    const Elf64_Phdr *const p = &f->elf.segment[i];
    align = p->p_type == PT_LOAD && p->p_align > align ? p->p_align : align;
  }
  return align;
}

static size_t size_of(const struct image_file *f) {
  const uint64_t align = image_place_align(f);
  /* ld.so cuts what is aligned out of something larger. */
  return f->high - f->low + (align > f->page ? align : 0);
}

size_t image_place_size(const struct image_file *f) {
  size_t n = size_of(f);
  for (int i = 0; i < f->libraries; i++) {
    n += size_of(f->library[i]);
  }
  return n;
}

static bool take(uintptr_t at, size_t n) {
  return mmap((void *)at, n, PROT_NONE,
              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE,
              -1, 0) == (void *)at;
}

static bool can_guide(void) {
  if (image_wants_name() || guided_begin(NULL) != 0) {
    return false;
  }
  (void)guided_end();
  return true;
}

int image_places_begin(const struct image_file *f, uintptr_t end, int ranks,
                       struct pems_error *error) {
  places.each = image_place_size(f);
  places.ranks = ranks;
  const size_t all = places.each * (size_t)ranks;
  places.start = bits_align_down(end - all, HUGE_PAGE);
  int code = take(places.start, end - places.start) ? 0 : errno;
  places.guided = can_guide();
  code = code || places.guided ? code : holes_fill(&places.holes, places.start);
  if (code) {
    places.start = 0;
  }
  char advice[LIMIT_TEXT];
  return code ? failure(error, code,
                        "addresses for copies of the program: %zu bytes: %s: "
                        "%s",
                        all, strerror(code),
                        limit_advice(advice, LIMIT_ADDRESSES, code, all,
                                     "use fewer ranks"))
              : 0;
}

static uintptr_t place_of(int rank) {
  return places.start + places.each * (size_t)rank;
}

void image_place_open(int rank) {
  if (places.start) {
    munmap((void *)place_of(rank), places.each);
    places.next = place_of(rank) + places.each;
  }
}

void *image_place_next(const struct image_file *f) {
  if (!places.start || !places.guided) {
    return NULL;
  }
  places.next -= size_of(f);
  return (void *)places.next;
}

static bool lies_in(const struct image *img, uintptr_t start, size_t n) {
  return (uintptr_t)img->text - start < n;
}

int image_place_check(const struct image *img, int rank,
                      struct pems_error *error) {
  bool good = true;
  if (!places.start) {
    return 0;
  }
  const uintptr_t start = place_of(rank);
  good = lies_in(img, start, places.each);
  for (int i = 0; i < img->libraries; i++) {
    good = good && lies_in(&img->library[i], start, places.each);
  }
  return good ? 0
              : failure(error, EBUSY,
                        "checkpoints: the copy of the program for rank %d is "
                        "not where it should be: leave out --pems-checkpoint",
                        rank);
}

void image_places_end(void) {
  if (places.start) {
    holes_free(&places.holes);
  }
  places.start = 0;
}
