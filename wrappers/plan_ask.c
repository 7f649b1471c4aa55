#include "wrappers/plan_ask.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/message.h"
#include "config/size.h"
#include "wrappers/site.h"

#define DEFAULT_V 32

/* --- the command line --- */

/* The value of NAME=VALUE, "" of NAME, NULL if the argument is another. */
static const char *value_of(const char *argument, const char *name) {
  const size_t n = strlen(name);
  if (strncmp(argument, name, n) != 0) {
    return NULL;
  }
  return argument[n] == '=' ? argument + n + 1 : argument[n] ? NULL : "";
}

static const struct option_spec *spec_of(const char *argument) {
  if (strncmp(argument, "--pems-", 7) != 0) {
    return NULL;
  }
  const char *const name = argument + 7;
  for (const struct option_spec *s = option_specs; s->name; s++) {
    if (strlen(s->name) == strcspn(name, "=") &&
        strncmp(s->name, name, strlen(s->name)) == 0) {
      return s;
    }
  }
  return NULL;
}

static bool is_count(const char *argument) {
  return strcmp(argument, "-n") == 0 || strcmp(argument, "-np") == 0;
}

/* Does the option take the next word? */
static bool takes_next(const char *argument) {
  const struct option_spec *const s = spec_of(argument);
  return is_count(argument) || (s && s->operand && !strchr(argument, '='));
}

static uint64_t read_size(const char *argument, const char *text) {
  uint64_t size;
  if (size_parse(text, &size) || size == 0) {
    msg_fail(MSG_USAGE, "%s: give a number, 1 or more, such as 512M", argument);
  }
  return size;
}

static int read_list(const char *argument, const char *text, uint64_t *list) {
  char copy[512], *rest = NULL;
  int n = 0;
  snprintf(copy, sizeof(copy), "%s", text);
  for (char *word = strtok_r(copy, ",", &rest); word;
       word = strtok_r(NULL, ",", &rest)) {
    if (n == FORECAST_RUNS - 1) {
      msg_fail(MSG_USAGE, "%s: give at most %d", argument, FORECAST_RUNS - 1);
    }
    list[n++] = read_size(argument, word);
  }
  if (n < 2) {
    msg_fail(MSG_USAGE, "%s: give two or more, separated by commas", argument);
  }
  return n;
}

/* Options that a dry run has others of: its memory is a part, and what is given
   in bytes would be too much of it. */
static bool is_chosen(const struct option_spec *s) {
  static const char *const chosen[] = {"v", "memory", "context", "sigma",
                                       "k", "report", "stats",   "progress"};
  for (size_t i = 0; i < sizeof(chosen) / sizeof(*chosen); i++) {
    if (strcmp(s->name, chosen[i]) == 0) {
      return true;
    }
  }
  return false;
}

/* Takes argv[i], of pemsrun, as one word. Returns how many words it had. */
static int take_option(struct plan_ask *a, char **argv, int i) {
  const struct option_spec *const s = spec_of(argv[i]);
  const bool next = takes_next(argv[i]);
  if (!s && !is_count(argv[i])) {
    msg_fail(MSG_USAGE, "%s: unexpected with --plan: see pemsinfo --help",
             argv[i]);
  }
  if (next && !argv[i + 1]) {
    msg_fail(MSG_USAGE, "%s: no value: give one behind it", argv[i]);
  }
  const char *const name = s ? argv[i] : "--pems-v";
  char *const word = args_join(name, next ? "=" : "", next ? argv[i + 1] : "");
  args_add(&a->all, word);
  if (s && !is_chosen(s)) {
    args_add(&a->options, word);
  }
  return next ? 2 : 1;
}

static int take(struct plan_ask *a, char **argv, int i) {
  const char *value = value_of(argv[i], "--plan");
  if (value) {
    a->size = *value ? read_size(argv[i], value) : 0;
  } else if ((value = value_of(argv[i], "--sizes"))) {
    a->n_sizes = read_list(argv[i], value, a->sizes);
  } else if ((value = value_of(argv[i], "--ranks"))) {
    a->n_ranks = read_list(argv[i], value, a->ranks);
  } else if ((value = value_of(argv[i], "--rate"))) {
    a->rate = (double)read_size(argv[i], value);
  } else {
    return take_option(a, argv, i);
  }
  return 1;
}

static bool has_place(char *const *program) {
  for (char *const *word = program + 1; *word; word++) {
    if (strchr(*word, '@')) {
      return true;
    }
  }
  return false;
}

static void check_program(const struct plan_ask *a) {
  if (!a->program[0]) {
    msg_fail(MSG_USAGE, "--plan: no program: give one, with its arguments");
  }
  for (char **word = a->program + 1; *word; word++) {
    if (strncmp(*word, "--pems-", 7) == 0) {
      msg_fail(MSG_USAGE, "--plan: %s: give it before the program", *word);
    }
  }
  if (a->size && !has_place(a->program)) {
    msg_fail(MSG_USAGE,
             "--plan: %" PRIu64 ": no @ in the program's arguments: put one "
             "where the size is",
             a->size);
  }
  if (a->size ? a->n_ranks : a->n_sizes) {
    msg_fail(MSG_USAGE, "--%s: not with%s a size: give --%s",
             a->size ? "ranks" : "sizes", a->size ? "" : "out",
             a->size ? "sizes" : "ranks, or --plan=SIZE");
  }
}

static void read_options(struct plan_ask *a) {
  extern char **environ;
  struct pems_error error;
  struct args all = {0};
  args_add(&all, "pemsinfo");
  for (int i = 0; i < a->all.n; i++) {
    args_add(&all, a->all.at[i]);
  }
  if (options_parse(&a->o, &all.n, all.at, environ, &error)) {
    msg_fail(MSG_USAGE, "%s", error.text);
  }
  free(all.at);
  if (!a->o.v) {
    a->o.v = DEFAULT_V;
  }
}

void plan_ask_read(struct plan_ask *a, char **argv) {
  int i = 1;
  *a = (struct plan_ask){0};
  while (argv[i] && argv[i][0] == '-') {
    if (strcmp(argv[i], "--") == 0) {
      i++;
      break;
    }
    i += take(a, argv, i);
  }
  a->program = argv + i;
  check_program(a);
  read_options(a);
}

bool plan_ask_given(char **argv) {
  for (int i = 1; argv[i] && argv[i][0] == '-' && strcmp(argv[i], "--"); i++) {
    if (value_of(argv[i], "--plan")) {
      return true;
    }
    if (takes_next(argv[i]) && argv[i + 1]) {
      i++;
    }
  }
  return false;
}

/* --- the run asked about --- */

struct forecast_case plan_ask_full(const struct plan_ask *a) {
  return (struct forecast_case){.ranks = a->plan.v,
                                .processes = a->plan.nprocs,
                                .k = a->plan.k,
                                .size = a->size,
                                .room =
                                    (double)a->plan.resident * a->plan.nprocs};
}

/* Of a process, 0 if that is too little. With or without the report that dry
   runs write. */
static double room_of(struct plan_ask *a, int ranks, uint64_t memory,
                      bool report) {
  static char folder[] = "report";
  struct options o = a->o;
  struct plan p;
  struct pems_error error;
  o.v = ranks;
  o.k = a->plan.k < ranks ? a->plan.k : ranks;
  o.memory = memory;
  o.context = o.sigma = 0;
  o.report = report ? folder : a->o.report;
  const struct plan_site site = site_here(&o, &a->machine);
  return plan_make(&p, &o, &a->machine, &site, &error) ? 0 : (double)p.resident;
}

double plan_ask_room(void *data, int ranks, uint64_t memory) {
  return room_of(data, ranks, memory, false);
}

double plan_ask_room_dry(void *data, int ranks, uint64_t memory) {
  return room_of(data, ranks, memory, true);
}
