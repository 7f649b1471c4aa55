#define _GNU_SOURCE
#include "context/image/opened_scope.h"

#include "context/image/library.h"
#include "context/image/opened_set.h"
#include "context/image/original.h"

#include <alloca.h>
#include <stddef.h>

/* A library and all that it needs, breadth first. */
struct scope {
  struct original **item;
  int n;
};

struct search {
  bool (*found)(void *arg, struct original *of);
  void *arg;
};

static void add(struct scope *s, struct original *of) {
  if (of && of->visited != s) {
    of->visited = s;
    s->item[s->n++] = of;
  }
}

static void add_named(void *arg, const char *name) {
  add(arg, original_named(name));
}

static void fill(struct scope *s, struct original *root) {
  add(s, root);
  for (int i = 0; i < s->n; i++) {
    library_each_needed(s->item[i]->map, add_named, s);
  }
  for (int i = 0; i < s->n; i++) {
    s->item[i]->visited = NULL;
  }
}

struct original *opened_root(const struct image *img,
                             const struct original *of) {
  const struct opened *o = opened_find(img->opened, of);
  return o ? o->root : NULL;
}

/* --- from the program, or a library that it is linked with --- */

static bool is_program(const struct original *of) {
  return of->kind == ORIGINAL_PROGRAM;
}

static bool search_from_start(const struct image *img,
                              const struct original *caller,
                              const struct search *s) {
  bool behind = false;
  for (int i = 0; i < original_count(); i++) {
    struct original *of = original_number(i);
    if (behind && of->at_start && s->found(s->arg, of)) {
      return true;
    }
    behind = behind || (caller ? of == caller : is_program(of));
  }
  for (const struct opened *o = img->opened->first; o; o = o->next) {
    if (o->global && !o->of->at_start && s->found(s->arg, o->of)) {
      return true;
    }
  }
  return false;
}

/* --- from a library that was opened --- */

static bool search_shared(const struct scope *scope, const struct search *s) {
  for (int i = 0; i < original_count(); i++) {
    struct original *of = original_number(i);
    if (of->at_start && of->kind == ORIGINAL_SHARED && s->found(s->arg, of)) {
      return true;
    }
  }
  for (int i = 0; i < scope->n; i++) {
    struct original *of = scope->item[i];
    if (!of->at_start && of->kind == ORIGINAL_SHARED && s->found(s->arg, of)) {
      return true;
    }
  }
  return false;
}

static bool search_opened(const struct image *img, struct original *caller,
                          const struct search *s) {
  struct scope scope = {
      alloca((size_t)original_count() * sizeof(struct original *)), 0};
  struct original *root = opened_root(img, caller);
  bool behind = false;
  fill(&scope, root ? root : caller);
  for (int i = 0; i < scope.n; i++) {
    struct original *of = scope.item[i];
    if (behind && of->kind != ORIGINAL_SHARED && s->found(s->arg, of)) {
      return true;
    }
    behind = behind || of == caller;
  }
  return search_shared(&scope, s);
}

bool opened_each_behind(const struct image *img, struct original *caller,
                        bool (*f)(void *arg, struct original *of), void *arg) {
  const struct search s = {f, arg};
  return caller && caller->kind == ORIGINAL_OPENED
             ? search_opened(img, caller, &s)
             : search_from_start(img, caller, &s);
}
