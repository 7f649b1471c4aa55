/* Partitioned messages (MPI 4.0, section 4.2): one persistent message, whose
   sender says piece by piece what is ready. The k-th of a sender and tag meets
   the k-th of their receiver, on a communicator of the two only, so that nobody
   must be asked. In the first round the message goes as a whole, and the number
   of the sender's partitions with it; later each of these is a message. */
#include "base/need.h"
#include "context/calls/allocate.h"
#include "mpi/check/check_arguments.h"
#include "mpi/datatype/named.h"
#include "mpi/datatype/types_kept.h"
#include "mpi/object/comm_error.h"
#include "mpi/object/derivations.h"
#include "mpi/object/envelope.h"
#include "mpi/p2p/outgoing.h"
#include "mpi/p2p/p2p.h"
#include "mpi/p2p/partitions.h"
#include "mpi/p2p/receive.h"
#include "mpi_abi/functions.h"
#include "mpi_below/real.h"
#include "os/native.h"
#include "vp/run_queue.h"

#include <stdint.h>
#include <string.h>

#if defined PEMS_MPI_HAS_Psend_init
/* Tags of its messages; partition i has TAG_PARTITION + i. */
enum { TAG_WHOLE, TAG_NUMBER, TAG_PARTITION };
enum { WHOLE, NUMBER, FIRST_PARTS }; /* parts of the first round */
enum { PARTITIONED = 0x70617274 };   /* what ids are derived with */

struct partitioned {
  struct request request;
  struct comm *pair; /* sender and receiver; NULL: there is nobody */
  int peer;          /* there */
  int source, tag;   /* as the program sees them */
  bool sends;
  char *buffer;
  int partitions;
  MPI_Count count; /* elements in each */
  MPI_Datatype type, own_type;
  int rounds;  /* that have begun */
  int senders; /* partitions, once that is known */
  int *told;   /* by a message of the first round: memory of the context, so
                  that it is where it was in another process */
  int n;       /* parts in use */
  struct request **part;
  bool *ready;  /* sending, by partition */
  int unready;  /* of them */
  char *staged; /* receiving: packed bytes, where the sender's partitions do not
                   begin with elements of the receiver's; memory of the context,
                   or NULL */
};

static struct layout_span whole_of(const struct partitioned *p) {
  return (struct layout_span){p->buffer,
                              (size_t)p->partitions * (size_t)p->count,
                              named_layout_of(p->type)};
}

/* --- messages --- */

static struct request *message(struct partitioned *p, void *buffer,
                               MPI_Count count, MPI_Datatype type, int tag) {
  const char *name = p->request.function;
  if (!p->sends) {
    return request_need(request_persistent((struct request *)receive_new(
        p->pair, CHANNEL_PARTITION, buffer, count, type, p->peer, tag, name)));
  }
  const struct outgoing o =
      outgoing_make(p->pair, CHANNEL_PARTITION, SEND_STANDARD, buffer, count,
                    named_layout_of(type), p->peer, tag);
  return request_need(
      request_persistent((struct request *)outgoing_new(&o, type, name)));
}

static int first_parts(struct partitioned *p) {
  p->told = context_alloc(p->request.vp->context, sizeof(*p->told), 16);
  if (!p->told) {
    return MPI_ERR_NO_MEM;
  }
  *p->told = p->partitions;
  p->n = FIRST_PARTS;
  p->part = need_alloc(FIRST_PARTS * sizeof(*p->part), "partitions");
  p->part[WHOLE] =
      message(p, p->buffer, p->partitions * p->count, p->type, TAG_WHOLE);
  p->part[NUMBER] = message(p, p->told, 1, MPI_INT, TAG_NUMBER);
  return MPI_SUCCESS;
}

static void drop_parts(struct partitioned *p) {
  for (int i = 0; i < p->n; i++) {
    request_end(p->part[i]);
  }
  native_free(p->part);
  p->part = NULL;
  p->n = 0;
}

/* The sender's i-th partition. */
static struct request *partition(struct partitioned *p, int i, size_t bytes) {
  const struct layout *layout = named_layout_of(p->type);
  const int tag = TAG_PARTITION + i;
  if (p->staged) {
    return message(p, p->staged + (size_t)i * bytes, (int)bytes, MPI_BYTE, tag);
  }
  const int n = layout->size ? (int)(bytes / layout->size) : 0;
  return message(p, p->buffer + (ptrdiff_t)i * n * layout->extent, n, p->type,
                 tag);
}

static size_t bytes_of_partition(const struct partitioned *p) {
  const struct layout_span whole = whole_of(p);
  return span_size(&whole) / (size_t)p->senders;
}

static int later_parts(struct partitioned *p) {
  const struct layout_span whole = whole_of(p);
  p->senders = *p->told;
  const size_t bytes = bytes_of_partition(p);
  drop_parts(p);
  if (bytes && bytes % whole.layout->size) {
    p->staged = context_alloc(p->request.vp->context, span_size(&whole), 4096);
    if (!p->staged) {
      return MPI_ERR_NO_MEM;
    }
  }
  p->part = need_alloc((size_t)p->senders * sizeof(*p->part), "partitions");
  p->n = p->senders;
  for (int i = 0; i < p->n; i++) {
    p->part[i] = partition(p, i, bytes);
  }
  return MPI_SUCCESS;
}

/* --- a round --- */

/* Begins one that was counted. */
static void begin(struct partitioned *p, int i) {
  struct request *part = p->part[i];
  part->whole = NULL;
  request_restart(part);
  run_queue_lock();
  part->whole = &p->request;
  if (part->done && --p->request.parts == 0) {
    request_done_locked(&p->request);
  }
  run_queue_unlock();
}

static void start(struct request *r) {
  struct partitioned *p = (struct partitioned *)r;
  p->unready = p->sends ? p->partitions : 0;
  if (p->sends) {
    memset(p->ready, 0, (size_t)p->partitions);
  }
  if (!p->pair) {
    request_done_now(r);
    return;
  }
  if (p->rounds++ == 1) {
    r->result.error = later_parts(p);
    if (r->result.error) {
      p->rounds = 1;
      request_done_now(r);
      return;
    }
  }
  for (int i = 0; i < p->n; i++) {
    atomic_store_explicit(&p->part[i]->done, false, memory_order_relaxed);
    p->part[i]->finished = false;
    p->part[i]->whole = r;
  }
  r->parts = p->n;
  if (!p->sends) {
    for (int i = 0; i < p->n; i++) {
      begin(p, i);
    }
  } else if (p->rounds == 1) {
    begin(p, NUMBER);
  }
}

/* What a part brought goes where it belongs. */
static void place(struct partitioned *p, int i) {
  struct request *part = p->part[i];
  if (part->finished) {
    return;
  }
  request_finish(part);
  if (p->staged) {
    const struct layout_span whole = whole_of(p);
    const size_t bytes = span_size(&whole) / (size_t)p->n;
    span_unpack(&whole, (size_t)i * bytes, p->staged + (size_t)i * bytes,
                bytes);
  }
}

static void finish(struct request *r) {
  struct partitioned *p = (struct partitioned *)r;
  r->result.source = p->sends ? MPI_ANY_SOURCE : p->source;
  r->result.tag = p->sends || !p->pair ? MPI_ANY_TAG : p->tag;
  if (!p->pair || r->result.error) {
    return;
  }
  for (int i = 0; i < p->n; i++) {
    place(p, i);
    p->part[i]->active = false;
    if (!r->result.error) {
      r->result.error = p->part[i]->result.error;
    }
    if (!p->sends && (p->rounds > 1 || i == WHOLE)) {
      r->result.bytes += p->part[i]->result.bytes;
    }
  }
}

static void release(struct request *r) {
  struct partitioned *p = (struct partitioned *)r;
  drop_parts(p);
  native_free(p->ready);
  if (p->staged) {
    context_free(r->vp->context, p->staged);
  }
  if (p->told) {
    context_free(r->vp->context, p->told);
  }
  if (p->own_type != MPI_DATATYPE_NULL) {
    real.Type_free(&p->own_type);
  }
  if (p->pair) {
    comm_unuse(p->pair);
  }
}

/* --- in a checkpoint --- */

/* Memory of the program is where it was. Behind it: the type, and which
   partitions are ready. */
struct kept {
  uint64_t pair; /* id of its team, or 0 */
  struct partitioned like;
};

static void save(const struct request *r, struct checkpoint_writer *to) {
  const struct partitioned *const p = (const struct partitioned *)r;
  const struct kept k = {p->pair ? p->pair->team->id : 0, *p};
  checkpoint_write(to, &k, sizeof(k));
  types_kept_write(p->type, to);
  if (p->sends) {
    checkpoint_write(to, p->ready, (size_t)p->partitions);
  }
}

static int parts_of(const struct request *r, struct request *const **parts) {
  const struct partitioned *const p = (const struct partitioned *)r;
  *parts = p->part;
  return p->n;
}

static struct request *load(const struct request_before *was,
                            struct checkpoint_reader *from);

static const struct request_class sends = {.name = "partitioned send",
                                           .finish = finish,
                                           .start = start,
                                           .release = release,
                                           .save = save,
                                           .load = load,
                                           .parts = parts_of};
static const struct request_class receives = {.name = "partitioned receive",
                                              .finish = finish,
                                              .start = start,
                                              .release = release,
                                              .save = save,
                                              .load = load,
                                              .parts = parts_of};

static void *memory(size_t n) {
  return n ? need_zalloc(n, 1, "partitions") : NULL;
}

static struct partitioned *like(const struct partitioned *old,
                                const struct request_before *was) {
  struct partitioned *const p =
      request_new(sizeof(*p), was->class, was->comm, was->function);
  request_need(&p->request);
  const struct request mine = p->request;
  const size_t bytes = (size_t)was->n * sizeof(*p->part);
  *p = *old;
  p->request = mine;
  p->own_type = MPI_DATATYPE_NULL;
  p->ready = memory(p->sends ? (size_t)p->partitions : 0);
  p->n = was->n;
  p->part = memory(bytes);
  if (bytes) {
    memcpy(p->part, was->parts, bytes);
  }
  return p;
}

static struct request *load(const struct request_before *was,
                            struct checkpoint_reader *from) {
  struct kept k;
  MPI_Datatype type;
  checkpoint_read(from, &k, sizeof(k));
  types_kept_read(&type, from);
  struct comm *const pair = k.pair ? comm_with(rank_me(), k.pair) : NULL;
  if (k.pair && !pair) {
    checkpoint_read_strange(from, "a request that lacks its communicator");
  }
  if (from->code) {
    return NULL;
  }
  struct partitioned *const p = like(&k.like, was);
  p->pair = pair;
  p->type = type;
  if (!envelope_is_given(type)) {
    real.Type_commit(&type);
    p->own_type = type;
  }
  if (pair) {
    comm_use(pair);
  }
  if (p->sends) {
    checkpoint_read(from, p->ready, (size_t)p->partitions);
  }
  return &p->request;
}

/* --- making --- */

/* The communicator of the next message with that tag. NULL: out of memory. */
static struct comm *make_pair(struct comm *comm, int peer, int tag,
                              bool sending) {
  const struct group *to = comm->remote ? comm->remote : comm->group;
  const int me = comm->vp->rank, other = to->world[peer];
  const int world[] = {sending ? me : other, sending ? other : me};
  uint64_t *next = derivations_next(
      &comm->derivations,
      team_derive(team_derive(PARTITIONED, sending, (uint64_t)peer),
                  (uint64_t)tag, 0));
  if (!next) {
    return NULL;
  }
  const uint64_t id = team_derive(
      team_derive(team_derive(comm->team->id, PARTITIONED, (uint64_t)world[0]),
                  (uint64_t)tag, (uint64_t)world[1]),
      *next, (uint64_t)world[0]);
  const int size = me == other ? 1 : 2;
  /* A message to oneself has both ends on one communicator. */
  struct comm *pair = me == other ? comm_with(rank_me(), id) : NULL;
  if (!pair) {
    pair =
        comm_new(comm->vp->mpi, id, world, size, size, size == 2 && !sending);
    if (!pair) {
      return NULL;
    }
    memcpy(pair->name, comm->name, sizeof(pair->name));
  }
  ++*next;
  comm_use(pair);
  if (!pair->freed) {
    comm_free(pair);
  }
  return pair;
}

static void keep_type(struct partitioned *p) {
  if (envelope_of(p->type).types &&
      real.Type_dup(p->type, &p->own_type) == MPI_SUCCESS) {
    p->type = p->own_type;
  }
}

/* What the program gives. */
struct given {
  void *buffer;
  int partitions;
  MPI_Count count;
  MPI_Datatype type;
  int peer, tag;
};

static int make(const struct given *g, bool sending, struct comm *comm,
                const char *name, MPI_Request *request) {
  struct partitioned *p =
      request_new(sizeof(*p), sending ? &sends : &receives, comm, name);
  if (!p) {
    return MPI_ERR_NO_MEM;
  }
  request_persistent(&p->request);
  p->own_type = MPI_DATATYPE_NULL;
  p->sends = sending;
  p->buffer = g->buffer;
  p->partitions = p->senders = g->partitions;
  p->count = g->count;
  p->type = g->type;
  p->source = g->peer;
  p->tag = g->tag;
  p->ready = sending ? native_zalloc((size_t)g->partitions, 1) : NULL;
  if (sending && !p->ready) {
    request_end(&p->request);
    return MPI_ERR_NO_MEM;
  }
  if (g->peer != MPI_PROC_NULL) {
    p->pair = make_pair(comm, g->peer, g->tag, sending);
    if (!p->pair) {
      request_end(&p->request);
      return MPI_ERR_NO_MEM;
    }
    p->peer = p->pair->team->size == 2 && sending;
    keep_type(p);
    const int code = first_parts(p);
    if (code) {
      request_end(&p->request);
      return code;
    }
  }
  *request = request_handle(&p->request);
  return MPI_SUCCESS;
}

static int init(const struct given *g, bool sending, MPI_Comm handle,
                const char *name, MPI_Request *request) {
  int code = g->partitions < 1 ? MPI_ERR_ARG
             : g->count < 0 || g->count > INT64_MAX / g->partitions
                 ? MPI_ERR_COUNT
             : !request ? MPI_ERR_REQUEST
                        : MPI_SUCCESS;
  if (!code) {
    code = check_send(g->buffer, g->partitions * g->count, g->type, g->peer,
                      g->tag, handle);
  }
  if (!code) {
    code = make(g, sending, comm_of(handle), name, request);
  }
  return comm_error(handle, code, name);
}

int pems_Psend_init(const void *buffer, int partitions, MPI_Count count,
                    MPI_Datatype type, int to, int tag, MPI_Comm comm,
                    MPI_Info info, MPI_Request *request) {
  (void)info;
  const struct given g = {(void *)buffer, partitions, count, type, to, tag};
  return init(&g, true, comm, "MPI_Psend_init", request);
}

int pems_Precv_init(void *buffer, int partitions, MPI_Count count,
                    MPI_Datatype type, int from, int tag, MPI_Comm comm,
                    MPI_Info info, MPI_Request *request) {
  (void)info;
  const struct given g = {buffer, partitions, count, type, from, tag};
  return init(&g, false, comm, "MPI_Precv_init", request);
}

/* --- partitions --- */

static struct partitioned *of(MPI_Request handle, bool sending) {
  struct request *r = request_of(handle);
  return r && r->class == (sending ? &sends : &receives)
             ? (struct partitioned *)r
             : NULL;
}

static int failed(const struct partitioned *p, int code, const char *name) {
  return comm_error(p ? comm_handle(p->request.comm) : MPI_COMM_WORLD, code,
                    name);
}

static void ready(struct partitioned *p, int i) {
  p->ready[i] = true;
  p->unready--;
  if (!p->pair) {
    return;
  }
  if (p->rounds > 1) {
    begin(p, i);
  } else if (p->unready == 0) {
    begin(p, WHOLE);
  }
}

/* `list` NULL: from `first` on. */
static int all_ready(MPI_Request request, int first, const int *list, int n,
                     const char *name) {
  struct partitioned *p = of(request, true);
  int code = !p || !p->request.active ? MPI_ERR_REQUEST : MPI_SUCCESS;
  for (int k = 0; k < n && !code; k++) {
    const int i = list ? list[k] : first + k;
    if (i < 0 || i >= p->partitions || p->ready[i]) {
      code = MPI_ERR_ARG;
    } else if (!p->request.result.error) {
      ready(p, i);
    }
  }
  return failed(p, code, name);
}

int pems_Pready(int partition, MPI_Request request) {
  return all_ready(request, partition, NULL, 1, "MPI_Pready");
}

int pems_Pready_range(int low, int high, MPI_Request request) {
  return all_ready(request, low, NULL, high - low + 1, "MPI_Pready_range");
}

int pems_Pready_list(int n, abi_partition list[], MPI_Request request) {
  static const char name[] = "MPI_Pready_list";
  return n < 0 || (n && !list) ? failed(of(request, true), MPI_ERR_ARG, name)
                               : all_ready(request, 0, list, n, name);
}

static bool arrived(struct partitioned *p, int which) {
  struct partitions in = {WHOLE, WHOLE};
  if (p->rounds > 1) {
    in = partitions_meeting(which, p->partitions, p->senders);
  }
  for (int i = in.first; i <= in.last; i++) {
    if (!request_is_done(p->part[i])) {
      return false;
    }
  }
  for (int i = in.first; i <= in.last; i++) {
    place(p, i);
  }
  return true;
}

int pems_Parrived(MPI_Request request, int partition, int *flag) {
  static const char name[] = "MPI_Parrived";
  struct partitioned *p = of(request, false);
  if (!flag || (p && (partition < 0 || partition >= p->partitions))) {
    return failed(p, MPI_ERR_ARG, name);
  }
  if (!p && request != MPI_REQUEST_NULL) {
    return failed(p, MPI_ERR_REQUEST, name);
  }
  *flag = !p || !p->request.active || !p->pair || p->request.result.error ||
          arrived(p, partition);
  if (*flag) {
    request_poll_over(comm_me());
    requests_remove_gone(rank_me());
  } else {
    request_polled(comm_me(), 1, rank_me()->n_requests);
  }
  return MPI_SUCCESS;
}
#endif
