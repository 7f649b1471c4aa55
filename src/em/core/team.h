/* A team of threads that share out tasks. */
#ifndef PEMS_EM_CORE_TEAM_H
#define PEMS_EM_CORE_TEAM_H

struct team;

/* What the team does: task `task` of those given to team_run, by the member
   `member` (from 0; no two at once have the same). */
typedef void team_fn(void *arg, int task, int member);

/* A team of k >= 1: k - 1 threads, and whoever calls team_run. 0, ENOMEM or
   EAGAIN. */
int team_new(struct team **team, int k);
/* Nothing is running. NULL is allowed. */
void team_free(struct team *team);
/* k. */
int team_size(const struct team *team);
/* Calls fn for tasks 0 to n - 1, each once, begun in this order by whoever is
   free; returns when all are done. One thread at a time, and not from a task.
   What was written before is seen by the tasks, and what they write by the
   caller. */
void team_run(struct team *team, int n, team_fn *fn, void *arg);
/* Nanoseconds of CPU time that the members' threads have spent in tasks. */
long long team_cpu_ns(const struct team *team);

#endif
