/* Files that no other process can name: in memory, or, where the system refuses
   that, in a directory for files that nobody keeps. */
#ifndef PEMS_OS_MEMORY_FILE_H
#define PEMS_OS_MEMORY_FILE_H

#include <stdbool.h>

/* Returns a descriptor of an empty file, close-on-exec, or -1 and errno, which
   is memfd_create's. `name` is what /proc shows. If it `runs`, the file's pages
   may become code. */
int memory_file(const char *name, bool runs);

/* The directory in which one was made, or NULL: all are in memory. */
const char *memory_file_directory(void);

#endif
