/* pemstop's questions to a job. */
#ifndef PEMS_WRAPPERS_PEMSTOP_ASK_H
#define PEMS_WRAPPERS_PEMSTOP_ASK_H

#include <stdbool.h>
#include <sys/types.h>

#include "wrappers/pemstop_view.h"

struct pemstop_job {
  bool whole; /* a pemsrun on this host, not a process of the job */
  pid_t pid;
};

/* How far the job is, to be ended by view_free. A process is asked where the
   pemsrun of its job is, on whatever host; if there is none, or it is not
   reached, for itself. It takes at most 5 s, and no more bytes than lines of so
   many processes, or 64 KiB, have. Returns false if the job has ended. Where
   there is no memory, this process ends with one line. */
bool pemstop_look(const struct pemstop_job *job, struct view *v);

/* Is process `pid` of this host one of the job? */
bool pemstop_has(const struct pemstop_job *job, pid_t pid);

#endif
