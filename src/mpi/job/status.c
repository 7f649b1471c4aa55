#define _GNU_SOURCE
#include "mpi/job/status.h"

#include "base/counters.h"
#include "base/job_status.h"
#include "base/threads.h"
#include "context/context.h"
#include "context/residency/residency.h"
#include "mpi_below/net.h"
#include "mpi_below/watch.h"
#include "os/clock.h"
#include "vp/dispatch.h"
#include "vp/vp.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

static struct {
  pthread_t thread;
  int listener, stop; /* or -1 */
  uint64_t start;     /* ns */
  char program[64];
} status = {.listener = -1, .stop = -1};

static void count_state(struct job_status *s, const struct vp *vp) {
  switch (vp->state) {
  case VP_RUNNING:
    s->computing++;
    break;
  case VP_READY:
    *(!vp->context || context_resident(vp->context) ? &s->slot : &s->context) +=
        1;
    break;
  case VP_BLOCKED:
    s->others++;
    break;
  default: /* VP_DONE */
    s->done++;
  }
}

/* A VP is in the superstep after as many waits, looks in vain not counted. */
static void count_ranks(struct job_status *s) {
  s->step = UINT64_MAX;
  run_queue_lock();
  for (int i = 0; i < vps.n; i++) {
    const struct vp *vp = &vps.item[i];
    if (!vp->dormant) {
      count_state(s, vp);
    }
    if (vp->state != VP_DONE && vp->steps < s->step) {
      s->step = vp->steps;
    }
  }
  for (int i = 0; i < vps.n; i++) {
    const struct vp *vp = &vps.item[i];
    s->ahead += !vp->dormant && (vp->state == VP_DONE || vp->steps > s->step);
  }
  run_queue_unlock();
  s->step = s->step == UINT64_MAX ? 0 : s->step;
}

static int write_status(char *line) {
  struct job_status s = {
      .process = (uint64_t)net_rank(),
      .of = (uint64_t)net_size(),
      .pid = (uint64_t)getpid(),
      .ms = (clock_ns() - status.start) / 1000000,
      .v = (uint64_t)vps.plan.v,
      .n = (uint64_t)(vps.n - dispatch_dormant()),
      .k = (uint64_t)vps.plan.k,
      .resident = contexts_resident_bytes(),
      .budget = contexts_budget(),
      .supersteps = counter_get(supersteps),
      .read = counter_get(bytes_read),
      .written = counter_get(bytes_written),
      .sent = counter_get(net_sent),
  };
  count_ranks(&s);
  gethostname(s.host, sizeof(s.host) - 1);
  memcpy(s.program, status.program, sizeof(s.program));
  return job_status_write(&s, line);
}

static void answer(void) {
  char line[JOB_STATUS_LINE];
  const int fd = job_status_accept(status.listener);
  if (fd < 0) {
    return;
  }
  const int n = write_status(line);
  /* It fits into the socket, or the asker has gone. */
  const ssize_t sent = send(fd, line, (size_t)n, MSG_NOSIGNAL | MSG_DONTWAIT);
  (void)sent;
  close(fd);
}

static void *run(void *arg) {
  struct pollfd p[] = {{.fd = status.stop, .events = POLLIN},
                       {.fd = status.listener, .events = POLLIN}};
  (void)arg;
  while (poll(p, 2, -1) >= 0 || errno == EINTR) {
    if (p[0].revents) {
      break;
    }
    if (p[1].revents) {
      answer();
    }
  }
  return NULL;
}

void status_start(const char *program) {
  const char *name = strrchr(program, '/');
  snprintf(status.program, sizeof(status.program), "%s",
           name ? name + 1 : program);
  status.start = clock_ns();
  watch_on_question(write_status);
  status.listener = job_status_listen(false);
  status.stop = status.listener < 0 ? -1 : eventfd(0, EFD_CLOEXEC);
  if (status.stop >= 0) {
    threads_start(&status.thread, run, NULL);
  }
}

void status_stop(void) {
  watch_on_question(NULL);
  if (status.stop >= 0) {
    const uint64_t one = 1;
    const ssize_t written = write(status.stop, &one, sizeof(one));
    (void)written; /* an eventfd takes it */
    pthread_join(status.thread, NULL);
    close(status.stop);
  }
  if (status.listener >= 0) {
    close(status.listener);
  }
  status.listener = status.stop = -1;
}
