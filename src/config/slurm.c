#define _GNU_SOURCE
#include "config/slurm.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME = 256 };

bool slurm_in_job(void) {
  return getenv("SLURM_JOB_ID") && getenv("SLURM_JOB_NODELIST");
}

/* --- a number for each host: "2(x3),1" --- */

struct counts {
  const char *at;  /* the group that is next; "" at the end */
  int value, left; /* this many more hosts have this value */
};

/* The number of the next host; 0 if there is none, or it cannot be read. */
static int next_count(struct counts *c) {
  if (c->left > 0) {
    c->left--;
    return c->value;
  }
  char *end;
  const long value = strtol(c->at, &end, 10);
  long times = 1;
  if (end == c->at || value < 1 || value > 1 << 20) {
    return 0;
  }
  if (strncmp(end, "(x", 2) == 0) {
    times = strtol(end + 2, &end, 10);
    if (*end++ != ')' || times < 1 || times > 1 << 20) {
      return 0;
    }
  }
  if (*end && *end != ',') {
    return 0;
  }
  c->at = *end ? end + 1 : end;
  c->value = (int)value;
  c->left = (int)times - 1;
  return c->value;
}

/* --- names: "a[1-3,07],b" --- */

struct walk {
  struct counts tasks, cpus;
  bool has_tasks, has_cpus;
  const char *wrong; /* the variable that cannot be read */
  int (*see)(const struct slurm_host *host, void *data);
  void *data;
};

static int see_name(struct walk *w, const char *name) {
  struct slurm_host h = {.name = name, .tasks = 1};
  if (w->has_tasks && !(h.tasks = next_count(&w->tasks))) {
    w->wrong = "SLURM_TASKS_PER_NODE";
  }
  if (w->has_cpus && !(h.cpus = next_count(&w->cpus))) {
    w->wrong = "SLURM_JOB_CPUS_PER_NODE";
  }
  return w->wrong ? -1 : w->see(&h, w->data);
}

static int bad_list(struct walk *w) {
  w->wrong = "SLURM_JOB_NODELIST";
  return -1;
}

struct range {
  long first, last;
  int width; /* digits, with zeros in front */
};

/* Reads "1-3" or "07", which a comma or the bracket follows. Returns where, or
   NULL. */
static const char *read_range(struct range *r, const char *at) {
  enum { MOST = 1 << 20, WIDEST = 16 };
  char *end;
  if (!isdigit((unsigned char)*at)) {
    return NULL;
  }
  r->first = r->last = strtol(at, &end, 10);
  r->width = (int)(end - at);
  if (*end == '-') {
    at = end + 1;
    r->last = isdigit((unsigned char)*at) ? strtol(at, &end, 10) : -1;
  }
  return r->last >= r->first && r->last - r->first <= MOST &&
                 r->width <= WIDEST && (*end == ',' || *end == ']')
             ? end
             : NULL;
}

static int expand(struct walk *w, char *name, size_t n, const char *rest,
                  size_t length);

/* Adds each number of the range to the n characters of `name`, and goes on. */
static int expand_range(struct walk *w, char *name, size_t n,
                        const struct range *r, const char *rest,
                        size_t length) {
  int status = 0;
  for (long i = r->first; i <= r->last && status == 0; i++) {
    const int digits = snprintf(name + n, NAME - n, "%0*ld", r->width, i);
    if ((size_t)digits >= NAME - n) {
      return bad_list(w);
    }
    status = expand(w, name, n + (size_t)digits, rest, length);
  }
  return status;
}

/* `name` holds n characters, to which one alternative of each bracket of
   `rest`, of `length` characters, and what stands between them is added. */
static int expand(struct walk *w, char *name, size_t n, const char *rest,
                  size_t length) {
  const char *at = memchr(rest, '[', length);
  const size_t plain = at ? (size_t)(at - rest) : length;
  if (n + plain >= NAME) {
    return bad_list(w);
  }
  memcpy(name + n, rest, plain);
  n += plain;
  name[n] = '\0';
  if (!at) {
    return n ? see_name(w, name) : bad_list(w);
  }
  const char *const close = memchr(at, ']', length - plain);
  int status = close ? 0 : bad_list(w);
  while (status == 0 && *at != ']') {
    struct range r;
    at = read_range(&r, at + 1);
    status = at ? expand_range(w, name, n, &r, close + 1,
                               length - (size_t)(close + 1 - rest))
                : bad_list(w);
  }
  return status;
}

/* Up to the comma that is in no bracket. */
static size_t item_length(const char *list) {
  size_t n = 0;
  for (bool inside = false; list[n] && (inside || list[n] != ','); n++) {
    inside = list[n] == '[' || (inside && list[n] != ']');
  }
  return n;
}

static int walk_hosts(struct walk *w) {
  const char *at = getenv("SLURM_JOB_NODELIST");
  char name[NAME];
  for (; at; at++) {
    const size_t n = item_length(at);
    const int status = expand(w, name, 0, at, n);
    if (status) {
      return status;
    }
    at += n;
    if (!*at) {
      return 0;
    }
  }
  return bad_list(w);
}

int slurm_each_host(int (*see)(const struct slurm_host *host, void *data),
                    void *data, const char **name) {
  const char *const tasks = getenv("SLURM_TASKS_PER_NODE"),
                    *const cpus = getenv("SLURM_JOB_CPUS_PER_NODE");
  struct walk w = {.see = see, .data = data};
  /* Else it is as many tasks as there are processors. */
  w.has_tasks =
      tasks && (getenv("SLURM_NTASKS") || getenv("SLURM_NTASKS_PER_NODE"));
  w.tasks.at = tasks;
  w.has_cpus = cpus;
  w.cpus.at = cpus;
  const int status = walk_hosts(&w);
  *name = w.wrong;
  return status;
}

/* --- limits --- */

struct search {
  const char *name;
  int cpus;
};

static int is_it(const struct slurm_host *host, void *data) {
  struct search *const s = data;
  const size_t n = strcspn(s->name, ".");
  if (strncmp(host->name, s->name, n) != 0 ||
      (host->name[n] && host->name[n] != '.')) {
    return 0;
  }
  s->cpus = host->cpus;
  return 1;
}

/* A variable's number of MiB, in bytes; 0 if there is none. */
static uint64_t mib_of(const char *variable) {
  const char *const text = getenv(variable);
  const long long mib = text ? atoll(text) : 0;
  return mib > 0 ? (uint64_t)mib << 20 : 0;
}

void slurm_limits(const char *host, int *cpus, uint64_t *memory) {
  struct search s = {.name = host};
  const char *ignored;
  *cpus = 0;
  *memory = UINT64_MAX;
  if (!slurm_in_job() || slurm_each_host(is_it, &s, &ignored) != 1) {
    return; /* a host of another job */
  }
  *cpus = s.cpus;
  const uint64_t whole = mib_of("SLURM_MEM_PER_NODE"),
                 each = mib_of("SLURM_MEM_PER_CPU");
  if (whole) {
    *memory = whole;
  } else if (each && s.cpus) {
    *memory = each * (uint64_t)s.cpus;
  }
}
