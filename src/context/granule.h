/* Which parts of a context's heap range may have pages. */
#ifndef PEMS_CONTEXT_GRANULE_H
#define PEMS_CONTEXT_GRANULE_H

#include "context/context.h"

/* What a resident context counts: all pages that its VP may touch without
   asking. */
int granules_create(struct context *c);
/* Marks [p, p + n) as used. Returns the bytes newly counted. */
uint64_t granules_use(struct context *c, const char *p, size_t n);
bool granules_have(const struct context *c, const char *p, size_t n);
void granules_clear(struct context *c);

#endif
