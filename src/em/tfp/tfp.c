/* A run of time-forward processing: options, memory, and its end. */
#define _GNU_SOURCE
#include "em/tfp/tfp.h"
#include "base/extensible.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <time.h>

#include "base/failure.h"
#include "base/forked.h"
#include "em/core/defaults.h"
#include "os/bits.h"
#include "os/clock.h"
#include "os/lock.h"
#include "os/native.h"

/* Buffers have this many bytes at least, or room for a few records. */
enum { BUFFER_LEAST = 4096, RECORDS_LEAST = 8 };
/* More results at once are of no use; and of messages and edges, where nodes
   are visited one by one, there are only a hub's. */
#define RESULTS_MOST ((uint64_t)8 << 20)
#define HUB_MOST ((uint64_t)32 << 20)
#define LANE_MOST ((uint64_t)64 << 10)

/* --- options --- */

static int check_sizes(const struct pems_tfp_options *o,
                       struct pems_error *error) {
  const size_t least = sizeof(uint64_t);
  if (o->message < least || o->message > PEMS_RECORD_MOST) {
    return failure(error, EINVAL,
                   "a message cannot have %zu bytes: give 8 to %d", o->message,
                   PEMS_RECORD_MOST);
  }
  if (o->edges && (o->edge < least || o->edge > PEMS_RECORD_MOST)) {
    return failure(error, EINVAL, "an edge cannot have %zu bytes: give 8 to %d",
                   o->edge, PEMS_RECORD_MOST);
  }
  if (o->result > PEMS_RECORD_MOST) {
    return failure(error, EINVAL,
                   "a result cannot have %zu bytes: give %d at most", o->result,
                   PEMS_RECORD_MOST);
  }
  return 0;
}

static int check(const struct pems_tfp_options *o, struct pems_error *error) {
  if ((unsigned)o->mode > PEMS_TFP_BULK) {
    return failure(error, EINVAL, "there is no mode %d: see pems/tfp.h",
                   (int)o->mode);
  }
  if (!o->visit) {
    return failure(error, EINVAL, "nothing visits the nodes: set `visit`");
  }
  if (o->nodes == UINT64_MAX) {
    return failure(error, EINVAL, "too many nodes: %" PRIu64, o->nodes);
  }
  if (o->mode != PEMS_TFP_SEQUENTIAL && !o->layer) {
    return failure(error, EINVAL,
                   "no layers are known: set `layer`, or choose "
                   "PEMS_TFP_SEQUENTIAL");
  }
  if (o->result && !o->take) {
    return failure(error, EINVAL, "nothing takes the results: set `take`");
  }
  if (o->threads < 0) {
    return failure(error, EINVAL, "there cannot be %d threads", o->threads);
  }
  return check_sizes(o, error);
}

static struct pems_tfp_options chosen(const struct pems_tfp_options *o) {
  struct pems_tfp_options c = *o;
  c.memory = o->memory ? o->memory : defaults_memory();
  c.threads = o->threads ? o->threads : defaults_threads();
  return c;
}

/* Lanes: threads that may send at once. */
static int lanes(const struct pems_tfp_options *o) {
  return o->mode == PEMS_TFP_BULK ? o->threads : 1;
}

static struct pems_pqueue_options queue_options(const struct tfp *t,
                                                uint64_t memory) {
  const struct pems_tfp_options *const o = &t->o;
  return (struct pems_pqueue_options){
      .record = {.size = o->message, .key = PEMS_KEY_U64},
      .memory = memory,
      .threads = o->threads,
      .disks = t->disks,
      .scratch = o->scratch,
      .block = o->block,
      .seed = o->seed,
      .kernel = o->kernel,
  };
}

/* --- memory: lanes, windows, results; the rest is the queue's --- */

/* Bytes of the buffers. */
struct budget {
  uint64_t lane; /* of one */
  uint64_t messages, edges, results;
};

static uint64_t page(uint64_t n) {
  return (n + MEMORY_PAGE - 1) & ~(uint64_t)(MEMORY_PAGE - 1);
}

static uint64_t buffer_least(size_t record) {
  const uint64_t some = RECORDS_LEAST * (uint64_t)record;
  return page(some > BUFFER_LEAST ? some : BUFFER_LEAST);
}

static struct budget least_budget(const struct pems_tfp_options *o) {
  return (struct budget){
      .lane = buffer_least(o->message),
      .messages = buffer_least(o->message),
      .edges = o->edges ? buffer_least(o->edge) : 0,
      .results = o->result ? buffer_least(o->result) : 0,
  };
}

static uint64_t sum(const struct pems_tfp_options *o, const struct budget *b) {
  return (uint64_t)lanes(o) * b->lane + b->messages + b->edges + b->results;
}

/* `share` parts of 64 of what there is, at least `least` and at most `most`. */
static uint64_t part(uint64_t all, uint64_t share, uint64_t least,
                     uint64_t most) {
  const uint64_t n = all / 64 * share & ~(uint64_t)(MEMORY_PAGE - 1);
  if (n < least) {
    return least;
  }
  return n < most ? n : most;
}

/* Shares out `all` bytes, or what is the least if that is more. */
static struct budget share_out(const struct pems_tfp_options *o, uint64_t all) {
  const struct budget least = least_budget(o);
  const uint64_t most = o->mode == PEMS_TFP_BULK ? UINT64_MAX : HUB_MOST;
  return (struct budget){
      .lane = part(all / (uint64_t)lanes(o), 4, least.lane, LANE_MOST),
      .messages = part(all, 28, least.messages, most),
      .edges = o->edges ? part(all, 24, least.edges, most) : 0,
      .results = o->result ? part(all, 8, least.results, RESULTS_MOST) : 0,
  };
}

/* A quarter of the memory is for buffers, if the queue can do with the rest. */
static struct budget plan(const struct pems_tfp_options *o, uint64_t queue) {
  const uint64_t spare = o->memory - queue;
  uint64_t all = o->memory / 4;
  struct budget b = share_out(o, all < spare ? all : spare);
  while (sum(o, &b) > spare && all > 0) {
    all /= 2;
    b = share_out(o, all < spare ? all : spare);
  }
  return b;
}

/* The least that run `t`, whose options are complete, does with; 0: the queue's
   options are wrong. */
static uint64_t least_memory(const struct tfp *t, uint64_t *queue) {
  const struct budget least = least_budget(&t->o);
  const struct pems_pqueue_options options = queue_options(t, 0);
  *queue = pems_pqueue_least_memory(&options);
  return *queue ? *queue + sum(&t->o, &least) : 0;
}

static int copy_options(struct pems_tfp_options *o,
                        const struct pems_tfp_options *given,
                        struct pems_error *error) {
  return extensible_copy(o, sizeof(*o), given, sizeof(*o),
                         "time-forward processing options", error);
}

uint64_t pems_tfp_least_memory(const struct pems_tfp_options *options) {
  struct pems_tfp_options o;
  if (copy_options(&o, options, NULL) || check(&o, NULL)) {
    return 0;
  }
  const struct tfp t = {.o = chosen(&o), .disks = o.disks};
  uint64_t queue;
  return least_memory(&t, &queue);
}

static struct tfp_window window(struct tfp *t, uint64_t bytes, size_t record) {
  return (struct tfp_window){
      .buffer = bytes ? memory_get(&t->memory, bytes) : NULL,
      .size = record,
      .room = bytes ? bytes / record : 0,
      .more = bytes > 0,
  };
}

static int make_lanes(struct tfp *t, uint64_t bytes) {
  const int n = lanes(&t->o);
  t->lane = native_aligned(_Alignof(struct tfp_lane),
                           (size_t)n * sizeof(struct tfp_lane));
  t->lane_buffers = memory_get(&t->memory, (size_t)n * bytes);
  t->lane_room = bytes / t->o.message;
  for (int i = 0; t->lane && t->lane_buffers && i < n; i++) {
    t->lane[i] =
        (struct tfp_lane){.run = t,
                          .buffer = t->lane_buffers + (size_t)i * bytes,
                          .least = UINT64_MAX,
                          .thread = i};
  }
  return t->lane && t->lane_buffers ? 0 : ENOMEM;
}

static int make_buffers(struct tfp *t, const struct budget *b) {
  memory_init(&t->memory, sum(&t->o, b));
  t->messages = window(t, b->messages, t->o.message);
  t->edges = window(t, b->edges, t->o.edge);
  t->results = b->results ? memory_get(&t->memory, b->results) : NULL;
  t->result_room = b->results ? b->results / t->o.result : 0;
  t->record = native_zalloc(1, t->o.message);
  if (make_lanes(t, b->lane) || !t->messages.buffer || !t->record ||
      (b->edges && !t->edges.buffer) || (b->results && !t->results)) {
    return failure(&t->failure, ENOMEM,
                   "no memory for buffers: %" PRIu64 " bytes: give less",
                   sum(&t->o, b));
  }
  return 0;
}

static void free_buffers(struct tfp *t, const struct budget *b) {
  memory_put(&t->memory, t->messages.buffer, b->messages);
  memory_put(&t->memory, t->edges.buffer, b->edges);
  memory_put(&t->memory, t->results, b->results);
  memory_put(&t->memory, t->lane_buffers,
             (size_t)lanes(&t->o) * (size_t)b->lane);
  memory_destroy(&t->memory);
  native_free(t->record);
  native_free(t->lane);
}

/* --- the run --- */

static int make_team(struct tfp *t) {
  if (t->o.mode != PEMS_TFP_BULK) {
    return 0;
  }
  const int code = team_new(&t->team, t->o.threads);
  return code ? failure(&t->failure, code, "cannot start %d threads: %s",
                        t->o.threads, strerror(code))
              : 0;
}

static int visit_all(struct tfp *t) {
  return t->o.mode == PEMS_TFP_BULK ? tfp_in_bulk(t) : tfp_in_order(t);
}

static void tell(struct tfp *t, struct pems_tfp_counts *c) {
  *c = (struct pems_tfp_counts){.edges = t->edges_read,
                                .layers = t->layers,
                                .pieces = t->pieces,
                                .visit_seconds = t->visit_seconds,
                                .memory = memory_most(&t->memory)};
  for (int i = 0; t->lane && i < lanes(&t->o); i++) {
    const struct tfp_lane *const l = &t->lane[i];
    c->nodes += l->nodes;
    c->messages += l->messages;
    c->received = bits_max(c->received, l->received);
    c->degree = bits_max(c->degree, l->degree);
  }
  if (t->queue) {
    pems_pqueue_counts(t->queue, &c->queue);
  }
}

/* With the memory shared out. */
static int run(struct tfp *t, const struct budget *b,
               struct pems_tfp_counts *counts) {
  const struct pems_pqueue_options queue =
      queue_options(t, t->o.memory - sum(&t->o, b));
  bool failed = make_buffers(t, b) || make_team(t) ||
                pems_pqueue_new(&t->queue, &queue, &t->failure) || visit_all(t);
  tell(t, counts);
  pems_pqueue_free(t->queue);
  team_free(t->team);
  free_buffers(t, b);
  return failed ? t->failure.code : 0;
}

static int within_budget(struct tfp *t, struct pems_tfp_counts *counts) {
  uint64_t queue;
  const uint64_t least = least_memory(t, &queue);
  if (least == 0) {
    /* The queue says what is wrong. */
    const struct pems_pqueue_options options = queue_options(t, t->o.memory);
    failure(&t->failure, EINVAL, "no queue works with these options");
    if (pems_pqueue_new(&t->queue, &options, &t->failure) == 0) {
      pems_pqueue_free(t->queue);
    }
    return t->failure.code;
  }
  if (t->o.memory < least) {
    return failure(&t->failure, ENOMEM,
                   "too little memory for time-forward processing: %" PRIu64
                   " bytes: give %" PRIu64 " or more",
                   t->o.memory, least);
  }
  const struct budget b = plan(&t->o, queue);
  return run(t, &b, counts);
}

int pems_tfp_run(const struct pems_tfp_options *options,
                 struct pems_tfp_counts *counts, struct pems_error *error) {
  struct pems_tfp_counts dummy;
  struct pems_tfp_counts *const c = counts ? counts : &dummy;
  const double begin = clock_seconds();
  *c = (struct pems_tfp_counts){0};
  struct pems_tfp_options o;
  int wrong = copy_options(&o, options, error);
  wrong = wrong ? wrong : check(&o, error);
  if (wrong) {
    return wrong;
  }
  struct tfp t = {
      .born = forked_now(),
      .o = chosen(&o),
      .disks = o.disks,
      .waiting = UINT64_MAX,
  };
  lock_init(&t.lock, LOCK_TFP);
  within_budget(&t, c);
  c->seconds = clock_seconds() - begin;
  lock_destroy(&t.lock);
  if (!t.failure.code) {
    return 0;
  }
  return failure(error, t.failure.code, "%s", t.failure.text);
}
