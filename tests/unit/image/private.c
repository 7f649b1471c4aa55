/* A program that uses all that libpems_private.a replaces. */
#define _GNU_SOURCE
#include "image_test.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern char **__environ;
int __posix_getopt(int argc, char *const *argv, const char *shorts);
int __printf_chk(int flag, const char *format, ...);

int main(int argc, char **argv) {
  if (argc != 2) {
    return 1;
  }
  *(struct private *)(uintptr_t)argv[1] = (struct private){
      .rand = rand,
      .srand = srand,
      .random = random,
      .srandom = srandom,
      .initstate = initstate,
      .setstate = setstate,
      .drand48 = drand48,
      .erand48 = erand48,
      .lrand48 = lrand48,
      .nrand48 = nrand48,
      .mrand48 = mrand48,
      .jrand48 = jrand48,
      .srand48 = srand48,
      .seed48 = seed48,
      .lcong48 = lcong48,
      .strtok = strtok,
      .hcreate = hcreate,
      .hsearch = hsearch,
      .hdestroy = hdestroy,
      .localtime = localtime,
      .gmtime = gmtime,
      .asctime = asctime,
      .ctime = ctime,
      .getopt = getopt,
      .posix_getopt = __posix_getopt,
      .getopt_long = getopt_long,
      .getopt_long_only = getopt_long_only,
      .optarg = &optarg,
      .optind = &optind,
      .opterr = &opterr,
      .optopt = &optopt,
      .getenv = getenv,
      .secure_getenv = secure_getenv,
      .setenv = setenv,
      .unsetenv = unsetenv,
      .putenv = putenv,
      .clearenv = clearenv,
      .environ = &environ,
      .environ_too = &__environ,
      .out = &stdout,
      .printf = printf,
      .vprintf = vprintf,
      .printf_chk = __printf_chk,
      .puts = puts,
      .putchar = putchar,
      .putchar_unlocked = putchar_unlocked,
      .wprintf = wprintf,
      .putwchar = putwchar,
      .fflush = fflush,
      .fclose = fclose,
      .freopen = freopen,
      .setvbuf = setvbuf,
      .setbuf = setbuf,
  };
  return MAIN_RETURNS;
}
