/* How much of their shares consumers have had. */
#ifndef PEMS_CONFIG_MEMORY_USED_H
#define PEMS_CONFIG_MEMORY_USED_H

#include <stdbool.h>
#include <stdint.h>

#include "config/memory_plan.h"

/* A consumer has taken or given back so many bytes. Thread-safe. */
void memory_used_add(enum memory_use use, uint64_t bytes);
void memory_used_sub(enum memory_use use, uint64_t bytes);
/* Takes them unless more than `bound` would be in use then. Thread-safe. */
bool memory_used_take(enum memory_use use, uint64_t bytes, uint64_t bound);
/* Now, and the most at any time since the process began. */
uint64_t memory_used_now(enum memory_use use);
uint64_t memory_used_most(enum memory_use use);

#endif
