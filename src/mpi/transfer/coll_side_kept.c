#include "mpi/transfer/coll_side_kept.h"

#include "base/need.h"
#include "mpi/datatype/layout_kept.h"

/* Of its pointers only whether there is something tells. */
void coll_side_kept_save(const struct coll_side *s,
                         struct checkpoint_writer *to) {
  checkpoint_write(to, s, sizeof(*s));
  layout_kept_save(s->layout, to);
  if (s->counts.item) {
    checkpoint_write(to, s->counts.item, counts_bytes(s->counts, s->n));
    checkpoint_write(to, s->displacements.item,
                     counts_bytes(s->displacements, s->n));
  }
  for (int i = 0; s->layouts && i < s->n; i++) {
    layout_kept_save(s->layouts[i], to);
  }
}

static void counts_load(struct counts *c, int n,
                        struct checkpoint_reader *from) {
  const size_t bytes = counts_bytes(*c, n);
  void *const own = need_alloc(bytes, "message offsets");
  checkpoint_read(from, own, bytes);
  c->item = own;
}

void coll_side_kept_load(struct coll_side *s, struct checkpoint_reader *from) {
  checkpoint_read(from, s, sizeof(*s));
  s->layout = layout_kept_load(from);
  if (s->counts.item) {
    counts_load(&s->counts, s->n, from);
    counts_load(&s->displacements, s->n, from);
  }
  if (s->layouts) {
    s->layouts = need_alloc(s->n * sizeof(*s->layouts), "message types");
    for (int i = 0; i < s->n; i++) {
      s->layouts[i] = layout_kept_load(from);
    }
  }
}
