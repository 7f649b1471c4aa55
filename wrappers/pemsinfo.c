/* pemsinfo: what this pems is, and what it would choose on this machine. */
#include "config.h"
#include "config/size.h"

#include <errno.h>
#include <limits.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/message.h"
#include "checkpoint/show.h"
#include "config/machine.h"
#include "config/options.h"
#include "config/plan.h"
#include "context/image/identity.h"
#include "disk/contexts/dirs.h"
#include "drivers/driver.h"
#include "mpi_below/flavour.h"
#include "mpi_below/launcher.h"
#include "wrappers/measure.h"
#include "wrappers/plan_ask.h"
#include "wrappers/plan_program.h"
#include "wrappers/predict.h"
#include "wrappers/site.h"

extern char **environ;

#define DEFAULT_V 32
static void print_size(const char *label, uint64_t bytes, const char *rest) {
  char text[32];
  printf("%-10s %s%s\n", label, size_format(bytes, text, sizeof(text)), rest);
}

static void print_versions(void) {
  char mpi[MPI_MAX_LIBRARY_VERSION_STRING];
  int n;
  printf("%-10s %s\n", "pems", PACKAGE_VERSION);
  MPI_Get_library_version(mpi, &n);
  mpi[strcspn(mpi, "\n")] = '\0';
  printf("%-10s %s\n", "built for", flavour_name());
  printf("%-10s %s\n", "ABI", flavour_abi());
  printf("%-10s %s\n", "MPI", mpi);
  printf("%-10s %s (%s's)\n", "mpirun", launcher.command, launcher.name);
}

static void print_drivers(void) {
  puts("\ndrivers (--pems-io)");
  for (int i = 0; drivers[i]; i++) {
    printf("  %-8s %s\n", drivers[i]->name, drivers[i]->help);
    if (drivers[i]->args) {
      printf("  %-8s %s:%s\n", "", drivers[i]->name, drivers[i]->args);
    }
  }
}

static void print_machine(const struct machine *m) {
  puts("\nmachine");
  printf("%-10s %d\n", "cores", m->cores);
  print_size("memory", m->memory, "");
  print_size("available", m->available, "");
  if (m->limit == UINT64_MAX) {
    printf("%-10s none\n", "cgroup");
    return;
  }
  char used[32], rest[64];
  snprintf(rest, sizeof(rest), " limit, %s used",
           size_format(m->limit_used, used, sizeof(used)));
  print_size("cgroup", m->limit, rest);
}

static int print_dir(const char *dir, void *data) {
  (void)data;
  char size[32], in_memory[PATH_MAX];
  (void)disks_in_memory(dir, in_memory);
  printf("%-10s %s: %s free%s\n", "scratch", dir,
         size_format(machine_disk_free(dir), size, sizeof(size)),
         *in_memory ? ", in memory (tmpfs)" : "");
  return 0;
}

/* Space on the disks of a process. */
static void print_space(const struct plan *p, const struct options *o) {
  if (!p->needs_disk) {
    printf("%-10s not needed: all contexts fit in memory\n", "disk");
  } else if (o->reserve == RESERVE_ALL) {
    print_size("disk", p->mu * (uint64_t)p->own,
               " reserved at the start by each process");
  } else {
    printf("%-10s taken as ranks allocate, when they have more than the "
           "memory\n",
           "disk");
  }
}

/* All of the memory that is neither sigma nor for contexts. */
static uint64_t overhead_of(const struct plan *p) {
  return memory_plan_overhead(&p->memory) - p->memory.sigma;
}

static void print_shares(const struct memory_plan *m) {
  printf("\n%-10s %10s %10s %10s  %s\n", "share", "bytes", "least", "most",
         "of the memory of a process, for");
  for (int use = 0; use < MEMORY_USES; use++) {
    char size[16], least[16], most[16];
    const struct memory_share s = memory_plan_share(m, (enum memory_use)use);
    printf("%-10s %10s %10s %10s  %s\n", s.name,
           size_format(s.bytes, size, sizeof(size)),
           size_format(s.least, least, sizeof(least)),
           s.most == UINT64_MAX ? "any"
                                : size_format(s.most, most, sizeof(most)),
           s.purpose);
  }
}

static void print_plan(const struct plan *p, const struct options *o) {
  printf("\nplan for pemsrun -n %d --pems-procs=%d\n", p->v, p->nprocs);
  printf("%-10s %d ranks, at most %d on each of %d process%s\n", "v", p->v,
         p->v_local, p->nprocs, p->nprocs > 1 ? "es" : "");
  printf("%-10s %d at once per process\n", "k", p->k);
  print_size("memory", p->memory.memory, " per process");
  print_size("overhead", overhead_of(p), " of it for pems, MPI and stacks");
  print_size("sigma", p->memory.sigma, " of it for communication");
  print_size("resident", p->resident, " of it for contexts");
  print_size("mu", p->mu, " at most for each context");
  if (p->alpha) {
    printf("%-10s %d messages at most go to a process together\n", "alpha",
           p->alpha);
  }
  print_space(p, o);
  print_shares(&p->memory);
}

static void help(void) {
  puts(
      "usage: pemsinfo [-n V] [--pems-... options]\n"
      "       pemsinfo --measure [--pems-... options]\n"
      "       pemsinfo --predict[=psrs|alltoallv] --n=N [-n V] [--pems-...]\n"
      "       pemsinfo --identity=FILE\n"
      "       pemsinfo --checkpoint=DIR\n"
      "       pemsinfo --plan[=SIZE] [-n V] [--pems-...] program [arguments]\n"
      "\n"
      "Prints the version of pems, its drivers, the machine, and the settings "
      "that\n"
      "pems would choose for V ranks (default 32). See pemsrun --help for the\n"
      "options, and pems(7).\n"
      "\n"
      "  --measure    measure this machine: G and S (disks), g and l\n"
      "               (network), L (superstep), c (computing)\n"
      "  --predict    predict time and I/O of sorting N elements of 4 bytes "
      "(psrs) "
      "and\n"
      "               of exchanging them (alltoallv)\n"
      "  --checkpoint=DIR\n"
      "               show the newest checkpoint in DIR (--pems-checkpoint), "
      "and\n"
      "               verify it\n"
      "  --identity=FILE\n"
      "               say whether this machine has what a job has run, by the\n"
      "               file identity.txt of its report (--pems-report)\n"
      "  --plan=SIZE  run a program with small inputs and predict contexts, "
      "I/O "
      "and\n"
      "               time of a large one; @ in its arguments is the size, "
      "SIZE "
      "the\n"
      "               one that is asked about. --plan alone: with fewer ranks\n"
      "  --sizes=A[,B...]\n"
      "               sizes to run it with (default: SIZE/16, SIZE/8, "
      "SIZE/4)\n"
      "  --ranks=A[,B...]\n"
      "               numbers of ranks to run it with (default: V/8, V/4, "
      "V/2)\n"
      "  --rate=R     bytes per second of all disks together, such as 2G, "
      "instead\n"
      "               of measuring\n"
      "  --hosts=H    hosts of the job (default: one per process)\n"
      "  --cores=N, --D=N\n"
      "               cores and disks of a host (default: as on this one)\n"
      "  --g=, --l=, --G=, --S=, --L=, --c=\n"
      "               values to use instead of measuring: seconds, such as\n"
      "               20u, or, per byte, 0.5n or 2G/s\n"
      "  -h, --help, -V, --version\n"
      "               print this help or the version");
}

/* Ends with a line that says what differs, if anything does. */
static int check_identity(const char *path) {
  struct identity was, is;
  struct pems_error error;
  FILE *const f = fopen(path, "re");
  if (!f) {
    msg_fail(MSG_USAGE, "--identity: %s: %s: name a report's identity.txt",
             path, strerror(errno));
  }
  if (identity_read(&was, f, path, &error)) {
    msg_fail(MSG_USAGE, "--identity: %s", error.text);
  }
  if (identity_here(&is, &was, &error) || identity_compare(&was, &is, &error)) {
    msg_fail(MSG_FAILED, "--identity: %s", error.text);
  }
  printf("the same: %d files, %s, %s\n", is.n, is.libc, is.processor);
  fclose(f);
  identity_free(&was);
  identity_free(&is);
  return fflush(stdout) ? MSG_FAILED : 0;
}

/* Turns -n V into --pems-v=V; everything else is for options_parse. The
   strings that options point to live as long as the process. */
static void read_options(struct options *o, int argc, char **argv) {
  static char count[64];
  struct pems_error error;
  if (argc > 1 && strcmp(argv[1], "-n") == 0) {
    if (options_set_ranks(o, "-n", argc < 3 ? "no value" : argv[2], &error)) {
      msg_fail(MSG_USAGE, "%s", error.text);
    }
    snprintf(count, sizeof(count), "--pems-v=%s", argv[2]);
    argv[1] = argv[0];
    argv[2] = count;
    argc--;
    argv++;
  }
  if (options_parse(o, &argc, argv, environ, &error)) {
    msg_fail(MSG_USAGE, "%s", error.text);
  }
  if (argc > 1) {
    msg_fail(MSG_USAGE, "unknown argument: %s: see pemsinfo --help", argv[1]);
  }
  if (!o->v) {
    o->v = DEFAULT_V;
  }
}

/* What is predicted is for machines of which *m then is one. */
static void make_plan(struct plan *p, const struct options *o,
                      struct machine *m, const struct predict *predict) {
  struct pems_error error;
  const int nprocs = o->procs ? o->procs : 1;
  if (site_check_options(o, nprocs, &error) || disks_check(o->disk, &error)) {
    msg_fail(MSG_USAGE, "%s", error.text);
  }
  struct plan_site site = site_here(o, m);
  predict_adapt(predict, m, &site);
  if (plan_make(p, o, m, &site, &error)) {
    msg_fail(MSG_USAGE, "%s", error.text);
  }
}

int main(int argc, char **argv) {
  struct options o = {0};
  struct machine m;
  struct plan p;
  if (argc == 2 &&
      (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)) {
    help();
    return 0;
  }
  if (argc == 2 &&
      (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0)) {
    puts("pemsinfo (pems) " PACKAGE_VERSION);
    return 0;
  }
  if (argc == 2 && strncmp(argv[1], "--identity=", 11) == 0) {
    return check_identity(argv[1] + 11);
  }
  if (argc == 2 && strncmp(argv[1], "--checkpoint=", 13) == 0) {
    return checkpoint_show(argv[1] + 13);
  }
  struct predict predict;
  struct pems_error error;
  site_clean_environment();
  if (plan_ask_given(argv)) {
    return plan_program(argv);
  }
  if (predict_read(&predict, &argc, argv, &error)) {
    msg_fail(MSG_USAGE, "%s", error.text);
  }
  if (predict.network) {
    return measure_network_here();
  }
  read_options(&o, argc, argv);
  machine_find(&m, "");
  print_versions();
  if (!predict.measure && !predict_asked(&predict)) {
    print_drivers();
  }
  print_machine(&m);
  site_each_dir(&o, print_dir, NULL);
  make_plan(&p, &o, &m, &predict);
  print_plan(&p, &o);
  if (predict_run(&predict, &o, &p, &m, &error)) {
    msg_fail(MSG_USAGE, "%s", error.text);
  }
  options_free(&o);
  return fflush(stdout) ? MSG_FAILED : 0;
}
