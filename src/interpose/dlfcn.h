/* dlopen and its kin, interposed: what a VP's program opens is its own. */
#ifndef PEMS_INTERPOSE_DLFCN_H
#define PEMS_INTERPOSE_DLFCN_H

#include <stdbool.h>

struct vp;

/* Once, before the VPs run; `strict`: what cannot be copied is not opened. */
void dlfcn_start(bool strict);
/* For each VP when its copy of the program is loaded; `dir` as for image_load.
   0 or ENOMEM. */
int dlfcn_begin(struct vp *vp, const char *dir);
/* On a thread that a VP's program has started, before it runs program code. */
void dlfcn_begin_thread(const struct vp *vp);
/* Prints a line for each library that was opened and is shared by all ranks
   though it is none of the system or of MPI. */
void dlfcn_print_shared(void);

#endif
