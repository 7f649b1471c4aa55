/* Files that programs of a job with checkpoints have mapped, and that are not
   read into their contexts: those that they do not write to, and shared ones.
   Each lies where only its rank's lie, in whatever process, and is mapped again
   after a restart, by name; what such a file has, no checkpoint has. */
#ifndef PEMS_INTERPOSE_FILE_MAPPING_H
#define PEMS_INTERPOSE_FILE_MAPPING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct checkpoint_in;
struct checkpoint_out;
struct pems_error;
struct vp;

/* Before VPs run: each of so many ranks, in all processes, has its part of n
   bytes from `start` on. Without this call nothing is mapped here. */
void file_mappings_start(uintptr_t start, size_t n, int ranks);

/* As mmap, for the calling rank's program, but at no address of its choice.
   NULL: not here, for it could not be mapped again. */
void *file_mapping_make(size_t n, int prot, int flags, int fd, off_t offset);
/* Its program unmaps [p, p + n), or does something else to it. True if that has
   part of one: a whole one is forgotten, others are in the way of checkpoints
   from then on. */
bool file_mapping_end(const void *p, size_t n);
bool file_mapping_change(const void *p, size_t n);

/* Does one that the VP writes to have all of [at, at + n)? The rank has
 * stopped.
 */
bool file_mapping_covers(const struct vp *vp, uint64_t at, size_t n);
/* Calls f for each that the rank has until it returns something. `writes`: what
   the program writes there goes to the file; else `still`: it is never to
   change. */
typedef int file_mapping_fn(const char *path, bool writes, bool still,
                            void *arg);
int file_mappings_each(const struct vp *vp, file_mapping_fn *f, void *arg);

/* In a checkpoint (checkpoint/blocks.h). All return 0, or an errno value with
 *error filled in: ENOTSUP for one that could not be mapped again. */
int file_mappings_check(const struct vp *vp, struct pems_error *error);
int file_mappings_save(const struct vp *vp, struct checkpoint_out *o,
                       struct pems_error *error);
int file_mappings_load(struct vp *vp, struct checkpoint_in *in,
                       struct pems_error *error);

/* The VP's program has ended: unmaps what it has left. */
void file_mappings_end(struct vp *vp);

#endif
