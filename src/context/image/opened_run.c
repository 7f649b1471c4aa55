#include "context/image/opened_run.h"

#include "context/image/opened_set.h"
#include "context/image/original.h"
#include "os/futex.h"

#include <stdatomic.h>
#include <stddef.h>

/* Its address is another one in each thread. */
static __thread char me;

void opened_take_turn(const struct image *img) {
  struct opened_turn *t = &img->opened->turn;
  if (atomic_load(&t->owner) != &me) {
    while (atomic_exchange(&t->taken, 1)) {
      futex_wait(&t->taken, 1);
    }
    atomic_store(&t->owner, &me);
  }
  t->depth++;
}

void opened_give_turn(const struct image *img) {
  struct opened_turn *t = &img->opened->turn;
  if (--t->depth == 0) {
    atomic_store(&t->owner, NULL);
    atomic_store(&t->taken, 0);
    futex_wake_all(&t->taken);
  }
}

typedef void init_fn(int argc, char **argv, char **envp);
typedef void fini_fn(void);

void opened_construct(struct opened *o, int argc, char **argv, char **envp) {
  const struct image_file *f = o->of->file;
  o->constructed = true;
  if (f->init_function) {
    ((init_fn *)(o->img.base + f->init_function))(argc, argv, envp);
  }
  init_fn **functions = (init_fn **)(o->img.base + f->init.vaddr);
  for (size_t i = 0; i < f->init.count; i++) {
    functions[i](argc, argv, envp);
  }
}

void opened_destruct(struct opened *o) {
  const struct image_file *f = o->of->file;
  if (!o->constructed) {
    return;
  }
  fini_fn **functions = (fini_fn **)(o->img.base + f->fini.vaddr);
  while (o->img.fini_left > 0) {
    functions[--o->img.fini_left]();
  }
  if (o->img.has_fini) {
    o->img.has_fini = false;
    ((fini_fn *)(o->img.base + f->fini_function))();
  }
}

void opened_destruct_all(const struct image *img) {
  if (img->opened == NULL) {
    return;
  }
  for (struct opened *o = img->opened->last; o; o = o->before) {
    opened_destruct(o);
  }
}
