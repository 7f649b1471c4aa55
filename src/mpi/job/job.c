#define _GNU_SOURCE
#include "mpi/job/job.h"

#include <unistd.h>

#include "base/message.h"
#include "mpi_below/net.h"

void job_say_error(const struct job_setup *job) {
  char host[256] = "";
  if (net_host_size() == net_size() || gethostname(host, sizeof(host) - 1)) {
    msg_warn("%s", job->error.text);
  } else {
    msg_warn("host %s: %s", host, job->error.text);
  }
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
