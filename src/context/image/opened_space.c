#include "context/image/opened_space.h"

#include "context/image/opened_set.h"
#include "os/native.h"

#include <errno.h>
#include <stddef.h>

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
