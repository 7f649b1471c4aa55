#include "vp/self.h"

#include "vp/vp.h"

struct vps vps;
__thread struct self self;
