/* How functions of pems's external-memory library say that they failed. */
#ifndef PEMS_STATUS_H
#define PEMS_STATUS_H

#ifdef __cplusplus
extern "C" {
#endif

/* What went wrong. Functions that can fail return 0 or an errno value, and take
   a pointer to one of these, which may be NULL: where they fail they fill it
   in, else they leave it alone. EINVAL: the caller's mistake; ENOSPC, EIO,
   EACCES, ...: what the system said; ENOMEM: no memory, or the budget given is
   too small; ENOSYS: what was asked for is not there. */
struct pems_error {
  int code;       /* the errno value returned */
  char text[500]; /* one line: "<what failed>: <the value>: <what to do>" */
};

#ifdef __cplusplus
}
#endif

#endif
