/* Radix sorts of unsigned words, in place. */
#ifndef PEMS_EM_KERNEL_RADIX_H
#define PEMS_EM_KERNEL_RADIX_H

#include <stddef.h>
#include <stdint.h>

/* Sort n words in ascending order, in place: from the highest byte on, by
   exchanges in cycles ("American flag": McIlroy, Bostic and McIlroy,
   Engineering Radix Sort, 1993), small groups by insertion. Not stable, which
   equal words don't show. They need no alignment. Stack: 4 KiB per byte of a
   word. Thread-safe. */
void radix_u8(void *words, size_t n);
void radix_u16(void *words, size_t n);
void radix_u32(void *words, size_t n);
void radix_u64(void *words, size_t n);
void radix_u128(void *words, size_t n);

#endif
