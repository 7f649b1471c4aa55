#define _GNU_SOURCE
#include "mpi/job/checkpoint.h"

#include "base/failure.h"
#include "base/message.h"
#include "base/need.h"
#include "base/self.h"
#include "checkpoint/shelf.h"
#include "checkpoint/wanted.h"
#include "checkpoint/wish.h"
#include "config/memory_plan.h"
#include "context/residency/segment.h"
#include "interpose/descriptor.h"
#include "interpose/fatal.h"
#include "interpose/file_mapping.h"
#include "mpi/job/checkpoint_about.h"
#include "mpi/job/checkpoint_ask.h"
#include "mpi/job/checkpoint_calls.h"
#include "mpi/job/checkpoint_complete.h"
#include "mpi/job/checkpoint_files.h"
#include "mpi/job/checkpoint_rank.h"
#include "mpi/job/checkpoint_sizes.h"
#include "mpi/job/restart.h"
#include "mpi/object/comm.h"
#include "mpi/p2p/p2p_load.h"
#include "mpi/p2p/p2p_save.h"
#include "mpi/request/request.h"
#include "mpi/request/requests.h"
#include "mpi/rma/win_kept.h"
#include "mpi/verify/deadlock.h"
#include "mpi_abi/handle.h"
#include "mpi_abi/refuse.h"
#include "mpi_below/net.h"
#include "mpi_below/watch.h"
#include "net/am.h"
#include "os/bits.h"
#include "os/native.h"
#include "os/pages.h"
#include "pems.h"
#include "vp/resume.h"
#include "vp/run_queue.h"
#include "vp/side_stack.h"
#include "vp/stack.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static struct {
  bool on;
  struct wish wish;
  struct shelf shelf;
  struct manifest manifest; /* what is the same in all of them, and the next */
  size_t room;
  struct checkpoint_tail *tail; /* by VP of this process: of its file */

  /* Under the scheduler's lock: */
  int stopped;    /* VPs of this process that have written their files */
  uint64_t round; /* checkpoints so far, also those that were not taken */
  struct run_queue_waiting waiting;
  bool failed; /* this one cannot be taken: the first reason */
  int rank;    /* that has it, or -1 */
  struct pems_error error;
} all;

/* Addresses of memory that ranks share, far from all others. */
#define SHARED_PLACE ((uintptr_t)1 << 43)
#define SHARED_SIZE ((size_t)1 << 44)
/* Of files that they map. */
#define FILES_PLACE (SHARED_PLACE + SHARED_SIZE)
#define FILES_SIZE ((size_t)1 << 43)

/* What a VP has written, until all have. */
static __thread struct resume *record;
/* Of the call at which it stops; NULL: it may not go on into that. */
static __thread const struct comm *superstep;

/* --- why not -------------------------------------------------------------- */

static void note_failure(int rank, const struct pems_error *error) {
  run_queue_lock();
  if (!all.failed) {
    all.failed = true;
    all.rank = rank;
    all.error = *error;
  }
  run_queue_unlock();
}

/* Once for each reason: it may stay for hours. */
static void say_failure(void) {
  static struct pems_error said;
  char who[32] = "";
  const bool same =
      said.code == all.error.code &&
      (said.code != ENOTSUP || strcmp(said.text, all.error.text) == 0);
  if (same || all.error.code == EAGAIN) { /* it is tried again soon */
    return;
  }
  said = all.error;
  if (all.rank >= 0) {
    snprintf(who, sizeof(who), "rank %d: ", all.rank);
  }
  msg_warn("no checkpoint at superstep %llu: %s%s: the job goes on",
           (unsigned long long)all.manifest.superstep, who, all.error.text);
}

/* --- one checkpoint ------------------------------------------------------- */

static void save(struct vp *vp, bool at_call_of_all) {
  struct pems_error error;
  char folder[PATH_MAX], path[PATH_MAX];
  int code = checkpoint_rank_check(vp, at_call_of_all, &error);
  if (!code && !all.failed) {
    code = shelf_begin(&all.shelf, all.manifest.sequence, folder, &error);
    shelf_rank(folder, vp->rank, path);
    code = code ? code
                : checkpoint_rank_save(vp, record, path,
                                       &all.manifest.rank[vp->rank],
                                       &all.tail[vp->index], &error);
  }
  if (code) {
    note_failure(vp->rank, &error);
  }
}

/* Adds what a VP's file lacks, which it may have got since it was written. */
static void add(const struct vp *vp) {
  struct pems_error error;
  char folder[PATH_MAX], path[PATH_MAX];
  bool any = false;
  int code = shelf_begin(&all.shelf, all.manifest.sequence, folder, &error);
  shelf_rank(folder, vp->rank, path);
  code = code ? code
              : checkpoint_rank_add(vp, path, &all.tail[vp->index],
                                    &all.manifest.rank[vp->rank], &any, &error);
  all.manifest.messages += any;
  if (code) {
    note_failure(vp->rank, &error);
  }
}

static void check_calls(void) {
  struct pems_error error;
  for (int i = 0; i < vps.n; i++) {
    run_queue_lock();
    const bool any = checkpoint_calls_any_locked(&vps.item[i]);
    run_queue_unlock();
    if (any) {
      failure(&error, EAGAIN, "it has a collective call under way");
      note_failure(vps.item[i].rank, &error);
    }
  }
  if (p2p_save_early() || am_keeps()) {
    failure(&error, EAGAIN, "messages for calls that a rank has not made yet");
    note_failure(-1, &error);
  }
}

static void check_all(void) {
  struct pems_error error;
  char folder[PATH_MAX];
  check_calls();
  if (checkpoint_files_check(all.shelf.dir, &error)) {
    note_failure(-1, &error);
  }
  if (!all.failed &&
      (shelf_begin(&all.shelf, all.manifest.sequence, folder, &error) ||
       checkpoint_sizes_save(folder, all.manifest.sequence, &error))) {
    note_failure(-1, &error);
  }
}

/* All processes know what each rank has written. */
static void share_sums(void) {
  net_sum((uint64_t *)all.manifest.rank, 2 * all.manifest.v);
  net_sum(&all.manifest.messages, 1);
}

/* Has it failed for what will be over soon? */
static bool is_soon(bool failed) {
  uint64_t soon = failed && all.failed && all.error.code == EAGAIN;
  net_max(&soon, 1);
  return soon;
}

/* By the last VP of each process that has stopped. */
static void finish(struct vp *vp) {
  struct pems_error error;
  uint64_t superstep = checkpoint_ask_join(vp);
  net_max(&superstep, 1);
  all.manifest.superstep = superstep;
  am_settle();
  check_all();
  for (int i = 0; i < vps.n && !all.failed; i++) {
    add(&vps.item[i]);
  }
  int first = net_first_failed(all.failed);
  if (first < 0) {
    share_sums();
    if (net_rank() == 0 &&
        checkpoint_complete(&all.shelf, &all.manifest, all.wish.keep, &error)) {
      note_failure(-1, &error);
    }
    first = net_first_failed(all.failed);
  }
  if (first == net_rank()) {
    say_failure();
  }
  if (first < 0 && checkpoint_ask_leaves()) {
    msg_fail(128 + SIGTERM,
             "SIGTERM: superstep %llu: the job ends with its checkpoint: go on "
             "with pemsrun --restart=%s",
             (unsigned long long)all.manifest.superstep, all.shelf.dir);
  }
  if (first >= 0) {
    shelf_abandon(&all.shelf, all.manifest.sequence);
  }
  const bool again = is_soon(first >= 0);
  all.manifest.sequence++;
  all.manifest.messages = 0;
  memset(all.manifest.rank, 0,
         (size_t)all.manifest.v * sizeof(*all.manifest.rank));
  net_barrier(); /* nobody writes to the next one while this one is removed */
  run_queue_lock();
  all.failed = false;
  checkpoint_ask_done_locked(superstep);
  if (again) {
    checkpoint_ask_again_locked();
  }
  run_queue_unlock();
}

/* One more VP of this process is there; the last one calls last(). Returns what
   await takes. */
static uint64_t arrive(struct vp *vp, void (*last)(struct vp *vp)) {
  run_queue_lock();
  const uint64_t round = all.round;
  if (++all.stopped == vps.n) {
    run_queue_unlock();
    last(vp);
    run_queue_lock();
    all.stopped = 0;
    all.round++;
    checkpoint_calls_end_locked();
    run_queue_wake_locked(&all.waiting);
  }
  run_queue_unlock();
  return round;
}

/* Until all are there, and what the last one does is done. */
static void await(struct vp *vp, uint64_t round, const char *what) {
  run_queue_lock();
  while (all.round == round) {
    run_queue_wait_locked(vp, &all.waiting, what);
  }
  run_queue_unlock();
}

static void meet(struct vp *vp, void (*last)(struct vp *vp), const char *what) {
  await(vp, arrive(vp, last), what);
}

/* --- at the entry of a call ----------------------------------------------- */

static void forget_record(void) {
  native_free(record);
  record = NULL;
}

/* What is its own has been written: it may go on into the call, but not beyond.
 */
static bool goes_ahead(const struct vp *vp) {
  run_queue_lock();
  const bool ahead =
      superstep && checkpoint_calls_go_ahead_locked(vp, superstep);
  run_queue_unlock();
  return ahead;
}

/* At a call of all ranks; others still compute. */
static void stopped(void) {
  struct vp *const vp = self.vp;
  if (checkpoint_ask_await(vp)) {
    save(vp, true);
    const bool ahead = goes_ahead(vp);
    checkpoint_ask_stopped(vp);
    const uint64_t round = arrive(vp, finish);
    if (ahead) {
      vp->ahead = 1 + round;
    } else {
      await(vp, round, "a checkpoint");
      win_kept_watch(vp->mpi, false);
    }
  }
  forget_record();
}

static void on_superstep_over(void) {
  struct vp *const vp = self.vp;
  await(vp, vp->ahead - 1, "a checkpoint");
  vp->ahead = 0;
}

/* At a call for a message: it is saved when all have stopped, for else it goes
   on, and what was written would be in vain. */
static void stopped_between(void) {
  struct vp *const vp = self.vp;
  if (checkpoint_ask_may_stop(vp) && requests_settle(vp->mpi) &&
      checkpoint_ask_between(vp)) {
    save(vp, false);
    meet(vp, finish, "a checkpoint");
    win_kept_watch(vp->mpi, false);
  }
  forget_record();
}

/* By the last VP of each process that goes on from a checkpoint. */
static void bind_messages(struct vp *vp) {
  (void)vp;
  net_barrier();
  p2p_load_bind();
  win_kept_bind();
  am_settle();
  if (!p2p_load_bound()) {
    msg_fail(
        MSG_FAILED,
        "checkpoint: %s: a message whose sender has none: restart from the "
        "one before",
        restart_folder());
  }
}

/* Nobody sends or receives before all have what they had. */
static void go_on_with_others(struct vp *vp) {
  if (restart_from()->messages) {
    meet(vp, bind_messages, "the others of the restart");
    win_kept_join(vp->mpi);
  }
}

/* In another process the rank goes on in resume_stop. */
static __attribute__((noinline)) void stop_here(void (*stopped)(void)) {
  char apart[CONTEXT_STACK_APART];
  self_enter();
  const bool left = vp_program_stops(self.vp, apart);
  record = need_zalloc(1, sizeof(*record), "checkpoint");
  record->from = (uintptr_t)context_stack_boundary(apart);
  const bool resumed = resume_stop(record, stopped);
  if (resumed) {
    side_stack_free(self.vp); /* go_on's; of thousands that would be much */
    go_on_with_others(self.vp);
  }
  vp_program_goes_on(self.vp, left || resumed);
  self_leave();
}

/* Calls on all ranks are the supersteps of a program, whatever communicator
   they are on: all ranks make them in the same order, for any may synchronize
   them. */
static bool is_of_all(const struct comm *c) {
  return c && !c->remote && c->team->size == vps.plan.v;
}

static void on_superstep(uintptr_t handle, bool moves) {
  const struct comm *const comm = comm_of((MPI_Comm)handle);
  if (is_of_all(comm) && checkpoint_ask_superstep(self.vp)) {
    superstep = moves ? comm : NULL;
    /* Threads of one rank take turns here, too, as in the call itself. */
    const bool entered = self.vp->shared && mpi_enter("a checkpoint");
    stop_here(stopped);
    mpi_leave(entered);
  }
}

/* Libraries that are not the rank's have memory that is not saved. */
static bool may_leave(const void *array) {
  return !array || resume_covers(self.vp, (uintptr_t)array, 1);
}

static void on_stop(const void *array) {
  if (self.vp && !self.vp->shared && may_leave(array)) {
    stop_here(stopped_between);
  }
}

/* --- going on from one ---------------------------------------------------- */

static void go_on(void) {
  struct resume at;
  struct pems_error error;
  struct vp *const vp = self.vp;
  char path[PATH_MAX];
  self_enter();
  shelf_rank(restart_folder(), vp->rank, path);
  if (checkpoint_rank_load(vp, &at, path, &error)) {
    msg_fail(MSG_FAILED, "%s", error.text);
  }
  resume_go(vp, &at);
}

/* --- setting up ----------------------------------------------------------- */

static int open_shelf(struct job_setup *job) {
  int code = wish_parse(&all.wish, job->options.checkpoint, &job->error);
  return code ? code
              : shelf_open(&all.shelf, all.wish.dir, net_rank() == 0,
                           &job->error);
}

static int other_shelf(struct pems_error *error) {
  return failure(error, EXDEV,
                 "checkpoint: %s: not the directory that it is on the first "
                 "host: name one that all hosts share",
                 all.wish.dir);
}

/* Collective: process 0 first, then the others, which must find the same. */
static int open_same_shelf(struct job_setup *job) {
  int code = net_rank() == 0 ? open_shelf(job) : 0;
  uint64_t owner = code || net_rank() != 0 ? 0 : shelf_owner(&all.shelf);
  net_sum(&owner, 1);
  if (owner && net_rank() != 0) {
    code = open_shelf(job);
    if (code == ENOENT || (!code && shelf_owner(&all.shelf) != owner)) {
      code = other_shelf(&job->error);
    }
  }
  return code;
}

/* Does the job go on from one that is there? */
static bool goes_on_there(void) {
  const char *const folder = restart_folder();
  const size_t n = strlen(all.shelf.dir);
  return folder && strncmp(folder, all.shelf.dir, n) == 0 && folder[n] == '/' &&
         !strchr(folder + n + 1, '/');
}

int checkpoint_open_shelf(struct job_setup *job, int argc, char **argv) {
  if (!job->options.checkpoint) {
    return 0;
  }
  char *const hosts = checkpoint_about_hosts();
  int code = open_same_shelf(job);
  code = code ? code
              : checkpoint_about(&all.manifest, job->options.v, hosts, argc,
                                 argv, &job->error);
  native_free(hosts);
  if (code) {
    return code;
  }
  const uint64_t newest = shelf_newest(&all.shelf);
  if (newest && !goes_on_there()) {
    return failure(&job->error, EEXIST,
                   "checkpoint: %s: there are checkpoints of another run: "
                   "restart from them, or name another directory",
                   all.shelf.dir);
  }
  all.manifest.sequence =
      newest >= all.manifest.sequence ? newest + 1 : all.manifest.sequence;
  all.on = true;
  return 0;
}

size_t checkpoint_room(size_t mu) {
  uint64_t room = bits_align_up(mu + MEMORY_PLAN_STACK, HUGE_PAGE);
  const struct manifest *const was = restart_from();
  if (!restart_fixed()) {
    return 0;
  }
  net_max(&room, 1);
  all.room = was ? was->context : room;
  return all.room;
}

void checkpoint_start(void) {
  const struct manifest *const was = restart_from();
  if (was) {
    checkpoint_rank_start_clock();
    vp_restart = go_on;
  }
  if (restart_fixed()) {
    handles_fix(vps.plan.v);
    segments_place(SHARED_PLACE, SHARED_SIZE, vps.plan.v);
    descriptors_start(vps.plan.v);
    file_mappings_start(FILES_PLACE, FILES_SIZE, vps.plan.v);
  }
  checkpoint_ask_prepare(&all.wish, was ? was->superstep : 0);
  if (all.on) {
    all.manifest.context = all.room;
    all.manifest.stack = stack_size() - stack_top();
    all.manifest.images = restart_images();
    all.tail = need_zalloc((size_t)vps.n, sizeof(*all.tail), "checkpoint");
    checkpoint_files_note();
    checkpoint_ask_start();
    vp_superstep = on_superstep;
    vp_superstep_over = on_superstep_over;
    vp_stop = on_stop;
    vp_may_leave = may_leave;
    deadlock_on_relief(checkpoint_ask_relieve_locked);
  }
  if (all.on && all.wish.on_term) {
    fatal_on_term = checkpoint_ask_leave;
    watch_on_leave(checkpoint_ask_leave);
  }
}

/* By pemsrun --signal. */
static bool is_wanted(void) {
  return wanted_take(all.shelf.dir);
}

void checkpoint_watch(void) {
  if (all.on) {
    checkpoint_ask_watch(net_rank() == 0 ? is_wanted : NULL);
  }
}

/* Of pems.h. */
__attribute__((visibility("default"))) int pems_api_checkpoint(void) {
  if (all.on && self.vp && vp_in_job()) {
    checkpoint_ask();
    return 0;
  }
  return -1;
}

void checkpoint_end(void) {
  if (all.on) {
    checkpoint_ask_end();
    shelf_close(&all.shelf);
    native_free(all.tail);
  }
}
