#include "vp/exits.h"

#include "base/failure.h"
#include "base/need.h"
#include "base/self.h"
#include "os/native.h"
#include "vp/vp.h"

#include <errno.h>
#include <stdlib.h>

extern int __cxa_atexit(exits_function *run, void *argument, void *object);

/* In the order of registration. */
struct exits {
  size_t n, room;
  struct exits_entry {
    exits_function *run;
    void *argument, *object;
  } *item;
};

/* By the program on its own thread. */
static bool is_kept(void) {
  return (vp_superstep || vp_restart) && self.vp && !self.helper;
}

void exits_note(exits_function *run, void *argument, void *object) {
  if (!is_kept()) {
    return;
  }
  struct vp *const vp = self.vp;
  if (!vp->exits) {
    vp->exits = need_zalloc(1, sizeof(*vp->exits), "functions to call at exit");
  }
  struct exits *const e = vp->exits;
  if (e->n == e->room) {
    e->room = e->room ? 2 * e->room : 16;
    e->item = need_realloc(e->item, e->room * sizeof(*e->item),
                           "functions to call at exit");
  }
  e->item[e->n++] = (struct exits_entry){run, argument, object};
}

int exits_save(const struct vp *vp, struct checkpoint_out *o,
               struct pems_error *error) {
  const struct exits *const e = vp->exits;
  enum { AT_ONCE = CHECKPOINT_LARGEST / sizeof(struct exits_entry) };
  int code = 0;
  for (size_t i = 0; e && i < e->n && !code; i += AT_ONCE) {
    const size_t n = e->n - i < AT_ONCE ? e->n - i : AT_ONCE;
    code = checkpoint_put(o, CHECKPOINT_EXITS, 0, &e->item[i],
                          n * sizeof(*e->item), error);
  }
  return code;
}

int exits_load(struct checkpoint_in *in, struct checkpoint_block *b,
               struct pems_error *error) {
  int code = 0;
  while (!code && b->kind == CHECKPOINT_EXITS) {
    struct exits_entry *const item = native_alloc(b->n);
    if (!item) {
      return failure(error, ENOMEM, "restart: out of memory");
    }
    code = checkpoint_get(in, b, item, error);
    for (size_t i = 0; !code && i < b->n / sizeof(*item); i++) {
      code = __cxa_atexit(item[i].run, item[i].argument, item[i].object)
                 ? failure(error, ENOMEM, "restart: out of memory")
                 : 0;
    }
    native_free(item);
    code = code ? code : checkpoint_next(in, b, error);
  }
  return code;
}

void exits_free(struct vp *vp) {
  if (vp->exits) {
    native_free(vp->exits->item);
    native_free(vp->exits);
    vp->exits = NULL;
  }
}
