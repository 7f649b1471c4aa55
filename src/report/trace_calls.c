#include "report/trace_calls.h"

int trace_calls_enter(struct trace_calls *c, const void *at,
                      const char *function) {
  int i = 0;
  while (i < c->sites && (c->site[i].at != at || !c->site[i].function ||
                          c->site[i].function != function)) {
    i++;
  }
  if (i == c->sites && i < TRACE_SITES - 1) {
    c->site[c->sites++] = (struct trace_site){.at = at, .function = function};
  } else if (i == c->sites) {
    c->site[i].function = NULL; /* all others */
  }
  c->site[i].calls++;
  return i;
}

static void add_wait(struct trace_waited *w, uint64_t times, uint64_t ns) {
  w->times += times;
  w->time += ns;
}

/* Where the least is: that goes to the rest, for the sake of a new one. */
static int least_wait(const struct trace_calls *c) {
  int least = 0;
  for (int i = 1; i < c->waited; i++) {
    if (c->wait[i].time < c->wait[least].time) {
      least = i;
    }
  }
  return least;
}

void trace_calls_waited(struct trace_calls *c, int rank, uint64_t ns) {
  struct trace_waited *const rest = &c->wait[TRACE_WAITED];
  int i = 0;
  rest->rank = TRACE_REST;
  while (i < c->waited && c->wait[i].rank != rank) {
    i++;
  }
  if (i == TRACE_WAITED) {
    i = least_wait(c);
    if (c->wait[i].time >= ns) {
      add_wait(rest, 1, ns);
      return;
    }
    add_wait(rest, c->wait[i].times, c->wait[i].time);
    c->wait[i] = (struct trace_waited){.rank = rank};
  } else if (i == c->waited) {
    c->wait[c->waited++] = (struct trace_waited){.rank = rank};
  }
  add_wait(&c->wait[i], 1, ns);
}
