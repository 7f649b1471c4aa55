#define _GNU_SOURCE
#include "os/traced.h"

#include <stdio.h>

bool traced_is(void) {
  char line[128];
  long tracer = 0;
  FILE *const f = fopen("/proc/self/status", "re");
  while (f && fgets(line, sizeof(line), f) &&
         sscanf(line, "TracerPid: %ld", &tracer) != 1) {
  }
  if (f) {
    fclose(f);
  }
  return tracer != 0;
}
