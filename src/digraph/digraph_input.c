#include "digraph/digraph_input.h"

#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#if HAVE_ZLIB
#include <zlib.h>
#endif
#if HAVE_ZSTD
#include <zstd.h>
#endif

#include "digraph/digraph.h"

enum { BUFFER = 256 << 10 };

enum packing { PLAIN, GZIP, ZSTD };
static const char *const names[] = {"", "gzip", "zstd"};

struct digraph_input {
  const char *path;
  int fd;
  uint64_t size; /* of the file; 0: it cannot be told */
  enum packing packing;
  uint64_t at;      /* bytes of the file that are read */
  size_t next, end; /* of the buffer: what was not used yet */
  bool last;        /* the file has no more */
  bool between;     /* what is packed has ended, and may begin again */
#if HAVE_ZLIB
  z_stream gzip;
#endif
#if HAVE_ZSTD
  ZSTD_DStream *zstd;
#endif
  unsigned char buffer[BUFFER];
};

static int system_failed(const struct digraph_input *in,
                         struct pems_error *error) {
  const int code = errno;
  return digraph_failure(error, code,
                         "cannot read: %.300s: %s: give a file that can be "
                         "read",
                         in->path, strerror(code));
}

/* Where the file is at: what was unpacked before it is good. */
static int damaged(const struct digraph_input *in, const char *what,
                   struct pems_error *error) {
  return digraph_failure(error, EINVAL,
                         "%.300s: byte %" PRIu64 ": %s: get the file again",
                         in->path, in->at - (in->end - in->next), what);
}

/* --- the file --- */

/* The next piece of the file, where nothing is left of the one before. */
static int fill(struct digraph_input *in, struct pems_error *error) {
  ssize_t n = 0;
  if (in->last || in->next < in->end) {
    return 0;
  }
  do {
    n = read(in->fd, in->buffer, BUFFER);
  } while (n < 0 && errno == EINTR);
  if (n < 0) {
    return system_failed(in, error);
  }
  in->next = 0;
  in->end = (size_t)n;
  in->at += (uint64_t)n;
  in->last = n == 0;
  return 0;
}

/* --- unpacking: takes from the buffer, and tells how much it gave --- */

#if HAVE_ZLIB
static int unpack_gzip(struct digraph_input *in, void *to, size_t n,
                       size_t *got, struct pems_error *error) {
  z_stream *const z = &in->gzip;
  if (in->between && inflateReset(z) != Z_OK) {
    return damaged(in, "gzip cannot go on", error);
  }
  in->between = false;
  z->next_in = in->buffer + in->next;
  z->avail_in = (uInt)(in->end - in->next);
  z->next_out = to;
  z->avail_out = n < 1 << 30 ? (uInt)n : 1 << 30;
  const uInt room = z->avail_out;
  const int result = inflate(z, Z_NO_FLUSH);
  in->next = in->end - z->avail_in;
  *got = room - z->avail_out;
  in->between = result == Z_STREAM_END;
  return result == Z_OK || result == Z_STREAM_END || result == Z_BUF_ERROR
             ? 0
             : damaged(in, "damaged gzip data", error);
}
#endif

#if HAVE_ZSTD
static int unpack_zstd(struct digraph_input *in, void *to, size_t n,
                       size_t *got, struct pems_error *error) {
  ZSTD_inBuffer from = {in->buffer, in->end, in->next};
  ZSTD_outBuffer out = {to, n, 0};
  const size_t result = ZSTD_decompressStream(in->zstd, &out, &from);
  in->next = from.pos;
  *got = out.pos;
  in->between = result == 0;
  return ZSTD_isError(result) ? damaged(in, "damaged zstd data", error) : 0;
}
#endif

static int unpack(struct digraph_input *in, void *to, size_t n, size_t *got,
                  struct pems_error *error) {
#if HAVE_ZLIB
  if (in->packing == GZIP) {
    return unpack_gzip(in, to, n, got, error);
  }
#endif
#if HAVE_ZSTD
  if (in->packing == ZSTD) {
    return unpack_zstd(in, to, n, got, error);
  }
#endif
  (void)error; /* without both libraries */
  *got = n < in->end - in->next ? n : in->end - in->next;
  memcpy(to, in->buffer + in->next, *got);
  in->next += *got;
  return 0;
}

int digraph_input_read(struct digraph_input *in, void *to, size_t n,
                       size_t *got, struct pems_error *error) {
  *got = 0;
  while (*got < n) {
    size_t part = 0;
    int code = fill(in, error);
    if (code) {
      return code;
    }
    if (in->next == in->end && in->last && (in->between || !in->packing)) {
      return 0;
    }
    const size_t before = in->next;
    code = unpack(in, (char *)to + *got, n - *got, &part, error);
    if (code) {
      return code;
    }
    *got += part;
    if (!part && in->next == before && in->last) {
      return damaged(in, "the file ends within its compressed data", error);
    }
  }
  return 0;
}

/* --- opening --- */

static enum packing packing_of(const struct digraph_input *in) {
  static const unsigned char gzip[] = {0x1f, 0x8b},
                             zstd[] = {0x28, 0xb5, 0x2f, 0xfd};
  return in->end >= sizeof(gzip) && !memcmp(in->buffer, gzip, sizeof(gzip))
             ? GZIP
         : in->end >= sizeof(zstd) && !memcmp(in->buffer, zstd, sizeof(zstd))
             ? ZSTD
             : PLAIN;
}

static int begin_unpacking(struct digraph_input *in, struct pems_error *error) {
  bool ready = in->packing == PLAIN;
#if HAVE_ZLIB
  enum { WINDOW = 15, GZIP_ONLY = 16 };
  if (in->packing == GZIP) {
    ready = inflateInit2(&in->gzip, WINDOW + GZIP_ONLY) == Z_OK;
  }
#endif
#if HAVE_ZSTD
  if (in->packing == ZSTD) {
    in->zstd = ZSTD_createDStream();
    ready = in->zstd && !ZSTD_isError(ZSTD_initDStream(in->zstd));
  }
#endif
  return ready ? 0
               : digraph_failure(error, ENOSYS,
                                 "cannot unpack: %.300s: this pems was built "
                                 "without %s: unpack it before",
                                 in->path, names[in->packing]);
}

int digraph_input_open(struct digraph_input **input, const char *path,
                       struct pems_error *error) {
  struct digraph_input *const in = calloc(1, sizeof(*in));
  struct stat is;
  *input = NULL;
  if (!in) {
    return digraph_failure(error, ENOMEM, "no memory to read %.300s: free some",
                           path);
  }
  in->path = path;
  in->fd = strcmp(path, "-") == 0 ? dup(STDIN_FILENO)
                                  : open(path, O_RDONLY | O_CLOEXEC);
  int code = in->fd < 0 ? system_failed(in, error) : fill(in, error);
  if (!code) {
    in->packing = packing_of(in);
    code = begin_unpacking(in, error);
  }
  if (code) {
    digraph_input_close(in);
    return code;
  }
  if (!in->packing && fstat(in->fd, &is) == 0 && S_ISREG(is.st_mode)) {
    in->size = (uint64_t)is.st_size;
  }
  *input = in;
  return 0;
}

void digraph_input_close(struct digraph_input *in) {
  if (!in) {
    return;
  }
#if HAVE_ZLIB
  if (in->packing == GZIP) {
    inflateEnd(&in->gzip);
  }
#endif
#if HAVE_ZSTD
  ZSTD_freeDStream(in->zstd);
#endif
  if (in->fd >= 0) {
    close(in->fd);
  }
  free(in);
}

uint64_t digraph_input_size(const struct digraph_input *in) {
  return in->size;
}

size_t digraph_input_name(const char *path) {
  static const char *const ends[] = {".gz", ".zst"};
  const size_t length = strlen(path);
  for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++) {
    const size_t n = strlen(ends[i]);
    if (length > n && strcasecmp(path + length - n, ends[i]) == 0) {
      return length - n;
    }
  }
  return length;
}
