/* How the text of a file is encoded, as far as its first bytes tell. */
#ifndef PEMS_BASE_ENCODING_H
#define PEMS_BASE_ENCODING_H

#include <stddef.h>

/* The byte order mark of UTF-8, which some programs write at the beginning of
   files. */
#define ENCODING_MARK "\xef\xbb\xbf"
enum {
  ENCODING_MARK_BYTES = 3,
  ENCODING_ENOUGH = 64, /* first bytes of a file that are looked at */
};

/* How many of n bytes are that mark: all of it, or 0. */
size_t encoding_mark(const void *bytes, size_t n);

/* "UTF-16LE" and the like, where n bytes are the beginning of such a text: with
   its byte order mark, or where every second byte is zero and no other one.
   NULL: of bytes. */
const char *encoding_wide(const void *bytes, size_t n);

#endif
