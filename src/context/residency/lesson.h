/* What contexts tell each other of what they touch: all ranks run the same
   program, so what one has found of a call site is a good guess for those that
   do not know it yet, or knew it long ago. Sets of pages are kept as offsets in
   a context, on disk. Thread-safe, but for one context by several threads. */
#ifndef PEMS_CONTEXT_RESIDENCY_LESSON_H
#define PEMS_CONTEXT_RESIDENCY_LESSON_H

#include "context/context.h"

#include <stdbool.h>

/* Forgets all. */
void lessons_clear(void);
/* c has measured what it touches from p's site: others may go by it. Not so
   where pages lie in too many pieces. */
void lessons_tell(const struct context *c, struct context_prediction *p);
/* p is not known: takes over what another context has told since p was measured
   or told last, if there is something. False: c has to measure it. */
bool lessons_ask(const struct context *c, struct context_prediction *p);

#endif
