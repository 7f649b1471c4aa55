/* Open MPI's mpirun. */
#include "mpi_below/launcher.h"

#include <stdlib.h>
#include <string.h>

#include "config.h"

static const char *const quiet[] = {
    PEMS_MPIRUN_QUIET[0] ? PEMS_MPIRUN_QUIET : NULL, NULL};
static const char *const oversubscribe[] = {"--oversubscribe", NULL};
static const char *const unbound[] = {"--bind-to", "none", NULL};
static const char *const yielding[] = {"--mca", "mpi_yield_when_idle", "1",
                                       NULL};
static const char *const in_order[] = {"--map-by", "seq", NULL};

/* As `mpirun --help unsupported` of Open MPI 4.1 lists them. */
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
    {"fwd-mpirun-port", 0, LAUNCHER_OTHER},
    {"get-stack-traces", 0, LAUNCHER_OTHER},
    {"gmca", 2, LAUNCHER_OTHER},
    {"hnp", 1, LAUNCHER_OTHER},
    {"host", 1, LAUNCHER_HOSTS},
    {"hostfile", 1, LAUNCHER_HOSTFILE},
    {"index-argv-by-rank", 0, LAUNCHER_OTHER},
    {"launch-agent", 1, LAUNCHER_OTHER},
    {"leave-session-attached", 0, LAUNCHER_OTHER},
    {"machinefile", 1, LAUNCHER_HOSTFILE},
    {"map-by", 1, LAUNCHER_MAP},
    {"max-restarts", 1, LAUNCHER_OTHER},
    {"max-vm-size", 1, LAUNCHER_OTHER},
    {"mca", 2, LAUNCHER_OTHER},
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
    {"output-filename", 1, LAUNCHER_OTHER},
    {"output-proctable", 0, LAUNCHER_OTHER},
    {"oversubscribe", 0, LAUNCHER_SLOTS},
    {"path", 1, LAUNCHER_OTHER},
    {"pernode", 0, LAUNCHER_REFUSED},
    {"personality", 1, LAUNCHER_OTHER},
    {"ppr", 1, LAUNCHER_MAP},
    {"prefix", 1, LAUNCHER_OTHER},
    {"preload-binary", 0, LAUNCHER_OTHER},
    {"preload-files", 1, LAUNCHER_OTHER},
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
    {"s", 0, LAUNCHER_OTHER},
    {"set-cwd-to-session-dir", 0, LAUNCHER_OTHER},
    {"show-progress", 0, LAUNCHER_OTHER},
    {"stdin", 1, LAUNCHER_OTHER},
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
    {"x", 1, LAUNCHER_OTHER},
    {"xml", 0, LAUNCHER_OTHER},
    {"xml-file", 1, LAUNCHER_OTHER},
    {"xterm", 1, LAUNCHER_OTHER},
    {NULL, 0, LAUNCHER_OTHER},
};

const struct launcher launcher = {
    .name = "Open MPI",
    .command = PEMS_MPIRUN,
    .quiet = quiet,
    .oversubscribe = oversubscribe,
    .unbound = unbound,
    .yielding = yielding,
    .in_order = in_order,
    .host_list = "--host",
    .forward = "-x",
    .folder_option = "tmpdir_base",
    .options = options,
};

const struct launcher_option *launcher_option_find(const char *arg) {
  arg += strspn(arg, "-");
  for (const struct launcher_option *o = launcher.options; o->name; o++) {
    if (strcmp(arg, o->name) == 0) {
      return o;
    }
  }
  return NULL;
}

int launcher_allow_root(void) {
  return setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 1) ||
                 setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 1)
             ? -1
             : 0;
}

/* Later than pemsrun and the processes notice it: these can say more. */
int launcher_watch_hosts(void) {
  return setenv("OMPI_MCA_oob_tcp_keepalive_time", "10", 0) ||
                 setenv("OMPI_MCA_oob_tcp_keepalive_intvl", "2", 0) ||
                 setenv("OMPI_MCA_oob_tcp_keepalive_probes", "8", 0)
             ? -1
             : 0;
}

/* Else it would start a daemon. */
int launcher_begin_alone(void) {
  return setenv("OMPI_MCA_ess_singleton_isolated", "1", 1);
}

void launcher_end_alone(void) {
  unsetenv("OMPI_MCA_orte_tmpdir_base");
  unsetenv("OMPI_MCA_ess_singleton_isolated");
}

int launcher_set_folder(const char *folder) {
  return setenv("OMPI_MCA_orte_tmpdir_base", folder, 1);
}

bool launcher_has_folder(void) {
  return getenv("OMPI_MCA_orte_tmpdir_base") ||
         getenv("OMPI_MCA_orte_local_tmpdir_base");
}

bool launcher_reads(const char *variable) {
  return strncmp(variable, "OMPI_", 5) == 0;
}
