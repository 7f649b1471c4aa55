/* Open MPI's mpirun: its options, and what versions 4 and 5 read alike from the
   environment. What else they and their processes read there is
   launcher_orte.c's matter in Open MPI 4, launcher_prrte.c's in Open MPI 5. */
#include "config.h"
#include "mpi_below/launcher.h"
#include "mpi_below/launcher_variables.h"

#include <mpi.h>
#include <stddef.h>
#include <stdlib.h>

/* PRRTE's is the rest, modulo 256, of a negative code of PMIx. */
enum { TIMED_OUT_ORTE = 110, TIMED_OUT_PRRTE = 241 };

static const char *const quiet[] = {
    PEMS_MPIRUN_QUIET[0] ? PEMS_MPIRUN_QUIET : NULL, NULL};
static const char *const oversubscribe[] = {"--oversubscribe", NULL};
static const char *const unbound[] = {"--bind-to", "none", NULL};
static const char *const yielding[] = {"--mca", "mpi_yield_when_idle", "1",
                                       NULL};
static const char *const in_order[] = {"--map-by", "seq", NULL};

/* As `mpirun --help unsupported` of Open MPI 4.1 lists them, and those that
   Open MPI 5 added. */
static const struct launcher_option options[] = {
    {"H", 1, LAUNCHER_HOSTS},
    {"N", 1, LAUNCHER_REFUSED},
    {"allow-run-as-root", 0, LAUNCHER_OTHER},
    {"am", 1, LAUNCHER_OTHER},
    {"app", 1, LAUNCHER_REFUSED},
    {"bind-to", 1, LAUNCHER_BIND},
    {"bind-to-core", 0, LAUNCHER_BIND},
    {"bind-to-socket", 0, LAUNCHER_BIND},
    {"bycore", 0, LAUNCHER_MAP},
    {"bynode", 0, LAUNCHER_MAP},
    {"byslot", 0, LAUNCHER_MAP},
    {"c", 1, LAUNCHER_COUNT},
    {"cartofile", 1, LAUNCHER_OTHER},
    {"cf", 1, LAUNCHER_OTHER},
    {"continuous", 0, LAUNCHER_OTHER},
    {"cpu-list", 1, LAUNCHER_BIND},
    {"cpu-set", 1, LAUNCHER_BIND},
    {"cpus-per-proc", 1, LAUNCHER_MAP},
    {"cpus-per-rank", 1, LAUNCHER_MAP},
    {"d", 0, LAUNCHER_OTHER},
    {"debug", 0, LAUNCHER_OTHER},
    {"debug-daemons", 0, LAUNCHER_OTHER},
    {"debug-daemons-file", 0, LAUNCHER_OTHER},
    {"debug-devel", 0, LAUNCHER_OTHER},
    {"debugger", 1, LAUNCHER_OTHER},
    {"default-hostfile", 1, LAUNCHER_HOSTFILE},
    {"disable-recovery", 0, LAUNCHER_OTHER},
    {"display", 1, LAUNCHER_OTHER},
    {"display-allocation", 0, LAUNCHER_OTHER},
    {"display-devel-allocation", 0, LAUNCHER_OTHER},
    {"display-devel-map", 0, LAUNCHER_OTHER},
    {"display-diffable-map", 0, LAUNCHER_OTHER},
    {"display-map", 0, LAUNCHER_OTHER},
    {"display-topo", 0, LAUNCHER_OTHER},
    {"do-not-launch", 0, LAUNCHER_OTHER},
    {"do-not-resolve", 0, LAUNCHER_OTHER},
    {"dvm", 0, LAUNCHER_OTHER},
    {"enable-instant-on-support", 0, LAUNCHER_OTHER},
    {"enable-recovery", 0, LAUNCHER_OTHER},
    {"exec-agent", 1, LAUNCHER_OTHER},
    {"forward-signals", 1, LAUNCHER_OTHER},
    {"fwd-mpirun-port", 0, LAUNCHER_OTHER},
    {"get-stack-traces", 0, LAUNCHER_OTHER},
    {"gmca", 2, LAUNCHER_OTHER},
    {"gpu-support", 1, LAUNCHER_OTHER},
    {"hnp", 1, LAUNCHER_OTHER},
    {"host", 1, LAUNCHER_HOSTS},
    {"hostfile", 1, LAUNCHER_HOSTFILE},
    {"index-argv-by-rank", 0, LAUNCHER_OTHER},
    {"initial-errhandler", 1, LAUNCHER_OTHER},
    {"keep-fqdn-hostnames", 0, LAUNCHER_OTHER},
    {"launch-agent", 1, LAUNCHER_OTHER},
    {"leave-session-attached", 0, LAUNCHER_OTHER},
    {"machinefile", 1, LAUNCHER_HOSTFILE},
    {"map-by", 1, LAUNCHER_MAP},
    {"max-restarts", 1, LAUNCHER_OTHER},
    {"max-vm-size", 1, LAUNCHER_OTHER},
    {"mca", 2, LAUNCHER_OTHER},
    {"memory-alloc-kind", 1, LAUNCHER_OTHER},
    {"merge-stderr-to-stdout", 0, LAUNCHER_OTHER},
    {"n", 1, LAUNCHER_COUNT},
    {"nolocal", 0, LAUNCHER_OTHER},
    {"nooversubscribe", 0, LAUNCHER_SLOTS},
    {"noprefix", 0, LAUNCHER_OTHER},
    {"novm", 0, LAUNCHER_OTHER},
    {"np", 1, LAUNCHER_COUNT},
    {"npernode", 1, LAUNCHER_REFUSED},
    {"npersocket", 1, LAUNCHER_REFUSED},
    {"ompi-server", 1, LAUNCHER_OTHER},
    {"output", 1, LAUNCHER_OTHER},
    {"output-directory", 1, LAUNCHER_OTHER},
    {"output-filename", 1, LAUNCHER_OTHER},
    {"output-proctable", 0, LAUNCHER_OTHER},
    {"oversubscribe", 0, LAUNCHER_SLOTS},
    {"pass-environ-mca-params", 0, LAUNCHER_OTHER},
    {"path", 1, LAUNCHER_OTHER},
    {"pernode", 0, LAUNCHER_REFUSED},
    {"personality", 1, LAUNCHER_OTHER},
    {"pidfile", 1, LAUNCHER_OTHER},
    {"pmixmca", 2, LAUNCHER_OTHER},
    {"ppr", 1, LAUNCHER_MAP},
    {"prefix", 1, LAUNCHER_OTHER},
    {"preload-binary", 0, LAUNCHER_OTHER},
    {"preload-files", 1, LAUNCHER_OTHER},
    {"prtemca", 2, LAUNCHER_OTHER},
    {"pset", 1, LAUNCHER_OTHER},
    {"q", 0, LAUNCHER_OTHER},
    {"quiet", 0, LAUNCHER_OTHER},
    {"rank-by", 1, LAUNCHER_OTHER},
    {"rankfile", 1, LAUNCHER_MAP},
    {"report-bindings", 0, LAUNCHER_OTHER},
    {"report-child-jobs-separately", 0, LAUNCHER_OTHER},
    {"report-events", 1, LAUNCHER_OTHER},
    {"report-pid", 1, LAUNCHER_OTHER},
    {"report-state-on-timeout", 0, LAUNCHER_OTHER},
    {"report-uri", 1, LAUNCHER_OTHER},
    {"rf", 1, LAUNCHER_MAP},
    {"rtos", 1, LAUNCHER_OTHER},
    {"runtime-options", 1, LAUNCHER_OTHER},
    {"s", 0, LAUNCHER_OTHER},
    {"set-cwd-to-session-dir", 0, LAUNCHER_OTHER},
    {"set-sid", 0, LAUNCHER_OTHER},
    {"show-progress", 0, LAUNCHER_OTHER},
    {"spawn-timeout", 1, LAUNCHER_OTHER},
    {"stdin", 1, LAUNCHER_OTHER},
    {"stop-in-app", 0, LAUNCHER_OTHER},
    {"stop-in-init", 0, LAUNCHER_OTHER},
    {"stop-on-exec", 0, LAUNCHER_OTHER},
    {"stream-buffering", 1, LAUNCHER_OTHER},
    {"tag-output", 0, LAUNCHER_TAG},
    {"timeout", 1, LAUNCHER_TIMEOUT},
    {"timestamp-output", 0, LAUNCHER_OTHER},
    {"tune", 1, LAUNCHER_OTHER},
    {"tv", 0, LAUNCHER_OTHER},
    {"use-hwthread-cpus", 0, LAUNCHER_OTHER},
    {"use-regexp", 0, LAUNCHER_OTHER},
    {"v", 0, LAUNCHER_OTHER},
    {"verbose", 0, LAUNCHER_OTHER},
    {"wd", 1, LAUNCHER_WDIR},
    {"wdir", 1, LAUNCHER_WDIR},
    {"with-ft", 1, LAUNCHER_OTHER},
    {"x", 1, LAUNCHER_OTHER},
    {"xml", 0, LAUNCHER_OTHER},
    {"xml-file", 1, LAUNCHER_OTHER},
    {"xterm", 1, LAUNCHER_OTHER},
    {NULL, 0, LAUNCHER_OTHER},
};

static const char *const starters[] = {
    "mpirun", "prterun", "orterun", "mpiexec", "orted", "prted", NULL};

static const char *const none[] = {NULL};

const struct launcher launcher = {
    .name = "Open MPI",
    .command = PEMS_MPIRUN,
    .quiet = quiet,
    .oversubscribe = oversubscribe,
    .unbound = unbound,
    .yielding = yielding,
    .in_order = in_order,
    .by_name = none,
    .host_list = "--host",
    .forward = "-x",
    .folder_option = "tmpdir_base",
    .starters = starters,
    .daemon = PEMS_OMPI_DAEMON,
    .options = options,
    .timed_out = PEMS_MPIRUN_QUIET[0] ? TIMED_OUT_ORTE : TIMED_OUT_PRRTE,
};

const struct launcher_variable launcher_variables[] = {
    {"OMPI_COMM_WORLD_RANK", LAUNCHER_RANK},
    {"OMPI_COMM_WORLD_SIZE", LAUNCHER_SIZE},
    {"OMPI_COMM_WORLD_LOCAL_RANK", LAUNCHER_LOCAL_RANK},
    {"OMPI_COMM_WORLD_LOCAL_SIZE", LAUNCHER_LOCAL_SIZE},
    {"OMPI_COMM_WORLD_NODE_RANK", LAUNCHER_LOCAL_RANK},
    {"OMPI_UNIVERSE_SIZE", LAUNCHER_UNIVERSE},
#if OMPI_MAJOR_VERSION >= 5
    {"OMPI_WORLD_SIZE", LAUNCHER_SIZE},
    {"OMPI_WORLD_LOCAL_SIZE", LAUNCHER_LOCAL_SIZE},
    {"OMPI_MCA_num_procs", LAUNCHER_SIZE},
#else
    {"OMPI_APP_CTX_NUM_PROCS", LAUNCHER_SIZE},
    {"OMPI_MCA_ess_base_vpid", LAUNCHER_RANK},
    {"OMPI_MCA_orte_ess_node_rank", LAUNCHER_LOCAL_RANK},
    {"OMPI_MCA_orte_ess_num_procs", LAUNCHER_SIZE},
#endif
    {"PMIX_RANK", LAUNCHER_RANK},
    {NULL, LAUNCHER_NUMBERS},
};

int launcher_allow_root(void) {
  return setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 1) ||
                 setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 1)
             ? -1
             : 0;
}
