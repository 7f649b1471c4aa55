/* The graph:

     array -> number -> by position -> look up -> by rank -> compare
                                         ^
     text -------------------------------+

   "number" makes pairs (position, rank), whose order by position is the inverse
   of the array; "look up" checks that they are all positions, and makes (rank |
   byte, rank of the next position); "compare" sees these in order. */
#include "suffix_order.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include <pems/stream.h>

#include "packed.h"

enum { BYTE_BITS = 8 };

struct check {
  uint64_t n;         /* bytes of the text */
  int bits;           /* of 0 to n */
  struct packed pair; /* (position, rank) */
  struct packed key;  /* (rank | byte, rank of the next position and 1) */
  uint64_t numbered;  /* positions read */
  uint64_t looked_up; /* positions found */
  uint64_t compared;
  u128 last; /* byte and rank */
};

static int wrong(struct pems_error *error, const char *what, uint64_t value,
                 const char *more) {
  if (error) {
    error->code = EILSEQ;
    snprintf(error->text, sizeof(error->text),
             "not a suffix array: %s %" PRIu64 ": %s", what, value, more);
  }
  return EILSEQ;
}

static int number(void *arg, const void *in, void *out, size_t n,
                  struct pems_error *error) {
  struct check *const c = arg;
  for (size_t i = 0; i < n; i++) {
    const uint64_t position = position_get(in, i);
    if (position >= c->n) {
      return wrong(error, "position", position, "is behind the text's end");
    }
    packed_put(c->pair, out, i, position, c->numbered++);
  }
  return 0;
}

/* in[0] is pairs by position, in[1] the text. */
static int look_up(void *arg, struct pems_in *in, struct pems_out *out,
                   struct pems_error *error) {
  struct check *const c = arg;
  const bool end = in[0].count < 2;
  const unsigned char *const text = in[1].records;
  size_t n = end ? in[0].count : in[0].count - 1;
  n = n < in[1].count ? n : in[1].count;
  n = n < out->room ? n : out->room;
  for (size_t i = 0; i < n; i++, c->looked_up++) {
    u128 position, rank, next_position, next = 0;
    packed_get(c->pair, in[0].records, i, &position, &rank);
    if (position != c->looked_up) {
      return wrong(error, "position", c->looked_up,
                   "is not there, but another twice");
    }
    if (i + 1 < in[0].count) {
      packed_get(c->pair, in[0].records, i + 1, &next_position, &next);
      next++;
    }
    packed_put(c->key, out->records, i, rank, (u128)text[i] << c->bits | next);
  }
  in[0].used = in[1].used = out->made = n;
  return 0;
}

static int compare(void *arg, const void *records, size_t n,
                   struct pems_error *error) {
  struct check *const c = arg;
  for (size_t i = 0; i < n; i++) {
    u128 rank, key;
    packed_get(c->key, records, i, &rank, &key);
    if (c->compared > 0 && key <= c->last) {
      return wrong(error, "the suffix of rank", c->compared,
                   "is before the one of the rank before");
    }
    c->last = key;
    c->compared++;
  }
  return 0;
}

static struct pems_node *sorter(struct pems_graph *g, const char *name,
                                struct packed format, uint64_t n) {
  return pems_node_sorter(
      g, name,
      &(struct pems_sort_options){.record = packed_record(format), .count = n});
}

static struct pems_node *look_up_node(struct pems_graph *g, struct check *c) {
  const struct pems_port in[] = {{.size = c->pair.size, .least = 2},
                                 {.size = 1}};
  const struct pems_port out = {.size = c->key.size};
  return pems_node_scan(g, "look up",
                        &(struct pems_scan){.in = in,
                                            .inputs = 2,
                                            .out = &out,
                                            .outputs = 1,
                                            .fn = look_up,
                                            .arg = c});
}

static int run(const struct suffix_order *o, struct check *c,
               struct pems_error *error) {
  struct pems_graph *const g = pems_graph_new(&(struct pems_graph_options){
      .memory = o->memory, .threads = o->threads, .disks = o->disks});
  struct pems_node *const array =
      pems_node_file_source(g, "array", o->array, POSITION_SIZE);
  struct pems_node *const text = pems_node_file_source(g, "text", o->text, 1);
  struct pems_node *const numbers =
      pems_node_map(g, "number", number, c, POSITION_SIZE, c->pair.size);
  struct pems_node *const by_position = sorter(g, "by position", c->pair, c->n);
  struct pems_node *const look = look_up_node(g, c);
  struct pems_node *const by_rank = sorter(g, "by rank", c->key, c->n);
  struct pems_node *const end =
      pems_node_callback_sink(g, "compare", compare, c, c->key.size);
  pems_edge_pull(array, numbers);
  pems_edge_pull(numbers, by_position);
  pems_edge_pull(by_position, look);
  pems_edge_pull(text, look);
  pems_edge_pull(look, by_rank);
  pems_edge_pull(by_rank, end);
  const int failed = pems_graph_start(g, end, error);
  pems_graph_free(g);
  return failed;
}

/* Bytes of a file. */
static int size_of(const char *path, uint64_t *size, struct pems_error *error) {
  struct stat s;
  if (stat(path, &s) == 0) {
    *size = (uint64_t)s.st_size;
    return 0;
  }
  const int code = errno;
  if (error) {
    error->code = code;
    snprintf(error->text, sizeof(error->text), "cannot read: %.300s: %s", path,
             strerror(code));
  }
  return code;
}

int suffix_order(const struct suffix_order *order, struct pems_error *error) {
  struct check c = {0};
  uint64_t size = 0;
  int failed = size_of(order->text, &c.n, error);
  if (!failed) {
    failed = size_of(order->array, &size, error);
  }
  if (failed) {
    return failed;
  }
  if (size != c.n * POSITION_SIZE) {
    return wrong(error, "its bytes are", size, "not 5 per byte of the text");
  }
  if (c.n == 0) {
    return 0;
  }
  c.bits = packed_bits(c.n);
  if (c.bits < order->bits) {
    c.bits = order->bits;
  }
  c.pair = packed_format(c.bits, c.bits);
  c.key = packed_format(c.bits, BYTE_BITS + c.bits);
  return run(order, &c, error);
}
