/* Large thread-local arrays that a program begins with, all zero. The C library
   clears them for each thread that is started, those of pems and MPI, too,
   which never use them: that would be memory of each. Here it is given back. */
#ifndef PEMS_OS_THREAD_ZEROS_H
#define PEMS_OS_THREAD_ZEROS_H

#include <stddef.h>

/* Bytes of such arrays that each thread has from its start, whole pages; 0: so
   few that they do not matter. The same at any time. */
size_t thread_zeros_bytes(void);
/* On a thread that has just begun: gives their memory back. They stay zero. */
void thread_zeros_give_back(void);
/* Before other threads are started: gives back the main thread's of the program
   itself, which runs on other threads only, and has threads started from here
   on with stacks of no chosen size that are larger by thread_zeros_bytes. */
void thread_zeros_start(void);

#endif
