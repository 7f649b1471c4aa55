/* Priorities from real numbers. */
#include <math.h>
#include <string.h>

#include "pems/sched.h"

#define SIGN (UINT64_C(1) << 63)

uint64_t pems_sched_real(double x) {
  uint64_t bits;
  if (isnan(x)) {
    return UINT64_MAX;
  }
  memcpy(&bits, &x, sizeof(bits));
  return bits & SIGN ? ~bits : bits | SIGN;
}

uint64_t pems_sched_fixed(double x, double unit) {
  const double units = x / unit;
  if (!(units < 0x1p63)) { /* or no number */
    return UINT64_MAX;
  }
  if (units < -0x1p63) {
    return 0;
  }
  /* Rounded towards 0 first; exact from 2^52 on. */
  const int64_t whole = (int64_t)units;
  return (uint64_t)whole + SIGN - ((double)whole > units);
}
