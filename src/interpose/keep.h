/* What a rank has of its process and of the C library, in a checkpoint: actions
   for signals, timers, keys, thread_local objects, locale, files, streams. */
#ifndef PEMS_INTERPOSE_KEEP_H
#define PEMS_INTERPOSE_KEEP_H

struct checkpoint_in;
struct checkpoint_out;
struct pems_error;
struct vp;

/* All on the VP's main thread; return 0, or an errno value with *error filled
   in. */

/* ENOTSUP, and what of that cannot be saved. */
int keep_check(const struct vp *vp, struct pems_error *error);
int keep_save(const struct vp *vp, struct checkpoint_out *o,
              struct pems_error *error);
/* In a process where its program has not begun. */
int keep_load(struct vp *vp, struct checkpoint_in *in,
              struct pems_error *error);

#endif
