/* ORTE, which starts Open MPI 4's processes: its variables. */
#include "mpi_below/launcher.h"

#include <stdlib.h>
#include <string.h>

static int number_in(const char *variable, int otherwise) {
  const char *const text = getenv(variable);
  return text ? atoi(text) : otherwise;
}

bool launcher_process(struct launcher_process *p) {
  const char *const job = getenv("PMIX_NAMESPACE");
  *p = (struct launcher_process){
      .rank = job ? number_in("OMPI_COMM_WORLD_RANK", -1) : 0,
      .size = job ? number_in("OMPI_COMM_WORLD_SIZE", 1) : 1,
      .job = job ? strtoul(job, NULL, 10) : 0,
      .session = getenv("OMPI_MCA_orte_jobfam_session_dir"),
  };
  return job;
}

/* sharedfp: a file that one process has open needs no shared pointer, and of
   the ways to have one, only this leaves nothing beside the file. shmem: of the
   ways to have shared memory, the one that is taken anyway, without a try of
   the others, which has a name. vader: no copies from memory that cannot be
   read. */
void launcher_choose(void) {
  (void)setenv("OMPI_MCA_sharedfp", "sm", 0);
  (void)setenv("OMPI_MCA_shmem", "mmap", 0);
  if (!launcher_may_read()) {
    (void)setenv("OMPI_MCA_btl_vader_single_copy_mechanism", "none", 0);
  }
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
int launcher_begin_alone(const char *folder) {
  (void)folder;
  return setenv("OMPI_MCA_ess_singleton_isolated", "1", 1);
}

void launcher_end_alone(void) {
  unsetenv("OMPI_MCA_orte_tmpdir_base");
  unsetenv("OMPI_MCA_ess_singleton_isolated");
}

int launcher_set_folder(const char *folder) {
  return setenv("OMPI_MCA_orte_tmpdir_base", folder, 1);
}

int launcher_set_agent(const char *path) {
  return path ? setenv("OMPI_MCA_orte_fork_agent", path, 0)
              : unsetenv("OMPI_MCA_orte_fork_agent");
}

bool launcher_has_folder(void) {
  return getenv("OMPI_MCA_orte_tmpdir_base") ||
         getenv("OMPI_MCA_orte_local_tmpdir_base");
}

bool launcher_reads(const char *variable) {
  return strncmp(variable, "OMPI_", 5) == 0;
}
