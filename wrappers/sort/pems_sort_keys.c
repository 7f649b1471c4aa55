#include "wrappers/sort/pems_sort_keys.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

__extension__ typedef unsigned __int128 u128;

/* --- reading --- */

static const struct {
  const char *name;
  enum pems_key type;
} types[] = {
    {"u8", PEMS_KEY_U8},         {"u16", PEMS_KEY_U16},
    {"u32", PEMS_KEY_U32},       {"u64", PEMS_KEY_U64},
    {"u128", PEMS_KEY_U128},     {"i8", PEMS_KEY_I8},
    {"i16", PEMS_KEY_I16},       {"i32", PEMS_KEY_I32},
    {"i64", PEMS_KEY_I64},       {"f32", PEMS_KEY_F32},
    {"f64", PEMS_KEY_F64},       {"real32", PEMS_KEY_REAL32},
    {"real64", PEMS_KEY_REAL64},
};

/* A part of a key's text, up to a colon or the end. */
struct part {
  const char *text;
  size_t n;
};

static bool is_word(const struct part *p, const char *word) {
  return p->n == strlen(word) && memcmp(p->text, word, p->n) == 0;
}

static bool read_digits(const struct part *p, size_t *value) {
  if (p->n == 0 || p->n > 9 || strspn(p->text, "0123456789") < p->n) {
    return false;
  }
  *value = strtoul(p->text, NULL, 10);
  return true;
}

static bool read_type(const struct part *p, struct sort_key *key) {
  for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++) {
    if (is_word(p, types[i].name)) {
      const struct pems_record record = {.key = types[i].type};
      key->type = types[i].type;
      key->size = pems_record_key_bytes(&record);
      return true;
    }
  }
  return false;
}

/* Returns how many there are, at most `most` + 1. */
static int split(const char *text, struct part *parts, int most) {
  for (int n = 0; n < most; n++) {
    parts[n] = (struct part){text, strcspn(text, ":")};
    text += parts[n].n;
    if (*text == '\0') {
      return n + 1;
    }
    text++;
  }
  return most + 1;
}

int sort_key_read(struct sort_key *key, const char *text) {
  struct part p[4];
  int n = split(text, p, 4);
  size_t length;
  *key = (struct sort_key){0};
  if (n >= 2 && n <= 4 && is_word(&p[n - 1], "desc")) {
    key->descending = 1;
    n--;
  }
  if (n == 1) {
    return read_type(&p[0], key) ? 0 : -1;
  }
  if (n > 3 || !read_digits(&p[0], &key->offset)) {
    return -1;
  }
  if (n == 2 && read_type(&p[1], key)) {
    return 0;
  }
  if (!read_digits(&p[1], &length)) {
    return -1;
  }
  if (n == 3) {
    return read_type(&p[2], key) && key->size == length ? 0 : -1;
  }
  key->type = PEMS_KEY_BYTES;
  key->size = length;
  return 0;
}

/* --- keeping --- */

/* A second time it decides nothing. */
static bool is_there(const struct sort_keys *keys, const struct sort_key *key) {
  for (int i = 0; i < keys->count; i++) {
    const struct sort_key *const k = &keys->key[i];
    if (k->type == key->type && k->offset == key->offset &&
        k->size == key->size) {
      return true;
    }
  }
  return false;
}

int sort_keys_add(struct sort_keys *keys, const struct sort_key *key) {
  struct sort_key *const last =
      keys->count ? &keys->key[keys->count - 1] : NULL;
  if (is_there(keys, key)) {
    return 0;
  }
  if (last && last->type == PEMS_KEY_BYTES && key->type == PEMS_KEY_BYTES &&
      last->descending == key->descending &&
      last->offset + last->size == key->offset) {
    last->size += key->size;
    return 0;
  }
  if (keys->count == SORT_MOST_KEYS) {
    return -1;
  }
  keys->key[keys->count++] = *key;
  return 0;
}

size_t sort_keys_end(const struct sort_keys *keys) {
  size_t end = 0;
  for (int i = 0; i < keys->count; i++) {
    const size_t e = keys->key[i].offset + keys->key[i].size;
    end = e > end ? e : end;
  }
  return end;
}

/* --- comparing --- */

/* Of a float's bits: zeros are one number, and so are NaNs, the highest. */
static uint64_t real_number(uint64_t x, uint64_t sign, size_t size) {
  const uint64_t infinity = size == 8 ? UINT64_C(0x7ff) << 52 : 0x7f800000;
  const uint64_t magnitude = x & (sign - 1);
  if (magnitude > infinity) {
    return UINT64_MAX;
  }
  return x & sign ? sign - magnitude : sign + magnitude;
}

/* Numbers whose order is that of the keys. */
static u128 number_of(const struct sort_key *k, const unsigned char *at) {
  uint64_t x = 0;
  u128 wide = 0;
  const unsigned bits = 8 * (unsigned)k->size;
  if (k->type == PEMS_KEY_U128) {
    memcpy(&wide, at, sizeof(wide));
    return wide;
  }
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
  memcpy(&x, at, k->size);
#else
  memcpy((unsigned char *)&x + sizeof(x) - k->size, at, k->size);
#endif
  const uint64_t sign = (uint64_t)1 << (bits - 1);
  switch (k->type) {
  case PEMS_KEY_I8:
  case PEMS_KEY_I16:
  case PEMS_KEY_I32:
  case PEMS_KEY_I64:
    return x ^ sign;
  case PEMS_KEY_F32:
  case PEMS_KEY_F64:
    return x & sign ? ~x & (sign | (sign - 1)) : x | sign;
  case PEMS_KEY_REAL32:
  case PEMS_KEY_REAL64:
    return real_number(x, sign, k->size);
  default:
    return x;
  }
}

static int compare_key(const struct sort_key *k, const unsigned char *a,
                       const unsigned char *b) {
  if (k->type == PEMS_KEY_BYTES) {
    return memcmp(a + k->offset, b + k->offset, k->size);
  }
  const u128 x = number_of(k, a + k->offset), y = number_of(k, b + k->offset);
  return (x > y) - (x < y);
}

static int compare_up(const void *a, const void *b, void *context) {
  const struct sort_keys *const keys = context;
  for (int i = 0; i < keys->count; i++) {
    const int c = compare_key(&keys->key[i], a, b);
    if (c) {
      return keys->key[i].descending ? -c : c;
    }
  }
  return 0;
}

static int compare_down(const void *a, const void *b, void *context) {
  return compare_up(b, a, context);
}

static int set_key(struct pems_record *r, const struct sort_key *k,
                   struct pems_error *error) {
  r->key = k->type;
  r->key_offset = k->offset;
  r->key_size = k->type == PEMS_KEY_BYTES ? k->size : 0;
  return pems_record_check(r, error);
}

int sort_keys_describe(const struct sort_keys *keys, struct pems_record *record,
                       struct pems_error *error) {
  for (int i = 0; i < keys->count; i++) {
    const int code = set_key(record, &keys->key[i], error);
    if (code) {
      return code;
    }
  }
  if (keys->count == 1) {
    record->descending ^= keys->key[0].descending;
    return 0;
  }
  record->compare = record->descending ? compare_down : compare_up;
  record->context = (void *)(uintptr_t)keys;
  record->descending = 0;
  return 0;
}
