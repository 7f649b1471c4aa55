/* Thread-specific data of programs: ranks share the process's keys. */
#ifndef PEMS_INTERPOSE_KEYS_H
#define PEMS_INTERPOSE_KEYS_H

#include <stdbool.h>

struct vp;

/* The calling thread is vp's own, or one that its program has started:
   destructors run when it ends. */
void keys_begin_thread(struct vp *vp);
/* The VP's program has returned or called exit on the calling thread: its
   thread-specific data is not destroyed. */
void keys_forget(const struct vp *vp);
/* Has the VP's program made keys that it has not deleted? */
bool keys_has(const struct vp *vp);

#endif
