/* Reads pemsrun's command line: options of pems, of mpirun, and the program. */
#include "config.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/message.h"
#include "checkpoint/shelf.h"
#include "checkpoint/wanted.h"
#include "config/options.h"
#include "mpi_below/launcher.h"
#include "wrappers/pemsrun_options.h"
#include "wrappers/starter.h"

static void help_row(const char *name, const char *text) {
  if (strlen(name) > 24) {
    printf("  %s\n  %-24s %s\n", name, "", text);
  } else {
    printf("  %-24s %s\n", name, text);
  }
}

static void help(void) {
  puts(
      "usage: pemsrun -n V [options] [mpirun options] program [arguments]\n"
      "\n"
      "Runs an MPI program that was built with pemscc with V ranks (virtual\n"
      "processors), whose memory may together be larger than the machine's.\n");
  help_row("-n V", "number of ranks");
  for (const struct option_spec *s = option_specs; s->name; s++) {
    char *const left = args_join("--pems-", s->name, s->operand ? "=" : "");
    char *const name = args_join(left, s->operand ? s->operand : "", "");
    help_row(name, s->help);
    free(name);
    free(left);
  }
  help_row("--wrapper=COMMAND",
           "run the program under a command: --wrapper=\"gdb --args\"");
  help_row("--signal=DIR",
           "have the job that writes its checkpoints there take one now");
  help_row("--pems-show", "print the command without running it");
  help_row("-h, --help, -V, --version", "print this help or the version");
  puts(
      "\n"
      "Where words are separated by |, the first is the default.\n"
      "\n"
      "\"pems-\" may be omitted if mpirun has no option of that name. Options "
      "may\n"
      "also be given as variables (PEMS_MEMORY=1G) or after the program\n"
      "(--pems-memory=1G). Those after the program override those of pemsrun,\n"
      "which override variables. See pemsrun(1), pems(7) and mpirun(1).");
}

static const struct option_spec *find_spec(const char *name, size_t n) {
  for (const struct option_spec *s = option_specs; s->name; s++) {
    if (strlen(s->name) == n && strncmp(s->name, name, n) == 0) {
      return s;
    }
  }
  return NULL;
}

/* "--memory", "--memory=1G": the row of an option without its "pems-", NULL if
   there is none or mpirun has an option of that name. */
static const struct option_spec *find_short(const char *arg) {
  if (strncmp(arg, "--", 2) != 0) {
    return NULL;
  }
  const size_t n = strcspn(arg + 2, "=");
  const struct option_spec *const s = find_spec(arg + 2, n);
  return s && !launcher_option_find(s->name) ? s : NULL;
}

/* Takes the option in argv[i] whose name starts at `name`. Returns the number
   of arguments used. What is wrong with it, options_parse will say. */
static int take_pems(struct pemsrun_job *j, char **argv, int i,
                     const char *name) {
  const size_t n = strcspn(name, "=");
  const struct option_spec *const s = find_spec(name, n);
  if (name[n] == '=' || !s) {
    args_add(&j->pems, args_join("--pems-", name, ""));
    return 1;
  }
  if (!s->operand) {
    args_add(&j->pems, args_join("--pems-", name, "=yes"));
    return 1;
  }
  if (!argv[i + 1] || options_is_option(argv[i + 1])) {
    msg_fail(MSG_USAGE, "%s: no value: give %s=%s", argv[i], argv[i],
             s->operand);
  }
  char *const left = args_join("--pems-", name, "=");
  args_add(&j->pems, args_join(left, argv[i + 1], ""));
  free(left);
  return 2;
}

/* `value` of option `arg` as --pems-v, checked here so that the message names
   what the user wrote. */
static void take_count(struct pemsrun_job *j, const char *arg,
                       const char *value) {
  struct options o = {0};
  struct pems_error error;
  if (options_set_ranks(&o, arg, value, &error)) {
    msg_fail(MSG_USAGE, "%s", error.text);
  }
  args_add(&j->pems, args_join("--pems-v=", value, ""));
}

/* mpirun, which is told to be quiet, does not say that it could not read it,
   and takes less than 1 for none. */
static int seconds(const char *arg, const char *value) {
  char *end;
  errno = 0;
  const long n = strtol(value, &end, 10);
  if (errno || end == value || *end || n > INT_MAX) {
    msg_fail(MSG_USAGE, "%s: %s: give a number of whole seconds", arg, value);
  }
  return n > 0 ? (int)n : 0;
}

static int take_mpirun(struct pemsrun_job *j, char **argv, int i,
                       const struct launcher_option *o) {
  struct pems_error error;
  for (int operand = 1; operand <= o->operands; operand++) {
    if (!argv[i + operand]) {
      msg_fail(MSG_USAGE, "%s: no value: give %d after it", argv[i],
               o->operands);
    }
  }
  int bad = 0;
  struct args *list = &j->mpirun;
  switch (o->use) {
  case LAUNCHER_COUNT:
    take_count(j, argv[i], argv[i + 1]);
    return 2;
  case LAUNCHER_REFUSED:
    msg_fail(MSG_USAGE,
             "%s: not with pems: give the number of processes with "
             "--pems-procs=P",
             argv[i]);
  case LAUNCHER_HOSTS:
    bad = hosts_add_list(&j->hosts, argv[i + 1], &error);
    list = &j->places;
    break;
  case LAUNCHER_HOSTFILE:
    bad = hosts_add_file(&j->hosts, argv[i + 1], &error);
    list = &j->places;
    break;
  case LAUNCHER_MAP:
    j->maps = true;
    break;
  case LAUNCHER_BIND:
    j->binds = true;
    break;
  case LAUNCHER_SLOTS:
    j->slots = true;
    break;
  case LAUNCHER_TAG:
    args_add(&j->pems, "--pems-tag=yes");
    return 1 + o->operands;
  case LAUNCHER_WDIR:
    j->wdir = argv[i + 1];
    break;
  case LAUNCHER_TIMEOUT:
    j->timeout = seconds(argv[i], argv[i + 1]);
    break;
  case LAUNCHER_OTHER:
    break;
  }
  if (bad) {
    msg_fail(MSG_USAGE, "%s: %s", argv[i], error.text);
  }
  for (int operand = 0; operand <= o->operands; operand++) {
    args_add(list, argv[i + operand]);
  }
  return 1 + o->operands;
}

/* Letters to add, remove or replace to turn a into b; both are short. */
static size_t distance(const char *a, const char *b) {
  enum { MOST = 48 };
  size_t row[MOST + 1];
  const size_t na = strnlen(a, MOST), nb = strnlen(b, MOST);
  for (size_t k = 0; k <= nb; k++) {
    row[k] = k;
  }
  for (size_t i = 1; i <= na; i++) {
    size_t corner = row[0];
    row[0] = i;
    for (size_t k = 1; k <= nb; k++) {
      const size_t replaced = corner + (a[i - 1] != b[k - 1]);
      corner = row[k];
      const size_t other = row[k] < row[k - 1] ? row[k] + 1 : row[k - 1] + 1;
      row[k] = replaced < other ? replaced : other;
    }
  }
  return row[nb];
}

_Noreturn static void fail_unknown(const char *arg) {
  const char *prefix = "--pems-", *best = option_specs[0].name;
  char name[64];
  snprintf(name, sizeof(name), "%s", arg + strspn(arg, "-"));
  name[strcspn(name, "=")] = '\0';
  size_t least = SIZE_MAX;
  for (const struct option_spec *s = option_specs; s->name; s++) {
    if (distance(name, s->name) < least) {
      least = distance(name, s->name);
      best = s->name;
    }
  }
  for (const struct launcher_option *o = launcher.options; o->name; o++) {
    if (distance(name, o->name) < least) {
      least = distance(name, o->name);
      best = o->name;
      prefix = best[1] ? "--" : "-";
    }
  }
  const struct launcher_option *const known = launcher_option_find(name);
  if (known) {
    msg_fail(MSG_USAGE, "%s: mpirun's options take no '=': give --%s VALUE",
             arg, known->name);
  }
  msg_fail(MSG_USAGE, "unknown option: %s: did you mean %s%s?", arg, prefix,
           best);
}

/* "--NAME=VALUE", "--NAME VALUE", also with "pems-". Returns how many arguments
   it takes, 0: it is another option. */
static int find_own(char **argv, const char *name, const char *operand,
                    const char **value) {
  static const char prefix[] = "--pems-";
  const char *arg = argv[0];
  arg += strncmp(arg, prefix, strlen(prefix)) == 0 ? strlen(prefix) : 2;
  const size_t n = strcspn(arg, "=");
  if (n != strlen(name) || memcmp(arg, name, n) != 0) {
    return 0;
  }
  *value = arg[n] ? arg + n + 1 : argv[1];
  if (!*value || (!arg[n] && options_is_option(*value))) {
    msg_fail(MSG_USAGE, "%s: no value: give %s=%s", argv[0], argv[0], operand);
  }
  return arg[n] ? 1 : 2;
}

static int take_wrapper(struct pemsrun_job *j, char **argv) {
  const char *command;
  struct pems_error error;
  const int used = find_own(argv, "wrapper", "COMMAND", &command);
  if (!used) {
    return 0;
  }
  j->wrapper = starter_words(command, &error);
  if (!j->wrapper) {
    msg_fail(MSG_USAGE, "--wrapper: %s", error.text);
  }
  return used;
}

/* No job is started. */
static void signal_other(char **argv) {
  const char *dir;
  struct pems_error error;
  if (!find_own(argv, "signal", "DIR", &dir)) {
    return;
  }
  if (wanted_ask(dir, &error)) {
    msg_fail(MSG_USAGE, "--signal: %s", error.text);
  }
  exit(0);
}

/* Reads argv[i], an option; returns the number of arguments used. */
static int take_option(struct pemsrun_job *j, char **argv, int i) {
  char *const arg = argv[i];
  if (strcmp(arg, "--help") == 0 || strcmp(arg, "-h") == 0) {
    help();
    exit(0);
  }
  if (strcmp(arg, "--version") == 0 || strcmp(arg, "-V") == 0) {
    puts("pemsrun (pems) " PACKAGE_VERSION);
    exit(0);
  }
  if (strcmp(arg, "--pems-show") == 0) {
    j->show = true;
    return 1;
  }
  signal_other(argv + i);
  const int wrapped = take_wrapper(j, argv + i);
  if (wrapped) {
    return wrapped;
  }
  if (strncmp(arg, "--pems-", 7) == 0) {
    return take_pems(j, argv, i, arg + 7);
  }
  if (find_short(arg)) {
    return take_pems(j, argv, i, arg + 2);
  }
  const struct launcher_option *const o = launcher_option_find(arg);
  if (!o) {
    fail_unknown(arg);
  }
  return take_mpirun(j, argv, i, o);
}

static void read_command_line(struct pemsrun_job *j, char **argv) {
  int i = 1;
  while (argv[i] && argv[i][0] == '-' && argv[i][1]) {
    if (strcmp(argv[i], "--") == 0) {
      i++;
      break;
    }
    i += take_option(j, argv, i);
  }
  j->program = argv + i;
  for (; argv[i]; i++) {
    if (strcmp(argv[i], ":") == 0) {
      msg_fail(MSG_USAGE,
               "several programs (\":\"): %s: pemsrun runs one "
               "program on all ranks: let it choose by its rank "
               "what to do",
               argv[i + 1] ? argv[i + 1] : "and nothing behind it");
    }
  }
}

/* mpirun looks there, too. */
static void read_limit(struct pemsrun_job *j) {
  static const char variable[] = "MPIEXEC_TIMEOUT";
  const char *const value = getenv(variable);
  if (value && !j->timeout) {
    j->timeout = seconds(variable, value);
  }
}

/* Options from all places, in the order in which the program itself will find
   them: the later ones win. */
static void read_options(struct pemsrun_job *j) {
  struct args all = {0};
  struct pems_error error;
  args_add(&all, "pemsrun");
  for (int i = 0; i < j->pems.n; i++) {
    args_add(&all, j->pems.at[i]);
  }
  for (char **a = j->program; *a && a[0]; a++) {
    if (a != j->program) {
      args_add(&all, *a);
    }
  }
  if (options_parse(&j->options, &all.n, all.at, environ, &error)) {
    msg_fail(MSG_USAGE, "%s", error.text);
  }
  free(all.at);
}

/* Its arguments are in the memory of the ranks. */
static void take_program(struct pemsrun_job *j, const struct manifest *m) {
  static char *program[2];
  program[0] = m->program;
  j->program = program;
}

static void take_checkpoint(struct pemsrun_job *j) {
  static struct manifest m; /* its texts become the job's */
  char folder[PATH_MAX], count[16];
  struct pems_error error;
  if (!j->options.restart) {
    return;
  }
  if (shelf_find(j->options.restart, folder, &error) ||
      shelf_manifest(folder, &m, &error)) {
    msg_fail(MSG_USAGE, "%s", error.text);
  }
  if (!j->options.v) {
    j->options.v = m.v;
    snprintf(count, sizeof(count), "%d", m.v);
    args_add(&j->pems, args_join("--pems-v=", count, ""));
  }
  args_add(&j->pems, args_join("--pems-restart=", folder, ""));
  if (!j->program[0]) {
    take_program(j, &m);
  }
}

void pemsrun_options_read(struct pemsrun_job *j, char **argv) {
  read_command_line(j, argv);
  read_options(j);
  take_checkpoint(j);
  read_limit(j);
}
