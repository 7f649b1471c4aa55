/* The command line of pems-sort. */
#ifndef PEMS_WRAPPERS_PEMS_SORT_OPTIONS_H
#define PEMS_WRAPPERS_PEMS_SORT_OPTIONS_H

#include <stdio.h>

#include "pems/sort.h"

/* What stands for standard input and output. */
#define SORT_STANDARD "-"
/* A line is a record of so many bytes and its length, of two. */
#define SORT_LENGTH_BYTES 2
#define SORT_LONGEST_LINE (PEMS_RECORD_MOST - SORT_LENGTH_BYTES)
#define SORT_MOST_DISKS 1024

struct sort_command {
  struct pems_sort_options sort; /* record: for lines it is set later */
  const char *input, *output;    /* SORT_STANDARD, or paths */
  const char *disk[SORT_MOST_DISKS];
  int lines;      /* text, else records */
  size_t longest; /* bytes of a line; 0: as the input has */
  int check;      /* do not sort, only look */
  int verify;     /* count and checksum before and after */
  int stats, progress;
};

/* Reads the command line, or ends the process: with a message and MSG_USAGE, or
   after --help and --version. */
void sort_options_read(struct sort_command *c, int argc, char **argv);

#endif
