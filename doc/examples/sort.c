/* SPDX-License-Identifier: BSD-3-Clause */
/* <pems/sort.h>: sorts the numbers that it reads. It reads standard input. */
#include <pems/sort.h>
#include <stdio.h>

int main(void) {
  struct pems_sort_options options = {0};
  struct pems_sorter *sorter;
  struct pems_error error = {0};
  const double *number;
  double x;
  options.record.size = sizeof x;
  options.record.key = PEMS_KEY_F64;
  options.memory = 64 << 20;
  if (pems_sorter_new(&sorter, &options, &error) == 0) {
    while (scanf("%lf", &x) == 1) {
      if (pems_sorter_push(sorter, &x, 1, &error)) {
        break;
      }
    }
    if (!error.code) {
      pems_sorter_finish(sorter, &error);
    }
    while (!error.code && (number = pems_sorter_next(sorter, &error))) {
      printf("%g\n", *number);
    }
    pems_sorter_free(sorter);
  }
  if (error.code) {
    fprintf(stderr, "%s\n", error.text);
  }
  return error.code != 0;
}
