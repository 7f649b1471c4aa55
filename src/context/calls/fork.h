/* What a forked child has of a context that lies in a mapped file, or of its
   oversize blocks, which it would share with its parent: a copy. */
#ifndef PEMS_CONTEXT_CALLS_FORK_H
#define PEMS_CONTEXT_CALLS_FORK_H

struct context;

/* Around fork in the thread of c's rank, in this order; where nothing is mapped
   they do nothing. The parent waits until its child has copied what
   lives in c: as many bytes more of memory, whatever the budget. Other ranks'
   contexts stay shared; the child does not use them. If there is no memory for
   the copy, the child ends with a line. */
void fork_prepare(const struct context *c);
void fork_parent(void);
void fork_child(struct context *c);

#endif
