/* Constructors and destructors of what one VP has opened: program code, which
   runs without the lock of opened.h. */
#ifndef PEMS_CONTEXT_IMAGE_OPENED_RUN_H
#define PEMS_CONTEXT_IMAGE_OPENED_RUN_H

#include "context/image/image.h"
#include "context/image/opened.h"

void opened_construct(struct opened *o, int argc, char **argv, char **envp);
/* At most once for each. */
void opened_destruct(struct opened *o);
/* At the end of the copy: those of all, the latest first. */
void opened_destruct_all(const struct image *img);

#endif
