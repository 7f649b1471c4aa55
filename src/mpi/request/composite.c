#include "mpi/request/composite.h"

#include "vp/run_queue.h"

#include <string.h>

struct composite {
  struct request request;
  int n;
  bool led;                /* the last part's result is the whole's */
  struct request *parts[]; /* gone once it is finished */
};

static void finish(struct request *r) {
  struct composite *c = (struct composite *)r;
  for (int i = 0; i < c->n; i++) {
    struct request *part = c->parts[i];
    if (part) {
      request_finish(part);
      const int error = r->result.error ? r->result.error : part->result.error;
      if (c->led && i == c->n - 1) {
        r->result = part->result;
      }
      r->result.error = error;
      request_end(part);
    }
  }
  c->n = 0;
}

/* --- in a checkpoint --- */

static int parts_of(const struct request *r, struct request *const **parts) {
  const struct composite *c = (const struct composite *)r;
  *parts = c->parts;
  return c->n;
}

/* Its parts are all that it is. */
static void save(const struct request *r, struct checkpoint_writer *to) {
  (void)r, (void)to;
}

static struct request *load(const struct request_before *was,
                            struct checkpoint_reader *from);

/* Those of neighbourhoods, too: not all members take part in each. */
static const struct request_class composites = {
    .name = "collective",
    .past = true,
    .finish = finish,
    .save = save,
    .load = load,
    .parts = parts_of,
};
static const struct request_class exchanges = {
    .name = "send and receive",
    .finish = finish,
    .save = save,
    .load = load,
    .parts = parts_of,
};

/* NULL: out of memory. */
static struct composite *make(const struct request_class *class,
                              struct comm *comm, struct request **parts, int n,
                              const char *function) {
  const size_t size = sizeof(struct composite) + n * sizeof(struct request *);
  struct composite *c = request_new(size, class, comm, function);
  if (!c) {
    return NULL;
  }
  c->n = n;
  c->led = class == &exchanges;
  if (n) {
    memcpy(c->parts, parts, n * sizeof(struct request *));
  }
  return c;
}

/* When all its parts have begun. */
static void bind(struct composite *c) {
  run_queue_lock();
  for (int i = 0; i < c->n; i++) {
    if (c->parts[i]) {
      c->parts[i]->whole = &c->request;
      c->request.parts += !c->parts[i]->done;
    }
  }
  if (!c->request.parts) {
    request_done_locked(&c->request);
  }
  run_queue_unlock();
}

/* Of parts that have begun: a shortage ends the job. */
static struct composite *begun(const struct request_class *class,
                               struct comm *comm, struct request **parts, int n,
                               const char *function) {
  struct composite *c = make(class, comm, parts, n, function);
  request_need(&c->request);
  bind(c);
  return c;
}

struct request *composite_new(struct comm *comm, struct request **parts, int n,
                              const char *function) {
  return &begun(&composites, comm, parts, n, function)->request;
}

struct request *composite_exchange(struct request *send,
                                   struct request *receive,
                                   const char *function) {
  struct request *parts[] = {send, receive};
  return &begun(&exchanges, receive->comm, parts, 2, function)->request;
}

/* --- persistent --- */

static void restart(struct request *r) {
  struct composite *c = (struct composite *)r;
  for (int i = 0; i < c->n; i++) {
    c->parts[i]->whole = NULL;
    request_restart(c->parts[i]);
  }
  bind(c);
}

static void finish_round(struct request *r) {
  const struct composite *c = (struct composite *)r;
  for (int i = 0; i < c->n; i++) {
    struct request *part = c->parts[i];
    request_finish(part);
    part->active = false;
    r->result.error = r->result.error ? r->result.error : part->result.error;
  }
}

static void release(struct request *r) {
  const struct composite *c = (struct composite *)r;
  for (int i = 0; i < c->n; i++) {
    request_end(c->parts[i]);
  }
}

static const struct request_class persistent_composites = {
    .name = "collective",
    .finish = finish_round,
    .start = restart,
    .release = release,
    .save = save,
    .load = load,
    .parts = parts_of,
};

struct request *composite_persistent(struct comm *comm, struct request **parts,
                                     int n, const char *function) {
  struct composite *c = make(&persistent_composites, comm, parts, n, function);
  if (!c) {
    return NULL;
  }
  for (int i = 0; i < n; i++) {
    parts[i]->whole = &c->request;
  }
  return request_persistent(&c->request);
}

/* --- in another process --- */

static struct request *load(const struct request_before *was,
                            struct checkpoint_reader *from) {
  (void)from;
  return request_need((struct request *)make(was->class, was->comm, was->parts,
                                             was->n, was->function));
}
