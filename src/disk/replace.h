/* How a complete file takes the place of what is at its path. It is renamed to
   it, unless that would lose something of the file that is there: other names
   of it (hard links), its owner, its ACL or attributes, what is mounted on it
   or has it open by /proc; or unless the directory may not be written. Then
   that file is overwritten, while the complete one has a name, too: it is
   beside it, or where scratch files lie, as FILE.pems-XXXXXX, and nothing is
   lost by a process that is killed then. */
#ifndef PEMS_DISK_REPLACE_H
#define PEMS_DISK_REPLACE_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "disk/name.h"

struct replace {
  char target[PATH_MAX]; /* where the file is put: as name_resolve says */
  bool there;            /* a regular file, which is: */
  struct stat old;
  bool over;   /* it is overwritten: known from the first, or at the end */
  bool broken; /* that began and failed: it is damaged */
};

/* Looks at what is there. 0 or an errno value: EISDIR, EINVAL for what is no
   regular file, EACCES for one that may not be written, .... */
int replace_look(struct replace *r, const char *path);

/* A directory that cannot have the new file: whether it may be elsewhere. */
bool replace_elsewhere(struct replace *r, int code);

/* Puts `fd`, of `size` bytes, at the target. `name`: what it has, or none; one
   is made like `place`, a path, if need be. 0: the name is used up. Else an
   errno value, and nothing has changed at the target unless r->broken: then the
   complete file has the name, which nobody removes. */
int replace_commit(struct replace *r, int fd, uint64_t size, struct name *name,
                   const char *place);

#endif
