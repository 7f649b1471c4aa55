#define _GNU_SOURCE
#include "context/image/opened_place.h"

#include "context/image/opened_set.h"
#include "context/image/original.h"
#include "os/object.h"

static bool holds(const struct image *img, const void *p) {
  return (uintptr_t)p - (uintptr_t)img->text < img->text_len;
}

bool opened_place(const struct image *img, const void *code,
                  const char **library, uintptr_t *address) {
  for (const struct opened *o = img->opened ? img->opened->first : NULL; o;
       o = o->next) {
    if (o->built && holds(&o->img, code)) {
      *library = o->of->file->path;
      *address = (uintptr_t)code - (uintptr_t)o->img.base;
      return *library != NULL;
    }
  }
  return false;
}

uintptr_t opened_site(const struct image *img, const void *code) {
  for (const struct opened *o = img->opened ? img->opened->first : NULL; o;
       o = o->next) {
    if (o->built && holds(&o->img, code)) {
      return (uintptr_t)code - (uintptr_t)o->img.base +
             (uintptr_t)o->of->map->l_addr;
    }
  }
  return 0;
}

bool opened_is_foreign(const struct image *img, const void *code) {
  if (holds(img, code)) {
    return false;
  }
  for (int i = 0; i < img->libraries; i++) {
    if (holds(&img->library[i], code)) {
      return false;
    }
  }
  return !(img->opened && opened_site(img, code)) && object_start(code);
}
