/* Contexts that are mapped files: the system writes them when it likes, and
   what it could not write is lost, which nothing else tells. */
#ifndef PEMS_MPI_JOB_MAPPED_H
#define PEMS_MPI_JOB_MAPPED_H

struct disks;
struct pems_error;

/* Asks every second, where contexts of `disks` (or NULL) are mapped: a failure
   ends the job. */
void mapped_watch(const struct disks *disks);
void mapped_watch_end(void);
/* Asks now, after the watch: 0, or an errno value with *error filled in. */
int mapped_check(const struct disks *disks, struct pems_error *error);

#endif
