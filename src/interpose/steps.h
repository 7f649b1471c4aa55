/* What a VP's thread does about signals, timers, threads and the end of its
   program (vp/vp.h). */
#ifndef PEMS_INTERPOSE_STEPS_H
#define PEMS_INTERPOSE_STEPS_H

#include "vp/vp.h"

extern const struct vp_interposer steps;

#endif
