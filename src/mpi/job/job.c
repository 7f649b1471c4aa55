#include "mpi/job/job.h"

#include "base/message.h"
#include "mpi_below/net.h"

void job_say_error(const struct job_setup *job) {
  msg_warn_here("%s", job->error.text);
}

void job_agree(const struct job_setup *job, int failed) {
  const int first = net_first_failed(failed);
  if (first < 0) {
    return;
  }
  if (first == net_rank()) {
    job_say_error(job);
  }
  net_finish();
  msg_quit(MSG_USAGE);
}
