#include "context/image/opened_set.h"

#include "context/image/image_place.h"
#include "context/image/original.h"
#include "os/bits.h"
#include "os/native.h"

#include <errno.h>
#include <stddef.h>

struct opened *opened_find(const struct opened_set *set,
                           const struct original *of) {
  for (struct opened *o = set->first; o; o = o->next) {
    if (o->of == of) {
      return o;
    }
  }
  return NULL;
}

void *opened_handle(const struct image *img, const struct opened *o) {
  return o->is_self ? img->base : opened_base(img, o->of);
}

struct opened *opened_by_handle(const struct image *img, const void *handle) {
  struct opened_set *const set = img->opened;
  if (handle == img->base) {
    return &set->self;
  }
  for (struct opened *o = handle ? set->first : NULL; o; o = o->next) {
    if (opened_base(img, o->of) == handle) {
      return o;
    }
  }
  return NULL;
}

/* The first one that overlaps [at, at + n). */
static const struct opened *in_the_way(const struct opened_set *set, char *at,
                                       size_t n) {
  for (const struct opened *o = set->first; o; o = o->next) {
    if (o->placed && at < o->img.text + o->img.text_len &&
        o->img.text < at + n) {
      return o;
    }
  }
  return NULL;
}

char *opened_set_place(const struct opened_set *set,
                       const struct image_file *f) {
  enum { APART = 1 << 16 };
  const uint64_t align = image_place_align(f);
  const size_t n = image_place_size(f);
  char *at = set->host.place;
  const struct opened *other = NULL;
  if (!at) {
    return NULL;
  }
  do {
    at = other ? other->img.text + other->img.text_len : at;
    at = (char *)bits_align_up((uintptr_t)at, align > APART ? align : APART);
    other = in_the_way(set, at, n);
  } while (other);
  return at + n <= set->host.place + set->host.room ? at : NULL;
}

void opened_set_append(struct opened_set *set, struct opened *o) {
  o->before = set->last;
  if (set->last) {
    set->last->next = o;
  } else {
    set->first = o;
  }
  set->last = o;
}

void opened_set_remove(struct opened_set *set, struct opened *o) {
  if (o->before) {
    o->before->next = o->next;
  } else {
    set->first = o->next;
  }
  if (o->next) {
    o->next->before = o->before;
  } else {
    set->last = o->before;
  }
}

char *opened_base(const struct image *img, const struct original *of) {
  switch (of->kind) {
  case ORIGINAL_PROGRAM:
    return img->base;
  case ORIGINAL_LINKED:
    return img->library[of->linked].base;
  case ORIGINAL_OPENED: {
    const struct opened *o = opened_find(img->opened, of);
    return o ? o->img.base : NULL;
  }
  default:
    return (char *)of->map->l_addr;
  }
}

struct original *opened_owner(const struct image *img, const void *code) {
  for (int i = 0; i < original_count(); i++) {
    struct original *of = original_number(i);
    if (of->file && of->kind != ORIGINAL_SHARED) {
      const char *base = opened_base(img, of);
      if (base && (uintptr_t)code - (uintptr_t)base - of->file->low <
                      of->file->high - of->file->low) {
        return of;
      }
    }
  }
  return NULL;
}

/* --- namespaces -------------------------------------------------------------
 */

struct opened_space {
  struct opened_space *next;
  void *handle; /* each dlmopen is an item, also of one that is there */
};

static struct opened_space **find(const struct image *img, const void *handle) {
  struct opened_space **at = &img->opened->space;
  while (*at && (*at)->handle != handle) {
    at = &(*at)->next;
  }
  return at;
}

int opened_space_add(struct image *img, void *handle) {
  struct opened_space *s = native_alloc(sizeof(*s));
  if (s == NULL) {
    return ENOMEM;
  }
  *s = (struct opened_space){img->opened->space, handle};
  img->opened->space = s;
  return 0;
}

bool opened_space_has(const struct image *img, const void *handle) {
  return *find(img, handle) != NULL;
}

void opened_space_drop(struct image *img, const void *handle) {
  struct opened_space **at = find(img, handle);
  struct opened_space *s = *at;
  if (s) {
    *at = s->next;
    native_free(s);
  }
}

void opened_space_end(struct image *img) {
  while (img->opened->space) {
    opened_space_drop(img, img->opened->space->handle);
  }
}
