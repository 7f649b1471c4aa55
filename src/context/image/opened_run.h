/* Constructors and destructors of what one VP has opened: program code, which
   runs without the lock of opened.h. */
#ifndef PEMS_CONTEXT_IMAGE_OPENED_RUN_H
#define PEMS_CONTEXT_IMAGE_OPENED_RUN_H

#include "context/image/image.h"
#include "context/image/opened.h"

/* One of the VP's threads at a time opens or closes, constructors and
   destructors included: so none uses what another has not constructed yet.
   These may open more. Waits, without the lock. */
void opened_take_turn(const struct image *img);
void opened_give_turn(const struct image *img);

void opened_construct(struct opened *o, int argc, char **argv, char **envp);
/* At most once for each. */
void opened_destruct(struct opened *o);
/* At the end of the copy: those of all, the latest first. */
void opened_destruct_all(const struct image *img);

#endif
