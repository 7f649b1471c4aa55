/* SPDX-License-Identifier: BSD-3-Clause */
/* The version of pems: of these headers, as macros, and of the library that a
   program runs with. pems_version() in <pems.h> answers another question:
   whether the program runs on pems, and on which version. */
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
/* major * 10000 + minor * 100 + patch, for comparisons such as #if
   PEMS_VERSION_NUMBER >= 10200. */
#define PEMS_VERSION_NUMBER                                                    \
  (PEMS_VERSION_MAJOR * 10000 + PEMS_VERSION_MINOR * 100 + PEMS_VERSION_PATCH)

/* PEMS_VERSION_NUMBER of the loaded libpems-em, which may be later than the one
   the program was compiled for. Thread-safe; may be called at any time. */
int pems_version_number(void);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
