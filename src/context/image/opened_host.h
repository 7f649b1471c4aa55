/* Where the data of copies go that a VP's program opens. */
#ifndef PEMS_CONTEXT_IMAGE_OPENED_HOST_H
#define PEMS_CONTEXT_IMAGE_OPENED_HOST_H

#include "context/image/image.h"

#include <stddef.h>
#include <stdint.h>

/* All may be NULL: then data stay where they are, in memory. */
struct opened_host {
  void *arg;
  /* Addresses for copies that are this VP's in each process, or NULL: they lie
     anywhere. */
  char *place;
  size_t room;
  /* Room for n bytes, whole pages, which nobody touches, or NULL. */
  void *(*take)(void *arg, size_t n);
  void (*give)(void *arg, void *home);
  /* A part has come, of which `constant` bytes at its start are read-only: 0,
     or an errno value. Before it goes: */
  int (*add)(void *arg, struct image_part part, size_t constant);
  void (*drop)(void *arg, struct image_part part);
  /* A copy takes so many bytes beside the parts: 0, or an errno value. When it
     goes: */
  int (*count)(void *arg, uint64_t bytes);
  void (*uncount)(void *arg, uint64_t bytes);
  /* The block that the C library makes for thread-local data of this thread,
     of n bytes, or `align` more, had better lie in the VP's memory: there is
     one at `block`, or, if that is NULL, it is to be taken. n = 0: there is no
     such block any more. */
  void (*expect)(size_t n, size_t align, void *block);
};

#endif
