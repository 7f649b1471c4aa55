/* What one VP's program opens by dlopen. The original is loaded once in the
   process (original.h), the copies are made by opened_copy.h. */
#define _GNU_SOURCE
#include "context/image/opened.h"

#include "context/image/copy_file.h"
#include "context/image/opened_copy.h"
#include "context/image/opened_error.h"
#include "context/image/opened_set.h"
#include "context/image/original.h"
#include "context/image/search_path.h"
#include "os/native.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

int opened_start(struct image *img, int rank, const char *dir,
                 const struct opened_host *host) {
  struct opened_set *set = native_zalloc(1, sizeof(*set));
  if (set == NULL) {
    return ENOMEM;
  }
  *set = (struct opened_set){
      .rank = rank, .dir = dir ? strdup(dir) : NULL, .host = *host};
  if (dir && !set->dir) {
    native_free(set);
    return ENOMEM;
  }
  set->self.is_self = true;
  img->opened = set;
  return 0;
}

static const struct link_map *program_map(void) {
  return _r_debug.r_map;
}

/* How ld.so would look for it, from the caller's file. */
static void path_for(struct image *img, const void *caller, char *to,
                     size_t size) {
  const struct original *of = opened_owner(img, caller);
  const char *program = img->file->path ? img->file->path : "";
  const bool known = of && of->kind != ORIGINAL_PROGRAM;
  search_path_of(known ? of->map : program_map(),
                 known ? of->map->l_name : program, program_map(), program, to,
                 size);
}

static const char *caller_path(struct image *img, const void *caller) {
  const struct original *of = opened_owner(img, caller);
  return of && of->kind != ORIGINAL_PROGRAM ? of->map->l_name
         : img->file->path                  ? img->file->path
                                            : "";
}

static struct opened *open_named(struct image *img, const void *caller,
                                 const char *name, int flags,
                                 struct opened_error *error) {
  char path[PATH_MAX], runpath[4 * PATH_MAX];
  if (search_path_expand(name, caller_path(img, caller), path, sizeof(path))) {
    opened_error_say(
        error, "%s: cannot open shared object file: File name too long", name);
    return NULL;
  }
  path_for(img, caller, runpath, sizeof(runpath));
  struct original *of = original_open(path, runpath[0] ? runpath : NULL, flags,
                                      error->text, sizeof(error->text));
  if (of == NULL) {
    return NULL;
  }
  if (of->kind == ORIGINAL_PROGRAM) {
    return &img->opened->self;
  }
  if (flags & RTLD_NOLOAD && of->kind == ORIGINAL_OPENED) {
    return opened_find(img->opened, of);
  }
  return opened_copy_provide(img, of, name, error);
}

struct opened *opened_open(struct image *img, const void *caller,
                           const char *name, int flags,
                           struct opened_error *error) {
  error->text[0] = '\0';
  if (!(flags & (RTLD_LAZY | RTLD_NOW))) {
    opened_error_say(error, "%s: invalid mode for dlopen(): Invalid argument",
                     name ? name : "");
    return NULL;
  }
  struct opened *o = !name || !*name
                         ? &img->opened->self
                         : open_named(img, caller, name, flags, error);
  if (o) {
    o->opens++;
    o->global |= (flags & RTLD_GLOBAL) != 0;
    o->stays |= (flags & RTLD_NODELETE) != 0;
  }
  return o;
}

struct opened *opened_next_new(struct image *img) {
  for (struct opened *o = img->opened->first; o; o = o->next) {
    if (o->is_new) {
      o->is_new = false;
      return o;
    }
  }
  return NULL;
}

static void mark(const struct opened_set *set, struct opened *o) {
  if (o->needed) {
    return;
  }
  o->needed = true;
  for (int i = 0; o->built && i < o->of->nneeds; i++) {
    struct opened *other = opened_find(set, o->of->need[i]);
    if (other) {
      mark(set, other);
    }
  }
}

static void find_dead(struct opened_set *set) {
  for (struct opened *o = set->first; o; o = o->next) {
    o->needed = false;
  }
  for (struct opened *o = set->first; o; o = o->next) {
    if (o->opens > 0 || o->stays || o->of->stays || !o->built) {
      mark(set, o);
    }
  }
  for (struct opened *o = set->first; o; o = o->next) {
    o->dead |= !o->needed;
  }
}

int opened_close(struct image *img, const void *handle,
                 struct opened_error *error) {
  struct opened *const o = opened_by_handle(img, handle);
  error->text[0] = '\0';
  if (!o || o->opens == 0) {
    opened_error_say(error, "shared object not open");
    return -1;
  }
  if (--o->opens == 0) {
    find_dead(img->opened);
  }
  return 0;
}

struct opened *opened_next_dead(struct image *img) {
  for (struct opened *o = img->opened->last; o; o = o->before) {
    if (o->dead && !o->ending) {
      o->ending = true;
      return o;
    }
  }
  return NULL;
}

void opened_sweep(struct image *img) {
  struct opened *o = img->opened->first;
  while (o) {
    struct opened *next = o->next;
    if (o->dead && o->ending) {
      opened_copy_unload(img, o);
    }
    o = next;
  }
}

void opened_end(struct image *img) {
  if (img->opened == NULL) {
    return;
  }
  opened_space_end(img);
  for (struct opened *o = img->opened->first; o; o = o->next) {
    o->parts = 0; /* the VP's memory goes as a whole */
    o->home = NULL;
  }
  opened_copy_unload_from(img, img->opened->first);
  free(img->opened->dir);
  native_free(img->opened);
  img->opened = NULL;
}

void *opened_original_handle(struct image *img, void *handle) {
  const struct opened *const o = opened_by_handle(img, handle);
  return !o ? NULL : o->is_self ? (void *)program_map() : o->of->handle;
}

struct link_map *opened_map(struct image *img, void *handle) {
  const struct opened *const o = opened_by_handle(img, handle);
  if (o->is_self) {
    return copy_file_map(img->handle);
  }
  if (o->built) {
    return copy_file_map(o->img.handle);
  }
  return o->of->kind == ORIGINAL_LINKED
             ? copy_file_map(img->library[o->of->linked].handle)
             : o->of->map;
}

const char *opened_stray(const struct opened *o) {
  return o->is_self ? NULL : original_stray(o->of);
}
