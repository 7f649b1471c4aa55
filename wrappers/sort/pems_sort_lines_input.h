/* Files that sort(1) reads: its arguments, or the names in a file. */
#ifndef PEMS_WRAPPERS_PEMS_SORT_LINES_INPUT_H
#define PEMS_WRAPPERS_PEMS_SORT_LINES_INPUT_H

struct sort_lines_command; /* wrappers/sort/pems_sort_lines_options.h */

/* Sets the paths to the arguments, or those that the file `from` (or NULL) of
   --files0-from names, or standard input. c->path has room for the arguments.
   What cannot be read ends the process, with a message and MSG_USAGE. */
void sort_lines_input(struct sort_lines_command *c, const char *from, int argc,
                      char **argv);

#endif
