#define _GNU_SOURCE
#include "em/lines/line_source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/encoding.h"
#include "base/failure.h"
#include "disk/file.h"
#include "em/lines/line_quotes.h"
#include "os/native.h"

enum { BUFFERS = 2 };
/* Smaller files are not worth threads that read ahead. */
#define LARGE ((off_t)4 << 20)

struct line_source {
  struct line_source_options o;
  struct memory *memory;
  char *buffer;
  size_t next;      /* file that is opened next */
  const char *name; /* of the current one */
  bool open;
  int fd;                 /* or -1: */
  struct disk_file *file; /* with these requests */
  struct pems_request request[BUFFERS];
  int current;
  uint64_t asked, used, size;
  const char *at;
  size_t left;
  unsigned char last; /* byte of the file that was read last */
  bool any;           /* there was one */
  bool in_header;     /* it was not read to its end */
  /* Bytes that were read to look for a mark, and those of them used so far. */
  unsigned char first[ENCODING_ENOUGH];
  size_t first_n, first_used;
  bool at_end; /* that were all */
  struct line_quotes quotes;
};

int line_source_new(struct line_source **source,
                    const struct line_source_options *options,
                    struct memory *memory, struct pems_error *error) {
  struct line_source *const s = native_zalloc(1, sizeof(*s));
  *source = NULL;
  if (s) {
    s->o = *options;
    s->memory = memory;
    s->fd = -1;
    s->buffer = memory_get(memory, BUFFERS * options->piece);
  }
  if (!s || !s->buffer) {
    native_free(s);
    return failure(error, ENOMEM,
                   "memory for sorting: %zu bytes to read with: give more",
                   BUFFERS * options->piece);
  }
  *source = s;
  return 0;
}

static int read_failure(const struct line_source *s, int code,
                        struct pems_error *error) {
  return failure(error, code, "%s: reading: %s: check the file", s->name,
                 strerror(code));
}

/* --- large files --- */

static void ask(struct line_source *s, int i) {
  const uint64_t left = s->size - s->asked, unit = PEMS_DISK_UNIT;
  const uint64_t whole = (left + unit - 1) / unit * unit;
  struct pems_request *r = &s->request[i];
  *r = (struct pems_request){
      .block = {0, s->asked},
      .buf = s->buffer + (size_t)i * s->o.piece,
      .n = whole < s->o.piece ? (size_t)whole : s->o.piece,
  };
  s->asked += left < r->n ? left : r->n;
  if (r->n) {
    disk_file_start(s->file, &r, 1);
  }
}

static int next_piece(struct line_source *s, struct pems_error *error) {
  if (s->at) {
    ask(s, s->current);
    s->current ^= 1;
  }
  struct pems_request *const r = &s->request[s->current];
  if (r->n == 0) {
    s->left = 0;
    return 0;
  }
  const int code = disk_file_wait(s->file, r);
  const uint64_t behind = s->size - r->block.at;
  s->at = r->buf;
  s->left = behind < r->n ? (size_t)behind : r->n;
  r->n = 0;
  return code ? read_failure(s, code, error) : 0;
}

static int read_large(struct line_source *s, char *to, size_t room, size_t *n,
                      struct pems_error *error) {
  const int failed = s->left == 0 ? next_piece(s, error) : 0;
  if (failed) {
    return failed;
  }
  *n = s->left < room ? s->left : room;
  memcpy(to, s->at, *n);
  s->at += *n;
  s->left -= *n;
  return 0;
}

/* --- all others --- */

static int read_small(struct line_source *s, char *to, size_t room, size_t *n,
                      struct pems_error *error) {
  ssize_t part;
  do {
    part = read(s->fd, to, room < s->o.piece ? room : s->o.piece);
  } while (part < 0 && errno == EINTR);
  *n = part > 0 ? (size_t)part : 0;
  return part < 0 ? read_failure(s, errno, error) : 0;
}

static int read_more(struct line_source *s, char *to, size_t room, size_t *n,
                     struct pems_error *error) {
  return s->file ? read_large(s, to, room, n, error)
                 : read_small(s, to, room, n, error);
}

/* --- what it begins with --- */

/* As many bytes as tell that, however few come at a time. */
static int read_first(struct line_source *s, struct pems_error *error) {
  while (!s->at_end && s->first_n < sizeof(s->first)) {
    size_t n = 0;
    const int failed = read_more(s, (char *)s->first + s->first_n,
                                 sizeof(s->first) - s->first_n, &n, error);
    if (failed) {
      return failed;
    }
    s->first_n += n;
    s->at_end = n == 0;
  }
  return line_header_begin(s->o.header, s->name, s->first, s->first_n,
                           &s->first_used, error);
}

static int read_bytes(struct line_source *s, char *to, size_t room, size_t *n,
                      struct pems_error *error) {
  const size_t left = s->first_n - s->first_used;
  if (left == 0 && !s->at_end) {
    return read_more(s, to, room, n, error);
  }
  *n = left < room ? left : room;
  memcpy(to, s->first + s->first_used, *n);
  s->first_used += *n;
  return 0;
}

/* --- one file after the other --- */

static void close_file(struct line_source *s) {
  for (int i = 0; s->file && i < BUFFERS; i++) {
    if (s->request[i].n) {
      (void)disk_file_wait(s->file, &s->request[i]);
      s->request[i].n = 0;
    }
  }
  disk_file_close(s->file);
  s->file = NULL;
  if (s->fd > STDIN_FILENO) {
    close(s->fd);
  }
  s->fd = -1;
  s->open = false;
}

static int open_large(struct line_source *s, struct pems_error *error) {
  const int failed =
      disk_file_open(&s->file, s->name, s->o.io, s->o.depth, error);
  if (failed) {
    return failed;
  }
  s->size = disk_file_size(s->file);
  s->asked = s->current = 0;
  s->at = NULL;
  s->left = 0;
  ask(s, 0);
  ask(s, 1);
  return 0;
}

static int open_next(struct line_source *s, struct pems_error *error) {
  struct stat st;
  const char *const path = s->o.path[s->next++];
  s->open = true;
  s->any = false;
  s->in_header = s->o.header && s->o.header->row;
  s->first_n = s->first_used = 0;
  s->at_end = false;
  line_quotes_begin(&s->quotes, s->o.separator);
  if (strcmp(path, LINE_STANDARD) == 0) {
    s->name = "standard input";
    s->fd = STDIN_FILENO;
    return 0;
  }
  s->name = path;
  if (stat(path, &st) == 0 && S_ISREG(st.st_mode) && st.st_size >= LARGE) {
    return open_large(s, error);
  }
  s->fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
  return s->fd < 0 ? failure(error, errno,
                             "input file: %s: %s: name a file "
                             "that can be read",
                             path, strerror(errno))
                   : 0;
}

static int begin_next(struct line_source *s, struct pems_error *error) {
  const int failed = open_next(s, error);
  return failed || !s->o.header || !s->o.header->marks ? failed
                                                       : read_first(s, error);
}

/* --- what is read --- */

static int check_quotes(struct line_source *s, unsigned char *at, size_t n,
                        struct pems_error *error) {
  return !s->o.quotes || line_quotes_turn(&s->quotes, at, n)
             ? 0
             : failure(error, EINVAL,
                       "%s: a zero byte in line %llu: not CSV: remove it",
                       s->name, (unsigned long long)s->quotes.newlines + 1);
}

/* Takes the header out of *n bytes. */
static int take_header(struct line_source *s, unsigned char *at, size_t *n,
                       struct pems_error *error) {
  size_t used;
  bool whole;
  if (!s->in_header) {
    return 0;
  }
  const int failed = line_header_read(s->o.header, s->name, at, *n, s->o.end,
                                      &used, &whole, error);
  *n -= used;
  memmove(at, at + used, *n);
  s->in_header = !whole;
  return failed;
}

static int take_bytes(struct line_source *s, unsigned char *at, size_t *n,
                      struct pems_error *error) {
  const int failed = check_quotes(s, at, *n, error);
  s->last = at[*n - 1];
  s->any = true;
  return failed ? failed : take_header(s, at, n, error);
}

/* Of a file: the end of its last line, if it has none. */
static int take_end(struct line_source *s, unsigned char *at, size_t *n,
                    struct pems_error *error) {
  const uint64_t line = s->o.quotes ? line_quotes_open(&s->quotes) : 0;
  if (line) {
    return failure(error, EINVAL,
                   "%s: a quoted field that begins in line %llu: has no end: "
                   "close it",
                   s->name, (unsigned long long)line);
  }
  if (s->any && s->last != s->o.end) {
    *at = s->o.end;
    *n = 1;
    return take_header(s, at, n, error);
  }
  return 0;
}

int line_source_read(struct line_source *s, void *to, size_t room, size_t *n,
                     struct pems_error *error) {
  for (*n = 0; *n == 0;) {
    if (!s->open && s->next == s->o.paths) {
      return 0;
    }
    int failed = s->open ? 0 : begin_next(s, error);
    if (!failed) {
      failed = read_bytes(s, to, room, n, error);
    }
    const bool more = *n > 0;
    if (!failed) {
      failed = (more ? take_bytes : take_end)(s, to, n, error);
    }
    if (failed) {
      return failed;
    }
    if (!more) {
      close_file(s);
    }
  }
  return 0;
}

const char *line_source_name(const struct line_source *s) {
  return s->name ? s->name : "input";
}

int line_source_blame_quote(const struct line_source *s, size_t n,
                            struct pems_error *error) {
  const uint64_t line = s->o.quotes ? line_quotes_open(&s->quotes) : 0;
  return line ? failure(error, EFBIG,
                        "%s: a quoted field that begins in line %llu: has no "
                        "end within %zu bytes: close it, or give more memory "
                        "(-S)",
                        s->name, (unsigned long long)line, n)
              : 0;
}

size_t line_source_opened(const struct line_source *s) {
  return s->next;
}

bool line_source_ended(const struct line_source *s) {
  return !s->open && s->next == s->o.paths;
}

uint64_t line_source_size(const struct line_source *s) {
  uint64_t sum = 0;
  for (size_t i = 0; i < s->o.paths; i++) {
    struct stat st;
    const char *const path = s->o.path[i];
    const bool standard = strcmp(path, LINE_STANDARD) == 0;
    if ((standard ? fstat(STDIN_FILENO, &st) : stat(path, &st)) ||
        !S_ISREG(st.st_mode)) {
      return 0;
    }
    sum += (uint64_t)st.st_size;
  }
  return sum;
}

void line_source_free(struct line_source *s) {
  if (!s) {
    return;
  }
  close_file(s);
  memory_put(s->memory, s->buffer, BUFFERS * s->o.piece);
  native_free(s);
}
