/* The hosts that the user names to mpirun. */
#ifndef PEMS_WRAPPERS_HOSTS_H
#define PEMS_WRAPPERS_HOSTS_H

#include <stdbool.h>
#include <stddef.h>

struct hosts {
  char **names; /* distinct */
  int n;
  bool listed; /* by --host, which chooses among those of the files */
};

/* Adds those of "a,b:2,c:*" (each ":" starts a number of slots), or of a
   hostfile ("a slots=2" in lines, "#" starts a comment). Returns 0, or -1 with
   "<value>: <what to do>" in err. */
int hosts_add_list(struct hosts *h, const char *list, char *err,
                   size_t err_size);
int hosts_add_file(struct hosts *h, const char *path, char *err,
                   size_t err_size);

#endif
