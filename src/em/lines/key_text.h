/* Text of a field as bytes that memcmp orders: as it is, without what is
   ignored, in upper case, as the locale collates it, or hashed. */
#ifndef PEMS_EM_LINES_KEY_TEXT_H
#define PEMS_EM_LINES_KEY_TEXT_H

#include <stddef.h>

#include "em/lines/key_bytes.h"
#include "em/lines/key_order.h"

/* Memory that a thread needs for this, and for what it is used. Zeros at first.
 */
enum key_scratch_use { KEY_SCRATCH_COPY, KEY_SCRATCH_HASH, KEY_SCRATCH_COLUMN };
enum { KEY_SCRATCHES = 3 };
struct key_scratch {
  char *text[KEY_SCRATCHES];
  size_t size[KEY_SCRATCHES];
};
/* At least n bytes, whose contents are undefined; NULL: no memory. */
char *key_scratch_get(struct key_scratch *s, enum key_scratch_use use,
                      size_t n);
void key_scratch_free(struct key_scratch *s);

/* Appends it, without an end. ENOMEM or 0. */
int key_text(const struct key_order *o, const struct key_field *f,
             const unsigned char *text, size_t n, struct key_scratch *scratch,
             struct key_bytes *out);
/* What is left of it, in upper case if so asked; in the scratch memory until
   its next use. ENOMEM or 0. */
int key_text_copy(const struct key_order *o, const struct key_field *f,
                  const unsigned char *text, size_t n,
                  struct key_scratch *scratch, const unsigned char **copy,
                  size_t *copy_n);
/* -R: 16 bytes; equal texts have equal ones. ENOMEM or 0. */
int key_text_hash(const struct key_order *o, const struct key_field *f,
                  const unsigned char *text, size_t n,
                  struct key_scratch *scratch, struct key_bytes *out);
/* -M: one byte, 0 for what is no month. */
void key_text_month(const struct key_order *o, const unsigned char *text,
                    size_t n, struct key_bytes *out);
/* Compares as the locale does, parts between zero bytes in turn. Both have a
   byte behind their end that is 0. */
int key_text_collate(const unsigned char *a, size_t a_n, const unsigned char *b,
                     size_t b_n);

#endif
