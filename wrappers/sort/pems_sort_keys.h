/* Several keys of a record, in order of importance. */
#ifndef PEMS_WRAPPERS_PEMS_SORT_KEYS_H
#define PEMS_WRAPPERS_PEMS_SORT_KEYS_H

#include <stddef.h>

#include "pems/record.h"

#define SORT_MOST_KEYS 64

struct sort_key {
  enum pems_key type;
  size_t offset; /* bytes before it */
  size_t size;   /* bytes */
  int descending;
};

struct sort_keys {
  struct sort_key key[SORT_MOST_KEYS];
  int count;
};

/* Reads [OFFSET:]TYPE[:desc], OFFSET:LENGTH[:TYPE][:desc] from `text`. Returns
   0, or -1 for anything else. */
int sort_key_read(struct sort_key *key, const char *text);

/* Adds a key. One of bytes that continues the one before it, in the same
   direction, becomes part of that. Returns -1 if there are too many. */
int sort_keys_add(struct sort_keys *keys, const struct sort_key *key);

/* The end of the key that ends last, in bytes. */
size_t sort_keys_end(const struct sort_keys *keys);

/* Describes the order in *record, whose size and direction (`descending` turns
   all keys round) are set: by the key if there is one, else by comparison.
   `keys` must last as long as *record. Returns 0, or EINVAL as
   pems_record_check. */
int sort_keys_describe(const struct sort_keys *keys, struct pems_record *record,
                       struct pems_error *error);

#endif
