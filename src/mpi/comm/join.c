/* MPI_Comm_join: two ranks of a job that have the ends of a socket tell each
   other, by that, who they are. All that either needs to know is in one
   message, so that no other need be sent. */
#include "base/message.h"
#include "mpi/comm/comm_make.h"
#include "mpi/comm/intercomm.h"
#include "mpi/comm/universe.h"
#include "mpi/object/comm_error.h"
#include "mpi_abi/functions.h"
#include "vp/run_queue.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

static const char function[] = "MPI_Comm_join";

struct side {
  char magic[8];
  uint64_t job;
  struct intercomm_maker maker;
};
static const char magic[8] = "pemsjoin";

/* 0 or errno. A socket's buffer has room for so little. */
static int send_all(int fd, const void *bytes, size_t n) {
  const char *at = bytes;
  while (n) {
    const ssize_t sent = send(fd, at, n, MSG_NOSIGNAL);
    if (sent < 0 && errno != EINTR) {
      return errno;
    }
    at += sent > 0 ? sent : 0;
    n -= sent > 0 ? (size_t)sent : 0;
  }
  return 0;
}

/* The other rank may need the slot to get there. */
static void let_others_run(int fd) {
  enum { SHORT = 1 }; /* milliseconds */
  struct pollfd readable = {.fd = fd, .events = POLLIN};
  run_queue_lock();
  run_queue_pause_locked(comm_me(), function, 1, false);
  run_queue_unlock();
  (void)poll(&readable, 1, SHORT);
}

/* 0 or errno; ENOTCONN where the other end is closed. */
static int receive_all(int fd, void *bytes, size_t n) {
  char *at = bytes;
  while (n) {
    const ssize_t got = recv(fd, at, n, MSG_DONTWAIT);
    if (got == 0) {
      return ENOTCONN;
    }
    if (got > 0) {
      at += got;
      n -= (size_t)got;
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      let_others_run(fd);
    } else if (errno != EINTR) {
      return errno;
    }
  }
  return 0;
}

static bool is_of_this_job(const struct side *s) {
  if (memcmp(s->magic, magic, sizeof(magic)) == 0 && s->job == universe_job()) {
    return true;
  }
  msg_warn("%s: the other end is no rank of this job: MPI_COMM_NULL is "
           "returned: join ranks of one job",
           function);
  return false;
}

static int meet(int fd, const struct side *mine, struct side *theirs) {
  int error = send_all(fd, mine, sizeof(*mine));
  if (!error) {
    error = receive_all(fd, theirs, sizeof(*theirs));
  }
  if (error) {
    msg_warn("%s: descriptor %d: %s: give one end of a connected socket",
             function, fd, strerror(error));
  }
  return error ? MPI_ERR_OTHER : MPI_SUCCESS;
}

int pems_Comm_join(int fd, MPI_Comm *newcomm) {
  struct comm *local = rank_me()->self;
  if (!newcomm) {
    return comm_error(MPI_COMM_SELF, MPI_ERR_ARG, function);
  }
  *newcomm = MPI_COMM_NULL;
  struct side mine = {
      .job = universe_job(),
      .maker = {local->team->id, local->collectives++, comm_me()->rank, 1}};
  struct side theirs;
  memcpy(mine.magic, magic, sizeof(magic));
  int code = meet(fd, &mine, &theirs);
  if (!code && is_of_this_job(&theirs)) {
    struct group *remote =
        comm_group_needed(group_new(&theirs.maker.leader, 1));
    code = intercomm_finish(local, &mine.maker, &theirs.maker, remote, newcomm);
  }
  return comm_error(MPI_COMM_SELF, code, function);
}
