/* Functions for memory that a library below the MPI has replaced in the whole
   process: UCX patches the code of mmap, munmap, mremap, brk, sbrk, madvise,
   shmat and shmdt when it is loaded, pems's too, and lets the system do what
   pems does for a rank. Memory of a program was nobody's context's then, and
   all ranks had one break. It reads from the environment, when it is loaded,
   whether it shall. Without, it registers memory with a network anew for each
   message, which with pems it must: pages move without its knowledge. */
#ifndef PEMS_MPI_BELOW_HOOKS_H
#define PEMS_MPI_BELOW_HOOKS_H

#include <stdbool.h>

/* Has this process such functions? */
bool hooks_installed(void);
/* Has the user said whether they shall be? */
bool hooks_chosen(void);
/* Programs that this process becomes or starts have none. -1: out of memory. */
int hooks_forbid(void);

#endif
