/* ld.so finds the symbol in the originals, and the VP gets the same place in
   its copies. */
#define _GNU_SOURCE
#include "context/image/opened_symbol.h"

#include "context/image/opened_scope.h"
#include "context/image/opened_set.h"
#include "context/image/original.h"

#include <dlfcn.h>
#include <gnu/lib-names.h>
#include <string.h>

/* What is looked for, and by whom. */
struct search {
  struct image *img;
  const char *name, *version;
  struct original *caller;
  bool found;
  void *value;
};

static bool look(struct search *s, void *handle) {
  (void)dlerror();
  void *p =
      s->version ? dlvsym(handle, s->name, s->version) : dlsym(handle, s->name);
  s->found = p != NULL || dlerror() == NULL;
  s->value = p;
  return s->found;
}

/* The same in the VP's copy; false if it has none. */
static bool translate(struct search *s) {
  const struct original *of = original_at(s->value);
  char *base = of ? opened_base(s->img, of) : NULL;
  if (of && of->kind != ORIGINAL_SHARED) {
    s->found = base != NULL;
    s->value = base + ((uintptr_t)s->value - (uintptr_t)of->map->l_addr);
  }
  return s->found;
}

/* Others may have opened with RTLD_GLOBAL what this VP has not. */
static bool is_visible(const struct search *s) {
  const struct original *of = original_at(s->value);
  const struct opened *o = of && of->kind == ORIGINAL_OPENED
                               ? opened_find(s->img->opened, of)
                               : NULL;
  return !of || of->kind != ORIGINAL_OPENED || (o && o->global);
}

static bool look_in(struct search *s, const struct original *of) {
  return of->handle && look(s, of->handle) && translate(s);
}

static bool look_in_global(struct search *s) {
  if (look(s, RTLD_DEFAULT) && is_visible(s) && translate(s)) {
    return true;
  }
  for (const struct opened *o = s->img->opened->first; o; o = o->next) {
    if (o->global && look_in(s, o->of)) {
      return true;
    }
  }
  return false;
}

/* And in what came with the caller. */
static bool look_everywhere(struct search *s) {
  const struct original *root = s->caller && s->caller->kind == ORIGINAL_OPENED
                                    ? opened_root(s->img, s->caller)
                                    : NULL;
  return look_in_global(s) || (root && look_in(s, root));
}

/* A handle stands for a library and what it needs: only the first counts. */
static bool look_in_one(struct search *s, struct link_map *map) {
  struct link_map *in = NULL;
  Dl_info info;
  void *handle = dlopen(map->l_name, RTLD_LAZY | RTLD_NOLOAD);
  return handle && look(s, handle) &&
         dladdr1(s->value, &info, (void **)&in, RTLD_DL_LINKMAP) && in == map &&
         translate(s);
}

static bool look_there(void *arg, struct original *of) {
  return of->map->l_name[0] && look_in_one(arg, of->map);
}

static bool look_behind(struct search *s) {
  s->found = opened_each_behind(s->img, s->caller, look_there, s);
  return s->found;
}

static bool is_in_libc(const void *p) {
  const struct original *const libc = original_named(LIBC_SO);
  struct link_map *in = NULL;
  Dl_info info;
  return libc && dladdr1(p, &info, (void **)&in, RTLD_DL_LINKMAP) &&
         in == libc->map;
}

static bool is_weak(const void *p) {
  const ElfW(Sym) *symbol = NULL;
  Dl_info info;
  return dladdr1(p, &info, (void **)&symbol, RTLD_DL_SYMENT) && symbol &&
         ELF64_ST_BIND(symbol->st_info) == STB_WEAK;
}

/* What libc would keep for the process the program has in its place, weak
   (interpose/program), also for who asks libc itself. */
static bool look_instead_of_libc(struct search *s) {
  struct search there = *s;
  if (s->found && is_in_libc(s->value) && look(&there, RTLD_DEFAULT)) {
    const struct original *const of = original_at(there.value);
    if (of && of->kind == ORIGINAL_PROGRAM && is_weak(there.value) &&
        translate(&there)) {
      *s = there;
    }
  }
  return s->found;
}

static bool look_by_handle(struct search *s, void *handle,
                           struct opened_error *error) {
  if (handle == RTLD_DEFAULT) {
    return look_everywhere(s);
  }
  if (handle == RTLD_NEXT) {
    return look_behind(s);
  }
  const struct opened *const o = opened_by_handle(s->img, handle);
  if (!o) {
    opened_error_say(error, "invalid handle");
    return false;
  }
  return o->is_self ? look_in_global(s)
                    : look_in(s, o->of) && look_instead_of_libc(s);
}

/* As ld.so says it. */
static void say_undefined(const struct search *s, void *handle,
                          struct opened_error *error) {
  const struct opened *const o = handle == RTLD_DEFAULT || handle == RTLD_NEXT
                                     ? NULL
                                     : opened_by_handle(s->img, handle);
  const char *where =
      !o || o->is_self || !o->of ? s->img->file->path : o->of->map->l_name;
  opened_error_say(error,
                   s->version ? "%s: undefined symbol: %s, version %s"
                              : "%s: undefined symbol: %s",
                   where ? where : "", s->name, s->version);
}

void *opened_symbol(struct image *img, const void *caller, void *handle,
                    const char *name, const char *version,
                    struct opened_error *error) {
  struct search s = {.img = img,
                     .name = name,
                     .version = version,
                     .caller = opened_owner(img, caller)};
  error->text[0] = '\0';
  if (look_by_handle(&s, handle, error)) {
    return s.value;
  }
  if (!error->text[0]) {
    say_undefined(&s, handle, error);
  }
  return NULL;
}
