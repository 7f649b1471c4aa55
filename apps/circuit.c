/* Evaluates a boolean circuit by time-forward processing.

     circuit [options] [GRAPH]

   Nodes are gates of any number of inputs, of six kinds that their numbers
   choose; one without inputs is an input of the circuit, and true or false by
   its number. GRAPH is a file (see dag.h); without it a graph is made up. In
   the RESULT line `positive` says how many gates are true, `sum` depends on all
   of them. --verify compares them with a loop over all edges that has 8 bytes
   per node in memory. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "tfp_job.h"

#define USAGE "[options] [GRAPH]\nEvaluates a boolean circuit."

/* To a gate: 8 bytes, and one that is its input. */
enum { TO = sizeof(uint64_t), MESSAGE = TO + 1 };

enum kind { AND, OR, XOR, NAND, NOR, XNOR, KINDS };

static enum kind kind_of(uint64_t gate) {
  return (enum kind)(key_mix(gate ^ 0x6a7e) % KINDS);
}

/* What a gate says that has so many inputs, of which `ones` are true. */
static int output(uint64_t gate, uint64_t inputs, uint64_t ones) {
  if (inputs == 0) {
    return (int)(key_mix(gate) & 1);
  }
  switch (kind_of(gate)) {
  case AND:
    return ones == inputs;
  case OR:
    return ones > 0;
  case XOR:
    return (int)(ones & 1);
  case NAND:
    return ones != inputs;
  case NOR:
    return ones == 0;
  default:
    return !(ones & 1);
  }
}

static int visit(void *arg, struct pems_tfp_visit *v,
                 struct pems_error *error) {
  const char *const in = v->messages;
  const struct dag_edge *const out = v->edges;
  char message[MESSAGE];
  uint64_t ones = 0;
  (void)arg;
  for (size_t i = 0; i < v->received; i++) {
    ones += (uint64_t)in[i * MESSAGE + TO];
  }
  message[TO] = (char)output(v->node, v->received, ones);
  *(uint64_t *)v->result = (uint64_t)message[TO];
  for (size_t i = 0; i < v->degree; i++) {
    memcpy(message, &out[i].to, TO);
    if (pems_tfp_send(v, message, 1, error)) {
      return error->code;
    }
  }
  return 0;
}

/* Edges come by where they begin: all inputs of a gate are known before its
   output is asked for. */
static int right(struct dag *dag, const uint64_t *number) {
  uint64_t *const inputs = tfp_job_numbers(dag->nodes);
  uint64_t *const ones = tfp_job_numbers(dag->nodes);
  struct dag_edge edge[1024];
  bool same = true;
  for (size_t n; (n = dag_read(dag, edge, 1024)) > 0;) {
    for (size_t i = 0; i < n; i++) {
      const uint64_t gate = edge[i].from;
      inputs[edge[i].to]++;
      ones[edge[i].to] += (uint64_t)output(gate, inputs[gate], ones[gate]);
    }
  }
  for (uint64_t gate = 0; gate < dag->nodes; gate++) {
    same &= (uint64_t)output(gate, inputs[gate], ones[gate]) == number[gate];
  }
  free(inputs);
  free(ones);
  return same;
}

int main(int argc, char **argv) {
  return tfp_job(argc, argv,
                 &(struct tfp_job){.name = "circuit",
                                   .usage = USAGE,
                                   .message = MESSAGE,
                                   .visit = visit,
                                   .right = right});
}
