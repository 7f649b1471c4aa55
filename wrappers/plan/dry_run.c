#define _GNU_SOURCE
#include "wrappers/plan/dry_run.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/failure.h"
#include "disk/choice.h"
#include "os/folder.h"

enum { LINE = 8192, TAIL = 2000 };

/* --- the command --- */

/* `word` with the size for each '@', to be freed; NULL if there is no memory.
 */
static char *with_size(const char *word, uint64_t size) {
  char *text = NULL;
  size_t n;
  FILE *const f = open_memstream(&text, &n);
  if (!f) {
    return NULL;
  }
  for (; *word; word++) {
    if (*word == '@' && size) {
      fprintf(f, "%" PRIu64, size);
    } else {
      fputc(*word, f);
    }
  }
  return fclose(f) ? NULL : text;
}

static size_t count(char *const *list) {
  size_t n = 0;
  while (list[n]) {
    n++;
  }
  return n;
}

static char *number(const char *name, uint64_t value) {
  char text[64];
  snprintf(text, sizeof(text), "%s%" PRIu64, name, value);
  return strdup(text);
}

static void free_command(char **argv) {
  for (char **a = argv; a && *a; a++) {
    free(*a);
  }
  free(argv);
}

/* All words are copies. NULL if there is no memory. */
static char **command(const struct dry_run_job *job,
                      const struct dry_run_case *asked, const char *folder) {
  const size_t options = count(job->options), words = count(job->program);
  char **const argv = calloc(options + words + 9, sizeof(*argv));
  char report[PATH_MAX];
  size_t n = 0;
  if (!argv) {
    return NULL;
  }
  snprintf(report, sizeof(report), "--pems-report=%s/report", folder);
  argv[n++] = strdup(job->pemsrun);
  argv[n++] = strdup("-n");
  argv[n++] = number("", (uint64_t)asked->ranks);
  for (size_t i = 0; i < options; i++) {
    argv[n++] = strdup(job->options[i]);
  }
  argv[n++] = number("--pems-memory=", asked->memory);
  argv[n++] = strdup(report);
  argv[n++] = strdup("--pems-stats");
  argv[n++] = strdup("--");
  for (size_t i = 0; i < words; i++) {
    argv[n++] = with_size(job->program[i], i ? asked->size : 0);
  }
  for (size_t i = 0; i < n; i++) {
    if (!argv[i]) {
      free_command(argv);
      return NULL;
    }
  }
  return argv;
}

/* --- running --- */

static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
enum { SIGNALS = sizeof(signals) / sizeof(*signals) };
static volatile sig_atomic_t ended; /* by this signal, or 0 */
static volatile pid_t child;

static void on_signal(int number) {
  ended = number;
  if (child > 0) {
    kill(child, number);
  }
}

/* What the program prints is no output of this command. */
static _Noreturn void become(char **argv, const char *log,
                             const sigset_t *mask) {
  const int in = open("/dev/null", O_RDONLY);
  const int out = open(log, O_WRONLY | O_CREAT | O_APPEND, 0600);
  if (in >= 0 && out >= 0 && dup2(in, STDIN_FILENO) >= 0 &&
      dup2(out, STDOUT_FILENO) >= 0 && dup2(out, STDERR_FILENO) >= 0) {
    sigprocmask(SIG_SETMASK, mask, NULL);
    execv(argv[0], argv);
  }
  _exit(127);
}

/* Returns waitpid's status, or -1 and errno. */
static int run(char **argv, const char *log) {
  struct sigaction before[SIGNALS], act = {.sa_handler = on_signal};
  sigset_t block, mask;
  int status = -1;
  sigemptyset(&block);
  for (int i = 0; i < SIGNALS; i++) {
    sigaddset(&block, signals[i]);
  }
  sigprocmask(SIG_BLOCK, &block, &mask);
  child = fork();
  if (child == 0) {
    become(argv, log, &mask);
  }
  const int code = errno;
  for (int i = 0; i < SIGNALS; i++) {
    sigaction(signals[i], &act, &before[i]);
    if (before[i].sa_handler == SIG_IGN) {
      sigaction(signals[i], &before[i], NULL);
    }
  }
  sigprocmask(SIG_SETMASK, &mask, NULL);
  while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  for (int i = 0; i < SIGNALS; i++) {
    sigaction(signals[i], &before[i], NULL);
  }
  errno = code;
  return status;
}

/* --- what it left --- */

static FILE *open_in(const char *folder, const char *name, int process) {
  char file[64], path[PATH_MAX];
  snprintf(file, sizeof(file), name, process);
  const int n = snprintf(path, sizeof(path), "%s/%s", folder, file);
  return n < (int)sizeof(path) ? fopen(path, "re") : NULL;
}

/* The number behind " NAME=" in a line of counters; 0 if there is none. */
static double counter(const char *line, const char *name) {
  char key[64];
  snprintf(key, sizeof(key), " %s=", name);
  const char *const at = strstr(line, key);
  return at ? strtod(at + strlen(key), NULL) : 0;
}

static bool read_counters(struct dry_run *r, const char *folder) {
  static const char begin[] = "RESULT pems ";
  char line[LINE];
  bool found = false;
  FILE *const f = open_in(folder, "log", 0);
  while (f && fgets(line, sizeof(line), f)) {
    const char *const at = strstr(line, begin);
    if (at) {
      found = true;
      r->processes = (int)counter(at, "P");
      r->k = (int)counter(at, "k");
      r->room = counter(at, "resident") * r->processes;
      r->seconds = counter(at, "seconds");
      r->processor =
          counter(at, "cpu_seconds") - counter(at, "start_cpu_seconds");
    }
  }
  if (f) {
    fclose(f);
  }
  return found && r->processes > 0;
}

/* Columns of totals.dat, as REPORTS in pems(7) has them. */
enum column {
  SUPERSTEP,
  SUPERSTEPS,
  COMPUTE = 4,
  DELIVER,
  IN = 13,
  OUT,
  MEMORY,
  WRITTEN,
  READ,
  SENT,
  COLUMNS
};

static void add_step(struct dry_run *r, const double *x, const char *call) {
  const size_t n = strcspn(call, " \n");
  r->supersteps = x[SUPERSTEP] + x[SUPERSTEPS];
  r->computing += x[COMPUTE] + x[DELIVER];
  r->read += x[IN] + x[READ];
  r->written += x[OUT] + x[WRITTEN];
  r->messages += x[MEMORY] + x[WRITTEN] + x[READ];
  r->sent += x[SENT];
  r->exchanges += strncmp(call, "MPI_Alltoall", 12) == 0;
  if (r->steps < DRY_RUN_STEPS) {
    struct dry_run_step *const s = &r->step[r->steps];
    *s = (struct dry_run_step){.read = x[IN] + x[READ],
                               .written = x[OUT] + x[WRITTEN]};
    snprintf(s->call, sizeof(s->call), "%.*s", (int)n, call);
  }
  r->steps++;
}

/* No number has a comma: reports are written without a locale, and this program
   sets none. */
static bool read_totals(struct dry_run *r, const char *folder) {
  char line[LINE];
  FILE *const f = open_in(folder, "report/totals.dat", 0);
  while (f && fgets(line, sizeof(line), f)) {
    double x[COLUMNS];
    char *at = line;
    for (int i = 0; *line != '#' && i < COLUMNS; i++) {
      x[i] = strtod(at, &at);
    }
    if (*line != '#') {
      add_step(r, x, at + strspn(at, " "));
    }
  }
  if (f) {
    fclose(f);
  }
  r->steps = r->steps > DRY_RUN_STEPS ? 0 : r->steps;
  return r->supersteps > 0;
}

/* The greatest number in a column of a table, from 0; 0 if there is none. Where
   `sums` has a place for each rank, the first column is one: the greatest of
   each. */
static double greatest(const char *folder, const char *name, int process,
                       int column, double *sums, int ranks) {
  char line[LINE];
  double most = 0;
  FILE *const f = open_in(folder, name, process);
  while (f && fgets(line, sizeof(line), f)) {
    char *at = line;
    double x = 0;
    const long rank = strtol(line, NULL, 10);
    for (int i = 0; *line != '#' && i <= column; i++) {
      x = strtod(at, &at);
    }
    most = x > most ? x : most;
    if (sums && rank >= 0 && rank < ranks && x > sums[rank]) {
      sums[rank] = x;
    }
  }
  if (f) {
    fclose(f);
  }
  return most;
}

/* The largest transfers tell the size of contexts; while all are in memory,
   what they take there does, which may be more: huge pages count as a whole. */
static int read_context(struct dry_run *r, const char *folder) {
  const int ranks = r->asked.ranks;
  double *const most = calloc((size_t)ranks, sizeof(*most));
  double resident = 0, moved = 0;
  int movers = 0;
  if (!most) {
    return ENOMEM;
  }
  for (int i = 0; i < r->processes; i++) {
    resident += greatest(folder, "report/resident.%d.dat", i, 1, NULL, 0);
    greatest(folder, "report/swaps.%d.dat", i, 4, most, ranks);
  }
  for (int i = 0; i < ranks; i++) {
    moved += most[i];
    movers += most[i] > 0;
  }
  free(most);
  r->context = movers ? moved / movers : resident / ranks;
  return 0;
}

static int read_all(struct dry_run *r, const char *folder, const char *program,
                    struct pems_error *error) {
  if (!read_counters(r, folder) || !read_totals(r, folder)) {
    return failure(error, ENODATA,
                   "--plan: %s: it left no report: it must call MPI_Init and "
                   "MPI_Finalize, and return from main",
                   program);
  }
  if (r->supersteps <= 1 && r->messages + r->sent <= 0) {
    return failure(error, ENODATA,
                   "--plan: %s with %d ranks: no collective call and no "
                   "message: it ended too early, or has nothing to plan",
                   program, r->asked.ranks);
  }
  return read_context(r, folder)
             ? failure(error, ENOMEM, "--plan: %d ranks: out of memory",
                       r->asked.ranks)
             : 0;
}

/* --- the folder --- */

/* The last of what the program printed, for who wants to know why it failed. */
static void show_log(const char *folder) {
  char text[TAIL + 1];
  FILE *const f = open_in(folder, "log", 0);
  if (!f) {
    return;
  }
  if (fseek(f, -TAIL, SEEK_END)) {
    rewind(f);
  }
  const size_t n = fread(text, 1, TAIL, f);
  fwrite(text, 1, n, stderr);
  fclose(f);
}

static int judge(int status, const struct dry_run *r, const char *folder,
                 const char *program, struct pems_error *error) {
  char size[48] = "";
  if (status == 0) {
    return 0;
  }
  if (r->asked.size) {
    snprintf(size, sizeof(size), " and size %" PRIu64, r->asked.size);
  }
  show_log(folder);
  if (status > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 127) {
    return failure(error, ENOEXEC, "--plan: pemsrun: cannot be started");
  }
  return failure(
      error, ECANCELED,
      "--plan: %s with %d ranks%s: %s %d: a dry run must end well: mend it, or "
      "give others (--sizes, --ranks)",
      program, r->asked.ranks, size,
      status > 0 && WIFSIGNALED(status) ? "ended by signal" : "exit status",
      status < 0            ? -1
      : WIFSIGNALED(status) ? WTERMSIG(status)
                            : WEXITSTATUS(status));
}

int dry_run(const struct dry_run_job *job, const struct dry_run_case *asked,
            struct dry_run *result, struct pems_error *error) {
  char folder[PATH_MAX - 64], log[PATH_MAX];
  *result = (struct dry_run){.asked = *asked};
  snprintf(folder, sizeof(folder), "%s/pems-plan.XXXXXX", choice_default_dir());
  if (!mkdtemp(folder)) {
    return failure(error, errno, "--plan: %s: %s: set TMPDIR to a folder",
                   choice_default_dir(), strerror(errno));
  }
  snprintf(log, sizeof(log), "%s/log", folder);
  char **const argv = command(job, asked, folder);
  int code = argv ? 0 : failure(error, ENOMEM, "--plan: out of memory");
  if (!code) {
    const int status = run(argv, log);
    code = judge(status, result, folder, job->program[0], error);
  }
  if (!code) {
    code = read_all(result, folder, job->program[0], error);
  }
  free_command(argv);
  folder_remove(folder);
  if (ended) {
    raise(ended);
  }
  return code;
}
