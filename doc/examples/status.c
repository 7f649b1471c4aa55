/* SPDX-License-Identifier: BSD-3-Clause */
/* <pems/status.h>: an error is a number and a line that says what to do. */
#include <errno.h>
#include <pems/record.h>
#include <pems/status.h>
#include <stdio.h>

int main(void) {
  struct pems_error error = {0};
  const struct pems_record nothing = {0};
  if (pems_record_check(&nothing, &error) == EINVAL && error.code == EINVAL) {
    puts("EINVAL");
    fprintf(stderr, "%s\n", error.text);
  }
  return 0;
}
