#include "wrappers/plan/forecast.h"

#include <string.h>

/* --- what is fitted --- */

static double larger(double a, double b) {
  return a > b ? a : b;
}

static struct forecast_case case_of(const struct dry_run *r) {
  return (struct forecast_case){.ranks = r->asked.ranks,
                                .processes = r->processes,
                                .k = r->k,
                                .size = r->asked.size,
                                .room = r->room};
}

/* What dry runs differ in. */
static double scale(int ranks, uint64_t size) {
  return size ? (double)size : ranks;
}

static double of_context(const struct dry_run *r, int step) {
  (void)step;
  return r->context;
}

static double of_supersteps(const struct dry_run *r, int step) {
  (void)step;
  return r->supersteps;
}

/* Where none are known, those with a slot. */
static double of_processor(const struct dry_run *r, int step) {
  (void)step;
  return r->processor > 0 ? r->processor : r->computing;
}

static double of_messages(const struct dry_run *r, int step) {
  (void)step;
  return r->messages;
}

static double of_sent(const struct dry_run *r, int step) {
  (void)step;
  return r->sent;
}

static double of_read(const struct dry_run *r, int step) {
  return step < 0 ? r->read : r->step[step].read;
}

static double of_written(const struct dry_run *r, int step) {
  return step < 0 ? r->written : r->step[step].written;
}

static bool is_square(const struct fit *f) {
  return f->form == FIT_SQUARE && f->b > 0;
}

typedef double value_of(const struct dry_run *r, int step);

static struct fit fit_runs(const struct dry_run *run, int n, value_of *value,
                           int step) {
  double x[FORECAST_RUNS], y[FORECAST_RUNS];
  for (int i = 0; i < n; i++) {
    x[i] = scale(run[i].asked.ranks, run[i].asked.size);
    y[i] = value(&run[i], step);
  }
  return fit_growth(x, y, n);
}

/* How much data there are: contexts may be a square of the size. */
static double data_of(const struct fit *context, const struct dry_run_case *c) {
  const double x = scale(c->ranks, c->size);
  return is_square(context) ? x * x : x;
}

static struct fit fit_processor(const struct fit *context,
                                const struct dry_run *run, int n) {
  double x[FORECAST_RUNS], y[FORECAST_RUNS];
  for (int i = 0; i < n; i++) {
    x[i] = data_of(context, &run[i].asked);
    y[i] = of_processor(&run[i], -1);
  }
  return fit_time(x, y, n);
}

/* --- contexts on disk --- */

double forecast_on_disk(const struct forecast_case *run, double context) {
  const double least = 1.0 / run->ranks;
  const double running = (double)run->k * run->processes;
  const double others = run->room / context - running;
  const double part = 1 - (others > 0 ? others : 0) / run->ranks;
  return part < least ? least : part;
}

static bool fits(const struct forecast_case *run, double context,
                 double contexts) {
  return run->room >= contexts * context;
}

/* How much a context moves in one superstep, or in all, is much the same for
   all sizes, or it falls to that of large ones. It may grow with the number of
   supersteps, but what a superstep moves does not: where it was less in a
   smaller run, its messages were so small that they were packed. */
static double predict_share(const double *x, const double *share, int n,
                            double at, int step) {
  if (step >= 0 && n > 0 && share[n - 1] >= share[0]) {
    return share[n - 1];
  }
  const struct fit fit = fit_growth(x, share, n);
  return fit_at(&fit, at);
}

/* Bytes of the run asked about: those of dry runs, as parts of their contexts
   that were on disk, of which so many are. */
static double predict_bytes(const struct forecast *f,
                            const struct forecast_case *run,
                            const struct dry_run *tight, int n, value_of *value,
                            int step) {
  double x[FORECAST_RUNS], share[FORECAST_RUNS];
  for (int i = 0; i < n; i++) {
    const struct forecast_case c = case_of(&tight[i]);
    x[i] = scale(c.ranks, c.size);
    const double context = fit_at(&f->context, x[i]);
    share[i] = value(&tight[i], step) /
               (c.ranks * context * forecast_on_disk(&c, context));
  }
  return predict_share(x, share, n, scale(run->ranks, run->size), step) *
         run->ranks * f->bytes_of_context *
         forecast_on_disk(run, f->bytes_of_context);
}

/* --- all of it --- */

static bool same_steps(const struct dry_run *tight, int n) {
  for (int i = 0; i < n; i++) {
    if (!tight[i].steps || tight[i].steps != tight[0].steps) {
      return false;
    }
    for (int s = 0; s < tight[i].steps; s++) {
      if (strcmp(tight[i].step[s].call, tight[0].step[s].call) != 0) {
        return false;
      }
    }
  }
  return n > 0;
}

static void predict_moves(struct forecast *f, const struct forecast_case *run,
                          const struct dry_run *tight, int n) {
  if (same_steps(tight, n)) {
    f->steps = tight[0].steps;
  }
  for (int s = 0; s < f->steps; s++) {
    struct dry_run_step *const step = &f->step[s];
    *step = tight[0].step[s];
    step->read = predict_bytes(f, run, tight, n, of_read, s);
    step->written = predict_bytes(f, run, tight, n, of_written, s);
    f->read += step->read;
    f->written += step->written;
  }
  if (!f->steps) {
    f->read = predict_bytes(f, run, tight, n, of_read, -1);
    f->written = predict_bytes(f, run, tight, n, of_written, -1);
  }
}

/* Lemma 7.1.3 of the thesis: an exchange of messages moves v mu bytes, and half
   of the messages, of which none from one of k that run together, and 2 v^2 B;
   then all contexts are swapped in, v mu. Other supersteps have small messages.
 */
static double pems2(const struct forecast *f, const struct forecast_case *run,
                    int exchanges) {
  const double v = run->ranks, block = 4096;
  return 2 * f->supersteps * v * f->bytes_of_context +
         (1 - run->k / v) / 2 * f->messages + exchanges * 2 * v * v * block;
}

/* Dry runs that moved nothing have had room for all. */
static bool still(const struct dry_run *tight, int n) {
  double moved = 0;
  for (int i = 0; i < n; i++) {
    moved += tight[i].read + tight[i].written;
  }
  return n > 0 && moved <= 0;
}

static double beside(const struct dry_run *run, int n) {
  double least = 0;
  for (int i = 0; i < n; i++) {
    const double slots = (double)run[i].k * run[i].processes;
    const double rest = larger(run[i].seconds - run[i].computing / slots, 0);
    least = i == 0 || rest < least ? rest : least;
  }
  return least;
}

/* Of each run: seconds of processors in each slot, and those to move contexts,
   which one after the other wait for; bytes that were moved; and seconds that
   all took. Sums of their products. */
struct products {
  double pp, pm, mm, ps, ms;
};

static struct products multiply(const struct forecast *f,
                                const struct fit *processor,
                                const struct dry_run *run, int n, bool tight) {
  struct products sum = {0};
  for (int i = 0; i < n; i++) {
    const struct dry_run *const r = &run[i];
    const double x = data_of(&f->context, &r->asked);
    const double slots = (double)r->k * r->processes;
    const double all = of_processor(r, -1);
    const double computing = tight ? fit_at(processor, x) : all;
    const double p = computing / slots + larger(all - computing, 0);
    const double m = r->read + r->written;
    const double s = larger(r->seconds - f->beside, 0);
    sum.pp += p * p;
    sum.pm += p * m;
    sum.mm += m * m;
    sum.ps += p * s;
    sum.ms += m * s;
  }
  return sum;
}

/* Least squares; where one comes out negative, the other one alone. */
static void find_paces(struct forecast *f, const struct products *a,
                       const struct products *b) {
  const double pp = a->pp + b->pp, pm = a->pm + b->pm, mm = a->mm + b->mm;
  const double ps = a->ps + b->ps, ms = a->ms + b->ms;
  const double det = pp * mm - pm * pm;
  f->stretch = pp > 0 ? ps / pp : 1;
  f->waited = 0;
  if (det > 1e-9 * pp * mm) {
    const double waited = (ms * pp - ps * pm) / det;
    const double stretch = (ps * mm - ms * pm) / det;
    if (stretch <= 0) {
      f->stretch = 0;
      f->waited = ms / mm;
    } else if (waited > 0) {
      f->stretch = stretch;
      f->waited = waited;
    }
  }
}

/* A processor has about as much to do for a large one as for a small one: disks
   move the bytes. */
static double contexts_moved(double bytes, double context) {
  return context > 0 ? bytes / context : 0;
}

static void predict_time(struct forecast *f, const struct forecast_case *run,
                         const struct dry_run *whole, int n_whole,
                         const struct dry_run *tight, int n_tight) {
  const struct dry_run_case c = {.ranks = run->ranks, .size = run->size};
  const struct fit fit = fit_processor(&f->context, whole, n_whole);
  double more = 0, moved = 0;
  const struct products a = multiply(f, &fit, whole, n_whole, false);
  const struct products b = multiply(f, &fit, tight, n_tight, true);
  find_paces(f, &a, &b);
  for (int i = 0; i < n_tight; i++) {
    more += of_processor(&tight[i], -1) -
            fit_at(&fit, data_of(&f->context, &tight[i].asked));
    moved += contexts_moved(tight[i].read + tight[i].written, tight[i].context);
  }
  const double all = contexts_moved(f->read + f->written, f->bytes_of_context);
  f->moving = moved > 0 ? larger(more / moved, 0) * all : 0;
  f->processor = fit_at(&fit, data_of(&f->context, &c));
  f->computing = f->stretch * f->processor;
  f->processor += f->moving;
  f->uneven = fit.form == FIT_POWER || is_square(&f->context);
}

struct forecast forecast_make(const struct forecast_case *run,
                              const struct dry_run *whole, int n_whole,
                              const struct dry_run *tight, int n_tight) {
  static value_of *const values[] = {of_context, of_supersteps, of_messages,
                                     of_sent};
  struct forecast f = {.beside = beside(whole, n_whole)};
  double *const results[] = {&f.bytes_of_context, &f.supersteps, &f.messages,
                             &f.sent};
  const double x = scale(run->ranks, run->size);
  for (int i = 0; i < 4; i++) {
    const bool moved = i == 0 && n_tight > 0;
    const struct fit fit = fit_runs(moved ? tight : whole,
                                    moved ? n_tight : n_whole, values[i], -1);
    *results[i] = fit_at(&fit, x);
    f.context = i == 0 ? fit : f.context;
    f.off = larger(f.off, fit.off);
  }
  const double ranks = run->ranks, running = run->processes * (run->k + 2.0);
  f.in_memory = fits(run, f.bytes_of_context, ranks) || still(tight, n_tight);
  f.ahead = fits(run, f.bytes_of_context, running < ranks ? running : ranks);
  if (!f.in_memory) {
    predict_moves(&f, run, tight, n_tight);
  }
  predict_time(&f, run, whole, n_whole, tight, n_tight);
  f.pems2 = pems2(&f, run, n_whole ? whole[n_whole - 1].exchanges : 0);
  return f;
}

double forecast_waiting(const struct forecast *f) {
  return f->waited * (f->read + f->written) + f->stretch * f->moving;
}

double forecast_seconds(const struct forecast *f,
                        const struct forecast_case *run, double rate,
                        bool here) {
  const double moved = f->read + f->written;
  const double disks = rate > 0 ? moved / rate : 0;
  const double slots = (double)run->k * run->processes;
  const double alone = f->computing / slots;
  /* k ranks wait at the same time, but the disks are no faster. */
  const double others = here       ? forecast_waiting(f)
                        : f->ahead ? 0
                                   : disks / run->k;
  return f->beside + larger(disks, alone + others);
}

/* --- what to choose --- */

/* Half as many ranks have twice as large contexts, but for what is fixed, if
   the data are divided; more than halfway to that counts. What huge pages add
   is the same for both. */
struct forecast_shape forecast_shape(const struct forecast *f,
                                     const struct forecast_case *run,
                                     const struct dry_run *whole,
                                     const struct dry_run *half) {
  const double there = fit_at(&f->context, (double)whole->asked.size);
  const double fixed = f->context.a < there ? f->context.a : 0;
  if (half->context - whole->context < (there - fixed) / 2) {
    return (struct forecast_shape){.fixed = f->bytes_of_context};
  }
  return (struct forecast_shape){
      .fixed = fixed, .divided = (f->bytes_of_context - fixed) * run->ranks};
}

struct forecast_shape forecast_shape_of_ranks(const struct forecast *f) {
  if (f->context.form == FIT_INVERSE && f->context.b > 0) {
    return (struct forecast_shape){f->context.a, f->context.b};
  }
  return (struct forecast_shape){.fixed = f->bytes_of_context};
}

double forecast_context(const struct forecast_shape *shape, int ranks) {
  return shape->fixed + shape->divided / ranks;
}

int forecast_ranks(const struct forecast_shape *shape,
                   const struct forecast_case *run, uint64_t memory,
                   forecast_room *room, void *data) {
  enum { MOST = 65536 };
  for (int ranks = run->ranks; ranks <= MOST; ranks *= 2) {
    const double context = forecast_context(shape, ranks);
    if ((run->k + 2) * context <= room(data, ranks, memory)) {
      return ranks;
    }
  }
  return 0;
}

uint64_t forecast_memory(double context, int contexts, int ranks,
                         forecast_room *room, void *data) {
  enum { MIB_SHIFT = 20, MOST = 1 << 26 }; /* of MiB: 64 TiB */
  uint64_t low = 0, high = MOST;           /* low is too little */
  const double needed = context * contexts;
  if (room(data, ranks, high << MIB_SHIFT) < needed) {
    return 0;
  }
  while (high - low > 1) {
    const uint64_t middle = (low + high) / 2;
    if (room(data, ranks, middle << MIB_SHIFT) < needed) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return high << MIB_SHIFT;
}
