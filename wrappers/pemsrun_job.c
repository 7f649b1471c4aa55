/* The job that pemsrun is to start. */
#include "config.h"

#include "wrappers/pemsrun_job.h"

int pemsrun_job_processes(const struct pemsrun_job *j) {
  if (j->options.procs) {
    return j->options.procs;
  }
  return j->hosts.n ? hosts_slots(&j->hosts) : 1;
}

int pemsrun_job_most_on_host(const struct pemsrun_job *j) {
  int most = j->hosts.n ? 0 : pemsrun_job_processes(j);
  for (int i = 0; i < j->hosts.n; i++) {
    if (j->hosts.at[i].count > most) {
      most = j->hosts.at[i].count;
    }
  }
  return most;
}
