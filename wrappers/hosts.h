/* The hosts of a job, and how many processes each gets. */
#ifndef PEMS_WRAPPERS_HOSTS_H
#define PEMS_WRAPPERS_HOSTS_H

#include <stdbool.h>
#include <stddef.h>

#include <pems/status.h>

struct host {
  char *name; /* as mpirun wants it */
  int slots;  /* processes that the user wants there */
  int count;  /* those that hosts_deal gave it */
};

struct hosts {
  struct host *at; /* of distinct names, in the order in which they came */
  int n;
  bool listed;   /* by --host, which chooses among those of the files */
  bool relative; /* some are numbers of hosts ("+n0"), for mpirun to know */
};

/* Adds those of "a,b:2,c" or of a hostfile ("a slots=2" in lines, "#" starts a
   comment): one slot where none is given or it is "*"; a host that comes again
   gets more. A list comes in place of files; it takes the slots that it does
   not give from them. Returns 0, or an errno value with "<value>: <what to do>"
   in *error. */
int hosts_add_list(struct hosts *h, const char *list, struct pems_error *error);
int hosts_add_file(struct hosts *h, const char *path, struct pems_error *error);
/* Adds slots of a host of this name. Returns 0, or -1 (no memory). */
int hosts_add(struct hosts *h, const char *name, size_t n, int slots);

/* All slots. */
int hosts_slots(const struct hosts *h);
/* Sets every count: n processes are dealt one by one to hosts that have slots
   left; when there are none left, all slots are empty again. */
void hosts_deal(struct hosts *h, int n);
/* "a,a,b": the host of each process, for mpirun; "a,b" if only `once`. To be
   freed by the caller; NULL if there is no memory. */
char *hosts_format(const struct hosts *h, bool once);

#endif
