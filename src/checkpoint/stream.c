#include "checkpoint/stream.h"

#include "base/failure.h"
#include "os/bits.h"
#include "os/native.h"

#include <errno.h>
#include <string.h>

/* --- writing --- */

void checkpoint_write_begin(struct checkpoint_writer *w,
                            struct checkpoint_out *out,
                            enum checkpoint_kind kind,
                            struct pems_error *error) {
  *w = (struct checkpoint_writer){
      .out = out, .kind = kind, .buffer = native_alloc(CHECKPOINT_LARGEST)};
  w->error = error;
  w->code = w->buffer ? 0 : failure(error, ENOMEM, "out of memory: checkpoint");
}

static void flush(struct checkpoint_writer *w) {
  if (!w->code && w->used) {
    w->code = checkpoint_put(w->out, w->kind, 0, w->buffer, w->used, w->error);
  }
  w->used = 0;
}

void checkpoint_write(struct checkpoint_writer *w, const void *p, size_t n) {
  for (size_t done = 0; done < n && !w->code;) {
    const size_t part = bits_min(n - done, CHECKPOINT_LARGEST - w->used);
    memcpy(w->buffer + w->used, (const char *)p + done, part);
    w->used += part;
    done += part;
    if (w->used == CHECKPOINT_LARGEST) {
      flush(w);
    }
  }
}

int checkpoint_write_end(struct checkpoint_writer *w) {
  flush(w);
  native_free(w->buffer);
  w->buffer = NULL;
  return w->code;
}

/* --- reading --- */

void checkpoint_read_begin(struct checkpoint_reader *r,
                           struct checkpoint_in *in,
                           struct checkpoint_block *next,
                           struct pems_error *error) {
  *r = (struct checkpoint_reader){.in = in,
                                  .next = next,
                                  .kind = next->kind,
                                  .buffer = native_alloc(CHECKPOINT_LARGEST),
                                  .error = error};
  r->code = r->buffer ? 0 : failure(error, ENOMEM, "out of memory: restart");
}

void checkpoint_read_strange(struct checkpoint_reader *r, const char *what) {
  if (!r->code) {
    r->code = failure(r->error, EILSEQ,
                      "checkpoint: %s: %s: restart from the one before",
                      r->in->path, what);
  }
}

static void fill(struct checkpoint_reader *r) {
  r->used = r->n = 0;
  if (r->next->kind != r->kind) {
    checkpoint_read_strange(r, "it lacks what should come next");
    return;
  }
  const size_t n = r->next->n;
  r->code = checkpoint_get(r->in, r->next, r->buffer, r->error);
  r->code = r->code ? r->code : checkpoint_next(r->in, r->next, r->error);
  r->n = r->code ? 0 : n;
}

void checkpoint_read(struct checkpoint_reader *r, void *to, size_t n) {
  size_t done = 0;
  while (done < n && !r->code) {
    if (r->used == r->n) {
      fill(r);
    }
    const size_t part = bits_min(n - done, r->n - r->used);
    memcpy((char *)to + done, r->buffer + r->used, part);
    r->used += part;
    done += part;
  }
  if (r->code) {
    memset(to, 0, n);
  }
}

int checkpoint_read_end(struct checkpoint_reader *r) {
  if (r->used < r->n || (!r->code && r->next->kind == r->kind)) {
    checkpoint_read_strange(r, "it has more than it should");
  }
  native_free(r->buffer);
  r->buffer = NULL;
  return r->code;
}
