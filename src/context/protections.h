/* Pages of a context whose protection its program has changed. They must be
   accessible while the context is moved, and get it back afterwards. */
#ifndef PEMS_CONTEXT_PROTECTIONS_H
#define PEMS_CONTEXT_PROTECTIONS_H

#include "base/ranges.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The values of the ranges, whole pages, are those of mprotect; all other pages
   have PROT_READ | PROT_WRITE, which no range has. Changed by a thread of the
   context's VP, under io_lock. */

/* Notes that [start, end) has `prot`. 0, or ENOMEM: nothing has changed. */
int protections_note(struct ranges *all, uintptr_t start, uintptr_t end,
                     int prot);
/* How many bytes from `at` on, up to `end`, have the same: *prot. */
size_t protections_piece(const struct ranges *all, uintptr_t at, uintptr_t end,
                         int *prot);
/* May the page at `at` be written, as far as the program goes? For signal
   handlers, too. */
bool protections_writable(const struct ranges *all, uintptr_t at);

/* Make the noted pages of [start, end) readable and writable, and protect them
   again. 0 or an errno value: ENOMEM if there are too many mappings. */
int protections_lift(const struct ranges *all, uintptr_t start, uintptr_t end);
int protections_restore(const struct ranges *all, uintptr_t start,
                        uintptr_t end);

#endif
