/* The end of a process whose MPI has ended. */
#ifndef PEMS_MPI_BELOW_GOODBYE_H
#define PEMS_MPI_BELOW_GOODBYE_H

/* Ends the process with `status`. Of what was to run at exit, only what the MPI
   library registered is run: MPICH 5 tells its launcher in this way that the
   process has ended well. Handlers of ranks have run, or were left by _exit. */
_Noreturn void goodbye_quit(int status);

#endif
