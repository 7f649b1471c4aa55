/* A plug-in that stands before a library that it needs, and hands on to it. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>

extern int base_value;
int only_in_wrap = 3;

int wrap_base(void) {
  return base_value;
}

int base_next(void) {
  int (*next)(void) = (int (*)(void))dlsym(RTLD_NEXT, "base_next");
  return next ? 1000 + next() : -1;
}

/* What lies before it, or was opened apart from it, is not behind it. */
int wrap_finds(const char *name) {
  return dlsym(RTLD_NEXT, name) != NULL;
}

int wrap_allocates(void) {
  void *(*allocate)(size_t) = (void *(*)(size_t))dlsym(RTLD_NEXT, "malloc");
  char *p = allocate ? allocate(100) : NULL;
  if (p) {
    p[99] = 1;
  }
  free(p);
  return p != NULL;
}
