/* Files that programs of a job with checkpoints have open. Ranks of a process
   share its descriptors; so each file that a rank opens gets a number that no
   other rank's file has, in whatever process, and has it again after a restart.
   Which files a rank has, the kernel knows: nothing is kept here. */
#ifndef PEMS_INTERPOSE_DESCRIPTOR_H
#define PEMS_INTERPOSE_DESCRIPTOR_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

struct checkpoint_in;
struct checkpoint_out;
struct pems_error;
struct vp;

/* Before VPs run: so many ranks, in all processes. Without this call nothing is
   done to descriptors. */
void descriptors_start(int ranks);

/* The calling rank's program has opened fd, or failed to: its number from now
   on. Errno stays. */
int descriptor_take(int fd);
/* A call of the rank's program that opens a file has failed: says so, once in
   this process, where that is for want of descriptors. Errno stays. */
void descriptor_lacks(void);
/* Is it one of those that descriptors_save looks at? */
bool descriptor_is_known(int fd);
/* Has a program made the socket that has this number in /proc? */
bool descriptor_is_programs(int fd, uint64_t socket);

/* The name of an open file. 0, or an errno value, and then it is "". */
int descriptor_path(int fd, char path[PATH_MAX]);

/* Calls f for each that the rank has open until it returns something. */
typedef int descriptor_fn(const struct vp *vp, int fd, void *arg);
int descriptors_each(const struct vp *vp, descriptor_fn *f, void *arg);

/* In a checkpoint (checkpoint/blocks.h). All return 0, or an errno value with
 *error filled in: ENOTSUP for one that could not be opened again. */
int descriptors_check(const struct vp *vp, struct pems_error *error);
int descriptors_save(const struct vp *vp, struct checkpoint_out *o,
                     struct pems_error *error);
/* Opens them again. */
int descriptors_load(struct vp *vp, struct checkpoint_in *in,
                     struct pems_error *error);

/* The VP's program has ended: closes what it has left. */
void descriptors_end(const struct vp *vp);

#endif
