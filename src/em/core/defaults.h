/* What users who do not say get: a share of this machine. */
#ifndef PEMS_EM_CORE_DEFAULTS_H
#define PEMS_EM_CORE_DEFAULTS_H

#include <stdint.h>

/* A quarter of what the cgroup or the machine has, in bytes. The machine is
   looked at once per process. Thread-safe. */
uint64_t defaults_memory(void);
/* One per core that the process may use. */
int defaults_threads(void);

#endif
