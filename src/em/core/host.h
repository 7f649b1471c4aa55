/* The process that the external-memory library works in, where that is one of
   libpems. libpems has a copy of the rooms below src/em of its own, since none
   of their names is exported; what concerns the whole process is joined here.
 */
#ifndef PEMS_EM_CORE_HOST_H
#define PEMS_EM_CORE_HOST_H

#include <stddef.h>

struct counters;

/* What libpems offers. Stays the caller's; never freed. */
struct pems_em_host {
  size_t size; /* sizeof(struct pems_em_host) */
  /* Prints a line about something that was replaced; without "pems: ". */
  void (*notice)(const char *line);
  /* Set by pems_em_attach: what this library counts. */
  const struct counters *counters;
};

/* Called once by libpems, before threads start. Private to pems: exported only
   for libpems of the same version. -1 if the sizes differ. */
int pems_em_attach(struct pems_em_host *host);

#endif
