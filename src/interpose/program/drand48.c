/* The drand48 family with a state of this copy's own. */
#define _GNU_SOURCE
#include <stdlib.h>

static struct drand48_data data; /* all zero is the state at start */

double drand48(void) {
  double value;
  drand48_r(&data, &value);
  return value;
}

double erand48(unsigned short x[3]) {
  double value;
  erand48_r(x, &data, &value);
  return value;
}

long lrand48(void) {
  long value;
  lrand48_r(&data, &value);
  return value;
}

long nrand48(unsigned short x[3]) {
  long value;
  nrand48_r(x, &data, &value);
  return value;
}

long mrand48(void) {
  long value;
  mrand48_r(&data, &value);
  return value;
}

long jrand48(unsigned short x[3]) {
  long value;
  jrand48_r(x, &data, &value);
  return value;
}

void srand48(long seed) {
  srand48_r(seed, &data);
}

unsigned short *seed48(unsigned short x[3]) {
  seed48_r(x, &data);
  return data.__old_x;
}

void lcong48(unsigned short parameters[7]) {
  lcong48_r(parameters, &data);
}
