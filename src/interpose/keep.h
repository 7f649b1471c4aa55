/* What a rank has of its process and of the C library, in a checkpoint: actions
   for signals, timers, keys, thread_local objects, locale, files, streams,
   libraries that it has opened. */
#ifndef PEMS_INTERPOSE_KEEP_H
#define PEMS_INTERPOSE_KEEP_H

struct checkpoint_in;
struct checkpoint_out;
struct pems_error;
struct vp;

/* All on the VP's main thread; return 0, or an errno value with *error filled
   in. */

/* ENOTSUP, and what of that cannot be saved. */
int keep_check(struct vp *vp, struct pems_error *error);
int keep_save(const struct vp *vp, struct checkpoint_out *o,
              struct pems_error *error);
/* In a process where its program has not begun. */
int keep_load(struct vp *vp, struct checkpoint_in *in,
              struct pems_error *error);
/* Then, when its heap is that of the checkpoint (resume_load): what is part of
   its context beside that. `name` is the checkpoint's. */
int keep_open_again(struct vp *vp, const char *name, struct pems_error *error);
/* And when all of its memory has been read. */
void keep_settle(struct vp *vp);

#endif
