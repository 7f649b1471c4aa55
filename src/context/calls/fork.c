#define _GNU_SOURCE
#include "context/calls/fork.h"

#include "base/limit.h"
#include "base/message.h"
#include "context/calls/oversize.h"
#include "context/internal.h"
#include "context/store/store.h"
#include "os/bits.h"
#include "os/lock.h"
#include "os/pages.h"
#include "os/refused.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum { MAX_EXTENTS = 4096, GAP = 64 << 10 };

/* By which the child says that it has its copy; -1: there is nothing to say. */
static __thread int done[2] = {-1, -1};

static void close_end(int i) {
  if (done[i] >= 0) {
    close(done[i]);
  }
  done[i] = -1;
}

void fork_prepare(const struct context *c) {
  const bool shares = store_mapped() || c->oversize.n;
  if (shares && !contexts.frozen && c->state == CONTEXT_IN &&
      pipe2(done, O_CLOEXEC) != 0) {
    char advice[LIMIT_TEXT];
    const int error = errno;
    msg_fail_here(
        MSG_FAILED, "rank %d: fork: a pipe: %s: %s", c->rank, strerror(error),
        limit_advice(advice, LIMIT_FILE, error, 0, "raise fs.file-max"));
  }
}

/* Until then the child sees what the parent writes. Without a child (fork has
   failed), and if it has died, the pipe ends. */
void fork_parent(void) {
  char byte;
  if (done[0] < 0) {
    return;
  }
  close_end(1);
  while (read(done[0], &byte, 1) < 0 && errno == EINTR) {
  }
  close_end(0);
}

static _Noreturn void fail_to_copy(const struct context *c, size_t len) {
  char advice[LIMIT_TEXT];
  const int error = errno;
  msg_warn_here(
      "rank %d: fork: no memory for the child's copy of %zu bytes: %s: %s",
      c->rank, len, strerror(error),
      limit_advice(advice, LIMIT_MEMORY, error, len,
                   refused_advice(error, "allow mremap (seccomp)",
                                  "use another driver than --pems-io=mmap")));
  msg_quit(MSG_FAILED);
}

static _Noreturn void fail_to_protect(const struct context *c, int error) {
  char advice[LIMIT_TEXT];
  msg_warn_here(
      "rank %d: fork: protecting the child's memory: %s: %s", c->rank,
      strerror(error),
      limit_advice(advice, LIMIT_MEMORY, error, 0, "raise vm.max_map_count"));
  msg_quit(MSG_FAILED);
}

/* The pages [start, start + len) of the file become pages of this process. */
static void make_private(const struct context *c, void *start, size_t len) {
  if (len == 0) {
    return;
  }
  void *const copy = pages_new(NULL, len);
  if (!copy) {
    fail_to_copy(c, len);
  }
  memcpy(copy, start, len);
  if ((errno = pages_move(copy, start, len, false)) != 0) {
    fail_to_copy(c, len);
  }
}

/* What is free has no contents, and none that others could see. */
static void make_empty(const struct context *c, char *start, char *end) {
  if (start < end && !pages_new(start, (size_t)(end - start))) {
    fail_to_copy(c, (size_t)(end - start));
  }
}

static void copy_heap(struct context *c, size_t size) {
  const size_t room = MAX_EXTENTS * sizeof(struct heap_extent);
  struct heap_extent *const extent = pages_new(NULL, room);
  char *at = c->range;
  if (!extent) {
    fail_to_copy(c, room);
  }
  lock_take(&c->heap_lock);
  const size_t n = heap_extents(c->heap, GAP, extent, MAX_EXTENTS);
  for (size_t i = 0; i < n; i++) {
    char *const start = (char *)extent[i].start;
    make_empty(c, at, start);
    make_private(c, start, extent[i].len);
    at = start + extent[i].len;
  }
  make_empty(c, at, c->range + size);
  heap_swapped(c->heap, 1);
  lock_give(&c->heap_lock);
  pages_drop(extent, room);
}

static void copy_context(struct context *c) {
  int error = protections_lift(&c->protections, 0, UINTPTR_MAX);
  for (int i = 0; i < image_parts(&c->image); i++) {
    const struct image_part part = image_part(&c->image, i);
    make_private(c, part.data, part.len);
  }
  copy_heap(c, bits_align_up(contexts.mu - image_parts_len(&c->image), PAGE));
  error = error ? error : protections_restore(&c->protections, 0, UINTPTR_MAX);
  if (error) {
    fail_to_protect(c, error);
  }
}

void fork_child(struct context *c) {
  const char byte = 0;
  if (done[1] < 0) {
    return;
  }
  oversize_in_child(c);
  if (store_mapped()) {
    copy_context(c);
  }
  const ssize_t written = write(done[1], &byte, 1);
  (void)written; /* the parent may have died */
  close_end(0);
  close_end(1);
}
