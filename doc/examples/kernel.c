/* SPDX-License-Identifier: BSD-3-Clause */
/* <pems/kernel.h>: loops that are compiled for an order of the program's own:
   numbers by their distance from zero. */
#include <pems/kernel.h>
#include <pems/sort.h>
#include <stdio.h>
#include <stdlib.h>

static int compare(const void *a, const void *b, void *context) {
  const int x = abs(*(const int *)a), y = abs(*(const int *)b);
  (void)context;
  return (x > y) - (x < y);
}

static size_t sort_work(size_t n, int stable) {
  (void)n, (void)stable;
  return 0;
}

/* By insertion, which is stable: enough for an example. */
static void sort(void *records, uint32_t *index, size_t n, int stable,
                 void *work, void *context) {
  int *const x = records;
  (void)index, (void)stable, (void)work, (void)context;
  for (size_t i = 1; i < n; i++) {
    const int last = x[i];
    size_t at = i;
    for (; at > 0 && abs(x[at - 1]) > abs(last); at--) {
      x[at] = x[at - 1];
    }
    x[at] = last;
  }
}

/* `work` has room for where each piece stands. */
static void merge(const struct pems_kernel_piece *piece, int pieces,
                  size_t count, int stable, void *out, void *work,
                  void *context) {
  size_t *const at = work;
  int *const to = out;
  (void)stable, (void)context;
  for (int i = 0; i < pieces; i++) {
    at[i] = 0;
  }
  for (size_t done = 0; done < count; done++) {
    int least = -1;
    for (int i = 0; i < pieces; i++) {
      if (at[i] < piece[i].n &&
          (least < 0 || abs(((const int *)piece[i].at)[at[i]]) <
                            abs(((const int *)piece[least].at)[at[least]]))) {
        least = i;
      }
    }
    to[done] = ((const int *)piece[least].at)[at[least]++];
  }
}

int main(void) {
  const struct pems_kernel kernel = {.size = sizeof kernel,
                                     .record = sizeof(int),
                                     .sort_work = sort_work,
                                     .sort = sort,
                                     .merge = merge};
  const int numbers[] = {5, -1, 3, -4, 2};
  struct pems_sort_options options = {0};
  struct pems_error error = {0};
  struct pems_sorter *sorter;
  const int *number;
  options.record.size = sizeof(int);
  options.record.compare = compare;
  options.record.kernel = &kernel;
  options.memory = 64 << 20;
  if (pems_sorter_new(&sorter, &options, &error) == 0) {
    if (pems_sorter_push(sorter, numbers, 5, &error) == 0 &&
        pems_sorter_finish(sorter, &error) == 0) {
      while ((number = pems_sorter_next(sorter, &error))) {
        printf("%d\n", *number);
      }
    }
    pems_sorter_free(sorter);
  }
  if (error.code) {
    fprintf(stderr, "%s\n", error.text);
  }
  return error.code != 0;
}
