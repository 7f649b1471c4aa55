/* The end of one VP's program. */
#ifndef PEMS_INTERPOSE_EXIT_H
#define PEMS_INTERPOSE_EXIT_H

/* Destroys the calling VP's thread_local objects, newest first. Can be called
   again when a destructor left by exit. */
void exit_run_thread_destructors(void);

#endif
