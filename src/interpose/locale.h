/* What the C library keeps for all ranks of a process at the request of one:
   its locale and time zone. The program's calls of that are not counted as
   memory that nobody could save (vp->native), and the locale is in checkpoints.
 */
#ifndef PEMS_INTERPOSE_LOCALE_H
#define PEMS_INTERPOSE_LOCALE_H

struct checkpoint_in;
struct checkpoint_out;
struct pems_error;

/* Of the process (checkpoint/blocks.h). Return 0, or an errno value with *error
   filled in: ENOENT if this machine does not have the locale. */
int locale_save(struct checkpoint_out *o, struct pems_error *error);
int locale_load(struct checkpoint_in *in, struct pems_error *error);

#endif
