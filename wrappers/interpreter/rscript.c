#define _GNU_SOURCE
#include "wrappers/interpreter/rscript.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/failure.h"
#include "wrappers/interpreter/interpreter.h"

/* A line for each fact. */
static const char question[] =
    "v <- c('R_HOME', 'R_SHARE_DIR', 'R_INCLUDE_DIR', 'R_DOC_DIR');"
    "cat(file.path(R.home('lib'), 'libR.so'),"
    "    paste0(v, '=', Sys.getenv(v)), sep = '\\n')";

bool rscript_is_interpreter(const char *path) {
  const char *slash = strrchr(path, '/');
  return strcmp(slash ? slash + 1 : path, "Rscript") == 0;
}

int rscript_find(struct rscript *r, const char *path,
                 struct pems_error *error) {
  char *const argv[] = {(char *)path, "-e", (char *)question, NULL};
  int n = 0;
  if (!interpreter_ask(argv, r->answer, sizeof(r->answer))) {
    r->answer[0] = '\0';
  }
  char *end = NULL;
  r->library = strtok_r(r->answer, "\n", &end);
  while (n < RSCRIPT_VARIABLES &&
         (r->variable[n] = strtok_r(NULL, "\n", &end))) {
    n++;
  }
  if (n < RSCRIPT_VARIABLES) {
    return failure(error, EINVAL,
                   "cannot run R: %s: it does not tell where its library is: "
                   "check that %s -e 'R.home()' works",
                   path, path);
  }
  if (access(r->library, R_OK) != 0) {
    return failure(error, ENOENT,
                   "no shared libR: %s: install r-base-core, or build R with "
                   "--enable-R-shlib",
                   r->library);
  }
  return interpreter_launcher("pems-r", r->launcher, error);
}

/* Is it told by the environment? Then it is. */
static bool is_variable(const char *option) {
  static const char packages[] = "--default-packages=";
  const size_t n = sizeof(packages) - 1;
  return strncmp(option, packages, n) == 0 &&
         setenv("R_DEFAULT_PACKAGES", option + n, 1) == 0;
}

/* "--file=path". */
static char *as_file(const char *path) {
  char *word = NULL;
  return asprintf(&word, "--file=%s", path) < 0 ? NULL : word;
}

static bool is_unknown(const char *option) {
  return strcmp(option, "--verbose") == 0 || strcmp(option, "--help") == 0 ||
         strcmp(option, "--version") == 0;
}

/* Options of Rscript, up to the script or the first argument: how many. */
static int take_options(char *const *arguments, char **words,
                        const char **unknown) {
  int i = 0;
  bool expression = false;
  for (; arguments[i] && arguments[i][0] == '-'; i++) {
    if (is_variable(arguments[i])) {
      continue;
    }
    *unknown = is_unknown(arguments[i]) ? arguments[i] : *unknown;
    *words++ = arguments[i];
    if (strcmp(arguments[i], "-e") == 0 && arguments[i + 1]) {
      *words++ = arguments[++i];
      expression = true;
    }
  }
  if (!expression && arguments[i]) {
    *words = as_file(arguments[i++]);
  }
  return i;
}

static size_t count(char *const *list) {
  size_t n = 0;
  while (list[n]) {
    n++;
  }
  return n;
}

static size_t append(char **to, char *const *list) {
  const size_t n = count(list);
  memcpy(to, list, n * sizeof(*to));
  return n;
}

/* As Rscript calls R. */
char **rscript_command(struct rscript *r, char *const *arguments,
                       const char **unknown) {
  char *const first[] = {r->launcher, r->library,     "R",
                         "--no-echo", "--no-restore", NULL};
  char **const command =
      calloc(count(first) + count(arguments) + 3, sizeof(*command));
  *unknown = NULL;
  if (command) {
    size_t n = append(command, first);
    const int taken = take_options(arguments, command + n, unknown);
    n = count(command);
    if (arguments[taken]) {
      command[n] = "--args";
      append(command + n + 1, arguments + taken);
    }
    for (int i = 0; i < RSCRIPT_VARIABLES; i++) {
      (void)putenv(r->variable[i]);
    }
  }
  return command;
}
