/* SPDX-License-Identifier: BSD-3-Clause */
/* <pems/version.h>: which version a program was compiled for, and is the
 * library not older? */
#include <pems/version.h>
#include <stdio.h>

int main(void) {
  printf("%s", PEMS_VERSION_STRING);
  puts(pems_version_number() >= PEMS_VERSION_NUMBER ? "" : ": old library");
  return 0;
}
