/* Texts with numbers in them, -V: the order of GNU's filevercmp ("Version sort
   ordering" in coreutils' manual; Debian Policy, 5.6.12), as bytes. */
#ifndef PEMS_EM_LINES_KEY_VERSION_H
#define PEMS_EM_LINES_KEY_VERSION_H

#include <stddef.h>

#include "em/lines/key_bytes.h"

/* Appends bytes that memcmp orders as versions; none is the beginning of
   another one. Thread-safe. */
void key_version(const unsigned char *text, size_t n, struct key_bytes *out);

#endif
