/* VPs that let others run first: a list, the first longest ago. A VP is in one
   of them at most (vp->among). The scheduler's lock guards them. */
#ifndef PEMS_VP_PATIENTS_H
#define PEMS_VP_PATIENTS_H

#include "vp/vp.h"

/* Zeroed: none. */
struct patients {
  struct vp *first, *last;
};

/* It is in none. */
void patients_add(struct patients *p, struct vp *vp);
/* From the one in which it is. O(length). */
void patients_remove(struct vp *vp);

#endif
