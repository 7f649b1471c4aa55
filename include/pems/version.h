/* The version of pems: that of these headers, as macros, and that of the
   library a program runs with. pems_version() of <pems.h> is another question:
   does the program run on pems at all, and on which? */
#ifndef PEMS_VERSION_H
#define PEMS_VERSION_H

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

#define PEMS_VERSION_MAJOR 0
#define PEMS_VERSION_MINOR 1
#define PEMS_VERSION_PATCH 0
#define PEMS_VERSION_STRING "0.1.0"
/* 10000 for each major version, 100 for each minor one, 1 for each patch: can
   be compared, as in #if PEMS_VERSION_NUMBER >= 10200. */
#define PEMS_VERSION_NUMBER                                                    \
  (PEMS_VERSION_MAJOR * 10000 + PEMS_VERSION_MINOR * 100 + PEMS_VERSION_PATCH)

/* PEMS_VERSION_NUMBER of the libpems-em that is loaded, which may be a later
   one than the program was compiled for. Thread-safe, allowed at any time. */
int pems_version_number(void);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
