#define _GNU_SOURCE
#include "context/store/failed_page.h"

#include "base/self.h"
#include "base/stop.h"
#include "context/internal.h"
#include "context/store/store.h"
#include "os/bits.h"
#include "os/clock.h"

#include <errno.h>
#include <stdint.h>
#include <time.h>

enum {
  TRIES = 500,
  PAUSE_MS = 10,
  /* Later than this, the page has been readable meanwhile. */
  FORGET_MS = 1000,
  LAST_RESORT_SECONDS = 30,
};

/* What the thread has tried. File systems may think for some seconds that a
   file is shorter than it is, after a read that was short. */
static __thread struct {
  uintptr_t page;
  int tries;
  uint64_t last; /* when, ns */
} tried __attribute__((tls_model("initial-exec")));

bool failed_page_possible(void) {
  return store_mapped() || store_lazy();
}

/* The context that p, an address in a mapping, belongs to; or NULL. */
static struct context *mapped_at(const void *p) {
  struct context *const c = context_of(p);
  if (c && (uintptr_t)p - (uintptr_t)c->range < c->range_len) {
    return store_mapped() || c->lazy.mapped_bytes ? c : NULL;
  }
  for (int i = 0; store_mapped() && i < contexts.n; i++) {
    if (context_owns(&contexts.item[i], p)) {
      return &contexts.item[i];
    }
  }
  return NULL;
}

/* True while there is a point in trying again. */
static bool may_try(uintptr_t page) {
  const uint64_t now = clock_ns(), ms = 1000000;
  if (tried.page != page || now - tried.last > FORGET_MS * ms) {
    tried.page = page;
    tried.tries = 0;
  }
  if (tried.tries > 0) {
    const struct timespec pause = {.tv_nsec = PAUSE_MS * (long)ms};
    nanosleep(&pause, NULL);
  }
  tried.last = clock_ns();
  return tried.tries++ < TRIES;
}

bool failed_page_retry(const void *address) {
  _Alignas(PAGE) char page[PAGE];
  const struct context *const c =
      failed_page_possible() ? mapped_at(address) : NULL;
  if (!c) {
    return false;
  }
  const uintptr_t at = bits_align_down((uintptr_t)address, PAGE);
  int error = store_read_page(c, at, page);
  if (!error && !may_try(at)) {
    error = EIO;
  }
  /* A store, perhaps, which has failed twice: the page is granted, but lacks
     what the file system needs beside it. Who else stores into the page just
     now fails, too. */
  if (!error && tried.tries > 1) {
    store_rewrite_page(c, at, page);
  }
  if (error) {
    /* It may have come in the midst of anything. */
    stop_after(LAST_RESORT_SECONDS);
    self_enter();
    store_failed(c, "reading a mapped page", error);
  }
  return true;
}
