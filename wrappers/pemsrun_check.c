/* Checks what can be known of a job before any rank starts. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/message.h"
#include "base/script.h"
#include "config/machine.h"
#include "config/plan.h"
#include "config/slurm.h"
#include "context/image/image.h"
#include "disk/contexts/dirs.h"
#include "mpi_below/launcher.h"
#include "wrappers/interpreter/python.h"
#include "wrappers/interpreter/rscript.h"
#include "wrappers/pemsrun_check.h"
#include "wrappers/site.h"
#include "wrappers/starter.h"

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
static void check_wrapper(const struct pemsrun_job *j) {
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

static void add_words(struct args *to, char *const *words) {
  while (*words) {
    args_add(to, *words++);
  }
}

/* What a script's first line has behind the interpreter's name. */
static void add_script(struct args *to, char *const *options,
                       const char *script) {
  if (script) {
    add_words(to, options);
    args_add(to, script);
  }
}

/* Calls pems-python instead: with the library, the interpreter, what a script
   that was named alone adds, and the arguments. */
static void run_python(struct pemsrun_job *j, const char *path,
                       char *const *options, const char *script) {
  static struct python python;
  struct pems_error error;
  struct args program = {0};
  if (python_find(&python, path, &error)) {
    msg_fail(MSG_USAGE, "%s", error.text);
  }
  args_add(&program, python.launcher);
  args_add(&program, python.library);
  args_add(&program, python.executable);
  add_script(&program, options, script);
  add_words(&program, j->program + 1);
  j->program = program.at;
  snprintf(j->path, sizeof(j->path), "%s", python.launcher);
}

/* The same for R, of which Rscript knows where it is. */
static void run_r(struct pemsrun_job *j, const char *path, char *const *options,
                  const char *script) {
  static struct rscript r;
  static char *none[] = {NULL};
  struct pems_error error;
  struct args words = {0};
  const char *unknown;
  add_script(&words, options, script);
  add_words(&words, j->program + 1);
  if (rscript_find(&r, path, &error)) {
    msg_fail(MSG_USAGE, "%s", error.text);
  }
  j->program = rscript_command(&r, words.at ? words.at : none, &unknown);
  if (!j->program) {
    msg_fail(MSG_FAILED, "out of memory: arguments: free memory");
  }
  if (unknown) {
    msg_fail(MSG_USAGE,
             "an option of Rscript that ranks cannot heed: %s: leave "
             "it out",
             unknown);
  }
  snprintf(j->path, sizeof(j->path), "%s", r.launcher);
}

/* An interpreter, or a script that names one in its first line. */
static void find_interpreter(struct pemsrun_job *j) {
  static struct script first;
  static char path[PATH_MAX];
  if (j->wrapper || starter_names_program(j->program + 1)) {
    return; /* Python that starts a program is no rank */
  }
  snprintf(path, sizeof(path), "%s", j->path);
  if (python_is_interpreter(j->program[0])) {
    run_python(j, path, NULL, NULL);
  } else if (rscript_is_interpreter(j->program[0])) {
    run_r(j, path, NULL, NULL);
  } else if (starter_is_script(path) && script_read(&first, path)) {
    if (python_is_interpreter(first.word[0])) {
      run_python(j, first.word[0], first.word + 1, path);
    } else if (rscript_is_interpreter(first.word[0])) {
      run_r(j, first.word[0], first.word + 1, path);
    }
  }
}

static void find_program(struct pemsrun_job *j) {
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
  find_interpreter(j);
  if (j->wrapper || starter_is_script(j->path) ||
      starter_names_program(j->program + 1)) {
    j->starter = j->wrapper ? j->wrapper[0] : name;
  } else if (image_check(j->path, &error)) {
    msg_fail(MSG_USAGE, "%s", error.text);
  }
  check_wrapper(j);
}

/* Whether the memory is enough depends on what MPI and the program take of it:
   that is for the job to say, when it can count that. The same for hosts. */
static void check_plan(const struct pemsrun_job *j, int nprocs) {
  enum { MUCH = 50 }; /* bits */
  struct options o = j->options;
  o.memory = o.context = o.sigma = 0;
  const struct machine m = {.cores = 1,
                            .memory = UINT64_C(1) << MUCH,
                            .available = UINT64_C(1) << MUCH,
                            .limit = UINT64_MAX};
  const struct plan_site site = {.nprocs = nprocs,
                                 .nprocs_host = pemsrun_job_most_on_host(j),
                                 .disk_free = UINT64_C(1) << MUCH};
  struct plan p;
  struct pems_error error;
  if (plan_make(&p, &o, &m, &site, &error)) {
    msg_fail(MSG_USAGE, "%s", error.text);
  }
}

static int add_allocated(const struct slurm_host *host, void *data) {
  struct pemsrun_job *const j = data;
  return hosts_add(&j->hosts, host->name, strlen(host->name), host->tasks);
}

static bool is_here(const char *name) {
  char host[256] = "";
  gethostname(host, sizeof(host) - 1);
  return strcmp(host, name) == 0;
}

/* The hosts of the allocation, unless the user names some. A task on this host
   alone needs no mpirun. */
static void take_allocation(struct pemsrun_job *j) {
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
static int enter_wdir(const struct pemsrun_job *j) {
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

/* The option with a number of ranks among the arguments of a program, or NULL.
 */
static char *const *misplaced_count(char *const *word) {
  struct options o = {0};
  for (; word[0] && word[1] && word[2]; word++) {
    const struct launcher_option *const option =
        word[1][0] == '-' ? launcher_option_find(word[1]) : NULL;
    if (option && option->use == LAUNCHER_COUNT &&
        !options_set_ranks(&o, word[1], word[2], NULL)) {
      return word + 1;
    }
  }
  return NULL;
}

/* Programs may have a -n of their own: it is taken for pemsrun's where there is
   no other. */
static void check_count(const struct pemsrun_job *j) {
  if (j->options.v) {
    return;
  }
  char *const *const count = misplaced_count(j->program);
  if (count) {
    msg_fail(MSG_USAGE,
             "no number of ranks: %s %s comes after %s, whose own it is, then: "
             "give it before, as in pemsrun %s %s %s",
             count[0], count[1], j->program[0], count[0], count[1],
             j->program[0]);
  }
  msg_fail(MSG_USAGE,
           "no number of ranks: -n is missing: give it, as in pemsrun -n 8");
}

void pemsrun_check(struct pemsrun_job *j) {
  take_allocation(j);
  check_count(j);
  const int here = enter_wdir(j);
  find_program(j);
  const int nprocs = pemsrun_job_processes(j);
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
