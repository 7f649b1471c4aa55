#define _GNU_SOURCE
#include "checkpoint/blocks.h"

#include "base/failure.h"
#include "checkpoint/fault.h"
#include "os/bits.h"
#include "os/native.h"
#include "os/pages.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

/* In the byte order of the machine, which is the same where addresses are. */
struct head {
  uint32_t magic, kind;
  uint64_t at, n;
  uint64_t sum; /* of the fields above, and of the n bytes behind */
};

static const uint32_t magic = 0x436d6570;

static uint64_t sum_of(const struct head *h, const void *p) {
  const uint64_t fields = XXH3_64bits(h, offsetof(struct head, sum));
  return XXH3_64bits_withSeed(p, h->n, fields);
}

static void count(uint64_t *blocks, struct checkpoint_sum *sum,
                  const struct head *h) {
  ++*blocks;
  sum->bytes += sizeof(*h) + h->n;
  sum->sum = XXH3_64bits_withSeed(h, sizeof(*h), sum->sum);
}

/* --- writing --- */

static int write_all(int fd, struct iovec *io, int n) {
  int code = checkpoint_fault();
  while (n > 0 && !code) {
    const ssize_t done = writev(fd, io, n);
    if (done < 0 && errno != EINTR) {
      code = errno;
    }
    for (size_t left = done > 0 ? (size_t)done : 0; n > 0 && !code;) {
      const size_t part = bits_min(left, io->iov_len);
      io->iov_base = (char *)io->iov_base + part;
      io->iov_len -= part;
      left -= part;
      if (io->iov_len) {
        break;
      }
      io++;
      n--;
    }
  }
  return code;
}

static int cannot(struct pems_error *error, int code, const char *what,
                  const char *path) {
  return failure(error, code, "%s: %s: %s", what, path, strerror(code));
}

int checkpoint_create(struct checkpoint_out *o, const char *path,
                      struct pems_error *error) {
  *o = (struct checkpoint_out){.fd = -1};
  snprintf(o->path, sizeof(o->path), "%s", path);
  int code = checkpoint_fault();
  if (!code) {
    o->fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    code = o->fd >= 0 ? 0 : errno;
  }
  return code ? cannot(error, code, "cannot write a checkpoint", path) : 0;
}

int checkpoint_create_more(struct checkpoint_out *o, const char *path,
                           const struct checkpoint_tail *tail,
                           struct pems_error *error) {
  const off_t end = (off_t)tail->sum.bytes;
  *o = (struct checkpoint_out){
      .fd = -1, .blocks = tail->blocks, .sum = tail->sum};
  snprintf(o->path, sizeof(o->path), "%s", path);
  o->fd = open(path, O_WRONLY | O_CLOEXEC);
  return o->fd >= 0 && ftruncate(o->fd, end) == 0 &&
                 lseek(o->fd, end, SEEK_SET) == end
             ? 0
             : cannot(error, errno, "cannot write a checkpoint", path);
}

int checkpoint_put_changing(struct checkpoint_out *o,
                            struct pems_error *error) {
  o->copy = native_alloc(CHECKPOINT_LARGEST);
  return o->copy ? 0 : failure(error, ENOMEM, "out of memory: checkpoint");
}

static int put(struct checkpoint_out *o, enum checkpoint_kind kind, uint64_t at,
               const void *p, size_t n, struct pems_error *error) {
  if (o->copy && n) {
    p = memcpy(o->copy, p, n);
  }
  struct head h = {magic, kind, at, n, 0};
  h.sum = sum_of(&h, p);
  struct iovec io[] = {{&h, sizeof(h)}, {(void *)(uintptr_t)p, n}};
  struct head copy = h;
  const int code = write_all(o->fd, io, 2);
  if (code) {
    return cannot(error, code, "cannot write a checkpoint", o->path);
  }
  count(&o->blocks, &o->sum, &copy);
  return 0;
}

int checkpoint_put(struct checkpoint_out *o, enum checkpoint_kind kind,
                   uint64_t at, const void *p, size_t n,
                   struct pems_error *error) {
  int code = 0;
  for (size_t done = 0; done < n && !code;) {
    const size_t part = bits_min(n - done, CHECKPOINT_LARGEST);
    code = put(o, kind, at + done, (const char *)p + done, part, error);
    done += part;
  }
  return code;
}

/* Bytes of the pieces at p, each of a page or up to the next one, that are all
   zero or all not. */
static size_t alike(const char *p, size_t n, bool *zero) {
  size_t at = 0;
  while (at < n) {
    const size_t rest = PAGE - ((uintptr_t)(p + at) & (PAGE - 1));
    const size_t part = bits_min(n - at, rest);
    const bool is = bits_zero(p + at, part);
    if (at > 0 && is != *zero) {
      break;
    }
    *zero = is;
    at += part;
  }
  return at;
}

int checkpoint_put_memory(struct checkpoint_out *o, const void *p, size_t n,
                          struct pems_error *error) {
  const char *const from = p;
  int code = 0;
  for (size_t at = 0; at < n && !code;) {
    bool zero = false;
    const size_t part =
        alike(from + at, bits_min(n - at, CHECKPOINT_LARGEST), &zero);
    if (!zero) {
      code = checkpoint_put(o, CHECKPOINT_MEMORY, (uintptr_t)(from + at),
                            from + at, part, error);
    }
    at += part;
  }
  return code;
}

int checkpoint_finish(struct checkpoint_out *o, struct checkpoint_sum *sum,
                      struct pems_error *error) {
  o->tail = (struct checkpoint_tail){o->blocks, o->sum};
  int code = put(o, CHECKPOINT_END, o->blocks, NULL, 0, error);
  if (!code) {
    int failed = checkpoint_fault();
    failed = failed || fdatasync(o->fd) == 0 ? failed : errno;
    code = failed ? cannot(error, failed, "cannot write a checkpoint", o->path)
                  : 0;
  }
  *sum = o->sum;
  return code;
}

void checkpoint_close(struct checkpoint_out *o) {
  if (o->fd >= 0) {
    close(o->fd);
  }
  o->fd = -1;
  native_free(o->copy);
  o->copy = NULL;
}

/* --- reading --- */

static int wrong(const struct checkpoint_in *in, struct pems_error *error,
                 const char *what) {
  return failure(error, EILSEQ,
                 "checkpoint: %s: byte %llu: %s: restart from the one before",
                 in->path, (unsigned long long)in->sum.bytes, what);
}

static int read_all(struct checkpoint_in *in, void *to, size_t n,
                    struct pems_error *error) {
  for (size_t done = 0; done < n;) {
    const ssize_t got = read(in->fd, (char *)to + done, n - done);
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got < 0) {
      return cannot(error, errno, "cannot read a checkpoint", in->path);
    }
    if (got == 0) {
      return wrong(in, error, "it ends there");
    }
    done += (size_t)got;
  }
  return 0;
}

int checkpoint_open_file(int *fd, const char *path, struct pems_error *error) {
  struct stat st;
  *fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (*fd < 0) {
    return cannot(error, errno, "cannot read a checkpoint", path);
  }
  if (fstat(*fd, &st) == 0 && S_ISREG(st.st_mode)) {
    return 0;
  }
  close(*fd);
  *fd = -1;
  return failure(error, EILSEQ,
                 "checkpoint: %s: not a regular file: restart from the one "
                 "before",
                 path);
}

int checkpoint_open(struct checkpoint_in *in, const char *path,
                    struct pems_error *error) {
  *in = (struct checkpoint_in){.fd = -1};
  snprintf(in->path, sizeof(in->path), "%s", path);
  return checkpoint_open_file(&in->fd, path, error);
}

int checkpoint_next(struct checkpoint_in *in, struct checkpoint_block *b,
                    struct pems_error *error) {
  struct head h;
  const int code = read_all(in, &h, sizeof(h), error);
  if (code) {
    return code;
  }
  if (h.magic != magic || h.n > CHECKPOINT_LARGEST || h.kind < CHECKPOINT_END ||
      h.kind > CHECKPOINT_LAST || (h.kind == CHECKPOINT_END) != (h.n == 0)) {
    return wrong(in, error, "it was changed there");
  }
  *b = (struct checkpoint_block){h.kind, h.at, h.n};
  if (h.kind == CHECKPOINT_END &&
      (h.at != in->blocks || h.sum != sum_of(&h, NULL))) {
    return wrong(in, error, "it lacks blocks before that");
  }
  in->due = h.sum;
  count(&in->blocks, &in->sum, &h);
  return 0;
}

int checkpoint_get(struct checkpoint_in *in, const struct checkpoint_block *b,
                   void *to, struct pems_error *error) {
  const struct head h = {magic, b->kind, b->at, b->n, 0};
  const int code = read_all(in, to, b->n, error);
  return code                        ? code
         : sum_of(&h, to) == in->due ? 0
                                     : wrong(in, error, "its sum is wrong");
}

int checkpoint_take(struct checkpoint_in *in, enum checkpoint_kind kind,
                    void **bytes, size_t *n, struct pems_error *error) {
  struct checkpoint_block b;
  int code = checkpoint_next(in, &b, error);
  if (!code && b.kind != kind) {
    code = wrong(in, error, "something else is to be there");
  }
  if (code) {
    return code;
  }
  *n = b.n;
  *bytes = native_alloc(b.n);
  if (!*bytes) {
    return failure(error, ENOMEM, "out of memory: checkpoint");
  }
  code = checkpoint_get(in, &b, *bytes, error);
  if (code) {
    native_free(*bytes);
  }
  return code;
}

void checkpoint_shut(struct checkpoint_in *in) {
  if (in->fd >= 0) {
    close(in->fd);
  }
  in->fd = -1;
}

static int read_through(struct checkpoint_in *in, void *buffer,
                        struct pems_error *error) {
  struct checkpoint_block b;
  int code;
  do {
    code = checkpoint_next(in, &b, error);
    if (!code && b.n) {
      code = checkpoint_get(in, &b, buffer, error);
    }
  } while (!code && b.kind != CHECKPOINT_END);
  return code;
}

int checkpoint_verify(const char *path, const struct checkpoint_sum *sum,
                      struct pems_error *error) {
  struct checkpoint_in in;
  void *const buffer = native_alloc(CHECKPOINT_LARGEST);
  if (!buffer) {
    return failure(error, ENOMEM, "out of memory: checkpoint");
  }
  int code = checkpoint_open(&in, path, error);
  code = code ? code : read_through(&in, buffer, error);
  if (!code && sum && (in.sum.sum != sum->sum || in.sum.bytes != sum->bytes)) {
    code = wrong(&in, error, "it is not the file that its manifest tells of");
  }
  checkpoint_shut(&in);
  native_free(buffer);
  return code;
}

int checkpoint_look(const char *path, const struct checkpoint_sum *sum,
                    struct pems_error *error) {
  struct stat st;
  if (stat(path, &st) != 0) {
    return cannot(error, errno, "cannot read a checkpoint", path);
  }
  return (uint64_t)st.st_size == sum->bytes
             ? 0
             : failure(error, EILSEQ,
                       "checkpoint: %s: %lld bytes instead of %llu: restart "
                       "from the one before",
                       path, (long long)st.st_size,
                       (unsigned long long)sum->bytes);
}
