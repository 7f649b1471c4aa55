/* The program that pemsrun runs for R: a rank opens libR, of which it gets a
   copy, and is R from then on. Arguments: the library; what R's own start
   script would put into the environment, R_NAME=VALUE; then what R is to be
   called with, its name first. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

typedef int initialize_fn(int argc, char **argv);
typedef void loop_fn(void);

static void *library;

static void *find(const char *name) {
  return library ? dlsym(library, name) : NULL;
}

int main(int argc, char **argv) {
  if (argc < 3) {
    fprintf(stderr, "pems: pems-r: it is run by pemsrun: call pemsrun -n 8 "
                    "Rscript script.R\n");
    return 2;
  }
  /* Packages find its names without naming it. */
  library = dlopen(argv[1], RTLD_NOW | RTLD_GLOBAL);
  void *const addresses[] = {find("Rf_initialize_R"), find("Rf_mainloop")};
  initialize_fn *initialize;
  loop_fn *loop;
  memcpy(&initialize, &addresses[0], sizeof(initialize));
  memcpy(&loop, &addresses[1], sizeof(loop));
  uintptr_t *const limit = find("R_CStackLimit");
  int *const whole = find("R_running_as_main_program");
  int *const handlers = find("R_SignalHandlers");
  if (!initialize || !loop || !limit) {
    fprintf(stderr, "pems: cannot open libR: %s: install it again\n",
            dlerror());
    return 2;
  }
  if (whole) {
    *whole = 1;
  }
  if (handlers) {
    *handlers = 0; /* those of SIGSEGV would take a fault of pems for R's */
  }
  initialize(argc - 2, argv + 2);
  *limit = UINTPTR_MAX; /* it knows the process's stack, not the rank's */
  loop();
  return 0;
}
