/* Where a piece of code stands in the sources of its program. */
#ifndef PEMS_BASE_SOURCE_H
#define PEMS_BASE_SOURCE_H

#include <stddef.h>
#include <stdint.h>

/* Of the code at `address`, as the ELF file at `path` counts: "sort.c:12" where
   addr2line is installed and finds it, "sort+0x1c" where the file has symbols,
   else "address 0x11c4". Starts a process; for messages that end the job. Needs
   no lock and no heap. Returns `out`. */
const char *source_line(const char *path, uintptr_t address, char *out,
                        size_t size);
/* The second of these: 0, or -1 if no function is known there. */
int source_function(const char *path, uintptr_t address, char *out,
                    size_t size);

#endif
