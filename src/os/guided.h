/* Where this thread maps a file next, though who does it names no address:
   ld.so does not. Its system calls are caught until then (Linux 5.11). */
#ifndef PEMS_OS_GUIDED_H
#define PEMS_OS_GUIDED_H

/* From now on: the first mapping of a file for which the kernel may choose, or
   of addresses for one, comes to `at`; all else happens as usual. 0, or an
   errno value: ENOTSUP: not on this kind of machine, EINVAL: nor with this
   kernel. guided_end is to follow unless it fails; meanwhile the thread starts
   no other and does not fork. */
int guided_begin(void *at);
/* 0 if it has come there; EEXIST: something was in its place, and the mapping
   has failed; ENOENT: nothing was mapped. */
int guided_end(void);

#endif
