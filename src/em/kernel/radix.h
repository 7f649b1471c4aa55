/* Radix sorts of unsigned words, in place. */
#ifndef PEMS_EM_KERNEL_RADIX_H
#define PEMS_EM_KERNEL_RADIX_H

#include <stddef.h>
#include <stdint.h>

#define RADIX_ROOM ((size_t)128 << 10) /* bytes */

/* Sort n words in ascending order, in place; equal words may change places,
   which does not show. They need no alignment. RADIX_ROOM of the stack is room
   to work in, and as many at most are used besides. Thread-safe.

   Words that do not fit in the room are dealt to groups by the highest bits in
   which they differ, or, where most words would be in few groups, between
   splitters from a sample: they fill blocks in the room, full blocks go to
   where words were read already, and are put in order later. (So do Axtmann,
   Witt, Ferizovic and Sanders, Engineering In-place Sorting Algorithms, 2022.)
   Those that fit are sorted by two digits, as many of the highest bits as tell
   most of them apart, the lower digit first, and by insertion at the end. */
void radix_u8(void *words, size_t n);
void radix_u16(void *words, size_t n);
void radix_u32(void *words, size_t n);
void radix_u64(void *words, size_t n);
void radix_u128(void *words, size_t n);

/* By the higher 64 bits only; equal ones in any order. */
void radix_u128_high(void *words, size_t n);

/* Records of 24 and 32 bytes, by the number in the first 8; equal ones in any
   order. */
struct radix_24 {
  uint64_t key, rest[2];
} __attribute__((packed, may_alias));
struct radix_32 {
  uint64_t key, rest[3];
} __attribute__((packed, may_alias));
void radix_24(void *records, size_t n);
void radix_32(void *records, size_t n);

#endif
