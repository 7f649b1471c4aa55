#define _GNU_SOURCE
#include "mpi_below/net.h"

#include "base/lifeline.h"
#include "base/limit.h"
#include "base/message.h"
#include "base/stop.h"
#include "mpi_below/flavour.h"
#include "mpi_below/keeper.h"
#include "mpi_below/launcher.h"
#include "mpi_below/link.h"
#include "mpi_below/real.h"
#include "mpi_below/session.h"
#include "mpi_below/shared_memory.h"
#include "mpi_below/watch.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static struct {
  MPI_Comm comm; /* ours: programs cannot disturb it */
  int size, rank, host_size, host_first, level;
  pid_t process;               /* to tell a child that the program forked */
  struct shared_memory shared; /* of this host's processes, */
  atomic_int *failed; /* where the first to fail leaves a mark, or NULL */
  atomic_bool aborts; /* the job is being ended */
  int swept;          /* killed jobs whose files were removed at the start */
} net = {.comm = MPI_COMM_NULL, .size = 1, .host_size = 1};

int net_size(void) {
  return net.size;
}

int net_rank(void) {
  return net.rank;
}

int net_host_size(void) {
  return net.host_size;
}

int net_host_first(void) {
  return net.host_first;
}

int net_thread_level(void) {
  return net.level;
}

/* What the word says. */
enum { NOBODY_FAILED = 0, FAILURE_FOUND, FAILURE_TOLD };

/* One word that the processes of the host share. */
static void share_mark(MPI_Comm host) {
  if (net.host_size > 1 &&
      shared_memory_make(&net.shared, host, sizeof(*net.failed)) == 0) {
    net.failed = net.shared.at;
  }
}

static void meet_host(void) {
  MPI_Comm host;
  real.Comm_split_type(net.comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
  real.Comm_size(host, &net.host_size);
  net.host_first = net.rank;
  real.Bcast(&net.host_first, 1, MPI_INT, 0, host);
  share_mark(host);
  real.Comm_free(&host);
}

void net_host_split(int color, int *rank, int *size) {
  MPI_Comm host, part;
  real.Comm_split_type(net.comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
  real.Comm_split(host, color, 0, &part);
  real.Comm_rank(part, rank);
  real.Comm_size(part, size);
  real.Comm_free(&part);
  real.Comm_free(&host);
}

bool net_first_to_fail(void) {
  const struct timespec pause = {0, 1000000};
  int mark = NOBODY_FAILED;
  if (!net.failed ||
      atomic_compare_exchange_strong(net.failed, &mark, FAILURE_FOUND)) {
    /* The first of this host. */
    const bool first = watch_first_to_fail();
    if (!first) {
      net_failure_told();
    }
    return first;
  }
  for (int i = 0; i < 2000 && atomic_load(net.failed) != FAILURE_TOLD; i++) {
    nanosleep(&pause, NULL);
  }
  return false;
}

void net_failure_told(void) {
  if (net.failed) {
    atomic_store(net.failed, FAILURE_TOLD);
  }
}

/* A process without launcher. Open MPI would give all such processes of the
   user on this host the same folder, and remove it under one when another ends;
   or start a daemon for it. */
static void start_alone(void) {
  struct pems_error error;
  net.swept = keeper_sweep();
  const char *const folder = keeper_make(&error);
  if (!folder) {
    msg_fail(MSG_USAGE, "%s", error.text);
  }
  if (launcher_set_folder(folder) || launcher_begin_alone(folder)) {
    msg_fail(MSG_FAILED, "out of memory");
  }
}

/* A process that ends takes the others along, with what they have to say. */
static bool after_the_first(bool first) {
  const struct timespec pause = {2, 0};
  if (!first) {
    nanosleep(&pause, NULL);
  }
  return first;
}

static bool of_rank_zero(void) {
  struct flavour_starter s;
  return after_the_first(!flavour_foreign_starter(&s) || s.rank == 0);
}

static bool chosen_by_pemsrun(void) {
  return after_the_first(watch_first_to_fail());
}

/* Each process of the job comes here: pemsrun says who is to tell it, or else
   the rank that it got from the command that started it. */
_Noreturn static void refuse(bool by_pemsrun, const char *text) {
  msg_set_first(by_pemsrun ? chosen_by_pemsrun : of_rank_zero, NULL);
  msg_fail(MSG_USAGE, "%s", text);
}

/* Returns whether a pemsrun of this flavour has started the process. */
static bool check_pemsrun(void) {
  char text[512];
  const bool announced = getenv(FLAVOUR_VARIABLE);
  char *const other = flavour_of_pemsrun();
  if (other) {
    watch_start();
    snprintf(text, sizeof(text),
             "the program is built by pemscc for %s, and started by pemsrun "
             "for %s: start it with the pemsrun that was installed with the "
             "pemscc",
             flavour_name(), other);
    refuse(true, text);
  }
  return announced;
}

static void check_link(void) {
  struct pems_error error;
  const bool by_pemsrun = getenv(LIFELINE_VARIABLE);
  if (link_check_alone(&error)) {
    watch_start();
    refuse(by_pemsrun, error.text);
  }
}

/* Where that is so, each process is a job of its own to the real MPI. */
static void check_starter(void) {
  char text[512];
  struct flavour_starter s;
  if (net.size == 1 && flavour_foreign_starter(&s)) {
    snprintf(text, sizeof(text),
             "the program is built for %s, and started by %s: start it with "
             "pemsrun, or with %s; if it is to be a job of its own, unset %s",
             flavour_name(), s.name, launcher.command, s.variable);
    refuse(false, text);
  }
}

/* Of a process on its own: MPI's plug-ins, and what pems has open before there
   are ranks. */
enum { LEAST_FILES = 32 };

void net_start(int *argc, char ***argv) {
  struct launcher_process self;
  const bool alone = !launcher_process(&self);
  net.process = getpid();
  const bool by_pemsrun = check_pemsrun();
  check_link();
  real_load();
  launcher_choose();
  launcher_take_back_hangup();
  if (alone) {
    limit_need_files(LEAST_FILES);
    start_alone();
  }
  watch_start();
  real.Init_thread(argc, argv, MPI_THREAD_MULTIPLE, &net.level);
  if (alone) {
    launcher_end_alone();
  }
  session_each_segment(keeper_note_file);
  real.Comm_dup(MPI_COMM_WORLD, &net.comm);
  real.Comm_size(net.comm, &net.size);
  real.Comm_rank(net.comm, &net.rank);
  if (!by_pemsrun) {
    check_starter();
  }
  /* VPs have error handlers of their own (src/mpi/errors.c): the real library
     is to return its verdict. */
  real.Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  real.Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  meet_host();
}

void net_finish(void) {
  if (net.comm != MPI_COMM_NULL) {
    net.failed = NULL;
    shared_memory_free(&net.shared);
    real.Comm_free(&net.comm);
    real.Finalize();
  }
  watch_end();
  keeper_end();
}

int net_swept(void) {
  return net.swept;
}

/* mpirun, its daemon or a disk might not answer. */
_Noreturn void net_abort(int status) {
  enum { ABORT_SECONDS = 5 };
  watch_ends(status);
  const bool mine = getpid() == net.process;
  if (mine) {
    stop_after(ABORT_SECONDS);
  }
  /* A single process needs no help, and gets no banner. */
  if (!launcher.ends_others && net.comm != MPI_COMM_NULL && net.size > 1 &&
      mine && !watch_lost()) {
    net.aborts = true;
    real.Abort(net.comm, status);
  }
  if (mine && net.size == 1) {
    keeper_leave();
  }
  msg_quit(status);
}

void net_await_verdict(void) {
  if (net.comm != MPI_COMM_NULL && !net.aborts) {
    watch_await_verdict();
  }
}

void net_check(int code) {
  if (code != MPI_SUCCESS) {
    char text[MPI_MAX_ERROR_STRING] = "";
    int n;
    real.Error_string(code, text, &n);
    watch_await_verdict();
    msg_fail(MSG_FAILED, "network: the real MPI reports an error: %s", text);
  }
}

/* Polls hard at first, then ever more rarely, at most every half millisecond:
   other processes and VPs need the cores. */
static void complete(MPI_Request *request) {
  struct timespec pause = {0, 1000};
  int done = 0;
  for (int tries = 0; !done; tries++) {
    net_check(real.Test(request, &done, MPI_STATUS_IGNORE));
    if (done || tries < 20) {
      continue;
    }
    if (tries < 100) {
      sched_yield();
      continue;
    }
    nanosleep(&pause, NULL);
    pause.tv_nsec = pause.tv_nsec < 250000 ? 2 * pause.tv_nsec : 500000;
  }
}

int net_first_failed(int failed) {
  int mine = failed ? net.rank : net.size, first = net.size;
  MPI_Request request;
  real.Iallreduce(&mine, &first, 1, MPI_INT, MPI_MIN, net.comm, &request);
  complete(&request);
  return first == net.size ? -1 : first;
}

void net_gather(const uint64_t *mine, uint64_t *all, int n) {
  MPI_Request request;
  real.Iallgather(mine, n, MPI_UINT64_T, all, n, MPI_UINT64_T, net.comm,
                  &request);
  complete(&request);
}

static void reduce(uint64_t *x, int n, MPI_Op op) {
  MPI_Request request;
  real.Iallreduce(MPI_IN_PLACE, x, n, MPI_UINT64_T, op, net.comm, &request);
  complete(&request);
}

void net_min(uint64_t *x) {
  reduce(x, 1, MPI_MIN);
}

void net_max(uint64_t *x, int n) {
  reduce(x, n, MPI_MAX);
}

void net_sum(uint64_t *x, int n) {
  reduce(x, n, MPI_SUM);
}

void net_barrier(void) {
  MPI_Request request;
  real.Ibarrier(net.comm, &request);
  complete(&request);
}
