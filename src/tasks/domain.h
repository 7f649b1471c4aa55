/* NUMA domains, among which threads are dealt. */
#ifndef PEMS_TASKS_DOMAIN_H
#define PEMS_TASKS_DOMAIN_H

struct cps_domains;

/* Finds the domains that have cores this process may use: at least one. With
   asked > 0 there are so many, and threads are not bound. NULL if there is no
   memory. Takes some milliseconds unless `asked`. */
struct cps_domains *cps_domains_find(int asked);
void cps_domains_free(struct cps_domains *domains);
int cps_domains_count(const struct cps_domains *domains);
/* The domain of thread t of n: neighbours are in the same one. */
int cps_domains_of(const struct cps_domains *domains, int t, int n);
/* Binds the calling thread to the cores of a domain, where there are several.
   Does nothing where the system does not let it: that costs speed only. */
void cps_domains_bind(const struct cps_domains *domains, int domain);

#endif
