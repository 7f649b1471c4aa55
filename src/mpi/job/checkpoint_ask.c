#define _GNU_SOURCE
#include "mpi/job/checkpoint_ask.h"

#include "base/message.h"
#include "interpose/handler.h"
#include "mpi/job/checkpoint_calls.h"
#include "mpi_below/net.h"
#include "net/am.h"
#include "os/clock.h"
#include "os/ticker.h"
#include "vp/run_queue.h"

#include <signal.h>
#include <stdatomic.h>
#include <string.h>

#define NEVER UINT64_MAX
#define BETWEEN (UINT64_MAX - 1) /* agreed on: at no superstep */
#define SECOND UINT64_C(1000000000)

enum {
  TICK_MS = 250,
  GRACE_S = 1,  /* for a superstep, before ranks are to stop between them */
  MOST_S = 60,  /* between attempts */
  LONG_S = 120, /* until a line says that it has not been taken yet */
  LATE_S = 10,  /* at the end */
};

enum op {
  WANT,    /* to process 0: somebody asks for one, and has come so far */
  HOLD,    /* from there: let no rank come further than one has come */
  REACHED, /* the answer: how far */
  STOP,    /* at that superstep */
  TRY,     /* or at the next call for a message */
  STOPPED, /* the answer: all have, here */
  STUCK,   /* or: nobody can go on */
  GO_ON,   /* those that have stopped between supersteps */
  TAKE,    /* all ranks of the job have stopped */
  GIVE_UP, /* anybody to all: who waits for what is under way, to stop */
};
/* `round`: of attempts to have all stop. An answer to an earlier one does not
   count. */
struct message {
  uint64_t op, superstep, round;
};

static struct {
  uint64_t every;        /* supersteps, or 0 */
  uint64_t period;       /* ns, or 0: process 0 looks at it */
  uint64_t due;          /* when the next one is, by time */
  atomic_bool wanted;    /* somebody has asked, here */
  atomic_bool leaves;    /* and wants the job to end with it */
  bool (*outside)(void); /* has somebody asked elsewhere? Or NULL */

  /* Under the scheduler's lock: */
  uint64_t by_number; /* the next one by number, */
  uint64_t agreed;    /* and the one that was agreed on, or NEVER */
  uint64_t reached;   /* the furthest that a VP here has gone beyond */
  bool hold;          /* none may come further now */
  bool asking;        /* an agreement is under way, or one that it led to */
  int answers;        /* process 0: that have come */
  uint64_t later; /* 1 + how far one has gone that wants another one, or 0 */
  uint64_t most;  /* and the largest in them */
  struct run_queue_waiting held;

  uint64_t round;
  bool trying;     /* they are to stop between supersteps, too */
  bool take;       /* all ranks of the job have stopped, */
  bool tried;      /* maybe between supersteps */
  bool anew;       /* and since then the first process, where this one is over
                      already, has agreed on the next */
  bool gave_up;    /* GIVE_UP was sent, for this one */
  int stopped;     /* VPs here that have, */
  int between;     /* of them between supersteps */
  uint64_t at;     /* the furthest superstep of those */
  int full;        /* process 0: processes of which all have, in this round */
  uint64_t try_at; /* and when the next attempt is due, ns, */
  uint64_t pause;  /* which grows */
  uint64_t since;  /* when it was asked for, or 0 */
  bool said;       /* that this is long ago */
  uint64_t taken;  /* checkpoints so far */
  struct run_queue_waiting still;
  struct ticker ticker;
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
  const struct message m = {op, superstep, ask.round};
  am_post_locked(process, AM_SAVE, 0, &m, sizeof(m), NULL, 0);
}

/* --- agreeing ------------------------------------------------------------- */

static void stop_locked(uint64_t superstep) {
  ask.asking = true;
  ask.anew = ask.take;
  ask.agreed = superstep;
  ask.hold = false;
  ask.pause = GRACE_S * SECOND;
  ask.try_at = clock_ns() + ask.pause;
  run_queue_wake_locked(&ask.held);
}

static void send_all_locked(enum op op, uint64_t superstep) {
  for (int q = 1; q < net_size(); q++) {
    send_locked(q, op, superstep);
  }
}

static void answer_locked(uint64_t reached) {
  ask.most = reached > ask.most ? reached : ask.most;
  if (++ask.answers < net_size()) {
    return;
  }
  send_all_locked(STOP, ask.most + 1);
  stop_locked(ask.most + 1);
}

/* By process 0. */
static void begin_locked(void) {
  ask.asking = true;
  ask.hold = net_size() > 1;
  ask.answers = 0;
  ask.most = 0;
  ask.since = clock_ns();
  send_all_locked(HOLD, 0);
  answer_locked(ask.reached);
}

/* Where all ask before they come to a superstep, it is that one: none goes on
   from here until all know. While one is being taken, who asks has it. */
static void want_locked(uint64_t reached) {
  if (ask.asking || ask.take) {
    ask.later = reached >= ask.later ? reached + 1 : ask.later;
  } else if (net_rank() == 0) {
    begin_locked();
  } else {
    ask.asking = ask.hold = true;
    send_locked(0, WANT, ask.reached);
  }
}

/* --- stopping wherever they are ------------------------------------------- */

static void take_locked(void) {
  ask.take = true;
  ask.tried = ask.trying;
  vp_stops = ask.trying = false;
  run_queue_wake_locked(&ask.still);
}

/* By process 0: of one more process all VPs have stopped. */
static void full_locked(uint64_t round) {
  ask.full += round == ask.round;
  if (ask.full == net_size() && !ask.take) {
    send_all_locked(TAKE, 0);
    take_locked();
  }
}

static void tell_full_locked(void) {
  if (ask.stopped < vps.n || ask.take) {
    return;
  }
  if (net_rank() == 0) {
    full_locked(ask.round);
  } else {
    send_locked(0, STOPPED, 0);
  }
}

static void arrive_locked(const struct vp *vp) {
  ask.stopped++;
  ask.at = vp->superstep > ask.at ? vp->superstep : ask.at;
  tell_full_locked();
}

/* --- who stops later ---

   Where some have made a collective call and others stop before it, those go
   on until they have made it, too: it can be over then. */

/* Not when all have stopped here, which process 0 knows then. */
static void release_late_locked(void) {
  for (int i = 0; i < vps.n && ask.trying && ask.stopped < vps.n; i++) {
    struct vp *const vp = &vps.item[i];
    if (vp->between && checkpoint_calls_late_locked(vp)) {
      vp->between = false;
      vp->late = true;
      ask.between--;
      ask.stopped--;
      run_queue_wake_one_locked(&ask.still, vp);
    }
  }
}

/* --- attempts --- */

static void try_locked(void) {
  vp_stops = ask.trying = true;
  for (int i = 0; i < vps.n; i++) {
    vps.item[i].late = false;
  }
  checkpoint_calls_tell_locked();
  run_queue_wake_leaving_locked();
  tell_full_locked();
}

static void go_on_locked(void) {
  vp_stops = ask.trying = false;
  ask.stopped -= ask.between;
  ask.between = 0;
  for (int i = 0; i < vps.n; i++) {
    vps.item[i].between = false;
  }
  (void)run_queue_give_up_locked();
  run_queue_wake_locked(&ask.still);
  tell_full_locked();
}

static void longer_pause_locked(void) {
  ask.pause = 2 * ask.pause < MOST_S * SECOND ? 2 * ask.pause : MOST_S * SECOND;
  ask.try_at = clock_ns() + ask.pause;
}

/* By process 0: what follows is another round. */
static void begin_round_locked(enum op op) {
  ask.round++;
  ask.full = 0;
  send_all_locked(op, 0);
}

/* The same: the next attempt is made later. */
static void let_go_locked(void) {
  if (!ask.trying) {
    return;
  }
  longer_pause_locked();
  begin_round_locked(GO_ON);
  go_on_locked();
}

/* In other processes, perhaps: once. */
static bool others_give_up_locked(void) {
  const bool first = !ask.gave_up && ask.stopped > 0 && net_size() > 1;
  for (int q = 0; q < net_size() && first; q++) {
    if (q != net_rank()) {
      send_locked(q, GIVE_UP, 0);
    }
  }
  ask.gave_up |= first;
  return first;
}

bool checkpoint_ask_relieve_locked(void) {
  if (!ask.trying) {
    return run_queue_give_up_locked() || others_give_up_locked();
  }
  if (net_rank() == 0) {
    let_go_locked();
  } else {
    send_locked(0, STUCK, 0);
  }
  return true;
}

/* --- messages --- */

/* Of process 0, which begins rounds. */
static void follow_locked(const struct message *m) {
  ask.round = m->round;
  switch (m->op) {
  case HOLD:
    ask.asking = ask.hold = true;
    send_locked(0, REACHED, ask.reached);
    break;
  case STOP:
    stop_locked(m->superstep);
    break;
  case TRY:
    try_locked();
    break;
  case GO_ON:
    go_on_locked();
    break;
  default:
    take_locked();
  }
}

static bool on_message(int process, uint64_t key, const char *bytes, size_t n) {
  struct message m;
  (void)process, (void)key, (void)n;
  memcpy(&m, bytes, sizeof(m));
  run_queue_lock();
  switch (m.op) {
  case WANT:
    want_locked(m.superstep);
    break;
  case REACHED:
    answer_locked(m.superstep);
    break;
  case STOPPED:
    full_locked(m.round);
    break;
  case STUCK:
    if (m.round == ask.round) {
      let_go_locked();
    }
    break;
  case GIVE_UP:
    (void)run_queue_give_up_locked();
    break;
  default:
    follow_locked(&m);
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

/* With the lock. */
static bool may_stop_locked(struct vp *vp) {
  vp->late = ask.trying && checkpoint_calls_late_locked(vp);
  return ask.trying && !vp->late;
}

bool checkpoint_ask_may_stop(struct vp *vp) {
  run_queue_lock();
  const bool may = may_stop_locked(vp);
  run_queue_unlock();
  return may;
}

bool checkpoint_ask_between(struct vp *vp) {
  bool stops = false;
  run_queue_lock();
  if (may_stop_locked(vp)) {
    const uint64_t round = ask.round;
    vp->between = true;
    ask.between++;
    arrive_locked(vp);
    while (vp->between && ask.trying && ask.round == round) {
      run_queue_wait_locked(vp, &ask.still, "a checkpoint");
    }
    stops = vp->between && ask.take;
    vp->between = false;
  }
  run_queue_unlock();
  return stops;
}

void checkpoint_ask_stopped(struct vp *vp) {
  run_queue_lock();
  arrive_locked(vp);
  run_queue_unlock();
}

uint64_t checkpoint_ask_join(struct vp *vp) {
  run_queue_lock();
  while (!ask.take) {
    run_queue_wait_locked(vp, &ask.still, "a checkpoint");
  }
  const uint64_t at = ask.at;
  run_queue_unlock();
  return at;
}

static void next_by_number(uint64_t superstep) {
  ask.by_number = ask.every ? (superstep / ask.every + 1) * ask.every : NEVER;
}

void checkpoint_ask_done_locked(uint64_t superstep) {
  const bool asked =
      ask.asking && (ask.agreed <= superstep || (ask.tried && !ask.anew));
  pass_locked(superstep);
  next_by_number(superstep);
  if (ask.take) { /* some may have come for the next one already */
    ask.full -= net_size();
  }
  ask.take = ask.tried = ask.anew = ask.gave_up = false;
  ask.stopped = ask.between = 0;
  ask.at = 0;
  ask.taken++;
  if (asked) {
    ask.agreed = NEVER;
    ask.asking = ask.said = false;
    ask.since = 0;
    ask.due = clock_ns() + ask.period;
  }
  /* Who asked had been there already, and this process had not. */
  const bool later = !ask.asking && ask.later > superstep;
  if (!ask.asking) {
    ask.later = 0;
  }
  if (later && net_rank() == 0) {
    begin_locked();
  }
}

void checkpoint_ask_again_locked(void) {
  const uint64_t pause = ask.pause;
  if (net_rank() != 0 || ask.asking) {
    return;
  }
  send_all_locked(STOP, BETWEEN);
  stop_locked(BETWEEN);
  ask.since = clock_ns();
  if (pause > ask.pause) {
    ask.pause = pause;
  }
  longer_pause_locked();
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
  checkpoint_calls_watch(release_late_locked);
}

static void say_long(void) {
  const uint64_t now = clock_ns();
  if (ask.since && !ask.said && now - ask.since > LONG_S * SECOND) {
    ask.said = true;
    msg_warn("checkpoint: asked for %llu s ago: it is taken when all ranks are "
             "at calls for messages, or at one on all of them",
             (unsigned long long)((now - ask.since) / SECOND));
  }
}

/* Ranks may be between supersteps for long. */
static void tick(void *arg) {
  (void)arg;
  ask.wanted |= ask.outside && ask.outside();
  run_queue_lock();
  const uint64_t now = clock_ns();
  const bool leaves = ask.leaves && !ask.asking;
  if (is_due() || atomic_exchange(&ask.wanted, false) || leaves) {
    want_locked(ask.reached);
  }
  const bool first = net_rank() == 0 && ask.agreed != NEVER;
  if (first && !ask.trying && !ask.take && now >= ask.try_at) {
    begin_round_locked(TRY);
    try_locked();
  }
  if (first) {
    say_long();
  }
  run_queue_unlock();
}

void checkpoint_ask_start(void) {
  const struct sigaction action = {.sa_handler = on_signal,
                                   .sa_flags = SA_RESTART};
  (void)handlers_real_set(SIGUSR1, &action, NULL);
}

void checkpoint_ask_watch(bool (*outside)(void)) {
  ask.outside = outside;
  (void)ticker_start(&ask.ticker, TICK_MS, tick, NULL);
}

static void say_missed(void) {
  const uint64_t now = clock_ns();
  if (ask.since && now - ask.since > LATE_S * SECOND) {
    msg_warn("checkpoint: the job has ended before one that was asked for %llu "
             "s ago: there was no time at which all ranks could stop",
             (unsigned long long)((now - ask.since) / SECOND));
  } else if (ask.every && !ask.taken) {
    msg_warn("checkpoint: none was taken: every=%llu, and ranks have made %llu "
             "collective calls on all of them: every=10m counts time",
             (unsigned long long)ask.every, (unsigned long long)ask.reached);
  }
}

void checkpoint_ask_end(void) {
  const struct sigaction action = {.sa_handler = SIG_IGN};
  (void)handlers_real_set(SIGUSR1, &action, NULL);
  ticker_stop(&ask.ticker);
  if (net_rank() == 0) {
    say_missed();
  }
}
