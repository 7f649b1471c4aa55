#include "base/counters.h"

struct counters counters;
const struct counters *counters_joined;
