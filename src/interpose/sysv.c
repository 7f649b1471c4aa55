/* System V's shared memory, interposed: a rank that has some cannot be saved.
 */
#define _GNU_SOURCE
#include "interpose/malloc.h"
#include "interpose/real.h"

#include "base/self.h"
#include "vp/vp.h"

#include <stdint.h>
#include <sys/shm.h>

#define EXPORT __attribute__((visibility("default")))
#define CALLER __builtin_return_address(0)

EXPORT void *shmat(int id, const void *at, int flags) {
  INTERPOSE_REAL(shmat)
  void *const p = real(id, at, flags);
  if ((intptr_t)p != -1 && malloc_is_program(CALLER)) {
    self.vp->attached++;
  }
  return p;
}

EXPORT int shmdt(const void *p) {
  INTERPOSE_REAL(shmdt)
  const int code = real(p);
  if (code == 0 && malloc_is_program(CALLER)) {
    self.vp->attached--;
  }
  return code;
}
