#define _GNU_SOURCE
#include "os/object.h"

#include "config.h"

#include <dlfcn.h>
#include <stddef.h>

#ifdef HAVE__DL_FIND_OBJECT

const void *object_start(const void *address) {
  struct dl_find_object found;
  return _dl_find_object((void *)address, &found) == 0 ? found.dlfo_map_start
                                                       : NULL;
}

#else

const void *object_start(const void *address) {
  Dl_info found;
  return dladdr(address, &found) ? found.dli_fbase : NULL;
}

#endif
