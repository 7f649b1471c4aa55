/* SPDX-License-Identifier: BSD-3-Clause */
/* <pems/tfp.h>: in how many ways a king walks from one corner of a chessboard
 * to the other, only to the right, up, or both. */
#include <inttypes.h>
#include <pems/tfp.h>
#include <stdio.h>

struct ways {
  uint64_t to, number;
};

static int visit(void *arg, struct pems_tfp_visit *v,
                 struct pems_error *error) {
  const struct ways *in = v->messages;
  const uint64_t x = v->node % 8, y = v->node / 8;
  uint64_t *last = arg;
  uint64_t number = v->node == 0;
  struct ways out[3];
  size_t i, n = 0;
  for (i = 0; i < v->received; i++) {
    number += in[i].number;
  }
  if (x < 7) {
    out[n++] = (struct ways){v->node + 1, number};
  }
  if (y < 7) {
    out[n++] = (struct ways){v->node + 8, number};
  }
  if (x < 7 && y < 7) {
    out[n++] = (struct ways){v->node + 9, number};
  }
  *last = number;
  return pems_tfp_send(v, out, n, error);
}

int main(void) {
  uint64_t last;
  struct pems_tfp_options options = {0};
  struct pems_error error;
  options.nodes = 64;
  options.message = sizeof(struct ways);
  options.visit = visit;
  options.arg = &last;
  options.memory = 16 << 20;
  if (pems_tfp_run(&options, NULL, &error)) {
    fprintf(stderr, "%s\n", error.text);
    return 1;
  }
  printf("%" PRIu64 "\n", last);
  return 0;
}
