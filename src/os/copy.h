/* Copies of what is mostly a number. */
#ifndef PEMS_OS_COPY_H
#define PEMS_OS_COPY_H

#include <stddef.h>
#include <string.h>

/* As memcpy; 4, 8 and 16 bytes without a call. */
static inline void copy_small(void *to, const void *from, size_t n) {
  switch (n) {
  case 4:
    memcpy(to, from, 4);
    break;
  case 8:
    memcpy(to, from, 8);
    break;
  case 16:
    memcpy(to, from, 16);
    break;
  default:
    memcpy(to, from, n);
  }
}

#endif
