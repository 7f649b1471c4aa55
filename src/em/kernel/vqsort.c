#include "em/kernel/vqsort.h"

#include "config.h"

#include <stdbool.h>

/* Highway's names of what these sets need: every processor with the last
   instruction asked for has the rest, too, but an emulator may not. */
#if HAVE_HWY
extern const struct vqsort vqsort_avx512, vqsort_avx2;

static bool have_avx2(void) {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
         __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&
         __builtin_cpu_supports("aes") && __builtin_cpu_supports("pclmul");
}

static bool have_avx512(void) {
  return have_avx2() && __builtin_cpu_supports("avx512f") &&
         __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512vl") &&
         __builtin_cpu_supports("avx512cd");
}
#endif

const struct vqsort *const *vqsort_all(void) {
  static const struct vqsort *const none[] = {NULL};
#if HAVE_HWY
  static const struct vqsort *const all[] = {&vqsort_avx512, &vqsort_avx2,
                                             NULL};
  if (have_avx512()) {
    return all;
  }
  if (have_avx2()) {
    return all + 1;
  }
#endif
  return none;
}

const struct vqsort *vqsort_best(void) {
  return vqsort_all()[0];
}
