#include "vp/patients.h"

void patients_add(struct patients *p, struct vp *vp) {
  vp->among = p;
  vp->next_patient = NULL;
  *(p->first ? &p->last->next_patient : &p->first) = vp;
  p->last = vp;
}

void patients_remove(struct vp *vp) {
  struct patients *p = vp->among;
  struct vp *before = NULL;
  for (struct vp *at = p->first; at != vp; at = at->next_patient) {
    before = at;
  }
  *(before ? &before->next_patient : &p->first) = vp->next_patient;
  if (p->last == vp) {
    p->last = before;
  }
  vp->among = NULL;
}
