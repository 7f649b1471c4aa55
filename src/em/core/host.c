#include "em/core/host.h"

#include "base/counters.h"
#include "base/message.h"

__attribute__((visibility("default"))) int
pems_em_attach(struct pems_em_host *host) {
  if (host->size != sizeof(*host)) {
    return -1;
  }
  host->counters = &counters;
  msg_set_notice(host->notice);
  return 0;
}
