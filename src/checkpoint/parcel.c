#include "checkpoint/parcel.h"

#include "base/failure.h"
#include "os/native.h"

#include <errno.h>
#include <string.h>

static bool has_room(struct parcel *p, size_t n) {
  if (p->failed || n <= p->room - p->n) {
    return !p->failed;
  }
  size_t room = p->room ? 2 * p->room : 4096;
  while (room - p->n < n) {
    room *= 2;
  }
  char *const bytes = native_realloc(p->bytes, room);
  if (bytes) {
    p->bytes = bytes;
    p->room = room;
  }
  p->failed = !bytes;
  return bytes;
}

void parcel_put(struct parcel *p, const void *from, size_t n) {
  if (n && has_room(p, n)) {
    memcpy(p->bytes + p->n, from, n);
    p->n += n;
  }
}

void parcel_put_number(struct parcel *p, int64_t number) {
  parcel_put(p, &number, sizeof(number));
}

void parcel_put_address(struct parcel *p, const void *address) {
  parcel_put_number(p, (int64_t)(intptr_t)address);
}

void parcel_put_text(struct parcel *p, const char *text) {
  const size_t n = strlen(text) + 1;
  parcel_put_number(p, (int64_t)n);
  parcel_put(p, text, n);
}

void parcel_put_ints(struct parcel *p, const int *from, int n) {
  parcel_put_number(p, from != NULL);
  if (from && n > 0) {
    parcel_put(p, from, (size_t)n * sizeof(*from));
  }
}

static bool has(struct parcel *p, size_t n) {
  p->cut |= p->n - p->at < n;
  p->failed |= p->cut;
  return !p->failed;
}

void parcel_get(struct parcel *p, void *to, size_t n) {
  if (n && has(p, n)) {
    memcpy(to, p->bytes + p->at, n);
    p->at += n;
  }
}

int64_t parcel_number(struct parcel *p) {
  int64_t number = 0;
  parcel_get(p, &number, sizeof(number));
  return number;
}

void *parcel_address(struct parcel *p) {
  return (void *)(intptr_t)parcel_number(p);
}

const char *parcel_text(struct parcel *p) {
  const size_t n = (size_t)parcel_number(p);
  if (n == 0 || !has(p, n) || p->bytes[p->at + n - 1]) {
    p->failed = p->cut = true;
    return "";
  }
  const char *const text = p->bytes + p->at;
  p->at += n;
  return text;
}

int *parcel_ints(struct parcel *p, int n) {
  if (!parcel_number(p)) {
    return NULL;
  }
  if (n < 0 || !has(p, (size_t)n * sizeof(int))) {
    p->failed = p->cut = true;
    return NULL;
  }
  int *const to = native_alloc(((size_t)n + 1) * sizeof(*to));
  p->failed = !to;
  if (to) {
    parcel_get(p, to, (size_t)n * sizeof(*to));
  }
  return to;
}

int parcel_save(const struct parcel *p, enum checkpoint_kind kind,
                struct checkpoint_out *o, struct pems_error *error) {
  return p->failed ? failure(error, ENOMEM, "out of memory: checkpoint")
                   : checkpoint_put(o, kind, 0, p->bytes, p->n, error);
}

int parcel_load(struct parcel *p, enum checkpoint_kind kind, size_t n,
                struct checkpoint_in *in, struct pems_error *error) {
  int code =
      has_room(p, n) ? 0 : failure(error, ENOMEM, "out of memory: restart");
  while (!code && p->n < n) {
    struct checkpoint_block b;
    code = checkpoint_next(in, &b, error);
    if (!code && (b.kind != kind || b.at != p->n || b.n > n - p->n)) {
      code = failure(error, EILSEQ,
                     "checkpoint: %s: its objects are incomplete: restart from "
                     "the one before",
                     in->path);
    }
    code = code ? code : checkpoint_get(in, &b, p->bytes + p->n, error);
    p->n += code ? 0 : b.n;
  }
  return code;
}

void parcel_free(struct parcel *p) {
  native_free(p->bytes);
  *p = (struct parcel){0};
}
