#define _GNU_SOURCE
#include "mpi/job/checkpoint_about.h"

#include "base/failure.h"
#include "base/need.h"
#include "mpi/job/restart.h"
#include "mpi_below/net.h"
#include "os/fixed.h"
#include "os/native.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Bytes of a name, with '\0'. */
enum { HOST = 256, WORDS = HOST / sizeof(uint64_t) };

static const char *host_of(const uint64_t *all, int process) {
  return (const char *)(all + process * WORDS);
}

static bool is_first(const uint64_t *all, int process) {
  int q = 0;
  while (strcmp(host_of(all, q), host_of(all, process)) != 0) {
    q++;
  }
  return q == process;
}

char *checkpoint_about_hosts(void) {
  uint64_t mine[WORDS] = {0};
  const size_t n = (size_t)net_size();
  uint64_t *const all = need_zalloc(n, sizeof(mine), "checkpoint");
  char *const names = need_zalloc(n, HOST + 2, "checkpoint");
  size_t used = 0;
  gethostname((char *)mine, HOST - 1);
  net_gather(mine, all, WORDS);
  for (int q = 0; q < net_size(); q++) {
    if (is_first(all, q)) {
      used += (size_t)sprintf(names + used, "%s%s", used ? ", " : "",
                              host_of(all, q));
    }
  }
  native_free(all);
  return names;
}

int checkpoint_about(struct manifest *m, int v, const char *hosts, int argc,
                     char **argv, struct pems_error *error) {
  const struct manifest *const was = restart_from();
  char path[PATH_MAX];
  const ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);
  path[n > 0 ? n : 0] = '\0';
  *m = (struct manifest){
      .program = strdup(path),
      .directory = was ? strdup(was->directory) : getcwd(NULL, 0),
      .hosts = strdup(hosts),
      .argument = was ? was->argument : argv,
      .arguments = was ? was->arguments : argc,
      .v = v,
      .sequence = was ? was->sequence + 1 : 1,
      .stack_limit = fixed_stack_limit(),
      .landmark = restart_landmark(),
      .guards = fixed_guards(),
      .rank = need_zalloc((size_t)v, sizeof(*m->rank), "checkpoint")};
  return m->program && m->directory && m->hosts
             ? 0
             : failure(error, ENOMEM, "out of memory: checkpoint");
}
