/* What is said about the choice of an I/O driver (drivers/driver.h), and where
   scratch files lie. */
#ifndef PEMS_DISK_CHOICE_H
#define PEMS_DISK_CHOICE_H

#include <stddef.h>

#include <pems/status.h>

struct driver;

/* The driver that `io` names (NULL: unix); NULL, with *error filled in, if it
   is none or cannot have the arguments behind its name. */
const struct driver *choice_find(const char *io, const char **args,
                                 struct pems_error *error);

/* Fills in *error for a driver that is not there (ENOSYS) or was given
   arguments that make no sense (EINVAL); returns the code. */
int choice_refused(const char *io, const struct driver *driver, int code,
                   struct pems_error *error);

/* Fills in *error for `io`, which is none of the drivers; returns EINVAL. */
int choice_unknown(const char *io, struct pems_error *error);

/* One line on stderr, once per process: unix is used in the place of `io`. */
void choice_warn_replaced(const char *io);

/* Where scratch files lie if nothing else is said. */
const char *choice_default_dir(void);
/* The first directory of the list `dirs` (as in disks_open); NULL: the default,
   which is one directory whatever its name. */
void choice_first_dir(const char *dirs, char *out, size_t size);

#endif
