/* Kinds of relocations, on each machine. */
#ifndef PEMS_CONTEXT_IMAGE_RELOCATION_H
#define PEMS_CONTEXT_IMAGE_RELOCATION_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Makes a word the address of a symbol: plus the addend, */
bool relocation_is_symbol(const Elf64_Rela *r);
uint64_t relocation_addend(const Elf64_Rela *r);
/* and it is a function's, which ld.so may look for later. */
bool relocation_is_call(const Elf64_Rela *r);
/* Makes a word the address that a function of the library chooses. */
bool relocation_is_chosen(const Elf64_Rela *r);
/* Makes a word an address in the same library. */
bool relocation_is_own(const Elf64_Rela *r);
/* Makes a word of the program's own data the address of a symbol: not one of
   the tables that ld.so fills in and nobody changes. */
bool relocation_is_data(const Elf64_Rela *r);

/* Is it about thread-local data? ld.so must not see those of a library's copy:
   it has no thread-local data of its own, for that of the original is each
   thread's already. */
bool relocation_is_tls(const Elf64_Rela *r);
/* And has a distance that is the same in all threads, or may have one. */
bool relocation_is_fixed(const Elf64_Rela *r);
/* The words that such a one fills in. */
int relocation_tls_words(const Elf64_Rela *r);

/* A walk through DT_RELR: words that are addresses in the same library. */
struct relocation_walk {
  const uint64_t *at;
  size_t left;
  uint64_t base, bits, next;
};
bool relocation_next_relr(struct relocation_walk *w, uint64_t *at);

#endif
