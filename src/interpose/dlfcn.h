/* dlopen and its kin, interposed: what a VP's program opens is its own. */
#ifndef PEMS_INTERPOSE_DLFCN_H
#define PEMS_INTERPOSE_DLFCN_H

#include <stdbool.h>
#include <stddef.h>

struct checkpoint_in;
struct checkpoint_out;
struct pems_error;
struct vp;

/* Once, before the VPs run; `strict`: what cannot be copied is not opened. */
void dlfcn_start(bool strict);
/* For each VP when its copy of the program is loaded; `dir` as for image_load.
   What it opens comes to lie in `room` bytes of addresses from `place` on,
   which are this rank's in each process; NULL: anywhere. 0 or ENOMEM. */
int dlfcn_begin(struct vp *vp, const char *dir, void *place, size_t room);
/* On a thread that a VP's program has started, before it runs program code. */
void dlfcn_begin_thread(const struct vp *vp);
/* Prints a line for each library that was opened and is shared by all ranks
   though it is none of the system or of MPI. */
void dlfcn_print_shared(void);

/* Of checkpoints (interpose/keep.h): what a VP has opened. All on its main
   thread; return 0, or an errno value with *error filled in. */
int dlfcn_check(struct vp *vp, struct pems_error *error);
int dlfcn_save(const struct vp *vp, struct checkpoint_out *o,
               struct pems_error *error);
/* Reads it; opens all of it when the VP's heap is there; and ends when what it
   had in memory is. */
int dlfcn_load(struct checkpoint_in *in, struct pems_error *error);
int dlfcn_open_again(struct vp *vp, const char *name, struct pems_error *error);
void dlfcn_settle(struct vp *vp);

#endif
