/* Thread-specific data of programs: ranks share the process's keys. */
#ifndef PEMS_INTERPOSE_KEYS_H
#define PEMS_INTERPOSE_KEYS_H

#include <stdbool.h>

struct checkpoint_in;
struct checkpoint_out;
struct pems_error;
struct vp;

/* The calling thread is vp's own, or one that its program has started:
   destructors run when it ends. */
void keys_begin_thread(struct vp *vp);
/* The VP's program has returned or called exit on the calling thread: its
   thread-specific data is not destroyed. */
void keys_forget(const struct vp *vp);
/* Has it keys of libraries that all ranks share? They are the process's. */
bool keys_has_shared(const struct vp *vp);
/* Its program's keys and what the calling thread has for them, in a checkpoint
   (checkpoint/blocks.h): they have the same numbers in another process. Return
   0, or an errno value with *error filled in. */
int keys_save(const struct vp *vp, struct checkpoint_out *o,
              struct pems_error *error);
int keys_load(const struct vp *vp, struct checkpoint_in *in,
              struct pems_error *error);

#endif
