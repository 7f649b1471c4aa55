#include "mpi/job/job_deal.h"

#include <errno.h>
#include <stdbool.h>

#include "base/failure.h"
#include "base/need.h"
#include "config/plan.h"
#include "config/split.h"
#include "disk/contexts/dirs.h"
#include "mpi/job/job_site.h"
#include "mpi_below/net.h"
#include "os/native.h"
#include "vp/vp.h"

static struct split_offer offer_of(const struct job_setup *job) {
  const int even = (job->options.v - 1) / net_size() + 1;
  const struct plan_site site = job_site_for(job, even);
  struct split_offer offer = plan_offer(&job->options, &job->machine, &site);
  offer.disks = job_site_uses_disks(job) ? disks_named(job->options.disk) : 1;
  return offer;
}

static bool same_everywhere(uint64_t x) {
  uint64_t least = x, most = x;
  net_min(&least);
  net_max(&most, 1);
  return least == most;
}

int job_deal_check_same(struct job_setup *job) {
  const char *name = NULL;
  job->counted = job->options.v;
  if (!job->counted) {
    job->options.v = net_size();
  }
  if (!same_everywhere(job->options.v)) {
    name = "v";
  } else if (!same_everywhere(job->options.split)) {
    name = "split";
  } else if (!same_everywhere(job->options.universe)) {
    name = "universe";
  }
  if (!name) {
    return 0;
  }
  return failure(&job->error, EINVAL,
                 "--pems-%s: not the same in all processes: give all the same",
                 name);
}

/* Ranks that MPI_Comm_spawn may start. */
static int dormant_of(const struct job_setup *job) {
  const int all = job->options.universe;
  return all > job->options.v ? all - job->options.v : 0;
}

int job_deal_check_universe(struct job_setup *job) {
  if (job->options.universe && job->options.universe < job->options.v) {
    return failure(&job->error, EINVAL,
                   "--pems-universe: %d: the job starts with %d ranks: give as "
                   "many or more",
                   job->options.universe, job->options.v);
  }
  if (dormant_of(job) && job->options.report && net_size() > 1) {
    return failure(&job->error, EINVAL,
                   "--pems-report: cannot be used with --pems-universe on %d "
                   "processes: leave one out, or give --pems-procs=1",
                   net_size());
  }
  return 0;
}

static void deal_by_offers(struct job_setup *job) {
  const struct split_offer mine = offer_of(job);
  enum { WORDS = sizeof(mine) / sizeof(uint64_t) };
  struct split_offer *all =
      need_alloc(net_size() * sizeof(*all), "the split of ranks");
  net_gather((const uint64_t *)&mine, (uint64_t *)all, WORDS);
  split_by_offers(vps.split, net_size(), job->options.v, all);
  native_free(all);
}

int job_deal_most(const struct job_setup *job) {
  int most = 0;
  for (int q = 0; q < net_size(); q++) {
    const int n = vps.split[q + 1] - vps.split[q];
    most = n > most ? n : most;
  }
  return most + (dormant_of(job) + net_size() - 1) / net_size();
}

/* Where there are fewer ranks than processes, the plan says so. */
void job_deal_ranks(struct job_setup *job) {
  const int v = job->options.v;
  vps.split = need_alloc((net_size() + 1) * sizeof(int), "the split of ranks");
  if (job->options.split == SPLIT_AUTO && v >= net_size()) {
    deal_by_offers(job);
  } else {
    split_even(vps.split, net_size(), v);
  }
  vps.first_rank = vps.split[net_rank()];
  vps.n = vps.split[net_rank() + 1] - vps.first_rank;
  vps.process = net_rank();
  vps.universe = dormant_of(job) ? job->options.universe : 0;
  vps.dormant = (dormant_of(job) + net_size() - 1 - net_rank()) / net_size();
  vps.n += vps.dormant;
}
