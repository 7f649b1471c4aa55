#include "mpi/request/request.h"

#include "base/need.h"
#include "context/residency/awaited.h"
#include "disk/paged.h"
#include "mpi/object/comm_error.h"
#include "mpi_abi/functions.h"
#include "mpi_below/real.h"
#include "os/clock.h"
#include "os/native.h"

#include <string.h>

/* A few vain polls are cheaper than giving the slot away; and a loop may ask
   for other things before it asks for what has happened. */
enum { VAIN_POLLS = 4, MORE_POLLS = 16 };

struct request_result request_result_empty(void) {
  return (struct request_result){MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_SUCCESS, 0,
                                 false};
}

void request_status_set(MPI_Status *status,
                        const struct request_result *result) {
  if (status == MPI_STATUS_IGNORE) {
    return;
  }
  status->MPI_SOURCE = result->source;
  status->MPI_TAG = result->tag;
  abi_status_set(status, result->bytes, result->cancelled);
}

struct request *request_of(MPI_Request handle) {
  return handle_object(ABI_OBJECT(handle), HANDLE_REQUEST);
}

/* --- beginning and end --- */

/* Requests come and go all the time: memory for a few is kept. */
enum { ROOM = 640, MOST_SPARES = 128 };

bool request_many(void) {
  return rank_me()->n_requests >= MOST_SPARES;
}

/* Many take no more than they must, and may lie on disk. */
static struct request *new_memory(size_t size) {
  struct request *r = request_many() ? paged_zalloc(size) : NULL;
  return r ? r : native_zalloc(1, size < ROOM ? ROOM : size);
}

static void free_memory(struct request *r) {
  if (paged_owns(r)) {
    paged_free(r);
  } else {
    native_free(r);
  }
}

static struct request *take_memory(struct rank *rank, size_t size) {
  struct request *r = size <= ROOM ? rank->spare : NULL;
  if (!r) {
    return new_memory(size);
  }
  rank->spare = r->next;
  rank->spares--;
  return memset(r, 0, size);
}

static void give_memory(struct rank *rank, struct request *r, size_t size) {
  if (size > ROOM || rank->spares == MOST_SPARES || paged_owns(r)) {
    free_memory(r);
    return;
  }
  r->next = rank->spare;
  rank->spare = r;
  rank->spares++;
}

void requests_forget(struct rank *rank) {
  while (rank->spare) {
    struct request *next = rank->spare->next;
    native_free(rank->spare);
    rank->spare = next;
  }
}

void *request_new(size_t size, const struct request_class *class,
                  struct comm *comm, const char *function) {
  struct rank *rank = rank_me();
  struct request *r = take_memory(rank, size);
  if (!r) {
    return NULL;
  }
  r->size = size;
  r->handle = handle_make(HANDLE_REQUEST);
  r->class = class;
  r->vp = rank->vp;
  r->comm = comm;
  r->function = function;
  r->site = self.site;
  r->active = true;
  r->result = request_result_empty();
  r->next = rank->requests;
  if (r->next) {
    r->next->previous = r;
  }
  rank->requests = r;
  rank->n_requests++;
  if (comm) {
    comm_use(comm);
  }
  return r;
}

struct request *request_need(struct request *r) {
  if (!r) {
    need_fail("request");
  }
  return r;
}

/* MPI_Cancel of what has happened already. */
static void too_late(struct request *r) {
  (void)r;
}

static const struct request_class past = {.name = "send", .cancel = too_late};

/* Of all VPs: nobody writes to it. */
static struct request over = {
    .handle = {HANDLE_REQUEST, 0},
    .class = &past,
    .function = "MPI_Isend",
    .active = true,
    .finished = true,
    .done = true,
    .result = {MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_SUCCESS, 0, false},
};

struct request *request_over(void) {
  return &over;
}

/* By its VP; nobody else knows of it any more. */
void request_end(struct request *r) {
  if (!r || r == &over) {
    return;
  }
  struct rank *rank = r->vp->mpi;
  struct comm *comm = r->comm;
  *(r->previous ? &r->previous->next : &rank->requests) = r->next;
  if (r->next) {
    r->next->previous = r->previous;
  }
  rank->n_requests--;
  if (r->class->release) {
    r->class->release(r);
  }
  handle_end(&r->handle);
  give_memory(rank, r, r->size);
  if (comm) {
    comm_unuse(comm);
  }
}

/* One that the VP sleeps for. Where it takes what there is, and more may come,
   it had better be woken later: each time may cost a swap. */
static void one_came_locked(struct arrivals *a, struct vp *vp, bool beside) {
  *(beside ? &a->more : &a->awaited) -= 1;
  if (a->awaited > 0) {
    return;
  }
  if (a->awaited + a->more == 0) {
    run_queue_wake_one_locked(&a->waiting, vp);
  } else if (a->awaited == 0 && !beside) {
    run_queue_wake_soon_locked(&a->waiting, vp);
  }
}

void request_done_locked(struct request *r) {
  struct rank *rank = r->vp->mpi;
  struct request *whole = r->whole;
  const bool asleep = r->awaited && !r->beside;
  if (r->awaited) {
    struct arrivals *a = r->awaited;
    r->awaited = NULL;
    if (r->vp->context) {
      awaited_came(r->vp->context, r->partner);
    }
    one_came_locked(a, r->vp, r->beside);
  }
  if (!asleep) {
    request_poll_wake_locked(r->vp);
  }
  if (r->freed) {
    r->gone = rank->gone;
    rank->gone = r;
  }
  /* From here on its VP may end it without the lock. */
  atomic_store_explicit(&r->done, true, memory_order_release);
  if (whole && --whole->parts == 0) {
    request_done_locked(whole);
  }
}

void request_done_now(struct request *r) {
  atomic_store_explicit(&r->done, true, memory_order_relaxed);
}

void request_finish(struct request *r) {
  if (!r->finished) {
    r->finished = true;
    if (r->class->finish) {
      r->class->finish(r);
    }
  }
}

/* Those that were freed before they were done go as soon as their VP looks. */
void requests_remove_gone(struct rank *rank) {
  if (!rank->gone) {
    return;
  }
  run_queue_lock();
  struct request *r = rank->gone;
  rank->gone = NULL;
  run_queue_unlock();
  while (r) {
    struct request *next = r->gone;
    request_finish(r);
    request_end(r);
    rank->unended--;
    r = next;
  }
}

void request_restart(struct request *r) {
  r->active = true;
  r->finished = false;
  r->result = request_result_empty();
  r->site = self.site;
  atomic_store_explicit(&r->done, false, memory_order_relaxed);
  r->class->start(r);
}

struct request *request_persistent(struct request *r) {
  if (r) {
    r->persistent = true;
    r->active = false;
  }
  return r;
}

void request_let_go(struct request *r) {
  if (r == &over) {
    return;
  }
  run_queue_lock();
  const bool later = r->active && !r->done;
  r->freed = later;
  run_queue_unlock();
  if (later) {
    rank_me()->unended++;
    return;
  }
  if (r->active) {
    request_finish(r);
  }
  request_end(r);
}

/* --- waiting --- */

void request_keep(struct request *r, int i) {
  r->vp->mpi->kept[i] = r;
}

struct request *request_kept(int i) {
  struct rank *const rank = rank_me();
  struct request *const r = rank->kept[i];
  rank->kept[i] = NULL;
  return r;
}

void requests_end(const char *function) {
  struct rank *rank = rank_me();
  requests_remove_gone(rank);
  while (rank->unended > 0) {
    struct arrivals a = {0};
    run_queue_lock();
    /* A freed one that ends counts as an event for who polls. */
    for (struct request *r = rank->requests; r; r = r->next) {
      if (r->freed && !r->done) {
        r->awaited = &a;
        r->partner = AWAITED_NOTHING;
        a.awaited++;
      }
    }
    while (a.awaited > 0) {
      run_queue_wait_locked(rank->vp, &a.waiting, function);
    }
    run_queue_unlock();
    requests_remove_gone(rank);
  }
}

/* --- checkpoints --- */

static const struct request_class results = {.name = "call that is over",
                                             .past = true};

struct request *request_past(struct comm *comm, const char *function) {
  return request_need(
      request_new(sizeof(struct request), &results, comm, function));
}

/* --- polling --- */

static void begin_look_locked(struct rank *rank) {
  struct rank_looks *const l = &rank->looks;
  l->in = self.function;
  l->site = self.site;
  l->on = true;
  l->n++;
  l->found += rank->found || rank->noticed;
  l->away += l->over_at ? clock_ns() - l->over_at : 0;
}

static void end_look_locked(struct rank *rank) {
  rank->looks.on = false;
  rank->looks.over_at = clock_ns();
}

void request_polled(struct vp *vp, int asked, int among) {
  struct rank *rank = vp->mpi;
  requests_remove_gone(rank);
  rank->asked += asked;
  if (++rank->polls < VAIN_POLLS || rank->asked < among) {
    return;
  }
  const int all = rank->asked;
  rank->asked = 0;
  run_queue_lock();
  begin_look_locked(rank);
  if (!rank->noticed) {
    run_queue_pause_locked(vp, "a poll", all, rank->found);
    rank->found = false;
  }
  if (rank->noticed) {
    rank->polls = -MORE_POLLS;
  }
  rank->noticed = false;
  end_look_locked(rank);
  run_queue_unlock();
}

void request_poll_over(struct vp *vp) {
  struct rank *rank = vp->mpi;
  rank->polls = rank->asked = 0;
  rank->found = true;
}

void request_poll_wake_locked(struct vp *vp) {
  struct rank *rank = vp->mpi;
  rank->noticed = true;
  run_queue_unpause_locked(vp);
}

/* --- the program's calls --- */

static int refuse(int code, const char *function) {
  return comm_error(MPI_COMM_WORLD, code, function);
}

int pems_Request_free(MPI_Request *handle) {
  struct request *r = handle ? request_of(*handle) : NULL;
  if (!r) {
    return refuse(MPI_ERR_REQUEST, "MPI_Request_free");
  }
  *handle = MPI_REQUEST_NULL;
  request_let_go(r);
  return MPI_SUCCESS;
}

int pems_Cancel(MPI_Request *handle) {
  struct request *r = handle ? request_of(*handle) : NULL;
  if (!r || !r->class->cancel) {
    return refuse(MPI_ERR_REQUEST, "MPI_Cancel");
  }
  if (r->active) {
    r->class->cancel(r);
  }
  return MPI_SUCCESS;
}
