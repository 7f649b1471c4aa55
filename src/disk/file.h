/* Files of the user: read, or written under no name until they are complete.

   They go through the same drivers, queues and requests as the disks of
   pems/disk.h; of a request's block only `at` counts, the offset in the file in
   bytes, a multiple of PEMS_DISK_UNIT. With the driver "mem" they are on disk
   all the same, moved by "unix"; so they are where the system does not offer a
   driver. All functions are thread-safe but for those that open, commit and
   close. Errors are 0 or an errno value, with *error (or NULL) filled in. */
#ifndef PEMS_DISK_FILE_H
#define PEMS_DISK_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include <pems/disk.h>

struct disk_file;

/* Opens a regular file or block device for reading. `io` and `depth` as in
   pems_disks_options. EISDIR, EINVAL for what has no size (a pipe, a terminal),
   ENOENT, EACCES, .... On failure *file is NULL. */
int disk_file_open(struct disk_file **file, const char *path, const char *io,
                   int depth, struct pems_error *error);

/* Creates a file, to be read and written, that disk_file_commit puts at `path`.
   Before, it has no name or, on file systems that cannot do that, a name beside
   `path` (see disk_file_unlink_names). Where `path` is a symbolic link, what it
   points to will be replaced. Where there is a file in a directory that may not
   be written, it is made in $TMPDIR or /var/tmp. EISDIR or EINVAL if there is
   something that is no regular file, EACCES if there is a file that may not be
   written, .... */
int disk_file_create(struct disk_file **file, const char *path, const char *io,
                     int depth, struct pems_error *error);
/* Tells how large a created file is going to be, at least, before what is
   beyond its size so far is written: then writes need not make it longer each.
   ENOSPC if there is no room now, EFBIG if it may not be as large. Nothing is
   reserved. */
int disk_file_expect(struct disk_file *file, uint64_t size,
                     struct pems_error *error);
/* Cuts the file to `size` bytes and puts it at its path, in one step for all
   who look. It gets mode 0666 & ~umask or, where it replaces a file, that
   file's mode and owner. Where that would lose what the file has beside its
   contents, or may not be, its contents are overwritten (disk/replace.h). No
   request may be under way; what follows is disk_file_close. After a failure
   nothing has changed at `path`; or, if a disk failed while it was overwritten,
   *error says where the complete file is. */
int disk_file_commit(struct disk_file *file, uint64_t size,
                     struct pems_error *error);
/* Whether that failed so: it is damaged. */
bool disk_file_broken(const struct disk_file *file);
/* No request may be under way. What was created but not committed is gone. NULL
   is allowed. */
void disk_file_close(struct disk_file *file);

/* Bytes that a file opened for reading has. */
uint64_t disk_file_size(const struct disk_file *file);
/* As given, for messages. */
const char *disk_file_path(const struct disk_file *file);

/* As pems_disks_start and pems_request_wait. Reads may go on to the next
   multiple of PEMS_DISK_UNIT behind the end of the file: what they find there
   is undefined. Beyond it: EINVAL; writes beyond `ulimit -f`: EFBIG; writes to
   a file opened for reading: EBADF; a file that has become shorter: EIO. */
void disk_file_start(struct disk_file *file,
                     struct pems_request *const *requests, int n);
int disk_file_wait(struct disk_file *file, struct pems_request *request);
void disk_file_counts(const struct disk_file *file,
                      struct pems_disk_counts *counts);

/* Removes what files that are not committed have as names. For handlers of
   signals that end the process: async-signal-safe. */
void disk_file_unlink_names(void);
/* SIGINT, SIGTERM and SIGHUP, unless they are ignored, do that and end the
   process as they would. For a command that has no handlers of its own. */
void disk_file_unlink_at_signals(void);

#endif
