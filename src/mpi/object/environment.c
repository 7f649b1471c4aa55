#define _GNU_SOURCE
#include "mpi/object/environment.h"

#include "base/need.h"
#include "config/split.h"
#include "mpi_below/launcher_variables.h"
#include "mpi_below/net.h"
#include "vp/vp.h"

#include <stdint.h>
#include <string.h>
#include <unistd.h>

static struct {
  bool whole;
  char **words;
  uint64_t *host; /* of each process: its first one */
} all;

static char **copy_words(char *const *words) {
  size_t n = 0;
  while (words[n]) {
    n++;
  }
  char **const copy = need_zalloc(n + 1, sizeof(*copy), "environment");
  for (size_t i = 0; i < n; i++) {
    const size_t size = strlen(words[i]) + 1;
    copy[i] = memcpy(need_alloc(size, "environment"), words[i], size);
  }
  return copy;
}

void environment_start(bool whole) {
  const uint64_t mine = (uint64_t)net_host_first();
  all.whole = whole;
  all.words = copy_words(environ);
  all.host = need_alloc((size_t)net_size() * sizeof(*all.host), "hosts");
  net_gather(&mine, all.host, 1);
}

static int process_of(int rank) {
  return rank < vps.plan.v ? split_process(vps.split, vps.plan.nprocs, rank)
                           : (rank - vps.plan.v) % vps.plan.nprocs;
}

/* Of the ranks from `first` on, how many of `n` are on this process's host? */
static int count_beside(int first, int n) {
  int beside = 0;
  for (int rank = first; rank < first + n; rank++) {
    beside += all.host[process_of(rank)] == all.host[vps.process];
  }
  return beside;
}

/* The same, by whole processes: of ranks that the job began with. */
static int count_dealt(int nprocs) {
  int beside = 0;
  for (int q = 0; q < nprocs; q++) {
    const int n = vps.split[q + 1] - vps.split[q];
    beside += all.host[q] == all.host[vps.process] ? n : 0;
  }
  return beside;
}

char **environment_of(int first, int n, int i) {
  const bool spawned = first >= vps.plan.v;
  const int number[LAUNCHER_NUMBERS] = {
      [LAUNCHER_RANK] = i,
      [LAUNCHER_SIZE] = n,
      [LAUNCHER_LOCAL_RANK] =
          spawned ? count_beside(first, i)
                  : count_dealt(vps.process) + i - vps.split[vps.process],
      [LAUNCHER_LOCAL_SIZE] =
          spawned ? count_beside(first, n) : count_dealt(vps.plan.nprocs),
      [LAUNCHER_UNIVERSE] = vp_ranks(),
  };
  return launcher_variables_of(all.words, all.whole, number);
}
