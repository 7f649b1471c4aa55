/* Files as sources and sinks: a few blocks, of which all move but the one that
   is being used. */
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "disk/file.h"
#include "em/stream/graph.h"
#include "os/bits.h"
#include "os/clock.h"
#include "os/native.h"

enum {
  BLOCKS = 4, /* a disk is slow with one request at a time */
  LONGER = 64 /* blocks that a sink's file is made longer by at once: a write
                 that does it waits for the file system */
};

static uint64_t rounded(uint64_t n) {
  return bits_round_up(n, PEMS_DISK_UNIT);
}

/* A source has `spare` bytes in front of each block, for the beginning of a
   record whose end is in it; a sink has them behind, for the end of one. */
struct file_node {
  struct pems_node node;
  char *path;
  struct disk_file *file;
  uint64_t size;  /* bytes of the file; of a sink, so far */
  uint64_t asked; /* bytes from its beginning for which there are requests */
  uint64_t made;  /* of a sink: bytes that the file itself has */
  size_t block, spare;
  char *memory; /* of all */
  struct pems_request request[BLOCKS];
  int busy[BLOCKS];
  int now;     /* the block that is used */
  size_t used; /* bytes of it; of a sink's, filled */
  size_t tail; /* bytes of a record at the end of a source's block */
};

static struct file_node *file_of(const struct pems_node *node) {
  return (struct file_node *)node;
}

static size_t block_size(const struct pems_node *node, size_t size) {
  const size_t wanted = graph_buffer(node->graph);
  return rounded(wanted > size ? wanted : size);
}

static void file_needs(const struct pems_node *node,
                       struct graph_node_needs *needs) {
  const size_t size = node->inputs ? node->in->size : node->out->size;
  needs->buffers = BLOCKS * (block_size(node, size) + rounded(size));
}

static char *block_at(const struct file_node *f, int i) {
  const size_t before = f->node.outputs ? f->spare : 0;
  return f->memory + (size_t)i * (f->block + f->spare) + before;
}

static size_t all_blocks(const struct file_node *f) {
  return BLOCKS * (f->block + f->spare);
}

static int next_of(int i) {
  return (i + 1) % BLOCKS;
}

static int file_begin(struct pems_node *node, int side) {
  struct file_node *const f = file_of(node);
  const size_t size = node->inputs ? node->in->size : node->out->size;
  (void)side;
  f->block = block_size(node, size);
  f->spare = rounded(size);
  f->memory = memory_get(&node->graph->memory, all_blocks(f));
  return f->memory ? 0
                   : stream_node_fail(node, ENOMEM,
                                      "buffers: %zu bytes: free some memory",
                                      all_blocks(f));
}

static void start(struct file_node *f, int i, bool write, size_t n) {
  struct pems_request *const r = &f->request[i];
  *r = (struct pems_request){
      .block = {.at = f->asked},
      .buf = block_at(f, i),
      .n = rounded(n),
      .write = write,
  };
  f->asked += n;
  f->busy[i] = 1;
  disk_file_start(f->file, &r, 1);
}

static int wait(struct file_node *f, int i) {
  if (!f->busy[i]) {
    return 0;
  }
  const uint64_t begin = clock_ns();
  const int code = disk_file_wait(f->file, &f->request[i]);
  f->node.wait_ns += clock_ns() - begin;
  f->busy[i] = 0;
  if (code) {
    return stream_node_fail(&f->node, code, "%s: %s: %s",
                            f->request[i].write ? "writing" : "reading",
                            f->path, strerror(code));
  }
  return 0;
}

static void file_leave(struct pems_node *node, int side) {
  struct file_node *const f = file_of(node);
  (void)side;
  for (int i = 0; i < BLOCKS; i++) {
    wait(f, i);
  }
  memory_put(&node->graph->memory, f->memory, all_blocks(f));
  f->memory = NULL;
}

static void file_close(struct pems_node *node) {
  struct file_node *const f = file_of(node);
  disk_file_close(f->file);
  native_free(f->path);
  f->file = NULL;
  f->path = NULL;
}

static const char *driver_of(const struct pems_node *node) {
  return node->graph->o.scratch.io;
}

/* --- source --- */

static int source_open(struct pems_node *node) {
  struct file_node *const f = file_of(node);
  struct pems_error error = {.code = 0};
  const int code = disk_file_open(&f->file, f->path, driver_of(node),
                                  node->graph->o.scratch.depth, &error);
  if (code) {
    return stream_node_fail_with(node, code, &error);
  }
  f->size = disk_file_size(f->file);
  if (f->size % node->out->size) {
    return stream_node_fail(node, EINVAL,
                            "input file: %s: %llu bytes are no multiple of a "
                            "record's %zu: give the right size",
                            f->path, (unsigned long long)f->size,
                            node->out->size);
  }
  return 0;
}

/* Reads the next block into buffer i, if there is one. */
static void read_ahead(struct file_node *f, int i) {
  const uint64_t left = f->size - f->asked;
  if (left > 0) {
    start(f, i, false, left < f->block ? left : f->block);
  }
}

static int source_begin(struct pems_node *node, int side) {
  struct file_node *const f = file_of(node);
  const int code = file_begin(node, side);
  if (code) {
    return code;
  }
  for (int i = 0; i < BLOCKS - 1; i++) {
    read_ahead(f, i);
  }
  f->now = BLOCKS - 1;
  return 0;
}

/* Moves the tail in front of the next block, and reads on behind the others. */
static int source_lend(struct pems_node *node, const char **at, size_t *n) {
  struct file_node *const f = file_of(node);
  const size_t size = node->out->size;
  const int old = f->now, new = next_of(old);
  *n = 0;
  if (!f->busy[new]) {
    return 0;
  }
  char *const from = block_at(f, new) - f->tail;
  memcpy(from, block_at(f, old) + f->used - f->tail, f->tail);
  read_ahead(f, old);
  const size_t got = f->request[new].block.at + f->block < f->size
                         ? f->block
                         : f->size - f->request[new].block.at;
  const int code = wait(f, new);
  if (code) {
    return code;
  }
  *at = from;
  *n = (f->tail + got) / size;
  f->now = new;
  f->used = got;
  f->tail = (f->tail + got) % size;
  return 0;
}

/* --- sink --- */

static int sink_open(struct pems_node *node) {
  struct file_node *const f = file_of(node);
  struct pems_error error = {.code = 0};
  const int code = disk_file_create(&f->file, f->path, driver_of(node),
                                    node->graph->o.scratch.depth, &error);
  return code ? stream_node_fail_with(node, code, &error) : 0;
}

static int sink_space(struct pems_node *node, char **space, size_t *room) {
  struct file_node *const f = file_of(node);
  const size_t size = node->in->size;
  *space = block_at(f, f->now) + f->used;
  *room = (f->block - f->used + size - 1) / size;
  return 0;
}

/* Where the file cannot be made longer now, the write itself will say why. */
static void make_longer(struct file_node *f, size_t n) {
  const uint64_t size = f->asked + LONGER * (uint64_t)f->block;
  if (f->asked + n > f->made && !disk_file_expect(f->file, size, NULL)) {
    f->made = size;
  }
}

/* Writes the first n bytes of the block; what is beyond begins the next. */
static int write_out(struct file_node *f, size_t n) {
  const int old = f->now, new = next_of(old);
  const int code = wait(f, new);
  if (code) {
    return code;
  }
  make_longer(f, n);
  f->used -= n;
  memcpy(block_at(f, new), block_at(f, old) + n, f->used);
  memset(block_at(f, old) + n, 0, rounded(n) - n);
  start(f, old, true, n);
  f->now = new;
  return 0;
}

static int sink_filled(struct pems_node *node, size_t n) {
  struct file_node *const f = file_of(node);
  f->size += n * node->in->size;
  f->used += n * node->in->size;
  return f->used < f->block ? 0 : write_out(f, f->block);
}

static int sink_end(struct pems_node *node) {
  struct file_node *const f = file_of(node);
  int code = f->used ? write_out(f, f->used) : 0;
  for (int i = 0; i < BLOCKS && !code; i++) {
    code = wait(f, i);
  }
  return code;
}

static int sink_commit(struct pems_node *node) {
  struct file_node *const f = file_of(node);
  struct pems_error error = {.code = 0};
  const int code = disk_file_commit(f->file, f->size, &error);
  return code ? stream_node_fail_with(node, code, &error) : 0;
}

/* --- making them --- */

static struct file_node *make(struct pems_graph *graph,
                              const struct graph_node_kind *kind,
                              const char *name, const char *path, bool inputs) {
  if (!path) {
    return graph_wrong(graph, EINVAL, "%s node %s: no path: give it one",
                       kind->name, name ? name : "without a name");
  }
  struct file_node *const f =
      stream_node_new(graph, kind, name, inputs, !inputs);
  if (!f) {
    return NULL;
  }
  const size_t n = strlen(path) + 1;
  f->path = native_alloc(n);
  if (!f->path) {
    return graph_wrong(graph, ENOMEM, "no memory: %s: free some", path);
  }
  memcpy(f->path, path, n);
  return f;
}

struct pems_node *pems_node_file_source(struct pems_graph *graph,
                                        const char *name, const char *path,
                                        size_t size) {
  static const struct graph_node_kind kind = {
      .name = "file source",
      .bytes = sizeof(struct file_node),
      .look = LOOK_FILE,
      .edges = OUT_PULL | OUT_PUSH,
      .lends = 1,
      .needs = file_needs,
      .open = source_open,
      .close = file_close,
      .begin = source_begin,
      .leave = file_leave,
      .lend = source_lend,
  };
  struct file_node *const f = make(graph, &kind, name, path, false);
  if (!f) {
    return NULL;
  }
  stream_node_sizes(&f->node, size, size);
  return &f->node;
}

struct pems_node *pems_node_file_sink(struct pems_graph *graph,
                                      const char *name, const char *path) {
  static const struct graph_node_kind kind = {
      .name = "file sink",
      .bytes = sizeof(struct file_node),
      .look = LOOK_FILE,
      .edges = IN_PULL | IN_PUSH,
      .passes = 1,
      .needs = file_needs,
      .open = sink_open,
      .commit = sink_commit,
      .close = file_close,
      .begin = file_begin,
      .leave = file_leave,
      .space = sink_space,
      .filled = sink_filled,
      .end = sink_end,
  };
  struct file_node *const f = make(graph, &kind, name, path, true);
  return f ? &f->node : NULL;
}
