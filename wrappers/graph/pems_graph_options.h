/* The command lines of pems-graph's commands: each has a table of options. */
#ifndef PEMS_WRAPPERS_PEMS_GRAPH_OPTIONS_H
#define PEMS_WRAPPERS_PEMS_GRAPH_OPTIONS_H

#include <stddef.h>
#include <stdint.h>

#include <pems/disk.h>

#include "digraph/digraph_file.h"
#include "pems/status.h"

enum { GRAPH_DISKS_MOST = 64 };

/* Memory, threads and disks, as several commands are given them. */
struct graph_machine {
  uint64_t memory; /* bytes; 0: the library's choice */
  uint64_t threads;
  const char *disk[GRAPH_DISKS_MOST];
  int disks;
  const char *io; /* driver, or NULL */
};

/* Chooses the memory where it was not said. */
void graph_machine_complete(struct graph_machine *machine);
struct pems_disks_options
graph_machine_scratch(const struct graph_machine *machine);
/* INT_MAX for what is more: the library refuses that. */
int graph_option_int(uint64_t n);

enum graph_option_kind {
  GRAPH_COUNT, /* uint64_t */
  GRAPH_SIZE,  /* uint64_t; as size_parse reads it */
  GRAPH_TEXT,  /* const char * */
  GRAPH_FLAG,  /* int, becomes 1; takes no value */
  GRAPH_DISK,  /* struct graph_machine; may be given again */
};

/* "output" is -o, too. */
struct graph_option {
  const char *name; /* without "--"; NULL ends a list */
  enum graph_option_kind kind;
  void *value;
  const char *operand; /* its name in the help; NULL of flags */
  const char *help;    /* lines of it */
};

/* Where a graph_machine finds scratch, for tables of options. */
#define GRAPH_OPTIONS_SCRATCH(machine)                                         \
  {"disk", GRAPH_DISK, machine, "DIR",                                         \
   "scratch; may be given more than once"},                                    \
  {                                                                            \
    "io", GRAPH_TEXT, &(machine)->io, "DRIVER",                                \
        "unix, aio, uring, mmap or mem"                                        \
  }

/* Adds the options of `more` (NULL: none) to `all`, which has room for `most`
   with the one that ends it. */
void graph_options_add(struct graph_option *all, size_t most,
                       const struct graph_option *more);

/* Reads options and `least` to `most` other words, which go to `words` (the
   rest becomes NULL). argv[0] is the command's name. Ends the process with
   MSG_USAGE and a line on stderr for what is wrong, with 0 after --help and
   --version. `usage` is what follows the command's name, then what it does. */
void graph_options_read(int argc, char **argv, const char *usage,
                        const struct graph_option *options, const char **words,
                        int least, int most);

/* Ends the process where the output is the input: what is read must not be
   replaced. Both may be NULL or "-". */
void graph_options_output(const char *input, const char *output);

/* The index of a word in a NULL-terminated list, or the process ends. */
int graph_option_choice(const char *name, const char *const *list,
                        const char *word);

/* The format of that name, DIGRAPH_BY_NAME of NULL, or the process ends. */
enum digraph_format graph_option_format(const char *option, const char *name);

/* A number above 0, or the process ends. */
double graph_option_real(const char *name, const char *text);

/* --weights, as L:M, from L to M, or N, from 1 to N; all 0 of NULL. What is
   wrong ends the process. */
struct generate_weights graph_option_weights(const char *text);

/* Ends the process: status MSG_USAGE, whatever is wrong. */
_Noreturn void graph_options_fail(const struct pems_error *error);

#endif
