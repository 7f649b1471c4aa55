#define _GNU_SOURCE
#include "interpose/stdio.h"

#include "base/failure.h"
#include "base/need.h"
#include "base/self.h"
#include "checkpoint/blocks.h"
#include "interpose/descriptor.h"
#include "interpose/malloc.h"
#include "interpose/real.h"
#include "interpose/record_lock.h"
#include "os/lock.h"
#include "os/native.h"
#include "vp/vp.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))
#define CALLER __builtin_return_address(0)

/* The C library's, of glibc's old names. */
void _IO_un_link(FILE *f);
int _IO_file_doallocate(FILE *f);
int _IO_fclose(FILE *f);
int _IO_fflush(FILE *f);

/* Of one VP. Its memory is not looked at with the lock held. */
struct stdio_streams {
  size_t n, room;
  FILE **item;
};

static struct lock lock = LOCK_INITIALIZER(LOCK_STREAMS);

/* A signal's handler, which may open streams, waits. */
static void list_take(void) {
  self_enter();
  lock_take(&lock);
}

static void list_give(void) {
  lock_give(&lock);
  self_leave();
}

static bool keeps(const void *caller, const char *mode) {
  return (vp_superstep || vp_restart) && malloc_is_program(caller) &&
         !self.helper && vp_in_job() && !strpbrk(mode, "m,");
}

/* --- the list --- */

static void note(struct vp *vp, FILE *f) {
  list_take();
  if (!vp->streams) {
    vp->streams = need_zalloc(1, sizeof(*vp->streams), "open streams");
  }
  struct stdio_streams *const s = vp->streams;
  if (s->n == s->room) {
    s->room = s->room ? 2 * s->room : 8;
    s->item =
        need_realloc((void *)s->item, s->room * sizeof(FILE *), "open streams");
  }
  s->item[s->n++] = f;
  list_give();
}

static size_t find_locked(const struct stdio_streams *s, const FILE *f) {
  size_t i = 0;
  while (s && i < s->n && s->item[i] != f) {
    i++;
  }
  return i;
}

/* Returns whether it was there. */
static bool forget(FILE *f) {
  struct vp *const vp = self.vp;
  bool found = false;
  if (vp && vp->streams) {
    list_take();
    struct stdio_streams *const s = vp->streams;
    const size_t i = find_locked(s, f);
    found = i < s->n;
    if (found) {
      s->item[i] = s->item[--s->n];
    }
    list_give();
  }
  return found;
}

/* The i-th, or NULL: there are fewer. */
static FILE *get(const struct vp *vp, size_t i) {
  list_take();
  const struct stdio_streams *const s = vp->streams;
  FILE *const f = s && i < s->n ? s->item[i] : NULL;
  list_give();
  return f;
}

static bool is_kept(const FILE *f) {
  bool found = false;
  if (self.vp && self.vp->streams) {
    list_take();
    found = find_locked(self.vp->streams, f) < self.vp->streams->n;
    list_give();
  }
  return found;
}

/* --- opening and closing --- */

/* One that the C library has just opened, in memory of the rank. */
static FILE *keep(FILE *f) {
  if (f) {
    _IO_un_link(f);
    if (!f->_IO_buf_base) {
      malloc_keep(true);
      (void)_IO_file_doallocate(f);
      malloc_keep(false);
    }
    note(self.vp, f);
  }
  return f;
}

/* Nobody but the stream knows its descriptor. */
static FILE *own_descriptor(FILE *f) {
  if (f) {
    f->_fileno = descriptor_take(f->_fileno);
  }
  return f;
}

typedef FILE *open_fn(const char *path, const char *mode);
typedef FILE *reopen_fn(const char *path, const char *mode, FILE *f);

static FILE *open_by(open_fn *real, const char *path, const char *mode,
                     const void *caller) {
  if (!keeps(caller, mode)) {
    FILE *const is = real(path, mode);
    if (!is && malloc_is_program(caller)) {
      descriptor_lacks();
    }
    return is;
  }
  malloc_keep(true);
  FILE *const f = real(path, mode);
  malloc_keep(false);
  return keep(own_descriptor(f));
}

EXPORT FILE *fopen(const char *path, const char *mode) {
  INTERPOSE_REAL(fopen)
  return open_by(real, path, mode, CALLER);
}

EXPORT FILE *fopen64(const char *path, const char *mode) {
  INTERPOSE_REAL(fopen64)
  return open_by(real, path, mode, CALLER);
}

EXPORT FILE *fdopen(int fd, const char *mode) {
  INTERPOSE_REAL(fdopen)
  if (!keeps(CALLER, mode)) {
    return real(fd, mode);
  }
  malloc_keep(true);
  FILE *const f = real(fd, mode);
  malloc_keep(false);
  return keep(f);
}

/* The C library adds it to its list again. */
static FILE *reopen_by(reopen_fn *real, const char *path, const char *mode,
                       FILE *f) {
  record_lock_close(f->_fileno);
  if (!forget(f)) {
    return real(path, mode, f);
  }
  malloc_keep(true);
  FILE *const again = real(path, mode, f);
  malloc_keep(false);
  return keep(own_descriptor(again));
}

EXPORT FILE *freopen(const char *path, const char *mode, FILE *f) {
  INTERPOSE_REAL(freopen)
  return reopen_by(real, path, mode, f);
}

EXPORT FILE *freopen64(const char *path, const char *mode, FILE *f) {
  INTERPOSE_REAL(freopen64)
  return reopen_by(real, path, mode, f);
}

static int close_stream(FILE *f) {
  INTERPOSE_REAL(_IO_fclose)
  record_lock_close(f->_fileno);
  (void)forget(f);
  return real(f);
}

EXPORT int fclose(FILE *f) {
  return close_stream(f);
}

/* So the program's own fclose calls it. */
EXPORT int _IO_fclose(FILE *f) {
  return close_stream(f);
}

/* What it was not the last one to read may need memory. */
EXPORT int ungetc(int c, FILE *f) {
  INTERPOSE_REAL(ungetc)
  malloc_keep(is_kept(f));
  const int is = real(c, f);
  malloc_keep(false);
  return is;
}

/* --- all of them --- */

void stdio_flush(void) {
  FILE *f;
  for (size_t i = 0; self.vp && (f = get(self.vp, i)); i++) {
    (void)_IO_fflush(f);
  }
}

static int flush(FILE *f) {
  INTERPOSE_REAL(_IO_fflush)
  int own = 0;
  for (size_t i = 0; !f && self.vp; i++) {
    FILE *const one = get(self.vp, i);
    if (!one) {
      break;
    }
    own |= real(one);
  }
  const int others = real(f);
  return own ? own : others;
}

EXPORT int fflush(FILE *f) {
  return flush(f);
}

EXPORT int _IO_fflush(FILE *f) {
  return flush(f);
}

void stdio_end(struct vp *vp) {
  if (vp->streams) {
    native_free((void *)vp->streams->item);
    native_free(vp->streams);
    vp->streams = NULL;
  }
}

/* --- in checkpoints --- */

/* What converts wide characters is the C library's. */
int stdio_check(const struct vp *vp, struct pems_error *error) {
  FILE *f;
  for (size_t i = 0; (f = get(vp, i)); i++) {
    if (f->_mode > 0) {
      return failure(error, ENOTSUP,
                     "it has a stream of wide characters: descriptor %d",
                     f->_fileno);
    }
  }
  return 0;
}

struct stdio_saved {
  uint64_t n;
  FILE *item[];
};

int stdio_save(const struct vp *vp, struct checkpoint_out *o,
               struct pems_error *error) {
  enum { MOST = CHECKPOINT_LARGEST / sizeof(FILE *) - 1 };
  const size_t n = vp->streams ? vp->streams->n : 0;
  if (n > MOST) {
    return failure(error, ENOTSUP, "it has %zu open streams", n);
  }
  struct stdio_saved *const s = native_alloc(sizeof(*s) + n * sizeof(*s->item));
  if (!s) {
    return failure(error, ENOMEM, "checkpoint: out of memory");
  }
  s->n = n;
  for (size_t i = 0; i < n; i++) {
    s->item[i] = get(vp, i);
  }
  const int code = checkpoint_put(o, CHECKPOINT_STREAMS, 0, s,
                                  sizeof(*s) + n * sizeof(*s->item), error);
  native_free(s);
  return code;
}

int stdio_load(struct vp *vp, struct checkpoint_in *in,
               struct pems_error *error) {
  void *bytes;
  size_t n;
  int code = checkpoint_take(in, CHECKPOINT_STREAMS, &bytes, &n, error);
  if (code) {
    return code;
  }
  const struct stdio_saved *const s = bytes;
  const bool good =
      n >= sizeof(*s) && s->n == (n - sizeof(*s)) / sizeof(*s->item);
  for (uint64_t i = 0; good && i < s->n; i++) {
    note(vp, s->item[i]);
  }
  native_free(bytes);
  return good ? 0
              : failure(error, EILSEQ, "checkpoint: %s: streams: %zu bytes",
                        in->path, n);
}
