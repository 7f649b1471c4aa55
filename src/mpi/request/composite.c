#include "mpi/request/composite.h"

#include "vp/run_queue.h"

#include <string.h>

struct composite {
  struct request request;
  int n;
  struct request *parts[]; /* gone once it is finished */
};

static void finish(struct request *r) {
  struct composite *c = (struct composite *)r;
  for (int i = 0; i < c->n; i++) {
    struct request *part = c->parts[i];
    if (part) {
      request_finish(part);
      r->result.error = r->result.error ? r->result.error : part->result.error;
      request_end(part);
    }
  }
  c->n = 0;
}

static const struct request_class composites = {
    .name = "collective",
    .finish = finish,
};

struct request *composite_new(struct comm *comm, struct request **parts, int n,
                              const char *function) {
  struct composite *c = request_new(sizeof(*c) + n * sizeof(struct request *),
                                    &composites, comm, function);
  c->n = n;
  if (n) {
    memcpy(c->parts, parts, n * sizeof(struct request *));
  }
  run_queue_lock();
  for (int i = 0; i < n; i++) {
    if (parts[i] && !parts[i]->done) {
      parts[i]->whole = &c->request;
      c->request.parts++;
    }
  }
  if (!c->request.parts) {
    request_done_locked(&c->request);
  }
  run_queue_unlock();
  return &c->request;
}
