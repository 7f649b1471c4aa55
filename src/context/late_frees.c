#include "context/late_frees.h"

#include "base/message.h"
#include "os/native.h"

_Noreturn void context_bad_block(const struct context *c, const void *p,
                                 const char *what) {
  /* The status that abort would give. */
  msg_fail(134, "%s: rank %d: %p: not an allocated block, or freed twice", what,
           c->rank, p);
}

void late_frees_add_locked(struct context *c, void *p) {
  if (c->late_n == c->late_room) {
    c->late_room = c->late_room ? 2 * c->late_room : 64;
    c->late_frees =
        native_realloc(c->late_frees, c->late_room * sizeof(void *));
    if (!c->late_frees) {
      msg_fail_here(MSG_FAILED, "out of memory: freeing memory of rank %d",
                    c->rank);
    }
  }
  c->late_frees[c->late_n++] = p;
}

void late_frees_apply(struct context *c) {
  for (size_t i = 0; i < c->late_n; i++) {
    if (heap_free(c->heap, c->late_frees[i]) != 0) {
      context_bad_block(c, c->late_frees[i], "free");
    }
  }
  c->late_n = 0;
}

void late_frees_end(struct context *c) {
  native_free(c->late_frees);
}
