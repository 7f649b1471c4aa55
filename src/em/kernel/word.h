/* Records as unsigned numbers in ascending order: the kernel "word"'s parts. */
#ifndef PEMS_EM_KERNEL_WORD_H
#define PEMS_EM_KERNEL_WORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "em/kernel/kernel.h"

/* The widest word; not word_u128, which is what the templates call one that
   need not be aligned. */
typedef unsigned __int128 word_wide;

/* How a record, as an unsigned number of its size, becomes one with the key in
   the highest bits and in ascending order: its bytes are reversed if `swap`, it
   is rotated left, where `real` the bits in `mask` are turned if it is negative
   and `shift` is added, and the bits in `flip` are turned. Each step can be
   undone. Of a larger record, whose key is a word of it, that word is turned
   into the number, and changes places with the first. */
struct word_form {
  int swap;
  int rotate; /* bits */
  int real;
  word_wide mask, shift, flip; /* of the lowest bits, as many as a record has */
  size_t place; /* of a larger record: which of its words the key is */
};

/* Are numbers what they are to the user? */
static inline bool word_form_is_plain(const struct word_form *f) {
  return !f->swap && !f->rotate && !f->real && !f->flip && !f->place;
}

/* The form of a record that is one word, of any size that a word has. */
struct word_form word_form_of(const struct pems_record *r);

/* What the kernel does, for words of one size. None needs to be aligned; all
   else as in struct kernel. */
struct word_type {
  size_t (*sort_work)(size_t n, int threads);
  void (*sort)(const struct word_form *form, struct team *team, void *words,
               size_t n, void *work);
  size_t (*array_work)(size_t n);
  void (*array)(const struct word_form *form, void *words, size_t n,
                void *work);
  int (*compare)(const void *a, const void *b);
  size_t (*rank)(const void *words, size_t n, const void *key, int equal);
  size_t (*merge_work)(int pieces);
  /* Decodes if there is a form. */
  void (*merge)(const struct word_form *form, const struct kernel_piece *piece,
                int pieces, void *out, void *work);
  void (*encode)(const struct word_form *form, void *words, size_t n);
  void (*decode)(const struct word_form *form, void *words, size_t n);
};

extern const struct word_type word_type_u8, word_type_u16, word_type_u32,
    word_type_u64, word_type_u128;

/* Sort words that need no alignment, in place: by vqsort.h, or else (the widest
   always) radix.h. */
void word_sort_u32(void *words, size_t n);
void word_sort_u64(void *words, size_t n);
void word_sort_u128(void *words, size_t n);

/* Parts for each thread that words of `size` bytes are split into to be sorted
   in parallel. */
int word_parts_each(size_t size);

/* Words of a chunk of so many pieces, each word of `size` bytes, that is sorted
   best. */
size_t word_chunk(size_t size, int pieces);

/* Bring words that are not above the pivot before the others, and return how
   many these are. Also by vqsort.h, or else simple. */
size_t word_cut_u32(void *words, size_t n, uint32_t pivot);
size_t word_cut_u64(void *words, size_t n, uint64_t pivot);
size_t word_cut_u128(void *words, size_t n, word_wide pivot);

#endif
