/* What the programs on <pems/cgm.h> share: their arguments, and times of
   phases. They run on any MPI. */
#ifndef APPS_CGM_APP_H
#define APPS_CGM_APP_H

#include <inttypes.h>
#include <mpi.h>
#include <pems/cgm.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* An option of the command line: `number`, if it takes one, else `flag` or
   `word`. */
struct cgm_option {
  const char *name; /* with "--"; NULL ends a list */
  uint64_t *number;
  const char **word;
  int *flag;
};

/* Reads "N" and options. Ends the program with status 2, and a line from rank
   0, if that is not what it gets. */
static inline void cgm_arguments(int argc, char **argv, const char *usage,
                                 uint64_t *n, const struct cgm_option *option) {
  int rank, have_n = 0, wrong = 0;
  for (int i = 1; i < argc && !wrong; i++) {
    const struct cgm_option *o = option;
    char *end = argv[i];
    while (o->name && strcmp(o->name, argv[i]) != 0) {
      o++;
    }
    if (o->name && o->flag) {
      *o->flag = 1;
    } else if (o->name && i + 1 < argc) {
      const char *const value = argv[++i];
      if (o->word) {
        *o->word = value;
      } else {
        *o->number = strtoull(value, &end, 10);
      }
      wrong = !o->word && (*end != '\0' || *value < '0' || *value > '9');
    } else {
      *n = strtoull(argv[i], &end, 10);
      wrong = have_n++ || *end != '\0' || *argv[i] < '0' || *argv[i] > '9';
    }
  }
  if (have_n && !wrong) {
    return;
  }
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) {
    fprintf(stderr, "usage: %s %s\n", argv[0], usage);
  }
  MPI_Finalize();
  exit(2);
}

/* Memory for a share; the program ends where there is none. */
static inline struct pems_cgm_list cgm_list(uint64_t n, size_t size) {
  struct pems_cgm_list list = {NULL, n, size};
  if (n > 0 && (list.at = malloc(n * size)) == NULL) {
    fprintf(stderr, "no memory for %" PRIu64 " elements: use more ranks\n", n);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  return list;
}

#endif
