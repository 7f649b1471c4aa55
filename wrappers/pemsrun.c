/* pemsrun: checks what can be known before any rank starts, then becomes the
   program (one process) or runs mpirun (several). */
#include "config.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/lifeline.h"
#include "base/message.h"
#include "base/stop.h"
#include "config/machine.h"
#include "config/options.h"
#include "config/plan.h"
#include "config/slurm.h"
#include "context/image/image.h"
#include "disk/contexts/disk.h"
#include "mpi_below/keeper.h"
#include "mpi_below/launcher.h"
#include "os/standard.h"
#include "wrappers/hosts.h"
#include "wrappers/launch.h"
#include "wrappers/monitor.h"
#include "wrappers/site.h"
#include "wrappers/starter.h"

extern char **environ;

/* A growing argv; the strings are not owned. */
struct args {
  char **at; /* NULL-terminated */
  int n;
};

struct job {
  struct options options; /* from everywhere: variables, pemsrun's, program's */
  struct args pems;       /* "--pems-NAME=VALUE" given before the program */
  struct args mpirun;     /* options for mpirun, with their operands */
  struct args places;     /* those of them that name hosts */
  char **program;         /* its argv, NULL-terminated; [0] as the user says */
  char path[PATH_MAX];    /* where [0] was found */
  char **wrapper;         /* words of a command before it, or NULL */
  const char *starter;    /* what is to start a program of pems, or NULL */
  struct hosts hosts;     /* of --host and --hostfile, or of Slurm */
  bool maps, binds, slots; /* the user gave an mpirun option for it */
  const char *wdir;        /* where processes are to work, or NULL */
  int timeout;             /* seconds after which mpirun ends it, or 0 */
  bool show;
};

static void add(struct args *a, char *arg) {
  char **const more = realloc(a->at, ((size_t)a->n + 2) * sizeof(*more));
  if (!more) {
    msg_fail(MSG_FAILED, "pemsrun: out of memory");
  }
  a->at = more;
  a->at[a->n++] = arg;
  a->at[a->n] = NULL;
}

static char *join(const char *a, const char *b, const char *c) {
  char *text;
  if (asprintf(&text, "%s%s%s", a, b, c) < 0) {
    msg_fail(MSG_FAILED, "pemsrun: out of memory");
  }
  return text;
}

/* --- help -------------------------------------------------------------- */

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
    char *const left = join("--pems-", s->name, s->operand ? "=" : "");
    char *const name = join(left, s->operand ? s->operand : "", "");
    help_row(name, s->help);
    free(name);
    free(left);
  }
  help_row("--wrapper=COMMAND",
           "run the program under a command: --wrapper=\"gdb --args\"");
  help_row("--pems-show", "print the command without running it");
  help_row("--help, --version", "print this help or the version");
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

/* --- reading the command line ------------------------------------------- */

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
static int take_pems(struct job *j, char **argv, int i, const char *name) {
  const size_t n = strcspn(name, "=");
  const struct option_spec *const s = find_spec(name, n);
  if (name[n] == '=' || !s) {
    add(&j->pems, join("--pems-", name, ""));
    return 1;
  }
  if (!s->operand) {
    add(&j->pems, join("--pems-", name, "=yes"));
    return 1;
  }
  if (!argv[i + 1]) {
    msg_fail(MSG_USAGE, "%s: no value: give %s=%s", argv[i], argv[i],
             s->operand);
  }
  char *const left = join("--pems-", name, "=");
  add(&j->pems, join(left, argv[i + 1], ""));
  free(left);
  return 2;
}

/* `value` of option `arg` as --pems-v, checked here so that the message names
   what the user wrote. */
static void take_count(struct job *j, const char *arg, const char *value) {
  struct options o = {0};
  struct pems_error error;
  if (options_set(&o, "v", value, &error)) {
    msg_fail(MSG_USAGE, "%s: %s: give the number of ranks, 1 or more", arg,
             value);
  }
  add(&j->pems, join("--pems-v=", value, ""));
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

static int take_mpirun(struct job *j, char **argv, int i,
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
    add(&j->pems, "--pems-tag=yes");
    return 1;
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
    add(list, argv[i + operand]);
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

/* "--wrapper=COMMAND", "--wrapper COMMAND", also with "pems-". Returns how many
   arguments it took, 0: it is another option. */
static int take_wrapper(struct job *j, char **argv) {
  static const char prefix[] = "--pems-", name[] = "wrapper";
  const char *arg = argv[0];
  struct pems_error error;
  arg += strncmp(arg, prefix, strlen(prefix)) == 0 ? strlen(prefix) : 2;
  const size_t n = strcspn(arg, "=");
  if (n != strlen(name) || memcmp(arg, name, n) != 0) {
    return 0;
  }
  const char *const command = arg[n] ? arg + n + 1 : argv[1];
  if (!command) {
    msg_fail(MSG_USAGE, "%s: no value: give %s=COMMAND", argv[0], argv[0]);
  }
  j->wrapper = starter_words(command, &error);
  if (!j->wrapper) {
    msg_fail(MSG_USAGE, "--wrapper: %s", error.text);
  }
  return arg[n] ? 1 : 2;
}

/* Reads argv[i], an option; returns the number of arguments used. */
static int take_option(struct job *j, char **argv, int i) {
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

static void read_command_line(struct job *j, char **argv) {
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
static void read_limit(struct job *j) {
  static const char variable[] = "MPIEXEC_TIMEOUT";
  const char *const value = getenv(variable);
  if (value && !j->timeout) {
    j->timeout = seconds(variable, value);
  }
}

/* Options from all places, in the order in which the program itself will find
   them: the later ones win. */
static void read_options(struct job *j) {
  struct args all = {0};
  struct pems_error error;
  add(&all, "pemsrun");
  for (int i = 0; i < j->pems.n; i++) {
    add(&all, j->pems.at[i]);
  }
  for (char **a = j->program; *a && a[0]; a++) {
    if (a != j->program) {
      add(&all, *a);
    }
  }
  if (options_parse(&j->options, &all.n, all.at, environ, &error)) {
    msg_fail(MSG_USAGE, "%s", error.text);
  }
  free(all.at);
}

/* --- checks --------------------------------------------------------------- */

static bool is_file(const char *path) {
  struct stat st;
  return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

static bool is_program(const char *path) {
  return is_file(path) && access(path, X_OK) == 0;
}

/* Looks for `name` in $PATH as execvp does. */
static bool find_in_path(const char *name, char *path, size_t size) {
  const char *at = getenv("PATH");
  if (!at) {
    at = "/usr/bin:/bin";
  }
  for (;; at++) {
    const size_t n = strcspn(at, ":");
    const int len = n ? snprintf(path, size, "%.*s/%s", (int)n, at, name)
                      : snprintf(path, size, "./%s", name);
    if (len > 0 && (size_t)len < size && is_program(path)) {
      return true;
    }
    at += n;
    if (!*at) {
      return false;
    }
  }
}

/* What it runs may be a script of its own, but not just anything. */
static void check_wrapper(const struct job *j) {
  struct pems_error error;
  char path[PATH_MAX];
  if (!j->wrapper) {
    return;
  }
  if (strchr(j->wrapper[0], '/')
          ? !is_program(j->wrapper[0])
          : !find_in_path(j->wrapper[0], path, PATH_MAX)) {
    msg_fail(MSG_USAGE,
             "--wrapper: %s: there is no such program: give its path",
             j->wrapper[0]);
  }
  if (!starter_is_script(j->path) && !starter_names_program(j->program + 1) &&
      image_check(j->path, &error)) {
    msg_fail(MSG_USAGE, "%s", error.text);
  }
}

static void find_program(struct job *j) {
  const char *const name = j->program[0];
  struct pems_error error;
  struct stat st;
  if (!name) {
    msg_fail(MSG_USAGE, "no program: nothing after the options: give its "
                        "name, as in pemsrun -n 8 ./program");
  }
  if (!strchr(name, '/')) {
    if (!find_in_path(name, j->path, sizeof(j->path))) {
      msg_fail(MSG_USAGE,
               "program not found: %s: not in $PATH: give its path%s%s", name,
               is_program(name) ? ", ./" : "", is_program(name) ? name : "");
    }
  } else {
    snprintf(j->path, sizeof(j->path), "%s", name);
    if (stat(name, &st)) {
      msg_fail(MSG_USAGE, "program not found: %s: %s: check its path", name,
               strerror(errno));
    }
    if (!(j->wrapper ? is_file(name) : is_program(name))) {
      msg_fail(MSG_USAGE,
               "not a program: %s: not an executable file: give a "
               "program that pemscc built",
               name);
    }
  }
  if (j->wrapper || starter_is_script(j->path) ||
      starter_names_program(j->program + 1)) {
    j->starter = j->wrapper ? j->wrapper[0] : name;
  } else if (image_check(j->path, &error)) {
    msg_fail(MSG_USAGE, "%s", error.text);
  }
  check_wrapper(j);
}

static int processes(const struct job *j) {
  if (j->options.procs) {
    return j->options.procs;
  }
  return j->hosts.n ? hosts_slots(&j->hosts) : 1;
}

/* Processes on the host that has most. */
static int most_on_host(const struct job *j) {
  int most = j->hosts.n ? 0 : processes(j);
  for (int i = 0; i < j->hosts.n; i++) {
    if (j->hosts.at[i].count > most) {
      most = j->hosts.at[i].count;
    }
  }
  return most;
}

/* Whether the memory is enough depends on what MPI and the program take of it:
   that is for the job to say, when it can count that. The same for hosts. */
static void check_plan(const struct job *j, int nprocs) {
  enum { MUCH = 50 }; /* bits */
  struct options o = j->options;
  o.memory = o.context = o.sigma = 0;
  const struct machine m = {.cores = 1,
                            .memory = UINT64_C(1) << MUCH,
                            .available = UINT64_C(1) << MUCH,
                            .limit = UINT64_MAX};
  const struct plan_site site = {.nprocs = nprocs,
                                 .nprocs_host = most_on_host(j),
                                 .disk_free = UINT64_C(1) << MUCH};
  struct plan p;
  struct pems_error error;
  if (plan_make(&p, &o, &m, &site, &error)) {
    msg_fail(MSG_USAGE, "%s", error.text);
  }
}

static int add_allocated(const struct slurm_host *host, void *data) {
  struct job *const j = data;
  return hosts_add(&j->hosts, host->name, strlen(host->name), host->tasks);
}

static bool is_here(const char *name) {
  char host[256] = "";
  gethostname(host, sizeof(host) - 1);
  return strcmp(host, name) == 0;
}

/* The hosts of the allocation, unless the user names some. A task on this host
   alone needs no mpirun. */
static void take_allocation(struct job *j) {
  const char *wrong = NULL;
  if (j->hosts.n || !slurm_in_job()) {
    return;
  }
  if (slurm_each_host(add_allocated, j, &wrong)) {
    msg_fail(MSG_USAGE, "%s: %s: cannot be read: name hosts with --host",
             wrong ? wrong : "hosts", wrong ? getenv(wrong) : "no memory");
  }
  if (hosts_slots(&j->hosts) == 1 && is_here(j->hosts.at[0].name)) {
    j->hosts.n = 0;
  }
}

/* Names are relative to where the processes will work, as with mpirun. Returns
   the directory to go back to, or -1. On other hosts mpirun looks for it. */
static int enter_wdir(const struct job *j) {
  if (!j->wdir) {
    return -1;
  }
  const int here = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (chdir(j->wdir) && !j->hosts.n) {
    msg_fail(MSG_USAGE, "working directory: %s: %s: give another with --wdir",
             j->wdir, strerror(errno));
  }
  return here;
}

static void leave_wdir(int here) {
  if (here >= 0 && fchdir(here)) {
    msg_fail(MSG_FAILED, "cannot return from the working directory: %s",
             strerror(errno));
  }
  if (here >= 0) {
    close(here);
  }
}

static void check(struct job *j) {
  take_allocation(j);
  if (!j->options.v) {
    msg_fail(MSG_USAGE,
             "no number of ranks: -n is missing: give it, as in pemsrun -n 8");
  }
  const int here = enter_wdir(j);
  find_program(j);
  const int nprocs = processes(j);
  struct pems_error error;
  if (j->hosts.n) {
    hosts_deal(&j->hosts, nprocs);
  }
  if (site_check_options(&j->options, nprocs, &error) ||
      (!j->hosts.n && disks_check(j->options.disk, &error))) {
    msg_fail(MSG_USAGE, "%s", error.text);
  }
  leave_wdir(here);
  check_plan(j, nprocs);
}

/* --- running -------------------------------------------------------------- */

/* "memory=1G" -> PEMS_MEMORY=1G in the environment. */
static void export_option(const char *option) {
  char name[64];
  const int n = (int)strcspn(option, "=");
  snprintf(name, sizeof(name), "PEMS_%.*s", n, option);
  for (char *c = name; *c; c++) {
    *c = (char)toupper((unsigned char)*c);
  }
  if (setenv(name, option + n + 1, 1)) {
    msg_fail(MSG_FAILED, "pemsrun: out of memory");
  }
}

/* Is the variable, as "NAME=VALUE", one that processes on other hosts are to
   have as well? pems's options, what programs with threads look at, and where
   libraries are. */
static bool is_for_all(const char *variable) {
  static const char *const starts[] = {"PEMS_", "OMP_", "GOMP_", "KMP_",
                                       "LD_LIBRARY_PATH="};
  for (size_t i = 0; i < sizeof(starts) / sizeof(*starts); i++) {
    if (strncmp(variable, starts[i], strlen(starts[i])) == 0) {
      return true;
    }
  }
  return false;
}

/* Does the user say -x NAME or -x NAME=VALUE? */
static bool is_forwarded(const struct job *j, const char *name) {
  const size_t n = strlen(name);
  for (int i = 0; launcher.forward && i + 1 < j->mpirun.n; i++) {
    if (strcmp(j->mpirun.at[i], launcher.forward) == 0 &&
        strncmp(j->mpirun.at[i + 1], name, n) == 0 &&
        strchr("=", j->mpirun.at[i + 1][n])) {
      return true;
    }
  }
  return false;
}

static void forward_variables(const struct job *j, struct args *command) {
  for (char **e = environ; launcher.forward && *e; e++) {
    if (is_for_all(*e)) {
      char *const name = join(*e, "", "");
      name[strcspn(name, "=")] = '\0';
      if (is_forwarded(j, name)) {
        continue;
      }
      add(command, (char *)launcher.forward);
      add(command, name);
    }
  }
}

static void set(const char *name, const char *value, bool replaces) {
  if (setenv(name, value, replaces)) {
    msg_fail(MSG_FAILED, "pemsrun: out of memory");
  }
}

/* For a change of the environment that returned `result`. */
static void need_set(int result) {
  if (result) {
    msg_fail(MSG_FAILED, "pemsrun: out of memory");
  }
}

static void add_all(struct args *a, const char *const *list) {
  for (; *list; list++) {
    add(a, (char *)*list);
  }
}

/* The host of each process, so that it is where it should be in Slurm's
   allocations, too; neighbouring ranks share one. Where the user maps
   processes, or names hosts by numbers of mpirun's, it is all mpirun's. */
static void place_processes(const struct job *j, struct args *command) {
  if (j->maps || j->hosts.relative) {
    for (int i = 0; i < j->places.n; i++) {
      add(command, j->places.at[i]);
    }
  } else if (j->hosts.n) {
    add_all(command, launcher.in_order);
    add(command, (char *)launcher.host_list);
    add(command, hosts_format(&j->hosts, false));
  }
}

static void add_program(const struct job *j, struct args *command) {
  for (char **a = j->wrapper; a && *a; a++) {
    add(command, *a);
  }
  add(command, (char *)j->path);
  for (char **a = j->program + 1; *a; a++) {
    add(command, *a);
  }
}

static void mpirun_command(const struct job *j, struct args *command) {
  add(command, (char *)launcher.command);
  add_all(command, launcher.quiet);
  add(command, "-n");
  char count[16];
  snprintf(count, sizeof(count), "%d", processes(j));
  add(command, join(count, "", ""));
  if (!j->slots && processes(j) > 1) {
    add_all(command, launcher.oversubscribe);
  }
  if (!j->binds) {
    add_all(command, launcher.unbound);
  }
  add_all(command, launcher.yielding);
  forward_variables(j, command);
  place_processes(j, command);
  for (int i = 0; i < j->mpirun.n; i++) {
    add(command, j->mpirun.at[i]);
  }
  add_program(j, command);
}

/* One process and nothing for mpirun to do: the program itself, so that
   signals and its exit status need no go-between. */
static void direct_command(const struct job *j, struct args *command) {
  if (j->starter) {
    add_program(j, command);
    return;
  }
  for (char **a = j->program; *a; a++) {
    add(command, *a);
  }
}

static void show_word(const char *word) {
  if (*word && strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWX"
                            "YZ0123456789_./=:,+@%-") == strlen(word)) {
    fputs(word, stdout);
    return;
  }
  putchar('\'');
  for (; *word; word++) {
    if (*word == '\'') {
      fputs("'\\''", stdout);
    } else {
      putchar(*word);
    }
  }
  putchar('\'');
}

static int show(const struct args *command) {
  for (char **e = environ; *e; e++) {
    if (strncmp(*e, "PEMS_", 5) == 0 || launcher_reads(*e)) {
      show_word(*e);
      putchar(' ');
    }
  }
  for (int i = 0; i < command->n; i++) {
    show_word(command->at[i]);
    putchar(i + 1 < command->n ? ' ' : '\n');
  }
  return fflush(stdout) ? 1 : 0;
}

/* Becomes the program, unless there is a starter, which is looked after. */
static int run_directly(const struct job *j) {
  struct args command = {0};
  struct monitor monitor;
  struct pems_error error;
  unsetenv(LIFELINE_VARIABLE); /* of a job that runs this one */
  need_set(launcher_begin_alone());
  if (j->starter && !j->show) {
    if (monitor_open(&monitor, true, &error)) {
      msg_fail(MSG_FAILED, "%s", error.text);
    }
    set(LIFELINE_VARIABLE, monitor_variable(&monitor, true), true);
    const struct launch_job about = {
        .monitor = &monitor, .hosts = "", .starter = j->starter, .alone = true};
    add_program(j, &command);
    return launch(command.at, &about);
  }
  direct_command(j, &command);
  if (j->show) {
    return show(&command);
  }
  execvp(j->path, command.at);
  msg_fail(MSG_USAGE, "cannot run: %s: %s", j->path, strerror(errno));
}

/* mpirun shares files of some MiB with the processes; where it
   cannot write them, it says so in pages, and dies of SIGXFSZ. */
static void check_file_size(void) {
  enum { LEAST = 64 << 20 }; /* bytes */
  struct rlimit limit;
  if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < LEAST) {
    msg_fail(MSG_USAGE,
             "the limit of files' sizes: %llu KiB: too little for several "
             "processes: raise it to 64 MiB (ulimit -f) or give "
             "--pems-procs=1",
             (unsigned long long)limit.rlim_cur >> 10);
  }
}

/* Does the user say where mpirun keeps its files? */
static bool has_session(const struct job *j) {
  if (launcher_has_folder()) {
    return true;
  }
  for (int i = 0; launcher.folder_option && i < j->mpirun.n; i++) {
    if (strstr(j->mpirun.at[i], launcher.folder_option)) {
      return true;
    }
  }
  return false;
}

/* mpirun's files go to a folder of the job's own, unless it has daemons on
   other hosts, which would make that folder as well. */
static void make_session(const struct job *j) {
  struct pems_error error;
  const int swept = keeper_sweep();
  if (swept && j->options.stats) {
    msg_warn("jobs that were killed: removed what %d of them had left", swept);
  }
  const char *const folder = keeper_make(&error);
  if (!folder) {
    msg_fail(MSG_USAGE, "%s", error.text);
  }
  if (!j->hosts.n && !has_session(j)) {
    need_set(launcher_set_folder(folder));
  }
}

static int run_by_mpirun(struct job *j) {
  const bool local = !j->hosts.n;
  struct args command = {0};
  struct monitor monitor;
  struct pems_error error;
  if (geteuid() == 0) {
    need_set(launcher_allow_root());
  }
  if (!local) {
    need_set(launcher_watch_hosts());
  }
  if (j->show) {
    unsetenv(LIFELINE_VARIABLE);
    mpirun_command(j, &command);
    return show(&command);
  }
  check_file_size();
  make_session(j);
  if (monitor_open(&monitor, local, &error)) {
    msg_fail(MSG_FAILED, "%s", error.text);
  }
  set(LIFELINE_VARIABLE, monitor_variable(&monitor, local), true);
  mpirun_command(j, &command);
  const struct launch_job about = {.monitor = &monitor,
                                   .hosts = hosts_format(&j->hosts, true),
                                   .wdir = j->wdir,
                                   .timeout = j->timeout,
                                   .starter = j->starter};
  return launch(command.at, &about);
}

int main(int argc, char **argv) {
  (void)argc;
  static struct job j;
  standard_occupy();
  stop_allow();
  site_clean_environment();
  read_command_line(&j, argv);
  read_options(&j);
  read_limit(&j);
  check(&j);
  for (int i = 0; i < j.pems.n; i++) {
    export_option(j.pems.at[i] + strlen("--pems-"));
  }
  if (processes(&j) == 1 && !j.mpirun.n && !j.hosts.n) {
    return run_directly(&j);
  }
  return run_by_mpirun(&j);
}
