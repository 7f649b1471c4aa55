#define _GNU_SOURCE
#include "mpi_below/hooks.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

static const char mode[] = "UCX_MEM_MMAP_HOOK_MODE";
static const char none[] = "none";

bool hooks_installed(void) {
  const char *const chosen = getenv(mode);
  return dlsym(RTLD_DEFAULT, "ucm_set_event_handler") &&
         !(chosen && strcmp(chosen, none) == 0);
}

bool hooks_chosen(void) {
  return getenv(mode);
}

int hooks_forbid(void) {
  return setenv(mode, none, 1);
}
