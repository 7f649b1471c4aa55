#include "base/self.h"

__thread struct self self;
__thread volatile uint64_t self_held;
void (*self_release)(void);
