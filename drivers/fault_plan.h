/* What the driver "fault" is told to do, from the text behind its name. */
#ifndef PEMS_DRIVERS_FAULT_PLAN_H
#define PEMS_DRIVERS_FAULT_PLAN_H

#include <stdint.h>

struct fault_plan {
  /* Numbers of requests, 0: none. */
  uint64_t read_at, write_at, torn_at, short_at;
  int read_error, write_error;
  uint64_t after;    /* writes beyond so many bytes fail, with: */
  int after_error;   /* 0: none do */
  uint64_t grant_at; /* number of a grant, 0: none */
  int grant_error;
  uint64_t room;  /* bytes that are granted in all, at most; 0: no limit */
  uint64_t delay; /* microseconds */
  uint64_t every; /* each so manieth request is delayed */
  uint64_t seek;  /* microseconds that each takes, one after the other */
  uint64_t rate;  /* and 10^6 bytes a second; 0: no limit */
};

/* Reads everything past the inner driver's name, ",read=5:EIO,...", into *plan,
   which is all 0 before; -1 if it makes no sense. */
int fault_plan_parse(const char *text, struct fault_plan *plan);

#endif
