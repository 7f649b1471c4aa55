/* Directories of scratch files: which there are, and how much they can hold. */
#ifndef PEMS_DISK_CONTEXTS_DIRS_H
#define PEMS_DISK_CONTEXTS_DIRS_H

#include <stdint.h>

#include <pems/status.h>

struct disks;

/* Free bytes that contexts dealt to `dirs` (as in disks_open) can use, whatever
   their number: the least for any, as contexts lie on one disk each and may not
   fill all. Directories on one file system share its space. 0 if one of them
   cannot be used. */
uint64_t disks_free(const char *dirs);
/* The same for `n` contexts, at least 1, with a stripe or 0. */
uint64_t disks_free_for(const char *dirs, int n, uint64_t stripe);

/* Bytes of contexts that a scratch file in any of `dirs` may have; 0 if one of
   them cannot be used. */
uint64_t disks_file_most(const char *dirs);

/* Free bytes in those of `dirs` that lie in memory (tmpfs), and the first of
   these in *first, of PATH_MAX bytes; 0, and "": none does. */
uint64_t disks_in_memory(const char *dirs, char *first);

/* Directories in the list `dirs` (as in disks_open). */
int disks_named(const char *dirs);
/* Are all of the list `dirs` (as in disks_open) directories in which this user
   can make files? Makes one in each, which has no name. Returns 0, or an
   errno value with *error filled in. Thread-safe. */
int disks_check(const char *dirs, struct pems_error *error);

/* --- for disk.c --- */

/* Disks with the directories of a list, whose files are not open; NULL: memory
   is short. A list that is NULL is the default, in whose name a comma is one.
 */
struct disks *dirs_split(const char *list);
void dirs_free(struct disks *d);
/* Checks the directories and finds out which share a file system. 0, or an
   errno value with *error (unless NULL) filled in. */
int dirs_check(struct disks *d, struct pems_error *error);
/* Free bytes; the most if the file system cannot tell. */
uint64_t dirs_room(const char *dir);
/* The room of each disk, and the number of the first on its file system. */
void dirs_rooms(const struct disks *d, uint64_t *room, int *device);

#endif
