/* What messages will overwrite, so that it need not be swapped.
   p may also be memory outside the context (a stack), which is always there. */
#ifndef PEMS_CONTEXT_DELIVERY_EXPECT_H
#define PEMS_CONTEXT_DELIVERY_EXPECT_H

#include "context/context.h"

/* [p, p + n) of c will be overwritten by messages before c's VP looks at it
   (PEMS2, Algorithm 7.1.1 line 1: "swap out everything except the regions in
   R"). c must be held. */
void context_expect(struct context *c, const void *p, size_t n);
/* No more messages. What has not come is as it was, or zero: MPI's messages are
   as long as was said. */
void context_expect_end(struct context *c);

/* [p, p + n) of a resident context was overwritten by other means. */
void context_received(struct context *c, const void *p, size_t n);

#endif
