/* Neighbours: processes of the same host that may read each other's memory, so
   that a large message is copied once. What is offered may go away meanwhile:
   who reads finds out, and asks for it in another way. */
#ifndef PEMS_NET_NEIGHBOUR_H
#define PEMS_NET_NEIGHBOUR_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "config/options.h"

/* What others have to know of a process. */
struct neighbour_card {
  uint64_t host; /* net_host_first */
  uint64_t pid;
  uint64_t at, word; /* an address there, and what it holds */
};

enum {
  NEIGHBOUR_LEAST = 32 << 10, /* bytes that are worth an offer */
  NEIGHBOUR_MOST = 4 << 20,   /* of one offer that a handler of messages takes,
                                 which keeps others waiting */
};

/* Memory of another process. */
struct neighbour_offer {
  uint64_t at;       /* address; 0: none is offered */
  uint64_t count_at; /* of the number of times that it has gone away, or 0 */
  uint64_t count;    /* that number, when it was offered */
};

/* Finds the neighbours; called by all processes of the job. 0, or an errno
   value: ENOMEM, or, with BETWEEN_READ, EPERM where those of a host may not
   read each other's memory. */
int neighbours_find(enum option_between wanted, struct pems_error *error);
void neighbours_forget(void);

/* Is that process one? It may read this one's memory, then, too. */
bool neighbour(int process);

/* Memory at p, to be sent to a neighbour. `count` (NULL: it stays) is increased
   before it goes away, and there as long as the process. */
struct neighbour_offer neighbour_offer(const void *p,
                                       const _Atomic uint64_t *count);
/* Copies n bytes from `position` of what a neighbour has offered. False if they
   are not there any more: what is at `to` may have changed all the same. Any
   thread; waits for nobody. */
bool neighbour_read(int process, const struct neighbour_offer *o,
                    size_t position, void *to, size_t n);

/* Steps of neighbours_find: this process's card; and noting which of n
   processes are neighbours, this one being number `me`. False if others of this
   host are not: *error, an errno value, says why. */
struct neighbour_card neighbour_card(void);
bool neighbours_meet(const struct neighbour_card *card, int n, int me,
                     int *error);

#endif
