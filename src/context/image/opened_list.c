/* ld.so lists all originals and the copies of all ranks. A VP sees an original
   with the address of its copy: its headers, name and thread-local data are the
   copy's, too. */
#define _GNU_SOURCE
#include "context/image/opened_list.h"

#include "context/image/opened_set.h"
#include "context/image/original.h"

#include <stddef.h>
#include <string.h>

struct listing {
  const struct image *img;
  struct dl_phdr_info *to;
  int room, n;
};

/* ld.so gives the name that its map has: copies have names of their own, though
   they read alike. */
static const struct original *original_called(const char *name) {
  for (int i = 0; i < original_count(); i++) {
    const struct original *of = original_number(i);
    if (of->map->l_name == name) {
      return of;
    }
  }
  return NULL;
}

static bool is_there(const struct image *img, const struct original *of) {
  return of->at_start || of->kind == ORIGINAL_SHARED ||
         opened_find(img->opened, of);
}

static int add(struct dl_phdr_info *info, size_t size, void *arg) {
  struct listing *l = arg;
  const struct original *of = original_called(info->dlpi_name);
  if (of == NULL || !is_there(l->img, of)) {
    return 0;
  }
  if (l->n < l->room) {
    struct dl_phdr_info *to = &l->to[l->n];
    memset(to, 0, sizeof(*to));
    memcpy(to, info, size < sizeof(*to) ? size : sizeof(*to));
    if (of->kind != ORIGINAL_SHARED) {
      to->dlpi_addr = (ElfW(Addr))opened_base(l->img, of);
    }
  }
  l->n++;
  return 0;
}

int opened_list(const struct image *img, struct dl_phdr_info *to, int room) {
  struct listing l = {img, to, room, 0};
  dl_iterate_phdr(add, &l);
  return l.n;
}
