#include "context/delivery/access.h"

#include "context/delivery/delivery.h"
#include "os/pages.h"

void context_read(struct context *c, const void *p, void *out, size_t n) {
  struct delivery d;
  delivery_begin(&d);
  delivery_pair(&d, c, c, 0);
  delivery_read(&d, c, p, out, n);
  delivery_unpair(&d);
  delivery_end(&d);
}

void context_write(struct context *c, void *p, const void *in, size_t n) {
  struct delivery d;
  delivery_begin(&d);
  delivery_pair(&d, c, c, n + 2 * PAGE);
  delivery_write(&d, c, p, in, n, true);
  delivery_unpair(&d);
  delivery_end(&d);
}
