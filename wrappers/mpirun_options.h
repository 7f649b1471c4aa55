/* The options of Open MPI's mpirun: which there are, and how many arguments
   follow each, so that the program can be told from them. */
#ifndef PEMS_WRAPPERS_MPIRUN_OPTIONS_H
#define PEMS_WRAPPERS_MPIRUN_OPTIONS_H

/* What pemsrun must know about an option. */
enum mpirun_use {
  MPIRUN_OTHER,
  MPIRUN_COUNT,    /* the number of processes: pemsrun's -n */
  MPIRUN_HOSTS,    /* a list of hosts */
  MPIRUN_HOSTFILE, /* a file of hosts */
  MPIRUN_MAP,      /* where processes go: pemsrun does not choose then */
  MPIRUN_BIND,     /* what cores they may use: likewise */
  MPIRUN_WDIR,     /* where processes work */
  MPIRUN_TAG,      /* output begins with who prints it: ranks, with pems */
  MPIRUN_TIMEOUT,  /* how long the job may take */
  MPIRUN_SLOTS,    /* (no)oversubscribe: likewise */
  MPIRUN_REFUSED,  /* sets the number of processes in another way */
};

struct mpirun_option {
  const char *name; /* without dashes */
  int operands;     /* arguments that follow it */
  enum mpirun_use use;
};

/* Ends with name == NULL. */
extern const struct mpirun_option mpirun_options[];

/* The option that argument `arg` ("-np", "--np") names, or NULL. */
const struct mpirun_option *mpirun_option_find(const char *arg);

#endif
