/* The command line of pems-sort. */
#ifndef PEMS_WRAPPERS_PEMS_SORT_OPTIONS_H
#define PEMS_WRAPPERS_PEMS_SORT_OPTIONS_H

#include <stdio.h>

#include "pems/sort.h"
#include "wrappers/sort/pems_sort_keys.h"

/* What stands for standard input and output. */
#define SORT_STANDARD "-"
#define SORT_MOST_DISKS 1024

struct sort_command {
  struct pems_sort_options sort;
  struct sort_keys keys;      /* which sort.record may point to */
  const char *input, *output; /* SORT_STANDARD, or paths */
  const char *disk[SORT_MOST_DISKS];
  int check;  /* do not sort, only look */
  int verify; /* count and checksum before and after */
  int stats, progress;
};

/* Reads the command line, or ends the process: with a message and MSG_USAGE, or
   after --help and --version. */
void sort_options_read(struct sort_command *c, int argc, char **argv);

#endif
