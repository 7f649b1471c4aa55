#define _GNU_SOURCE
#include "mpi/job/checkpoint_ask.h"

#include "interpose/handler.h"
#include "mpi_below/net.h"
#include "net/am.h"
#include "os/clock.h"
#include "vp/run_queue.h"

#include <signal.h>
#include <stdatomic.h>
#include <string.h>

#define NEVER UINT64_MAX

enum op {
  WANT,    /* to process 0: somebody asks for one, and has come so far */
  HOLD,    /* from there: let no rank come further than one has come */
  REACHED, /* the answer: how far */
  STOP,    /* at that superstep */
};
struct message {
  uint64_t op, superstep;
};

static struct {
  uint64_t every;     /* supersteps, or 0 */
  uint64_t period;    /* ns, or 0: process 0 looks at it */
  uint64_t due;       /* when the next one is, by time */
  atomic_bool wanted; /* somebody has asked, here */
  atomic_bool leaves; /* and wants the job to end with it */

  /* Under the scheduler's lock: */
  uint64_t by_number; /* the next one by number, */
  uint64_t agreed;    /* and the one that was agreed on, or NEVER */
  uint64_t reached;   /* the furthest that a VP here has gone beyond */
  bool hold;          /* none may come further now */
  bool asking;        /* an agreement is under way, or one that it led to */
  int answers;        /* process 0: that have come */
  uint64_t later;     /* and one that has gone so far wants another one */
  uint64_t most;      /* and the largest in them */
  struct run_queue_waiting held;
} ask;

void checkpoint_ask(void) {
  ask.wanted = true;
}

bool checkpoint_ask_leave(void) {
  return !atomic_exchange(&ask.leaves, true);
}

bool checkpoint_ask_leaves(void) {
  return ask.leaves;
}

static void on_signal(int number) {
  (void)number;
  checkpoint_ask();
}

static void send_locked(int process, enum op op, uint64_t superstep) {
  const struct message m = {op, superstep};
  am_post_locked(process, AM_SAVE, 0, &m, sizeof(m), NULL, 0);
}

/* --- agreeing ------------------------------------------------------------- */

static void stop_locked(uint64_t superstep) {
  ask.agreed = superstep;
  ask.hold = false;
  run_queue_wake_locked(&ask.held);
}

static void answer_locked(uint64_t reached) {
  ask.most = reached > ask.most ? reached : ask.most;
  if (++ask.answers < net_size()) {
    return;
  }
  for (int q = 1; q < net_size(); q++) {
    send_locked(q, STOP, ask.most + 1);
  }
  stop_locked(ask.most + 1);
}

/* By process 0. */
static void begin_locked(void) {
  ask.asking = true;
  ask.hold = net_size() > 1;
  ask.answers = 0;
  ask.most = 0;
  for (int q = 1; q < net_size(); q++) {
    send_locked(q, HOLD, 0);
  }
  answer_locked(ask.reached);
}

/* Where all ask before they come to a superstep, it is that one: none goes on
   from here until all know. */
static void want_locked(uint64_t reached) {
  if (ask.asking) {
    ask.later = reached > ask.later ? reached : ask.later;
  } else if (net_rank() == 0) {
    begin_locked();
  } else {
    ask.asking = ask.hold = true;
    send_locked(0, WANT, ask.reached);
  }
}

static bool on_message(int process, uint64_t key, const char *bytes, size_t n) {
  struct message m;
  (void)key, (void)n;
  memcpy(&m, bytes, sizeof(m));
  run_queue_lock();
  switch (m.op) {
  case WANT:
    want_locked(m.superstep);
    break;
  case HOLD:
    ask.asking = ask.hold = true;
    send_locked(process, REACHED, ask.reached);
    break;
  case REACHED:
    answer_locked(m.superstep);
    break;
  default:
    stop_locked(m.superstep);
  }
  run_queue_unlock();
  return true;
}

static bool is_due(void) {
  if (!ask.period || net_rank() != 0 || clock_ns() < ask.due) {
    return false;
  }
  ask.due = clock_ns() + ask.period;
  return true;
}

/* --- VPs ------------------------------------------------------------------ */

static bool stops_locked(uint64_t superstep) {
  return superstep >= ask.by_number || superstep >= ask.agreed;
}

static bool is_held_locked(uint64_t superstep) {
  return ask.hold && superstep > ask.reached;
}

/* It goes on from there. */
static void pass_locked(uint64_t superstep) {
  ask.reached = superstep > ask.reached ? superstep : ask.reached;
}

bool checkpoint_ask_superstep(struct vp *vp) {
  run_queue_lock();
  const uint64_t n = ++vp->superstep;
  if (is_due() || atomic_exchange(&ask.wanted, false) || ask.leaves) {
    want_locked(ask.reached);
  }
  const bool stays = is_held_locked(n) || stops_locked(n);
  if (!stays) {
    pass_locked(n);
  }
  run_queue_unlock();
  return stays;
}

bool checkpoint_ask_await(struct vp *vp) {
  run_queue_lock();
  while (is_held_locked(vp->superstep)) {
    run_queue_wait_locked(vp, &ask.held, "a checkpoint");
  }
  const bool stops = stops_locked(vp->superstep);
  if (!stops) {
    pass_locked(vp->superstep);
  }
  run_queue_unlock();
  return stops;
}

static void next_by_number(uint64_t superstep) {
  ask.by_number = ask.every ? (superstep / ask.every + 1) * ask.every : NEVER;
}

void checkpoint_ask_done_locked(uint64_t superstep) {
  pass_locked(superstep);
  next_by_number(superstep);
  if (ask.agreed <= superstep) {
    ask.agreed = NEVER;
    ask.asking = false;
    ask.due = clock_ns() + ask.period;
    /* Who asked had been there already, and this process had not. */
    if (net_rank() == 0 && ask.later >= superstep) {
      begin_locked();
    }
    ask.later = 0;
  }
}

/* --- the job -------------------------------------------------------------- */

void checkpoint_ask_prepare(const struct wish *wish, uint64_t superstep) {
  ask.every = wish->supersteps;
  ask.period = wish->seconds * UINT64_C(1000000000);
  ask.due = clock_ns() + ask.period;
  ask.reached = superstep;
  ask.agreed = NEVER;
  next_by_number(superstep);
  am_register(AM_SAVE, on_message);
}

void checkpoint_ask_start(void) {
  const struct sigaction action = {.sa_handler = on_signal,
                                   .sa_flags = SA_RESTART};
  (void)handlers_real_set(SIGUSR1, &action, NULL);
}

void checkpoint_ask_end(void) {
  const struct sigaction action = {.sa_handler = SIG_IGN};
  (void)handlers_real_set(SIGUSR1, &action, NULL);
}
