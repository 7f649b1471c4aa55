/* The longest path to every node of a graph, as a coarse-grained multicomputer
   finds it: an MPI program of supersteps, with a priority queue in each rank.

     pemscc -o cgm_longest_path cgm_longest_path.c dag.c settings.c
     pemsrun -n 64 ./cgm_longest_path [options]

   The graph is made up (see dag.h); rank r of v has the nodes r, r + v, ... and
   makes their edges itself. A superstep visits --block nodes of one layer, each
   rank its own: it takes what was sent to them out of its queue, finds their
   longest paths, and sends what it knows along their edges by MPI_Alltoallv;
   all that arrives goes to the queues. So the messages under way, which may be
   more than all memory, wait in the v queues: --memory bytes each, malloc'ed by
   the rank, so that on pems they belong to its context, and move to disk with
   it; the rest on the queue's own disk. Prints the sum that longest_path prints
   for the same graph. */
#include <inttypes.h>
#include <limits.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <pems/pqueue.h>

#include "dag.h"
#include "settings.h"

#define USAGE "[options]\nFinds the longest path to every node, with MPI."

enum { ROOT = 0, LINE = 64 };

/* A path to `to` of that length. */
struct message {
  uint64_t to, length;
};

/* What is known of all numbers, as in longest_path. */
struct summary {
  uint64_t sum, positive, messages, waiting;
  uint64_t most;
};

struct job {
  struct settings_machine machine;
  struct dag dag;
  uint64_t block; /* nodes of a superstep */
  int rank, ranks;

  void *room; /* of the queue */
  struct pems_pqueue *queue;
  uint64_t *longest; /* of this rank's nodes of the block */
  struct message *out, *in;
  size_t in_room;                   /* messages */
  int *send, *recv, *from, *behind; /* of MPI_Alltoallv, by rank */
  MPI_Datatype type;                /* of a message */
  uint64_t steps;
  struct summary summary;
};

static _Noreturn void fail(const char *what, uint64_t value) {
  struct pems_error error;
  snprintf(error.text, sizeof(error.text), "%s: %" PRIu64, what, value);
  settings_fail(&error);
}

static void must(int failed, const struct pems_error *error) {
  if (failed) {
    settings_fail(error);
  }
}

/* Never NULL. */
static void *allocate(uint64_t n, size_t size) {
  void *const p = malloc((n > 0 ? n : 1) * size);
  if (!p) {
    fail("out of memory, bytes wanted", n * size);
  }
  return p;
}

/* --- nodes of a block, of which this rank has every v-th --- */

static uint64_t first_own(const struct job *j, uint64_t first) {
  const uint64_t v = (uint64_t)j->ranks;
  return first + ((uint64_t)j->rank + v - first % v) % v;
}

/* --- a superstep --- */

/* Takes the messages for nodes from `first` to before `end` out of the queue,
   in portions that fit in `out`, which is free yet. */
static void receive(struct job *j, uint64_t first, uint64_t end) {
  const struct message limit = {.to = end};
  const uint64_t own = first_own(j, first);
  const size_t max =
      2 * j->dag.degree * (j->block / (uint64_t)j->ranks + 1) + 1;
  struct pems_error error;
  int more = 1;
  memset(j->longest, 0,
         (j->block / (uint64_t)j->ranks + 1) * sizeof(*j->longest));
  while (more) {
    size_t n;
    must(pems_pqueue_bulk_pop_limit(j->queue, &limit, j->out, max, &n, &more,
                                    &error),
         &error);
    for (size_t i = 0; i < n; i++) {
      uint64_t *const best =
          &j->longest[(j->out[i].to - own) / (uint64_t)j->ranks];
      *best = j->out[i].length > *best ? j->out[i].length : *best;
    }
  }
}

static void note(struct job *j, uint64_t node, uint64_t length) {
  struct summary *const s = &j->summary;
  s->sum += key_mix(node ^ key_mix(length));
  s->most = length > s->most ? length : s->most;
  s->positive += length > 0;
}

static int owner(const struct job *j, uint64_t node) {
  return (int)(node % (uint64_t)j->ranks);
}

/* Messages to each rank, beside each other: counted first, then made. */
static void count_out(struct job *j, uint64_t first, uint64_t end) {
  memset(j->send, 0, (size_t)j->ranks * sizeof(*j->send));
  for (uint64_t v = first_own(j, first); v < end; v += (uint64_t)j->ranks) {
    for (uint64_t i = dag_degree(&j->dag, v); i-- > 0;) {
      j->send[owner(j, dag_edge_at(&j->dag, v, i).to)]++;
    }
  }
  for (int i = 0, sum = 0; i < j->ranks; sum += j->send[i++]) {
    j->from[i] = sum;
  }
}

static void make_out(struct job *j, uint64_t first, uint64_t end) {
  const uint64_t *longest = j->longest;
  memcpy(j->behind, j->from, (size_t)j->ranks * sizeof(*j->from));
  for (uint64_t v = first_own(j, first); v < end;
       v += (uint64_t)j->ranks, longest++) {
    note(j, v, *longest);
    for (uint64_t i = dag_degree(&j->dag, v); i-- > 0;) {
      const struct dag_edge edge = dag_edge_at(&j->dag, v, i);
      j->out[j->behind[owner(j, edge.to)]++] =
          (struct message){edge.to, *longest + dag_weight(&edge)};
    }
  }
}

/* Returns how many messages come. */
static size_t exchange(struct job *j) {
  size_t total = 0;
  MPI_Alltoall(j->send, 1, MPI_INT, j->recv, 1, MPI_INT, MPI_COMM_WORLD);
  for (int i = 0; i < j->ranks; i++) {
    j->behind[i] = (int)total;
    total += (size_t)j->recv[i];
  }
  if (total > INT_MAX) {
    fail("too many messages at once, make --block smaller", total);
  }
  if (total > j->in_room) {
    free(j->in);
    j->in = allocate(total, sizeof(*j->in));
    j->in_room = total;
  }
  MPI_Alltoallv(j->out, j->send, j->from, j->type, j->in, j->recv, j->behind,
                j->type, MPI_COMM_WORLD);
  return total;
}

static void keep(struct job *j, size_t n) {
  struct pems_error error;
  must(pems_pqueue_bulk_push_begin(j->queue, n, &error), &error);
  must(pems_pqueue_bulk_push(j->queue, 0, j->in, n, &error), &error);
  must(pems_pqueue_bulk_push_end(j->queue, &error), &error);
  j->summary.messages += n;
}

static void superstep(struct job *j, uint64_t first, uint64_t end) {
  receive(j, first, end);
  count_out(j, first, end);
  make_out(j, first, end);
  keep(j, exchange(j));
  j->steps++;
}

static void visit_all(struct job *j) {
  struct pems_error error;
  for (uint64_t first = 0, end; first < j->dag.nodes; first = end) {
    must(dag_layer(&j->dag, first, &end, &error), &error);
    for (uint64_t at = first; at < end; at += j->block) {
      superstep(j, at, end - at > j->block ? at + j->block : end);
    }
  }
}

/* --- the program --- */

static void begin(struct job *j) {
  const uint64_t own = j->block / (uint64_t)j->ranks + 1;
  const uint64_t most = 2 * j->dag.degree * own + 1;
  const size_t ranks = (size_t)j->ranks;
  struct pems_error error;
  if (most > INT_MAX || j->block == 0) {
    fail("there cannot be such a --block", j->block);
  }
  j->send = allocate(4 * ranks, sizeof(*j->send));
  j->recv = j->send + ranks;
  j->from = j->recv + ranks;
  j->behind = j->from + ranks;
  j->longest = allocate(own, sizeof(*j->longest));
  j->out = allocate(most, sizeof(*j->out));
  j->room = aligned_alloc(LINE, (j->machine.memory + LINE - 1) / LINE * LINE);
  if (!j->room) {
    fail("out of memory, bytes wanted", j->machine.memory);
  }
  const struct pems_pqueue_options options = {
      .record = {.size = sizeof(struct message), .key = PEMS_KEY_U64},
      .memory = j->machine.memory,
      .room = j->room,
      .threads = 1,
      .scratch = {.path = j->machine.disks ? j->machine.disk : NULL,
                  .count = j->machine.disks,
                  .io = j->machine.io}};
  must(pems_pqueue_new(&j->queue, &options, &error), &error);
  MPI_Type_contiguous(2, MPI_UINT64_T, &j->type);
  MPI_Type_commit(&j->type);
}

static void end(struct job *j) {
  pems_pqueue_free(j->queue);
  MPI_Type_free(&j->type);
  free(j->room);
  free(j->in);
  free(j->out);
  free(j->longest);
  free(j->send);
}

static void report(struct job *j, double seconds) {
  enum { SUMS = 4 };
  struct pems_pqueue_counts counts;
  struct summary all = {0};
  uint64_t written = 0;
  pems_pqueue_counts(j->queue, &counts);
  j->summary.waiting = counts.most;
  MPI_Reduce(&j->summary, &all, SUMS, MPI_UINT64_T, MPI_SUM, ROOT,
             MPI_COMM_WORLD);
  MPI_Reduce(&j->summary.most, &all.most, 1, MPI_UINT64_T, MPI_MAX, ROOT,
             MPI_COMM_WORLD);
  MPI_Reduce(&counts.io.bytes_written, &written, 1, MPI_UINT64_T, MPI_SUM, ROOT,
             MPI_COMM_WORLD);
  if (j->rank == ROOT) {
    printf("RESULT app=cgm_longest_path nodes=%" PRIu64 " messages=%" PRIu64
           " waiting=%" PRIu64 " ranks=%d supersteps=%" PRIu64
           " memory=%" PRIu64 " bytes_written=%" PRIu64 " sum=%016" PRIx64
           " most=%" PRIu64 " positive=%" PRIu64 " seconds=%.3f\n",
           j->dag.nodes, all.messages, all.waiting, j->ranks, j->steps,
           j->machine.memory, written, all.sum, all.most, all.positive,
           seconds);
  }
}

int main(int argc, char **argv) {
  struct job j = {
      .machine = {.memory = 4 << 20}, .dag = DAG_DEFAULTS, .block = 1 << 16};
  const struct setting settings[] = {
      SETTINGS_MACHINE(&j.machine),
      SETTINGS_DAG(&j.dag),
      {"block", SETTING_COUNT, &j.block, "N       nodes of a superstep"},
      {0}};
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &j.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &j.ranks);
  settings_read(argc, argv, USAGE, settings, NULL, 0, 0);
  dag_open(&j.dag);
  begin(&j);
  const double start = MPI_Wtime();
  visit_all(&j);
  report(&j, MPI_Wtime() - start);
  end(&j);
  MPI_Finalize();
  return EXIT_SUCCESS;
}
