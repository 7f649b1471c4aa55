/* The end of one VP's program. */
#ifndef PEMS_INTERPOSE_EXIT_H
#define PEMS_INTERPOSE_EXIT_H

struct checkpoint_in;
struct checkpoint_out;
struct pems_error;

/* Destroys the calling VP's thread_local objects, newest first. Can be called
   again when a destructor left by exit. */
void exit_run_thread_destructors(void);
/* The calling thread's, in a checkpoint (checkpoint/blocks.h). Return 0, or an
   errno value with *error filled in. */
int exit_save(struct checkpoint_out *o, struct pems_error *error);
int exit_load(struct checkpoint_in *in, struct pems_error *error);

#endif
