#include "mpi/datatype/layout_kept.h"

#include "base/need.h"
#include "os/native.h"

struct fixed {
  uint64_t there; /* or it is NULL */
  int64_t lb, extent;
  uint64_t segments;
};

void layout_kept_save(const struct layout *layout,
                      struct checkpoint_writer *to) {
  struct fixed f = {0, 0, 0, 0};
  if (layout) {
    f = (struct fixed){1, layout->lb, layout->extent, layout->nsegments};
  }
  checkpoint_write(to, &f, sizeof(f));
  if (layout) {
    checkpoint_write(to, layout->segments,
                     layout->nsegments * sizeof(*layout->segments));
  }
}

const struct layout *layout_kept_load(struct checkpoint_reader *from) {
  enum { MOST = 1 << 28 };
  struct fixed f;
  const struct layout *layout = NULL;
  checkpoint_read(from, &f, sizeof(f));
  if (f.segments > MOST) {
    checkpoint_read_strange(from, "a datatype with too many parts");
  }
  if (from->code || !f.there) {
    return NULL;
  }
  struct layout_segment *const segments =
      need_zalloc(f.segments + 1, sizeof(*segments), "restart");
  checkpoint_read(from, segments, f.segments * sizeof(*segments));
  if (!from->code) {
    layout = layout_again((ptrdiff_t)f.lb, (ptrdiff_t)f.extent, segments,
                          f.segments);
    if (!layout) {
      need_fail("restart");
    }
  }
  native_free(segments);
  return layout;
}
