/* pemsinfo --checkpoint: what a checkpoint is of, and whether it is sound. */
#ifndef PEMS_CHECKPOINT_SHOW_H
#define PEMS_CHECKPOINT_SHOW_H

/* Of the newest in a directory, or the directory itself. The exit status: a
   line has been said if it is not 0. */
int checkpoint_show(const char *dir);

#endif
