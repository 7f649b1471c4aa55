/* Hydra: mpiexec of MPICH, Intel MPI and MVAPICH. */
#include "config.h"
#include "mpi_below/launcher.h"
#include "mpi_below/launcher_variables.h"

#include <mpi.h>
#include <stdlib.h>
#include <string.h>

static const char *const none[] = {NULL};
static const char *const unbound[] = {"-bind-to", "none", NULL};
/* Else a process has an open descriptor. */
static const char *const by_name[] = {
#ifdef PEMS_MPIRUN_PORT
    PEMS_MPIRUN_PORT,
#endif
    NULL};
static const char *const starters[] = {"mpiexec", "mpirun", "hydra_pmi_proxy",
                                       NULL};

/* As `mpiexec --help` of MPICH 4 and 5 lists them. */
static const struct launcher_option options[] = {
    {"bind-to", 1, LAUNCHER_BIND},
    {"configfile", 1, LAUNCHER_REFUSED},
    {"demux", 1, LAUNCHER_OTHER},
    {"disable-auto-cleanup", 0, LAUNCHER_OTHER},
    {"disable-hostname-propagation", 0, LAUNCHER_OTHER},
    {"disable-x", 0, LAUNCHER_OTHER},
    {"enable-auto-cleanup", 0, LAUNCHER_OTHER},
    {"enable-x", 0, LAUNCHER_OTHER},
    {"env", 2, LAUNCHER_OTHER},
    {"envall", 0, LAUNCHER_OTHER},
    {"envlist", 1, LAUNCHER_OTHER},
    {"envnone", 0, LAUNCHER_OTHER},
    {"errfile-pattern", 1, LAUNCHER_OTHER},
    {"f", 1, LAUNCHER_HOSTFILE},
    {"genv", 2, LAUNCHER_OTHER},
    {"genvall", 0, LAUNCHER_OTHER},
    {"genvlist", 1, LAUNCHER_OTHER},
    {"genvnone", 0, LAUNCHER_OTHER},
    {"gpus-per-proc", 1, LAUNCHER_OTHER},
    {"host", 1, LAUNCHER_HOSTS},
    {"hostfile", 1, LAUNCHER_HOSTFILE},
    {"hosts", 1, LAUNCHER_HOSTS},
    {"iface", 1, LAUNCHER_OTHER},
    {"info", 0, LAUNCHER_OTHER},
    {"launcher", 1, LAUNCHER_OTHER},
    {"launcher-exec", 1, LAUNCHER_OTHER},
    {"localhost", 1, LAUNCHER_OTHER},
    {"machinefile", 1, LAUNCHER_HOSTFILE},
    {"map-by", 1, LAUNCHER_MAP},
    {"membind", 1, LAUNCHER_OTHER},
    {"n", 1, LAUNCHER_COUNT},
    {"nameserver", 1, LAUNCHER_OTHER},
    {"np", 1, LAUNCHER_COUNT},
    {"order-nodes", 1, LAUNCHER_OTHER},
    {"outfile-pattern", 1, LAUNCHER_OTHER},
    {"pmi-port", 0, LAUNCHER_OTHER},
    {"ppn", 1, LAUNCHER_MAP},
    {"prepend-pattern", 1, LAUNCHER_TAG},
    {"prepend-rank", 0, LAUNCHER_TAG},
    {"print-all-exitcodes", 0, LAUNCHER_OTHER},
    {"profile", 0, LAUNCHER_OTHER},
    {"rmk", 1, LAUNCHER_OTHER},
    {"skip-launch-node", 0, LAUNCHER_OTHER},
    {"topolib", 1, LAUNCHER_OTHER},
    {"usize", 1, LAUNCHER_OTHER},
    {"verbose", 0, LAUNCHER_OTHER},
    {"wdir", 1, LAUNCHER_WDIR},
    {NULL, 0, LAUNCHER_OTHER},
};

const struct launcher launcher = {
    .name = "MPICH",
    .command = PEMS_MPIRUN,
    .quiet = none,
    .oversubscribe = none, /* it never counts cores */
    .unbound = unbound,
    .yielding = none,
    .in_order = none,
    .by_name = by_name,
    .host_list = "-hosts",
    .starters = starters,
    .daemon = "hydra_pmi_proxy",
    .ends_others = true,
    .status_of_any = true,
    /* Each is posted twice, for shared memory and for the network, and where
       both have messages some of them never come (MPICH 5.0.2 with UCX). */
    .loses_posted = true,
    .refuses_aliases = true,
    .dies_of_usr2 = true,
    .hooks_memory = true,
    .options = options,
};

const struct launcher_variable launcher_variables[] = {
    {"MPI_LOCALRANKID", LAUNCHER_LOCAL_RANK},
    {"MPI_LOCALNRANKS", LAUNCHER_LOCAL_SIZE},
    {"PMI_RANK", LAUNCHER_RANK},
    {"PMI_SIZE", LAUNCHER_SIZE},
    {NULL, LAUNCHER_NUMBERS},
};

/* A rank that Hydra has not started tells its children numbers, but no way to
   Hydra. */
static bool is_child_of_rank(void) {
  return getenv(launcher_variables[0].name) && !getenv("PMI_FD") &&
         !getenv("PMI_PORT");
}

static int number_in(const char *variable, int otherwise) {
  const char *const text = getenv(variable);
  return text ? atoi(text) : otherwise;
}

/* Jobs have no numbers, and Hydra no folder. With a port, and of a starter that
   speaks PMIx, only the rank is known: there are so many processes at least.
   Open MPI's mpirun is none for this MPI. */
bool launcher_process(struct launcher_process *p) {
  const bool pmi = getenv("PMI_RANK") && !is_child_of_rank(),
             port = getenv("PMI_PORT") && getenv("PMI_ID"),
             pmix = getenv("PMIX_RANK") && !getenv("OMPI_COMM_WORLD_SIZE");
  const int rank = pmi    ? number_in("PMI_RANK", 0)
                   : port ? number_in("PMI_ID", 0)
                   : pmix ? number_in("PMIX_RANK", 0)
                          : 0;
  *p = (struct launcher_process){
      .rank = rank,
      .size = number_in("PMI_SIZE", rank + 1),
  };
  return pmi || port || pmix;
}

/* In a process of Open MPI's mpirun MPICH 5 finds a server of PMIx, which is
   not for it, and ends: without these it is a job of its own, which pems
   refuses or not. */
void launcher_choose(void) {
  if (getenv("OMPI_COMM_WORLD_SIZE")) {
    unsetenv("PMIX_NAMESPACE");
    unsetenv("PMIX_RANK");
    unsetenv("PMIX_VERSION");
  }
}

int launcher_allow_root(void) {
  return 0;
}

/* Its connections are TCP's: pemsrun notices a lost host itself. */
int launcher_watch_hosts(void) {
  return 0;
}

/* A process on its own asks for nothing. */
int launcher_begin_alone(const char *folder) {
  (void)folder;
  return 0;
}

void launcher_end_alone(void) {
}

int launcher_set_folder(const char *folder) {
  (void)folder;
  return 0;
}

int launcher_set_agent(const char *path) {
  (void)path;
  return 0;
}

bool launcher_has_folder(void) {
  return false;
}

bool launcher_reads(const char *variable) {
  return strncmp(variable, "HYDRA_", 6) == 0 ||
         strncmp(variable, "MPIEXEC_", 8) == 0 ||
         strncmp(variable, "MPIR_CVAR_", 10) == 0 ||
         strncmp(variable, "UCX_", 4) == 0;
}
