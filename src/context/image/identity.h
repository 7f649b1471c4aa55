/* What a process runs, so that it can be told from another: addresses of
   functions and data mean the same only where the same files are loaded, by the
   same C library, for a processor with the same instructions. */
#ifndef PEMS_CONTEXT_IMAGE_IDENTITY_H
#define PEMS_CONTEXT_IMAGE_IDENTITY_H

#include "context/image/image_elf.h"

#include <stdio.h>

#include <pems/status.h>

struct identity_file {
  char *path;
  char id[72]; /* its build-id; "sum:..." of its bytes if it has none */
};

/* Zeroed: nothing. */
struct identity {
  char libc[32];              /* "glibc 2.36" */
  char processor[32];         /* "x86-64-v3": the level, where there are such */
  struct identity_file *file; /* n, in the order in which they were loaded */
  int n;
};

/* All return 0, or an errno value with *error filled in; what is in *to then is
   to be freed, too. */

/* This process: what ld.so has loaded so far. */
int identity_find(struct identity *to, struct pems_error *error);
/* Of those only the one that holds the address `at`. */
int identity_find_one(struct identity *to, const void *at,
                      struct pems_error *error);
/* What is now in the places of the files in `like`, and this machine. */
int identity_here(struct identity *to, const struct identity *like,
                  struct pems_error *error);
/* What tells the file from others that were made otherwise: 0 or EIO. */
int identity_of_elf(const struct image_elf *elf, char *to, size_t size);
/* As text, of lines; identity_read takes nothing else. */
int identity_write(const struct identity *from, FILE *to,
                   struct pems_error *error);
/* `name` is what errors call it. */
int identity_read(struct identity *to, FILE *from, const char *name,
                  struct pems_error *error);
/* 0 if both are the same; else EINVAL, and *error names the first difference.
 */
int identity_compare(const struct identity *was, const struct identity *is,
                     struct pems_error *error);
void identity_free(struct identity *which);

#endif
