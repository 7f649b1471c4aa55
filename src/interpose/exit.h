/* The end of one VP's program. */
#ifndef PEMS_INTERPOSE_EXIT_H
#define PEMS_INTERPOSE_EXIT_H

#include <stdbool.h>

/* Destroys the calling VP's thread_local objects, newest first. Can be called
   again when a destructor left by exit. */
void exit_run_thread_destructors(void);
/* Has the calling thread such objects? */
bool exit_has_thread_destructors(void);

#endif
