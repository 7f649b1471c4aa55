/* The command line of sort(1). */
#ifndef PEMS_WRAPPERS_PEMS_SORT_LINES_OPTIONS_H
#define PEMS_WRAPPERS_PEMS_SORT_LINES_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "em/lines/key_order.h"
#include "em/lines/line_sort.h"
#include "wrappers/sort/pems_sort_columns.h"
#include "wrappers/sort/pems_sort_lines_values.h"

/* What files are: lines of text, or tables. */
enum sort_table { SORT_TABLE_NONE, SORT_TABLE_CSV, SORT_TABLE_TSV };

struct sort_lines_command {
  struct key_order order;
  struct line_sort_options sort; /* order and paths are set */
  enum sort_check check;
  enum sort_table table;
  bool headed;
  struct line_header header;   /* sort.header, of tables too */
  struct sort_columns columns; /* of keys of a table */
  const char **key;            /* allocated */
  size_t keys;
  bool stats, progress;
  const char **path, **disk; /* allocated */
  size_t paths, disks;
  const char *random_source; /* or NULL */
  char *names;               /* of --files0-from, or NULL */
};

/* Reads the command line, or ends the process: with a message and MSG_USAGE, or
   after --help and --version. */
void sort_lines_read(struct sort_lines_command *c, int argc, char **argv);

#endif
