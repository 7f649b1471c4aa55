/* NUMA domains, among which threads are dealt. */
#ifndef PEMS_TASKS_DOMAIN_H
#define PEMS_TASKS_DOMAIN_H

struct task_domains;

/* Finds the domains that have cores this process may use: at least one. With
   asked > 0 there are so many, and threads are not bound. NULL if there is no
   memory. Takes some milliseconds unless `asked`. */
struct task_domains *task_domains_find(int asked);
void task_domains_free(struct task_domains *domains);
int task_domains_count(const struct task_domains *domains);
/* The domain of thread t of n: neighbours are in the same one. */
int task_domains_of(const struct task_domains *domains, int t, int n);
/* Binds the calling thread to the cores of a domain, where there are several.
   Does nothing where the system does not let it: that costs speed only. */
void task_domains_bind(const struct task_domains *domains, int domain);

#endif
