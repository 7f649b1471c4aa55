#include "config/plan.h"

#include "base/failure.h"
#include "config/size.h"
#include "os/bits.h"

#include <errno.h>

#define KIB UINT64_C(1024)
#define MIB (1024 * KIB)

#define LEAST_CONTEXT (64 * KIB)

/* mu is a multiple of a huge page, but for small contexts. */
static uint64_t unit_of(uint64_t mu) {
  return mu < 2 * MIB ? LEAST_CONTEXT : 2 * MIB;
}

static struct memory_plan shares_of(uint64_t memory, const struct plan *p,
                                    const struct options *o,
                                    const struct plan_site *site) {
  return (struct memory_plan){
      .memory = memory,
      .base = site->base_rss,
      .report = site->report,
      .sigma = o->sigma ? o->sigma : memory_plan_sigma(memory),
      .vps = p->own,
      .peers = site->nprocs - 1,
      .compress = o->compress,
  };
}

/* The least memory, in whole MiB, that holds k contexts of mu bytes. What pems
   takes for itself grows with it, by a quarter at most, so this converges. */
static uint64_t memory_needed(const struct plan *p, const struct options *o,
                              const struct plan_site *site, int k,
                              uint64_t mu) {
  uint64_t memory = 0, last;
  do {
    last = memory;
    const struct memory_plan shares = shares_of(last, p, o, site);
    memory = bits_round_up(memory_plan_overhead(&shares) +
                               (uint64_t)k * (mu + MEMORY_PLAN_STACK),
                           MIB);
  } while (memory > last);
  return memory;
}

static uint64_t cgroup_left(const struct machine *m) {
  return m->limit > m->limit_used ? m->limit - m->limit_used : 0;
}

/* Is the cgroup's limit what ends first? */
static bool cgroup_limits(const struct machine *m) {
  return m->limit != UINT64_MAX && cgroup_left(m) < m->available;
}

/* Bytes that the cgroup and the machine have left. */
static uint64_t all_left(const struct machine *m) {
  return cgroup_limits(m) ? cgroup_left(m) : m->available;
}

/* Left in a cgroup that one process has for itself: the kernel's records of
   its pages, and pages of files that it is about to drop. Elsewhere others may
   take memory at any time, processes of the job among them. */
static uint64_t margin(const struct machine *m, const struct plan_site *site,
                       uint64_t left) {
  const bool alone = site->nprocs_host == 1 && cgroup_limits(m);
  return alone ? bits_min(left / 10, left / 64 + 2 * MIB) : left / 10;
}

/* Most of that for one process. */
static uint64_t defaults_memory(const struct machine *m,
                                const struct plan_site *site) {
  const uint64_t left = all_left(m) / (uint64_t)site->nprocs_host;
  return left - margin(m, site, left);
}

static int complain_memory(const struct plan *p, const struct options *o,
                           const struct plan_site *site, int k, uint64_t mu,
                           struct pems_error *error) {
  char has[16], each[16];
  const uint64_t needs = memory_needed(p, o, site, k, mu) / MIB;
  size_format(p->memory.memory, has, sizeof(has));
  size_format(mu, each, sizeof(each));
  return failure(
      error, ENOMEM,
      "too little memory: %s %s: %d context%s of %s at once, of %d, and "
      "pems itself need %s%lluM%s",
      has, o->memory ? "(--pems-memory)" : "left for this process", k,
      k > 1 ? "s" : "", each, p->own, o->memory ? "--pems-memory=" : "",
      (unsigned long long)needs,
      o->memory ? " or more" : ": free some, or use more hosts");
}

static int choose_counts(struct plan *p, const struct options *o,
                         const struct plan_site *site,
                         struct pems_error *error) {
  p->nprocs = site->nprocs;
  p->v = o->v ? o->v : p->nprocs;
  if (p->v < p->nprocs) {
    return failure(
        error, EINVAL,
        "fewer ranks than processes: %d with %d processes: give %d ranks or "
        "more (pemsrun -n, --pems-v), or fewer processes (--pems-procs)",
        p->v, p->nprocs, p->nprocs);
  }
  p->v_local = site->most ? site->most : (p->v - 1) / p->nprocs + 1;
  p->own = site->own ? site->own : p->v_local;
  if (o->k <= p->own) {
    return 0;
  }
  if (p->own < p->v_local) {
    return failure(
        error, EINVAL,
        "k > v/P: --pems-k=%d with %d of the %d virtual processors on "
        "this process: give --pems-k=%d or less",
        o->k, p->own, p->v, p->own);
  }
  return failure(error, EINVAL,
                 "k > v/P: --pems-k=%d with %d virtual processors on %d "
                 "process%s: give --pems-k=%d or less",
                 o->k, p->v, p->nprocs, p->nprocs > 1 ? "es" : "", p->v_local);
}

static void choose_memory(struct plan *p, const struct options *o,
                          const struct machine *m,
                          const struct plan_site *site) {
  p->memory =
      shares_of(o->memory ? o->memory : defaults_memory(m, site), p, o, site);
  p->resident = memory_plan_bytes(&p->memory, MEMORY_CONTEXTS);
}

/* Bytes for contexts, which lie all on disk or fit in memory altogether. */
static uint64_t room_of(uint64_t resident, const struct plan_site *site) {
  const uint64_t disk = site->disk_free / 10 * 8 / (uint64_t)site->nprocs_host;
  const uint64_t in_memory = site->on_disk ? 0 : resident;
  return disk > in_memory ? disk : in_memory;
}

static uint64_t rounded_mu(uint64_t mu) {
  mu = bits_round_down(mu, unit_of(mu));
  return mu ? mu : LEAST_CONTEXT;
}

/* Ranges of addresses have room for what ranks may grow to: x86-64 has 128 TiB
   of them. */
#define MOST_OF_ALL (UINT64_C(8) << 40)

/* One rank may take all of the memory, as long as others need little or wait on
   disk: bytes are counted, not contexts. Only where space is reserved at the
   start each has the same share, so that all fit on the disk. A disk that is
   too small even for the smallest contexts is reported by who opens it. */
static uint64_t wanted_mu(const struct plan *p, const struct options *o,
                          const struct plan_site *site) {
  const uint64_t own = (uint64_t)p->own, even = p->resident / (uint64_t)p->k;
  if (o->reserve != RESERVE_ALL) {
    return bits_max(bits_min(p->resident, MOST_OF_ALL / own), even);
  }
  return p->own > p->k || site->on_disk
             ? bits_min(even, room_of(p->resident, site) / own)
             : even;
}

/* All may lie in one file. */
static uint64_t default_mu(const struct plan *p, const struct options *o,
                           const struct plan_site *site) {
  const uint64_t wanted = wanted_mu(p, o, site);
  return rounded_mu(site->file_most
                        ? bits_min(wanted, site->file_most / (uint64_t)p->own)
                        : wanted);
}

static uint64_t given_mu(const struct options *o) {
  return bits_round_up(o->context, unit_of(o->context));
}

/* Cores of this process. */
static int cores_of(const struct machine *m, const struct plan_site *site) {
  const int sharers =
      site->nprocs_cores ? site->nprocs_cores : site->nprocs_host;
  const int cores = m->cores / sharers;
  return cores > 1 ? cores : 1;
}

static int choose_k(struct plan *p, const struct options *o,
                    const struct machine *m, const struct plan_site *site,
                    uint64_t mu, struct pems_error *error) {
  p->k = o->k ? o->k : (int)bits_min(p->own, cores_of(m, site));
  const uint64_t fit = p->resident / (mu + MEMORY_PLAN_STACK);
  if ((uint64_t)p->k <= fit) {
    return 0;
  }
  if (o->k || fit == 0) {
    return complain_memory(p, o, site, o->k ? o->k : 1, mu, error);
  }
  if (!o->context) { /* else not all need as much as they may have */
    p->k = (int)fit;
  }
  return 0;
}

/* A context with its stack, which never has more than all of the memory. */
static uint64_t largest(const struct plan *p) {
  const uint64_t most = p->resident > p->mu ? p->resident : p->mu;
  return bits_min(p->mu + MEMORY_PLAN_STACK, most);
}

/* The option that has kept mu from being larger. */
static const char *more_than_mu(const struct plan *p, const struct options *o,
                                const struct plan_site *site) {
  const uint64_t even = p->resident / (uint64_t)p->k;
  if (o->context) {
    return "more --pems-context";
  }
  if (o->reserve == RESERVE_ALL && wanted_mu(p, o, site) < even) {
    return "scratch directories with more room, or --pems-reserve=used";
  }
  if (o->reserve == RESERVE_ALL && p->k > 1) {
    return "--pems-reserve=used";
  }
  return p->mu + unit_of(p->mu) < p->resident ? "more --pems-context"
                                              : "more --pems-memory";
}

int plan_make(struct plan *p, const struct options *o, const struct machine *m,
              const struct plan_site *site, struct pems_error *error) {
  *p = (struct plan){0};
  int code = choose_counts(p, o, site, error);
  if (code) {
    return code;
  }
  choose_memory(p, o, m, site);
  const uint64_t given = given_mu(o);
  code = choose_k(p, o, m, site, given ? given : LEAST_CONTEXT, error);
  if (code) {
    return code;
  }
  p->mu = given ? given : default_mu(p, o, site);
  p->more = more_than_mu(p, o, site);
  p->alpha = o->alpha;
  p->needs_disk = site->on_disk || largest(p) > p->resident / (uint64_t)p->own;
  return 0;
}

/* Memory of the process before any VP exists is part of --pems-memory, and no
   longer counts as left. */
static uint64_t share_of(uint64_t left, const struct plan_site *site) {
  return left / (uint64_t)site->nprocs_host + site->base_rss;
}

static bool complain_exceeds(const struct plan *p, const char *who,
                             uint64_t bytes, const char *left,
                             struct pems_error *error) {
  char asked[32], has[32];
  failure(error, ENOMEM,
          "--pems-memory: %s: the %s has %s%s for this process, and the system "
          "kills what takes more: give less",
          size_format(p->memory.memory, asked, sizeof(asked)), who,
          size_format(bytes, has, sizeof(has)), left);
  return true;
}

/* Contexts on disk, where that is memory: as many as it has room for. A memory
   that is given small enough for both, as tests do, is nothing to speak of. */
static bool exceeds_with_contexts(const struct plan *p, const struct machine *m,
                                  const struct plan_site *site,
                                  struct pems_error *error) {
  const uint64_t left = share_of(all_left(m), site);
  const uint64_t room = site->memory_free / (uint64_t)site->nprocs_host;
  const uint64_t all = bits_min(room, (uint64_t)p->own * largest(p));
  char memory[32], on_disk[32], has[32];
  if (!site->memory_dir || !p->needs_disk || p->memory.memory + all <= left) {
    return false;
  }
  failure(error, ENOMEM,
          "scratch directory: %s: lies in memory: up to %s there beside %s of "
          "--pems-memory are more than the %s left for this process: name one "
          "on a disk with --pems-disk, or give less --pems-memory",
          site->memory_dir, size_format(all, on_disk, sizeof(on_disk)),
          size_format(p->memory.memory, memory, sizeof(memory)),
          size_format(left, has, sizeof(has)));
  return true;
}

bool plan_exceeds(const struct plan *p, const struct options *o,
                  const struct machine *m, const struct plan_site *site,
                  struct pems_error *error) {
  const uint64_t left = share_of(cgroup_left(m), site);
  const uint64_t all = m->memory / (uint64_t)site->nprocs_host;
  if (o->memory && m->limit != UINT64_MAX && p->memory.memory > left) {
    return complain_exceeds(p, "cgroup or Slurm", left, " left", error);
  }
  if (o->memory && p->memory.memory > all) {
    return complain_exceeds(p, "machine", all, "", error);
  }
  return exceeds_with_contexts(p, m, site, error);
}

struct split_offer plan_offer(const struct options *o, const struct machine *m,
                              const struct plan_site *site) {
  const int v = o->v ? o->v : site->nprocs;
  struct plan p = {.own = (v - 1) / site->nprocs + 1};
  choose_memory(&p, o, m, site);
  uint64_t cores = (uint64_t)(o->k ? o->k : cores_of(m, site));
  uint64_t mu = given_mu(o);
  if (!mu) {
    mu = rounded_mu(p.resident / cores);
  } else if (!o->k && p.resident / mu < cores) {
    cores = p.resident / mu ? p.resident / mu : 1;
  }
  return (struct split_offer){.cores = cores,
                              .disks = 1,
                              .least = o->k ? (uint64_t)o->k : 1,
                              .room = room_of(p.resident, site),
                              .context = mu,
                              .given = o->context != 0};
}
