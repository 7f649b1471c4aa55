/* SPDX-License-Identifier: BSD-3-Clause */
/* Records of fixed size and their order. */
#ifndef PEMS_RECORD_H
#define PEMS_RECORD_H

#include <stddef.h>

#include <pems/kernel.h>
#include <pems/status.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* Records with a key of a known type are at most this long, in bytes. */
#define PEMS_RECORD_MOST 4096

/* Keys, in the byte order of this machine; none need be aligned. */
enum pems_key {
  PEMS_KEY_NONE, /* not set: invalid unless `compare` is set */
  PEMS_KEY_U8,
  PEMS_KEY_U16,
  PEMS_KEY_U32,
  PEMS_KEY_U64,
  PEMS_KEY_U128,
  PEMS_KEY_I8,
  PEMS_KEY_I16,
  PEMS_KEY_I32,
  PEMS_KEY_I64,
  PEMS_KEY_F32, /* IEEE 754's total order: -NaN < -inf < -0 < 0 < inf < NaN */
  PEMS_KEY_F64,
  PEMS_KEY_BYTES, /* key_size bytes, as memcmp orders them */
  /* Floats as < orders them: -0 equals 0, and NaNs, whatever their sign, come
     behind all numbers and equal each other. */
  PEMS_KEY_REAL32,
  PEMS_KEY_REAL64,
};

/* Returns a value less than, equal to or greater than 0 if a comes before, is
   equal to or comes after b: a strict weak order. Called from several threads
   at once; must not call pems. */
typedef int pems_compare_fn(const void *a, const void *b, void *context);

/* A record and its order. `size` and either a key or `compare` must be set. */
struct pems_record {
  size_t size;              /* bytes, at least 1 */
  enum pems_key key;        /* ignored if `compare` is set */
  size_t key_offset;        /* bytes before the key */
  size_t key_size;          /* bytes, of PEMS_KEY_BYTES only */
  int descending;           /* largest key first */
  int stable;               /* records with equal keys keep their order */
  pems_compare_fn *compare; /* instead of a key, or NULL */
  void *context;            /* for compare */
  /* Loops that are compiled for `compare`, or NULL. Ignored without it. They
     remain the caller's, as long as the record is in use. */
  const struct pems_kernel *kernel;
  /* For later versions, since the struct is part of others and must not grow.
     Must be 0. */
  void *reserved;
};

/* Bytes of the key; 0 if `compare` is set. */
size_t pems_record_key_bytes(const struct pems_record *record);

/* Returns 0, or EINVAL for a size of 0, a size of more than PEMS_RECORD_MOST
   without `compare`, a key not inside the record, an unknown type of key, or a
   kernel for records of another size.
   Thread-safe. */
int pems_record_check(const struct pems_record *record,
                      struct pems_error *error);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
