#include "tasks/packed_heap.h"

#include <errno.h>

#include "os/native.h"

int task_packed_room(struct task_packed_heap *h) {
  if (h->n < h->room) {
    return 0;
  }
  const size_t room = h->room ? 2 * h->room : 64;
  struct task_packed *item = native_realloc(h->item, room * sizeof(*item));
  if (!item) {
    return ENOMEM;
  }
  h->item = item;
  h->room = room;
  return 0;
}

void task_packed_add(struct task_packed_heap *h, struct task_packed packed) {
  size_t i = h->n++;
  for (; i && packed.first < h->item[(i - 1) / 2].first; i = (i - 1) / 2) {
    h->item[i] = h->item[(i - 1) / 2];
  }
  h->item[i] = packed;
}

struct task_packed task_packed_take(struct task_packed_heap *h) {
  const struct task_packed least = h->item[0], last = h->item[--h->n];
  size_t i = 0;
  for (size_t child; (child = 2 * i + 1) < h->n; i = child) {
    if (child + 1 < h->n && h->item[child + 1].first < h->item[child].first) {
      child++;
    }
    if (last.first <= h->item[child].first) {
      break;
    }
    h->item[i] = h->item[child];
  }
  h->item[i] = last;
  return least;
}
