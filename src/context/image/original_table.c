#include "context/image/original_table.h"

#include "context/image/library.h"
#include "os/native.h"

#include <errno.h>
#include <stdint.h>

static struct {
  struct original **item;
  int n, room;
} table;

struct original *original_find(const struct link_map *map) {
  for (int i = 0; i < table.n; i++) {
    if (table.item[i]->map == map) {
      return table.item[i];
    }
  }
  return NULL;
}

struct original *original_add(struct link_map *map) {
  if (table.n == table.room) {
    const int room = 2 * table.room + 64;
    struct original **item =
        native_realloc(table.item, (size_t)room * sizeof(*item));
    if (item == NULL) {
      errno = ENOMEM;
      return NULL;
    }
    table.item = item;
    table.room = room;
  }
  struct original *o = native_zalloc(1, sizeof(*o));
  if (o) {
    *o = (struct original){
        .index = table.n, .map = map, .handle = map, .constructed = true};
    table.item[table.n++] = o;
  } else {
    errno = ENOMEM;
  }
  return o;
}

struct original *original_of(struct link_map *map) {
  struct original *o = original_find(map);
  return o ? o : original_add(map);
}

struct original *original_number(int index) {
  return table.item[index];
}

int original_count(void) {
  return table.n;
}

bool original_holds(const struct original *o, const void *p) {
  const struct image_file *f = o->file;
  return f &&
         (uintptr_t)p - (uintptr_t)o->map->l_addr - f->low < f->high - f->low;
}

struct original *original_at(const void *p) {
  for (int i = 0; i < table.n; i++) {
    if (original_holds(table.item[i], p)) {
      return table.item[i];
    }
  }
  return NULL;
}

static void forget(struct original *o) {
  image_close(o->own_file);
  native_free(o->pristine);
  native_free(o->word);
  native_free(o->need);
  native_free(o);
}

void original_table_end(void) {
  for (int i = 0; i < table.n; i++) {
    forget(table.item[i]);
  }
  native_free(table.item);
  table.item = NULL;
  table.n = table.room = 0;
}

struct original *original_named(const char *name) {
  for (int i = 0; i < table.n; i++) {
    if (library_is_named(table.item[i]->map, name)) {
      return table.item[i];
    }
  }
  return NULL;
}
