/* PRRTE, which starts Open MPI 5's processes: its variables. */
#define _GNU_SOURCE
#include "mpi_below/launcher.h"

#include <stdlib.h>
#include <string.h>

#define FOLDER "PRTE_MCA_prte_tmpdir_base"

static int number_in(const char *variable, int otherwise) {
  const char *const text = getenv(variable);
  return text ? atoi(text) : otherwise;
}

/* Another starter with PMIx has a folder of its own kind. */
static const char *own_session(void) {
  const char *const folder = getenv("PMIX_SERVER_TMPDIR");
  const char *const last = folder ? strrchr(folder, '/') : NULL;
  return last && (strncmp(last, "/ompi.", 6) == 0 ||
                  strncmp(last, "/prte.", 6) == 0 ||
                  strncmp(last, "/prted.", 7) == 0 ||
                  strncmp(last, "/dvm.", 5) == 0)
             ? folder
             : NULL;
}

/* The name of a job ("prterun-HOST-PID@1") holds no number that is the job's
   alone. */
bool launcher_process(struct launcher_process *p) {
  const bool started = getenv("PMIX_NAMESPACE");
  *p = (struct launcher_process){
      .rank = started ? number_in("OMPI_COMM_WORLD_RANK", -1) : 0,
      .size = started ? number_in("OMPI_COMM_WORLD_SIZE", 1) : 1,
      .session = own_session(),
  };
  return started;
}

/* sharedfp, shmem: as in launcher_orte.c. osc: where there is no network for
   it, ucx prints a line of each process; pems has no window there. smsc: as
   vader in launcher_orte.c. */
void launcher_choose(void) {
  (void)setenv("OMPI_MCA_sharedfp", "sm", 0);
  (void)setenv("OMPI_MCA_shmem", "mmap", 0);
  (void)setenv("OMPI_MCA_osc", "^ucx", 0);
  if (!launcher_may_read()) {
    (void)setenv("OMPI_MCA_smsc", "^cma", 0);
  }
}

/* Later than pemsrun and the processes notice it: these can say more. */
int launcher_watch_hosts(void) {
  return setenv("PRTE_MCA_oob_tcp_keepalive_time", "10", 0) ||
                 setenv("PRTE_MCA_oob_tcp_keepalive_intvl", "2", 0) ||
                 setenv("PRTE_MCA_oob_tcp_keepalive_probes", "8", 0)
             ? -1
             : 0;
}

/* What the environment said before a process on its own began, or NULL. */
static char *former_tmpdir;
static bool is_moved;

/* Such a process removes neither its folder, which is in $TMPDIR, nor the
   memory that it would share with others. */
static int move_files(const char *folder) {
  const char *const tmpdir = getenv("TMPDIR");
  former_tmpdir = tmpdir ? strdup(tmpdir) : NULL;
  is_moved = true;
  return (tmpdir && !former_tmpdir) || setenv("TMPDIR", folder, 1) ||
                 setenv("OMPI_MCA_btl_sm_backing_directory", folder, 1)
             ? -1
             : 0;
}

/* It needs no daemon. */
int launcher_begin_alone(const char *folder) {
  return folder ? move_files(folder) : 0;
}

void launcher_end_alone(void) {
  unsetenv(FOLDER);
  if (!is_moved) {
    return;
  }
  unsetenv("OMPI_MCA_btl_sm_backing_directory");
  if (former_tmpdir) {
    (void)setenv("TMPDIR", former_tmpdir, 1);
  } else {
    unsetenv("TMPDIR");
  }
  free(former_tmpdir);
  former_tmpdir = NULL;
  is_moved = false;
}

int launcher_set_folder(const char *folder) {
  return setenv(FOLDER, folder, 1);
}

int launcher_set_agent(const char *path) {
  return path ? setenv("PRTE_MCA_prte_fork_agent", path, 0)
              : unsetenv("PRTE_MCA_prte_fork_agent");
}

bool launcher_has_folder(void) {
  return getenv(FOLDER) || getenv("PRTE_MCA_prte_local_tmpdir_base");
}

bool launcher_reads(const char *variable) {
  return strncmp(variable, "OMPI_", 5) == 0 ||
         strncmp(variable, "PRTE_", 5) == 0 ||
         strncmp(variable, "PMIX_", 5) == 0;
}
