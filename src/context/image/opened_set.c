#include "context/image/opened_set.h"

#include "context/image/original.h"

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

bool opened_is_handle(const struct opened_set *set, const void *handle) {
  for (const struct opened *o = set->first; o; o = o->next) {
    if (o == handle) {
      return true;
    }
  }
  return handle == &set->self;
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
