/* What pemsrun and pemsinfo know of this host before any rank runs. */
#ifndef PEMS_WRAPPERS_SITE_H
#define PEMS_WRAPPERS_SITE_H

#include <pems/status.h>

#include "config/machine.h"
#include "config/options.h"
#include "config/plan.h"
#include "drivers/driver.h"

/* The driver that really does the I/O, whatever stands before it for tests;
   NULL if there is none of that name. */
const struct driver *site_driver(const struct options *o);

/* Calls see(dir, data) for each scratch directory until one call returns other
   than 0; returns that, else 0. */
int site_each_dir(const struct options *o,
                  int (*see)(const char *dir, void *data), void *data);

/* The driver, the stripes and the tracking: can a job of so many processes have
   them at all? Returns 0, or EINVAL with *error filled in. */
int site_check_options(const struct options *o, int nprocs,
                       struct pems_error *error);

/* Where a plan for a job of these options, with its v, is made, if all of its
   processes run on this host. */
struct plan_site site_here(const struct options *o, const struct machine *m);

/* Removes PEMS_CC, PEMS_CXX and PEMS_FC from the environment: they are meant
   for pemscc and its like, and are no options of a job. */
void site_clean_environment(void);

#endif
