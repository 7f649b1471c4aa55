/* Our own format: a graph as it lies in memory, so that it need only be mapped.
   A header, then the arrays first, edge and, if there are any, place: each from
   a multiple of 64 bytes on. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/message.h"
#include "digraph/digraph_formats.h"
#include "digraph/digraph_out.h"
#include "disk/file.h"
#include "os/whole.h"

#define MAGIC "pemsCSR" /* 8 bytes, with its end */
#define ORDER 0x01020304u

enum {
  VERSION = 1,
  ALIGNMENT = 64,
  PLACES = 1, /* flags */
};

struct header {
  char magic[8];
  uint32_t order; /* ORDER, in the byte order of who wrote it */
  uint32_t version;
  uint64_t nodes, edges;
  uint64_t flags;
  uint64_t unused[3];
};
_Static_assert(sizeof(struct header) == ALIGNMENT, "arrays begin after it");

/* Where the arrays begin, and the end. */
struct layout {
  uint64_t at[3], end;
};

static uint64_t aligned(uint64_t n) {
  return (n + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

static struct layout layout_of(uint64_t nodes, uint64_t edges, int places) {
  struct layout l;
  l.at[0] = sizeof(struct header);
  l.at[1] = aligned(l.at[0] + (nodes + 1) * sizeof(uint64_t));
  l.at[2] = aligned(l.at[1] + edges * sizeof(struct digraph_edge));
  l.end = l.at[2] + (places ? nodes * sizeof(struct digraph_place) : 0);
  return l;
}

/* --- reading --- */

static int system_failed(const char *path, struct pems_error *error) {
  const int code = errno;
  return digraph_failure(
      error, code, "cannot read: %.300s: %s: give a file that can be read",
      path, strerror(code));
}

static int refuse(const char *path, const char *what,
                  struct pems_error *error) {
  return digraph_failure(error, EINVAL, "%.300s: %s", path, what);
}

static int check_header(const struct header *h, uint64_t bytes,
                        const char *path, struct pems_error *error) {
  if (bytes < sizeof(*h) || memcmp(h->magic, MAGIC, sizeof(h->magic)) != 0) {
    return refuse(path, "not a .csr file: make one with pems-graph convert",
                  error);
  }
  if (h->order != ORDER) {
    return refuse(path,
                  "written on a machine of the other byte order: make it "
                  "again on this one",
                  error);
  }
  if (h->version != VERSION) {
    return refuse(path,
                  "of another version: make it again with pems-graph convert",
                  error);
  }
  if (h->flags & ~(uint64_t)PLACES || h->nodes == 0 || h->nodes > UINT32_MAX ||
      h->edges > UINT64_MAX / 16) {
    return refuse(path, "its header is damaged: make it again", error);
  }
  const struct layout l = layout_of(h->nodes, h->edges, h->flags & PLACES);
  if (l.end != bytes) {
    return digraph_failure(error, EINVAL,
                           "%.300s: has %" PRIu64 " bytes of %" PRIu64
                           ": get all of it, or make it again",
                           path, bytes, l.end);
  }
  return 0;
}

/* Whether offsets go up from 0 to the number of edges, and edges to nodes that
   there are: without branches, so that it is as fast as memory. */
static bool sound(const struct digraph *g) {
  uint64_t down = g->first[0] | (g->first[g->nodes] ^ g->edges);
  uint32_t most = 0;
  const uint64_t edges = g->edge ? g->edges : 0;
  for (uint64_t v = 0; v < g->nodes; v++) {
    down |= (uint64_t)(g->first[v] > g->first[v + 1]);
  }
  for (uint64_t i = 0; i < edges; i++) {
    most = g->edge[i].to > most ? g->edge[i].to : most;
  }
  return down == 0 && most < g->nodes;
}

/* The file that was mapped last: its pages may go while they are used. */
static struct {
  char name[301];
  uintptr_t at;
  uint64_t bytes;
} mapped;

static void on_missing_page(int number, siginfo_t *info, void *context) {
  (void)context;
  if ((uintptr_t)info->si_addr - mapped.at < mapped.bytes) {
    disk_file_unlink_names();
    msg_fail(MSG_USAGE,
             "%s: was cut short while it was used, or cannot be read: get all "
             "of it, and start again",
             mapped.name);
  }
  signal(number, SIG_DFL); /* the access is tried again, and ends this */
}

static void tell_of_missing_pages(const char *path, const void *at,
                                  uint64_t bytes) {
  struct sigaction action = {.sa_flags = SA_SIGINFO};
  action.sa_sigaction = on_missing_page;
  sigfillset(&action.sa_mask);
  (void)snprintf(mapped.name, sizeof(mapped.name), "%s", path);
  mapped.at = (uintptr_t)at;
  mapped.bytes = bytes;
  sigaction(SIGBUS, &action, NULL);
}

static int map(struct digraph *g, int fd, const struct header *h,
               uint64_t bytes, const char *path) {
  const struct layout l = layout_of(h->nodes, h->edges, h->flags & PLACES);
  char *const at = mmap(NULL, bytes, PROT_READ, MAP_PRIVATE, fd, 0);
  if (at == MAP_FAILED) {
    return -1;
  }
  tell_of_missing_pages(path, at, bytes);
  madvise(at, bytes, MADV_WILLNEED); /* these only make it faster, */
  madvise(at, bytes, MADV_HUGEPAGE); /* where the system can */
  *g = (struct digraph){
      .nodes = h->nodes,
      .edges = h->edges,
      .first = (const void *)(at + l.at[0]),
      .edge = (const void *)(at + l.at[1]),
      .place = h->flags & PLACES ? (const void *)(at + l.at[2]) : NULL,
      .map = at,
      .mapped = bytes,
  };
  return 0;
}

/* 0, or errno is set: EIO where the file was cut short meanwhile. */
static int read_at(int fd, void *to, uint64_t n, uint64_t at) {
  const int error = whole_read_at(fd, to, n, at);
  if (error) {
    errno = error;
  }
  return error;
}

/* Into memory of huge pages; `outside`: but for the edges. */
static int load(struct digraph *g, int fd, const struct header *h,
                const char *path, int outside, struct pems_error *error) {
  const int places = (h->flags & PLACES) != 0;
  const struct layout l = layout_of(h->nodes, h->edges, places);
  const uint64_t bytes[3] = {(h->nodes + 1) * sizeof(*g->first),
                             outside ? 0 : h->edges * sizeof(*g->edge),
                             h->nodes * sizeof(*g->place)};
  const int code =
      digraph_allocate(g, h->nodes, outside ? 0 : h->edges, places, error);
  for (int i = 0; i < 2 + places && !code; i++) {
    if (read_at(fd, g->memory[i], bytes[i], l.at[i])) {
      digraph_free(g);
      return system_failed(path, error);
    }
  }
  if (!code && outside) {
    g->edges = h->edges;
    g->edge = NULL;
    g->edge_at = l.at[1];
  }
  return code;
}

static int read_open(struct digraph *g, int fd, const char *path,
                     const struct digraph_read_options *o,
                     struct pems_error *error) {
  struct stat is;
  struct header h;
  if (fstat(fd, &is)) {
    return system_failed(path, error);
  }
  const uint64_t bytes = S_ISREG(is.st_mode) ? (uint64_t)is.st_size : 0;
  if (bytes >= sizeof(h) && read_at(fd, &h, sizeof(h), 0)) {
    return system_failed(path, error);
  }
  int code = check_header(&h, bytes, path, error);
  if (code) {
    return code;
  }
  if (o->load || o->outside) {
    code = load(g, fd, &h, path, o->outside, error);
  } else if (map(g, fd, &h, bytes, path)) {
    code = system_failed(path, error);
  }
  if (code) {
    return code;
  }
  if (sound(g)) {
    return 0;
  }
  digraph_free(g);
  return refuse(path, "its offsets or edges are damaged: make it again", error);
}

int digraph_read_csr(struct digraph *g, const char *path,
                     const struct digraph_read_options *o,
                     struct pems_error *error) {
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) {
    return system_failed(path, error);
  }
  const int code = read_open(g, fd, path, o, error);
  close(fd);
  return code;
}

/* --- writing --- */

/* What comes before the edges. */
static void write_rows(struct digraph_out *out, const struct digraph *g) {
  const struct header h = {.magic = MAGIC,
                           .order = ORDER,
                           .version = VERSION,
                           .nodes = g->nodes,
                           .edges = g->edges,
                           .flags = g->place ? PLACES : 0};
  const uint64_t first = (g->nodes + 1) * sizeof(*g->first);
  digraph_out_bytes(out, &h, sizeof(h));
  digraph_out_bytes(out, g->first, first);
  digraph_out_pad(out, first, ALIGNMENT);
}

/* And what comes behind. */
static void write_places(struct digraph_out *out, const struct digraph *g) {
  digraph_out_pad(out, g->edges * sizeof(*g->edge), ALIGNMENT);
  if (g->place) {
    digraph_out_bytes(out, g->place, g->nodes * sizeof(*g->place));
  }
}

int digraph_write_csr_edges(struct digraph *g, const char *path,
                            digraph_csr_edges *edges, void *arg,
                            struct pems_error *error) {
  struct digraph_out out;
  int code = digraph_out_open(&out, path, error);
  if (code) {
    return code;
  }
  write_rows(&out, g);
  code = edges(arg, &out);
  write_places(&out, g);
  if (code && !out.code) {
    out.code = code; /* so that it is not complete */
  }
  g->edge = NULL;
  g->edge_at = layout_of(g->nodes, g->edges, g->place != NULL).at[1];
  return digraph_out_close(&out);
}

int digraph_write_csr(const struct digraph *g, const char *path,
                      struct pems_error *error) {
  struct digraph_out out;
  const int code = digraph_out_open(&out, path, error);
  if (code) {
    return code;
  }
  write_rows(&out, g);
  digraph_out_bytes(&out, g->edge, g->edges * sizeof(*g->edge));
  write_places(&out, g);
  return digraph_out_close(&out);
}
