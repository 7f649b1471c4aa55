/* Threads that programs start. */
#ifndef PEMS_INTERPOSE_THREAD_H
#define PEMS_INTERPOSE_THREAD_H

struct vp;

/* The VP's program has returned or called exit on the calling thread: its
   thread-specific data is not destroyed. */
void thread_forget_data(const struct vp *vp);

#endif
