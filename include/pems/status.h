/* SPDX-License-Identifier: BSD-3-Clause */
/* How functions of pems's external-memory library report errors. */
#ifndef PEMS_STATUS_H
#define PEMS_STATUS_H

#ifdef __cplusplus
extern "C" {
#endif

/* Describes an error. Functions that can fail return 0 or an errno value and
   take a pointer to one of these, which may be NULL; it is filled in on failure
   and left unchanged on success. EINVAL: invalid arguments. ENOSPC, EIO,
   EACCES, ...: errors of the system. ENOMEM: no memory, or the budget is too
   small. ENOSYS: not available on this system. */
struct pems_error {
  int code;       /* the errno value returned */
  char text[500]; /* one line: "<what failed>: <the value>: <what to do>" */
};

#ifdef __cplusplus
}
#endif

#endif
