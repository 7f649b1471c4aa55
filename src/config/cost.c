#include "config/cost.h"

#include "config/memory_plan.h"

#include <stdbool.h>

#define BLOCK 4096.0 /* B */
#define ELEMENT 4.0
#define COUNT 4.0 /* bytes of a number of elements, pi in the thesis */

static double least(double a, double b) {
  return a < b ? a : b;
}

static double most(double a, double b) {
  return a > b ? a : b;
}

/* --- sizes --- */

static double ranks(const struct cost_job *job) {
  return (double)job->v / job->nprocs; /* V */
}

static double share(const struct cost_job *job) {
  return ELEMENT * job->n / job->v; /* s */
}

static double message(const struct cost_job *job) {
  return share(job) / job->v; /* w */
}

/* Bytes that a process sends to others. */
static double remote(const struct cost_job *job) {
  return ranks(job) * (job->v - ranks(job)) * message(job);
}

/* Cores that a process's ranks compute on; less than one if processes share. */
static double cores(const struct cost_job *job) {
  return least(job->k, (double)job->cores / job->per_host);
}

/* Seconds per byte for a process, from those of one disk. */
static double of_disks(const struct cost_job *job, double seconds) {
  return seconds * job->per_host / job->disks;
}

/* --- adding up --- */

static void add_computing(struct cost *c, const struct cost_job *job,
                          double per_element) {
  c->computing += per_element * job->n / job->nprocs / cores(job);
}

/* Bytes of a process, at so many seconds each. Returns how long it takes. */
static double add_disk(struct cost *c, const struct cost_job *job, double read,
                       double written, double seconds) {
  const double time = (read + written) * of_disks(job, seconds);
  c->read += read * job->nprocs;
  c->written += written * job->nprocs;
  c->disk += time;
  return time;
}

static double add_network(struct cost *c, const struct cost_job *job,
                          const struct cost_machine *m, double bytes,
                          double steps) {
  if (job->nprocs == 1) {
    return 0;
  }
  const double time = bytes * m->g + steps * m->l;
  c->sent += bytes * job->nprocs;
  c->network += time;
  return time;
}

/* --- the thesis --- */

/* Network supersteps of messages between all ranks. */
static double relations(const struct cost_job *job) {
  const double V = ranks(job);
  return most(1, V * V / job->k / job->alpha);
}

/* What is written of messages is not swapped out, and so is in V mu. */
static void add_alltoallv_thesis(struct cost *c, const struct cost_job *job,
                                 const struct cost_machine *m) {
  const double V = ranks(job), mu = 2 * share(job), w = message(job);
  const double read_again = (V * V - V * job->k) / 2 * w;
  add_disk(c, job, 0, V * mu, m->S);
  add_disk(c, job, read_again, 2 * job->v * V * BLOCK, m->G);
  add_disk(c, job, V * mu, 0, m->S);
  add_network(c, job, m, job->v * V * w, relations(job));
}

/* A superstep of small messages: `bytes` from each process. */
static void add_small_thesis(struct cost *c, const struct cost_job *job,
                             const struct cost_machine *m, double bytes,
                             double steps) {
  const double swapped = ranks(job) * share(job);
  add_disk(c, job, swapped, swapped, m->S);
  add_network(c, job, m, bytes, steps);
}

static struct cost sum_up(struct cost c, const struct cost_machine *m,
                          int supersteps) {
  c.seconds = c.computing + c.disk + c.network + supersteps * m->L;
  return c;
}

struct cost cost_alltoallv_thesis(const struct cost_job *job,
                                  const struct cost_machine *m) {
  struct cost c = {0};
  add_computing(&c, job, job->first + job->last);
  add_alltoallv_thesis(&c, job, m);
  return sum_up(c, m, 1);
}

struct cost cost_psrs_thesis(const struct cost_job *job,
                             const struct cost_machine *m) {
  const double V = ranks(job);
  struct cost c = {0};
  add_computing(&c, job, job->first + job->last);
  add_small_thesis(&c, job, m, V * job->v * ELEMENT, V);
  add_small_thesis(&c, job, m, job->v * ELEMENT, 1);
  add_small_thesis(&c, job, m, V * job->v * COUNT, relations(job));
  add_alltoallv_thesis(&c, job, m);
  return sum_up(c, m, 4);
}

/* --- pems --- */

/* Of a process's ranks, how many are on disk while k run with contexts of
   `running` bytes and the others sleep with `asleep`. */
static double on_disk(const struct cost_job *job, double asleep,
                      double running) {
  const double V = ranks(job), k = least(job->k, V);
  const double room = job->resident - k * running;
  if (room >= (V - k) * asleep) {
    return 0;
  }
  const double m = room > 0 ? (double)(uint64_t)(room / asleep) : 0;
  return V - m;
}

/* A part of the job in which ranks compute for `computing` seconds in all and
   wait for `waits` seconds of I/O themselves, while movers need `moved` seconds
   for contexts that come in: before they are needed if there is room to read
   ahead. k ranks wait at the same time, but the disks are no faster. */
static double lasts(const struct cost_job *job, double context,
                    double computing, double waits, double moved) {
  const bool ahead = job->resident >= (job->k + 1) * context;
  const double awaited = waits + (ahead ? 0 : moved);
  return most(waits + moved, computing + awaited / job->k);
}

static double packed_limit(const struct cost_job *job) {
  const struct memory_plan m = {.sigma = (uint64_t)job->sigma};
  return memory_plan_bytes(&m, MEMORY_PACKED) / ranks(job) / job->v;
}

/* Messages so small that they are packed into the shared buffer (coll_small).
 */
static bool packed(const struct cost_job *job) {
  return message(job) <= packed_limit(job);
}

/* From the last call before it, or the start, to the end: `before` and `after`
   are seconds of computing. */
static double add_exchange(struct cost *c, const struct cost_job *job,
                           const struct cost_machine *m, double before,
                           double after) {
  const double mu = 2 * share(job), V = ranks(job);
  const double U = on_disk(job, mu, mu);
  const double halves = packed(job) ? 0 : U * U / 2 * message(job);
  const double arriving = packed(job) ? 0 : remote(job) * U / V;
  const double out = add_disk(c, job, 0, U * share(job), m->S);
  const double pushed = add_disk(c, job, 0, halves, m->G);
  const double crossing = add_disk(c, job, arriving, arriving, m->G);
  const double in =
      add_disk(c, job, U * share(job) + halves + arriving, 0, m->S);
  const double pulled = add_disk(c, job, halves, 0, m->G);
  const double net = add_network(c, job, m, remote(job), 1);
  return lasts(job, mu, before, out + pushed, 0) + most(crossing, net) +
         lasts(job, mu, after, pulled, in);
}

/* Seconds of computing, which are added to *c, too. */
static double computing(struct cost *c, const struct cost_job *job,
                        double per_element) {
  const double earlier = c->computing;
  add_computing(c, job, per_element);
  return c->computing - earlier;
}

struct cost cost_alltoallv(const struct cost_job *job,
                           const struct cost_machine *m) {
  struct cost c = {0};
  const double first = computing(&c, job, job->first);
  const double last = computing(&c, job, job->last);
  c.seconds = add_exchange(&c, job, m, first, last) + m->L;
  return c;
}

/* Gather and Bcast are one wait for all ranks but the root; Alltoall is the
   second. */
struct cost cost_psrs(const struct cost_job *job,
                      const struct cost_machine *m) {
  struct cost c = {0};
  const double s = share(job);
  const double first = computing(&c, job, job->first);
  const double last = computing(&c, job, job->last);
  const double U = on_disk(job, s, 2 * s);
  const double out = add_disk(&c, job, 0, U * s, m->S);
  const double between = add_disk(&c, job, 2 * U * s, U * s, m->S);
  const double small =
      add_network(&c, job, m, 3 * ranks(job) * job->v * COUNT, 3);
  c.seconds = lasts(job, 2 * s, first, out, 0) + between + small +
              add_exchange(&c, job, m, 0, last) + 4 * m->L;
  return c;
}
