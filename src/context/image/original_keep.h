/* The data of a library as relocation has left them, before a constructor
   changes them. */
#ifndef PEMS_CONTEXT_IMAGE_ORIGINAL_KEEP_H
#define PEMS_CONTEXT_IMAGE_ORIGINAL_KEEP_H

#include "context/image/original_table.h"

struct pems_error;

/* Keeps the data of what ld.so has just relocated, and hides its constructors
   and destructors from ld.so. 0, or an errno value with *error filled in: then
   ranks cannot have copies. */
int original_keep(struct original *o, struct pems_error *error);

/* The same for what the process has loaded and uses: its data are read from the
   file and relocated anew, and it stays as it is. */
int original_keep_used(struct original *o, struct pems_error *error);

#endif
