#define _GNU_SOURCE
#include "net/neighbour.h"

#include "base/counters.h"
#include "base/failure.h"
#include "base/message.h"
#include "base/need.h"
#include "mpi_below/net.h"
#include "os/clock.h"
#include "os/native.h"

#include <errno.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <unistd.h>

static struct {
  uint64_t word; /* of the card */
  pid_t *pid;    /* of each neighbour, or 0; NULL: there are none */
} neighbours;

struct neighbour_card neighbour_card(void) {
  const uint64_t pid = (uint64_t)getpid();
  if (!neighbours.word) {
    neighbours.word = clock_ns() ^ pid << 40 ^ (uintptr_t)&neighbours;
  }
  return (struct neighbour_card){(uint64_t)net_host_first(), pid,
                                 (uintptr_t)&neighbours.word, neighbours.word};
}

/* 0 or an errno value; EFAULT if not all could be read. */
static int read_memory(pid_t pid, uint64_t at, void *to, size_t n) {
  while (n) {
    const struct iovec here = {to, n}, there = {(void *)(uintptr_t)at, n};
    const ssize_t got = process_vm_readv(pid, &here, 1, &there, 1, 0);
    if (got <= 0) {
      return got < 0 ? errno : EFAULT;
    }
    to = (char *)to + got;
    at += (size_t)got;
    n -= (size_t)got;
  }
  return 0;
}

/* A process of the same number on another host, or in another container, does
   not hold the word there. */
static int try_card(const struct neighbour_card *card) {
  uint64_t word;
  const int error =
      read_memory((pid_t)card->pid, card->at, &word, sizeof(word));
  return error ? error : word == card->word ? 0 : ESRCH;
}

bool neighbours_meet(const struct neighbour_card *card, int n, int me,
                     int *error) {
  bool all = true;
  neighbours.pid = need_zalloc(n, sizeof(*neighbours.pid), "network");
  for (int i = 0; i < n; i++) {
    if (i == me || card[i].host != card[me].host) {
      continue;
    }
    const int failed = try_card(&card[i]);
    if (failed) {
      *error = failed;
      all = false;
    } else {
      neighbours.pid[i] = (pid_t)card[i].pid;
    }
  }
  return all;
}

/* Those stay that can read all of their host: this one, too. */
static void agree(bool all_here) {
  uint64_t mine = all_here;
  uint64_t *const all = need_zalloc(net_size(), sizeof(*all), "network");
  net_gather(&mine, all, 1);
  for (int i = 0; i < net_size(); i++) {
    if (!all[i] || !all_here) {
      neighbours.pid[i] = 0;
    }
  }
  native_free(all);
}

/* Linux's Yama lets a process be read by its parents only, unless it says
   otherwise. */
static void allow_reading(void) {
  (void)prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
  net_barrier();
}

/* Is it so on all hosts? */
static bool find(int *error) {
  struct neighbour_card mine = neighbour_card(), *const card = need_zalloc(
                                                     net_size(), sizeof(mine),
                                                     "network");
  net_gather((const uint64_t *)&mine, (uint64_t *)card,
             sizeof(mine) / sizeof(uint64_t));
  allow_reading();
  const bool all_here = neighbours_meet(card, net_size(), net_rank(), error);
  agree(all_here);
  native_free(card);
  return net_first_failed(!all_here) < 0;
}

int neighbours_find(enum option_between wanted, struct pems_error *why) {
  int error = EPERM;
  if (net_size() == 1 || wanted == BETWEEN_COPY || find(&error)) {
    return 0;
  }
  if (wanted == BETWEEN_READ) {
    return failure(why, EPERM,
                   "--pems-between=read: process_vm_readv: %s: allow processes "
                   "of a host to read each other's memory (a container needs "
                   "SYS_PTRACE for that), or give --pems-between=copy",
                   strerror(error));
  }
  msg_notice("messages between processes of a host are copied by the MPI: "
             "process_vm_readv: %s: give --pems-between=copy to have it so",
             strerror(error));
  return 0;
}

void neighbours_forget(void) {
  native_free(neighbours.pid);
  neighbours.pid = NULL;
}

bool neighbour(int process) {
  return neighbours.pid && neighbours.pid[process];
}

struct neighbour_offer neighbour_offer(const void *p,
                                       const _Atomic uint64_t *count) {
  return (struct neighbour_offer){
      .at = (uintptr_t)p,
      .count_at = (uintptr_t)count,
      .count = count ? atomic_load(count) : 0,
  };
}

/* The count is increased before the memory goes away: if it is what it was once
   all has been read, all was there. */
static bool is_there(pid_t pid, const struct neighbour_offer *o) {
  uint64_t count;
  return !o->count_at ||
         (read_memory(pid, o->count_at, &count, sizeof(count)) == 0 &&
          count == o->count);
}

bool neighbour_read(int process, const struct neighbour_offer *o,
                    size_t position, void *to, size_t n) {
  const pid_t pid = neighbours.pid[process];
  const bool read = read_memory(pid, o->at + position, to, n) == 0;
  atomic_thread_fence(memory_order_acquire);
  if (!read || !is_there(pid, o)) {
    return false;
  }
  counter_add(net_read, n);
  return true;
}
