/* Variables by which a launcher tells each process its number: a rank finds in
   them what it would find if it were a process. */
#ifndef PEMS_MPI_BELOW_LAUNCHER_VARIABLES_H
#define PEMS_MPI_BELOW_LAUNCHER_VARIABLES_H

#include <stdbool.h>

enum launcher_number {
  LAUNCHER_RANK,
  LAUNCHER_SIZE,
  LAUNCHER_LOCAL_RANK, /* among ranks on the same host */
  LAUNCHER_LOCAL_SIZE,
  LAUNCHER_UNIVERSE, /* ranks that the job may come to */
  LAUNCHER_NUMBERS
};

struct launcher_variable {
  const char *name;
  enum launcher_number is;
};

/* Variables of the launcher of this MPI; ends with name == NULL. The first one
   is there if that has started the process. */
extern const struct launcher_variable launcher_variables[];

/* The environment of a rank that has these numbers: a new array
   (native_free), whose other entries are those of `from`. A process that
   its launcher has not started, but that is a whole job, has none of its
   variables: `whole` adds them. What another starter has set (Slurm's srun) is
   changed where it is there. NULL: out of memory. */
char **launcher_variables_of(char *const *from, bool whole,
                             const int number[LAUNCHER_NUMBERS]);

#endif
