/* What the numbers of a run say about the next one, in words. */
#define _GNU_SOURCE
#include "report/report_detail.h"

#include "config/size.h"

#include <stdarg.h>
#include <string.h>

struct advice {
  const struct report_detail *d;
  const struct report_job *job;
  const struct trace_facts *facts;
  uint64_t total; /* ns, all ranks */
  int n;
  char (*text)[REPORT_SENTENCE];
};

__attribute__((format(printf, 2, 3))) static void say(struct advice *a,
                                                      const char *format, ...) {
  va_list args;
  if (a->n == REPORT_ADVICE) {
    return;
  }
  va_start(args, format);
  vsnprintf(a->text[a->n++], REPORT_SENTENCE, format, args);
  va_end(args);
}

static unsigned percent(uint64_t part, uint64_t whole) {
  return whole ? (unsigned)((part * (unsigned __int128)200 + whole) /
                            (2 * (unsigned __int128)whole))
               : 0;
}

static unsigned share(const struct advice *a, enum trace_state state) {
  return percent(a->job->sums.time[state], a->total);
}

static uint64_t moved(const struct advice *a) {
  return a->job->sums.bytes[TRACE_IN] + a->job->sums.bytes[TRACE_OUT];
}

/* With n times as many ranks each context has a n-th of the data. */
static void say_fit(struct advice *a) {
  char largest[16], resident[16];
  const uint64_t need = (uint64_t)a->facts->k + 2;
  if (!a->facts->resident || !a->d->largest ||
      need * a->d->largest <= a->facts->resident) {
    return;
  }
  uint64_t n = (uint64_t)a->job->ranks;
  while (need * a->d->largest * (uint64_t)a->job->ranks / n >
         a->facts->resident) {
    n *= 2;
  }
  say(a,
      "k + 2 = %llu contexts do not fit: the largest that was moved has %s, "
      "the memory for contexts is %s. Then nothing is read ahead. Use more, "
      "smaller ranks (-n %llu) or more memory (--pems-memory).",
      (unsigned long long)need, size_format(a->d->largest, largest, 16),
      size_format(a->facts->resident, resident, 16), (unsigned long long)n);
}

static void say_lacked(struct advice *a) {
  char lacked[16];
  if (a->facts->lacked) {
    say(a,
        "With %s more memory for contexts in each process (--pems-memory) "
        "nothing would have been moved.",
        size_format(a->facts->lacked, lacked, 16));
  }
}

static void say_swaps(struct advice *a) {
  char in[16], out[16];
  if (!moved(a)) {
    say(a, "All contexts stayed in memory: no context was moved to or from "
           "disk.");
    return;
  }
  say_fit(a);
  say_lacked(a);
  if (share(a, TRACE_SWAP) >= 20) {
    say(a,
        "%u %% of the time of all ranks was waiting for contexts: the disk is "
        "the bottleneck. %s read and %s written; free or pems_discard what is "
        "not needed before a rank waits, give more memory, or more disks "
        "(--pems-disk=/a,/b).",
        share(a, TRACE_SWAP), size_format(a->job->sums.bytes[TRACE_IN], in, 16),
        size_format(a->job->sums.bytes[TRACE_OUT], out, 16));
  }
}

/* Reading whole contexts, and writing back little, says that little of them is
   used. */
static void say_unchanged(struct advice *a) {
  const uint64_t in = a->job->sums.bytes[TRACE_IN];
  const uint64_t out = a->job->sums.bytes[TRACE_OUT];
  if (a->facts->lazy || !in || out >= in - in / 4 || in < UINT64_C(64) << 20) {
    return;
  }
  say(a,
      "%u %% of what was read was unchanged afterwards and not "
      "written again. If ranks do not read it either, try "
      "--pems-swapin=auto: only what is touched is read then.",
      percent(in - out, in));
}

static void say_rate(struct advice *a) {
  char got[16], could[16];
  const uint64_t rate =
      a->job->rate[0] > a->job->rate[1] ? a->job->rate[0] : a->job->rate[1];
  const uint64_t known = a->facts->disk_rate * (uint64_t)a->job->processes;
  if (!known || !rate || share(a, TRACE_SWAP) < 10) {
    return;
  }
  size_format(rate, got, 16);
  size_format(known, could, 16);
  if (rate >= known / 10 * 8) {
    say(a,
        "While contexts moved, the disks did %s/s of the %s/s that pemsinfo "
        "--measure found: they are saturated. More disks, or fewer bytes.",
        got, could);
  } else if (rate < known / 2) {
    say(a,
        "While contexts moved, the disks did only %s/s; pemsinfo --measure "
        "found %s/s. Try --pems-io=uring, a greater --pems-depth, or see who "
        "else uses the disks.",
        got, could);
  }
}

static void say_slot(struct advice *a) {
  if (share(a, TRACE_SLOT) >= 30) {
    say(a,
        "%u %% of the time of all ranks was waiting for a slot while %d ran in "
        "each process: the processors are the bottleneck. More cores "
        "(--pems-k), more hosts, or a faster program help; a faster disk does "
        "not.",
        share(a, TRACE_SLOT), a->facts->k);
  }
}

/* The rank for which the others waited longest. */
static int most_awaited(const struct report_detail *d, uint64_t *time) {
  int found = -1;
  *time = 0;
  for (size_t i = 0; i < d->waits; i++) {
    uint64_t sum = 0;
    const int by = d->wait[i].by;
    for (size_t j = i; by >= 0 && j < d->waits; j++) {
      sum += d->wait[j].by == by ? d->wait[j].time : 0;
    }
    if (sum > *time) {
      *time = sum;
      found = by;
    }
    if (i == 64) { /* sorted: what follows is short */
      break;
    }
  }
  return found;
}

/* Of k ranks that run at a time the others wait, so waiting for others is
   usual; one rank that all wait for is not. */
static void say_others(struct advice *a) {
  uint64_t time;
  const int rank = most_awaited(a->d, &time);
  const unsigned part = percent(time, a->job->sums.time[TRACE_OTHERS]);
  if (rank >= 0 && a->job->ranks > 2 && share(a, TRACE_OTHERS) >= 20 &&
      part >= 40) {
    say(a,
        "%u %% of the waiting for others was for rank %d: it has more to do, "
        "or runs last. Spread its work, or see at which call it comes late "
        "(slowest call sites).",
        part, rank);
  }
}

static void say_messages(struct advice *a) {
  char text[16];
  const uint64_t bytes =
      a->job->sums.bytes[TRACE_WRITTEN] + a->job->sums.bytes[TRACE_READ];
  if (bytes > moved(a) / 2 && bytes > UINT64_C(64) << 20) {
    say(a,
        "%s of messages went to or from contexts on disk. Contexts that "
        "stay in memory get them by a copy: more memory, or smaller contexts, "
        "save that.",
        size_format(bytes, text, 16));
  }
  if (share(a, TRACE_NETWORK) >= 30) {
    say(a,
        "%u %% of the time was exchanging messages with other processes: the "
        "network is the bottleneck. A larger --pems-sigma sends more at once.",
        share(a, TRACE_NETWORK));
  }
}

int report_advice(const struct report_detail *d,
                  char text[REPORT_ADVICE][REPORT_SENTENCE]) {
  struct advice a = {
      .d = d, .job = d->job, .facts = &trace_record.facts, .text = text};
  for (int i = 0; i < TRACE_STATES; i++) {
    a.total += d->job->sums.time[i];
  }
  say_swaps(&a);
  say_unchanged(&a);
  say_rate(&a);
  say_slot(&a);
  say_others(&a);
  say_messages(&a);
  if (!a.n) {
    say(&a, "Nothing stands out: no single cause took much of the time.");
  }
  return a.n;
}
