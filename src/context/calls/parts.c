/* Data of libraries that a VP's program opens, as parts of its context. */
#include "context/calls/parts.h"

#include "context/calls/allocate.h"
#include "context/calls/discard.h"
#include "context/residency/residency.h"
#include "context/store/store.h"
#include "os/lock.h"
#include "os/pages.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

/* There was no room for what this thread was to take. */
static __thread bool lacking;

bool parts_make_room(struct context *c) {
  const bool again = lacking;
  lacking = false;
  return again && residency_charge(c);
}

/* A block that was in use has pages, in memory and on disk: they would take the
   place of the part's. */
static void *take(void *arg, size_t n) {
  struct context *c = arg;
  char *home = context_alloc_now(c, n, PAGE, &lacking);
  if (home && context_discard_range(c, home, n) == 0) {
    lock_take(&c->io_lock);
    (void)store_outdated(c, (uintptr_t)home, (uintptr_t)home + n);
    lock_give(&c->io_lock);
  }
  return home;
}

static void give(void *arg, void *home) {
  context_free(arg, home);
}

/* Others may be looking: a part appears when its length does. */
static void set(struct image_part *to, struct image_part part) {
  __atomic_store_n(&to->len, 0, __ATOMIC_SEQ_CST);
  __atomic_store_n(&to->data, part.data, __ATOMIC_SEQ_CST);
  __atomic_store_n(&to->home, part.home, __ATOMIC_SEQ_CST);
  __atomic_store_n(&to->len, part.len, __ATOMIC_SEQ_CST);
}

static struct image_part *free_place(struct image *img) {
  for (int i = 0; i < img->nlater; i++) {
    if (img->later[i].len == 0) {
      return &img->later[i];
    }
  }
  return NULL;
}

/* Others may be reading the table, so it never moves. */
static int append(struct image *img, struct image_part part) {
  enum { MOST = 1024 };
  struct image_part *place = free_place(img);
  if (place) {
    set(place, part);
    return 0;
  }
  if (img->later == NULL) {
    img->later = calloc(MOST, sizeof(*img->later));
  }
  if (img->later == NULL || img->nlater == MOST) {
    return ENOMEM;
  }
  set(&img->later[img->nlater], part);
  img->nlater++;
  return 0;
}

/* What is not noted could be written once the context has been on disk. */
static int protect(struct context *c, char *data, size_t n) {
  const uintptr_t start = (uintptr_t)data;
  const int code =
      protections_note(&c->protections, start, start + n, PROT_READ);
  return code || n == 0 || mprotect(data, n, PROT_READ) == 0 ? code : errno;
}

static int add(void *arg, struct image_part part, size_t constant) {
  struct context *c = arg;
  lock_take(&c->io_lock);
  int code = append(&c->image, part);
  if (!code && store_mapped()) {
    code = store_map_part(c, part);
  }
  code = code ? code : protect(c, part.data, constant);
  lock_give(&c->io_lock);
  return code;
}

static void drop(void *arg, struct image_part part) {
  struct context *c = arg;
  const uintptr_t start = (uintptr_t)part.data, end = start + part.len;
  lock_take(&c->io_lock);
  for (int i = 0; i < c->image.nlater; i++) {
    if (c->image.later[i].data == part.data) {
      set(&c->image.later[i], (struct image_part){0});
    }
  }
  (void)store_outdated(c, start, end);
  (void)ranges_remove(&c->lazy.mapped, start, end);
  (void)ranges_remove(&c->partial.missing, start, end);
  (void)protections_note(&c->protections, start, end, PROT_READ | PROT_WRITE);
  lock_give(&c->io_lock);
}

static int count(void *arg, uint64_t bytes) {
  (void)arg;
  return residency_beside(bytes);
}

static void uncount(void *arg, uint64_t bytes) {
  (void)arg;
  residency_not_beside(bytes);
}

void parts_host(struct opened_host *host, struct context *c) {
  *host = (struct opened_host){.arg = c,
                               .take = take,
                               .give = give,
                               .add = add,
                               .drop = drop,
                               .count = count,
                               .uncount = uncount};
}
