/* Scanning nodes, on which others stand. */
#ifndef PEMS_EM_STREAM_STREAM_SCAN_H
#define PEMS_EM_STREAM_STREAM_SCAN_H

#include "em/stream/graph.h"

struct stream_scan_node {
  struct pems_node node;
  pems_scan_fn *fn;
  void *arg;
  struct pems_in *in; /* of the call under way */
  struct pems_out *out;
  int *order; /* of the inputs, see stream_order */
  int over;   /* the callback wants no more calls */
  int done;   /* the outputs have ended */
};

/* The functions of kinds that stand on it. */
int stream_scan_begin(struct pems_node *node, int side);
void stream_scan_close(struct pems_node *node);
int stream_scan_fill(struct pems_node *node, char *space, size_t room,
                     size_t *n);
int stream_scan_take(struct pems_node *node);
int stream_scan_drive(struct pems_node *node);

/* In which order to pull from the inputs; `placed` is all 0, and for use here.
 */
void stream_order(const struct pems_node *node, int *order, int *placed);

/* These, in the table of a kind. */
#define SCAN_FUNCTIONS                                                         \
  .look = LOOK_SCAN, .reads = 1, .begin = stream_scan_begin,                   \
  .close = stream_scan_close, .fill = stream_scan_fill,                        \
  .take = stream_scan_take, .end = stream_scan_drive,                          \
  .drive = stream_scan_drive

#endif
