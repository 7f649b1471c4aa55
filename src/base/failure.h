/* Filling in a struct pems_error. */
#ifndef PEMS_BASE_FAILURE_H
#define PEMS_BASE_FAILURE_H

#include "pems/status.h"

/* Notes code and text ("<what failed>: <the value>: <what to do>") in *error,
   which may be NULL; returns code, for `return failure(...)`. Thread-safe as
   far as *error is not shared. */
int failure(struct pems_error *error, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
