#include "context/calls/thread_parts.h"

#include "context/calls/parts.h"
#include "context/image/thread_data.h"

#include <stdint.h>

/* What of the pages lies above the stack in c's range: all, but where a thread
   lies elsewhere. */
static struct image_part in_range(const struct context *c,
                                  struct image_part part) {
  const char *const from = c->image.stack.data + c->image.stack.len;
  char *start;
  const size_t n = context_stack_range(c, &start);
  return part.len && part.data >= from && part.data + part.len <= start + n
             ? part
             : (struct image_part){0};
}

static bool add(struct context *c, struct image_part part) {
  struct opened_host host;
  parts_host(&host, c);
  do {
    part.home = host.take(c, part.len);
  } while (!part.home && parts_make_room(c));
  if (!part.home) {
    return false;
  }
  if (host.add(c, part, 0) != 0) {
    host.give(c, part.home);
    return false;
  }
  return true;
}

size_t thread_parts_add(struct context *c) {
  const struct image_file *const f = c->image.file;
  if (!f || !c->image.stack.len) {
    return 0;
  }
  for (int i = 0; i < thread_data_count(f); i++) {
    const struct image_part part = in_range(c, thread_data_pages(f, i));
    if (part.len && !add(c, part)) {
      return part.len;
    }
  }
  return 0;
}
