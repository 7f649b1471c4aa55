#include "wrappers/plan_print.h"

#include <inttypes.h>
#include <stdio.h>

#include "config/size.h"

static const char *size(double bytes, char text[16]) {
  return size_format((uint64_t)bytes, text, 16);
}

static void print_steps(const struct forecast *f) {
  char read[16], written[16];
  if (!f->steps) {
    return;
  }
  printf("\n%9s %-24s %10s %10s\n", "superstep", "begins with", "read",
         "written");
  for (int i = 0; i < f->steps; i++) {
    printf("%9d %-24s %10s %10s\n", i, f->step[i].call,
           size(f->step[i].read, read), size(f->step[i].written, written));
  }
}

void plan_print_forecast(const struct plan_ask *a, const struct forecast *f,
                         double rate, bool measured) {
  const struct forecast_case full = plan_ask_full(a);
  const double steps = f->supersteps > 0 ? f->supersteps : 1;
  const double slots = (double)full.k * full.processes;
  char x[16], y[16], z[16];
  printf("\nprediction for %d ranks", full.ranks);
  if (a->size) {
    printf(" and size %" PRIu64, a->size);
  }
  printf("\n%-10s %s of each rank (%s)\n", "context",
         size(f->bytes_of_context, x), fit_text(&f->context));
  printf("%-10s %s for contexts of all processes: %s\n", "memory",
         size(full.room, x),
         f->in_memory ? "all fit"
         : f->ahead   ? "not all fit; those that run next are read ahead"
                      : "fewer than k + 2 fit: nothing is read ahead");
  printf("%-10s %.0f\n", "supersteps", f->supersteps);
  printf("%-10s %s in all, %s per superstep\n", "read", size(f->read, x),
         size(f->read / steps, y));
  printf("%-10s %s in all, %s per superstep\n", "written", size(f->written, x),
         size(f->written / steps, y));
  printf("%-10s %s by the bound of Lemma 7.1.3, where all contexts are moved\n",
         "PEMS2", size(f->pems2, x));
  printf("%-10s %s to other processes\n", "sent", size(f->sent, x));
  printf("%-10s %.4g s at %s/s, %s\n", "disk",
         rate > 0 ? (f->read + f->written) / rate : 0, size(rate, z),
         measured ? "measured here" : "as given");
  printf("%-10s %.4g s of them all, %.4g of these to move data\n", "processors",
         f->processor, f->moving);
  printf("%-10s %.4g s\n", "computing", f->computing / slots);
  if (measured) {
    printf("%-10s %.4g s for what is moved, as in the dry runs\n", "waiting",
           forecast_waiting(f));
  }
  printf("%-10s %.4g from start to end\n", "seconds",
         forecast_seconds(f, &full, rate, measured));
  print_steps(f);
}

static void print_command(const struct plan_ask *a, int ranks) {
  char memory[24];
  const uint64_t bytes = a->plan.memory.memory;
  if (bytes % (1 << 20)) {
    snprintf(memory, sizeof(memory), "%" PRIu64, bytes);
  } else {
    snprintf(memory, sizeof(memory), "%" PRIu64 "M", bytes >> 20);
  }
  printf("pemsrun -n %d", ranks);
  for (int i = 0; i < a->options.n; i++) {
    printf(" %s", a->options.at[i]);
  }
  printf(" --pems-memory=%s ...\n", memory);
}

void plan_print_advice(struct plan_ask *a, const struct forecast *f,
                       const struct forecast_shape *shape) {
  const struct forecast_case full = plan_ask_full(a);
  char x[16], y[16];
  const int ranks =
      forecast_ranks(shape, &full, a->plan.memory.memory, plan_ask_room, a);
  const int own = (full.ranks - 1) / full.processes + 1;
  const int few = full.k + 2 < own ? full.k + 2 : own;
  const uint64_t ahead =
      forecast_memory(f->bytes_of_context, few, full.ranks, plan_ask_room, a);
  const uint64_t all =
      forecast_memory(f->bytes_of_context, own, full.ranks, plan_ask_room, a);
  puts("\nrecommended");
  if (f->in_memory || f->ahead || ranks == 0) {
    print_command(a, full.ranks);
  } else {
    print_command(a, ranks);
    printf(
        "           k + 2 = %d contexts of %s fit then; with -n %d they have "
        "%s, and need --pems-memory=%s\n",
        full.k + 2, size(forecast_context(shape, ranks), x), full.ranks,
        size(f->bytes_of_context, y), ahead ? size((double)ahead, x) : "?");
  }
  if (!f->ahead && ranks == 0) {
    printf("           with --pems-memory=%s, k + 2 contexts fit; more ranks "
           "would not make them smaller\n",
           ahead ? size((double)ahead, x) : "?");
  }
  if (!f->in_memory && all) {
    printf("           with --pems-memory=%s nothing is moved\n",
           size((double)all, x));
  }
}

/* Near to where all fit, what is moved depends on little. */
static void print_edge(const struct forecast_case *full, double context) {
  const double larger = 1.05;
  const double part = forecast_on_disk(full, context);
  const double then = larger * forecast_on_disk(full, larger * context);
  if (then > 1.2 * part) {
    printf("- only %.0f %% of the contexts are on disk: were they 5 %% larger, "
           "%.0f %% more would be moved\n",
           part * 100, (then / part - 1) * 100);
  }
}

/* Other programs, or more slots than cores. */
static void print_share(const struct plan_ask *a, const struct forecast *f,
                        double rate, bool measured) {
  const struct forecast_case full = plan_ask_full(a);
  struct forecast alone = *f;
  alone.computing = f->processor - f->moving;
  alone.stretch = 1;
  if (f->stretch > 1.25) {
    printf("- ranks had a processor for %.0f %% of the time that they had a "
           "slot in the dry runs: with one all the time, %.4g seconds\n",
           100 / f->stretch, forecast_seconds(&alone, &full, rate, measured));
  }
}

void plan_print_assumptions(const struct plan_ask *a, const struct forecast *f,
                            const struct forecast_shape *shape, double rate,
                            bool measured) {
  puts("\nassumptions");
  printf("- what grows with the %s grows on as it did in the dry runs (off by "
         "%.1f %% at most there)\n",
         a->size ? "size" : "number of ranks", f->off * 100);
  puts(
      "- in the dry runs as large a part of the contexts was in memory as will "
      "be; what remains on disk is V - m contexts");
  puts("- computing takes as long per rank as in the dry runs, k ranks compute "
       "at once, and what is moved is waited for as there (with --rate: while "
       "ranks compute, if k + 2 contexts fit)");
  print_share(a, f, rate, measured);
  printf("- with more ranks, contexts %s\n",
         shape->divided > 0 ? "become smaller: the data are divided among them"
                            : "stay as large");
  if (!f->in_memory) {
    const struct forecast_case full = plan_ask_full(a);
    print_edge(&full, f->bytes_of_context);
  }
  if (!f->steps && !f->in_memory) {
    puts("- supersteps of dry runs are not alike, or too many to be listed");
  }
  if (a->o.context || a->o.sigma) {
    puts("- --pems-context and --pems-sigma do not hold in dry runs");
  }
}
