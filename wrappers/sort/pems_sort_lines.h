/* pems-sort as sort(1): lines of text, with all that POSIX and GNU have. */
#ifndef PEMS_WRAPPERS_PEMS_SORT_LINES_H
#define PEMS_WRAPPERS_PEMS_SORT_LINES_H

#include <stdbool.h>

/* Whether the command line is one of sort(1): there is --lines, or the
   program is called by a name as "sort" or "gsort", not "pems-sort". */
bool sort_lines_called(int argc, char **argv);
/* Does all of it. Returns the exit status, that of sort(1): 0, 1 for an input
   that -c found not to be sorted, 2 for all that fails. */
int sort_lines(int argc, char **argv);

#endif
