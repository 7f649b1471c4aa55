/* Kinds of relocations, on each machine. */
#include "context/image/relocation.h"

#if defined __x86_64__
enum {
  IS_64 = R_X86_64_64,
  IS_GLOBAL = R_X86_64_GLOB_DAT,
  IS_CALL = R_X86_64_JUMP_SLOT,
  IS_RELATIVE = R_X86_64_RELATIVE,
  IS_CHOSEN = R_X86_64_IRELATIVE,
  IS_TLS_MODULE = R_X86_64_DTPMOD64,
  IS_TLS_OFFSET = R_X86_64_DTPOFF64,
  IS_TLS_STATIC = R_X86_64_TPOFF64,
  IS_TLS_DESCRIPTOR = R_X86_64_TLSDESC,
};
#elif defined __aarch64__
enum {
  IS_64 = R_AARCH64_ABS64,
  IS_GLOBAL = R_AARCH64_GLOB_DAT,
  IS_CALL = R_AARCH64_JUMP_SLOT,
  IS_RELATIVE = R_AARCH64_RELATIVE,
  IS_CHOSEN = R_AARCH64_IRELATIVE,
  IS_TLS_MODULE = R_AARCH64_TLS_DTPMOD,
  IS_TLS_OFFSET = R_AARCH64_TLS_DTPREL,
  IS_TLS_STATIC = R_AARCH64_TLS_TPREL,
  IS_TLS_DESCRIPTOR = R_AARCH64_TLSDESC,
};
#endif

bool relocation_is_symbol(const Elf64_Rela *r) {
  switch (ELF64_R_TYPE(r->r_info)) {
  case IS_64:
  case IS_GLOBAL:
  case IS_CALL:
    return ELF64_R_SYM(r->r_info) != 0;
  default:
    return false;
  }
}

/* GLOB_DAT and JUMP_SLOT have one, too, on some machines; it is 0. */
uint64_t relocation_addend(const Elf64_Rela *r) {
  return ELF64_R_TYPE(r->r_info) == IS_64 ? (uint64_t)r->r_addend : 0;
}

bool relocation_is_call(const Elf64_Rela *r) {
  return ELF64_R_TYPE(r->r_info) == IS_CALL;
}

bool relocation_is_chosen(const Elf64_Rela *r) {
  return ELF64_R_TYPE(r->r_info) == IS_CHOSEN;
}

bool relocation_is_own(const Elf64_Rela *r) {
  const uint32_t type = ELF64_R_TYPE(r->r_info);
  return type == IS_RELATIVE || type == IS_CHOSEN ||
         (type == IS_64 && ELF64_R_SYM(r->r_info) == 0);
}

bool relocation_is_data(const Elf64_Rela *r) {
  return ELF64_R_TYPE(r->r_info) == IS_64 && ELF64_R_SYM(r->r_info) != 0;
}

bool relocation_is_tls(const Elf64_Rela *r) {
  switch (ELF64_R_TYPE(r->r_info)) {
  case IS_TLS_MODULE:
  case IS_TLS_OFFSET:
  case IS_TLS_STATIC:
  case IS_TLS_DESCRIPTOR:
    return true;
  default:
    return false;
  }
}

bool relocation_is_fixed(const Elf64_Rela *r) {
  const uint32_t type = ELF64_R_TYPE(r->r_info);
  return type == IS_TLS_STATIC || type == IS_TLS_DESCRIPTOR;
}

int relocation_tls_words(const Elf64_Rela *r) {
  return ELF64_R_TYPE(r->r_info) == IS_TLS_DESCRIPTOR ? 2 : 1;
}

/* An even entry is the address of a word; each odd one behind it has a bit for
   each of the next 63. */
bool relocation_next_relr(struct relocation_walk *w, uint64_t *at) {
  while (w->bits == 0) {
    if (w->left == 0) {
      return false;
    }
    const uint64_t entry = *w->at++;
    w->left--;
    if (entry & 1) {
      w->bits = entry >> 1;
      w->next = w->base;
      w->base += 63 * sizeof(uint64_t);
    } else {
      w->base = entry + sizeof(uint64_t);
      *at = entry;
      return true;
    }
  }
  while (!(w->bits & 1)) {
    w->bits >>= 1;
    w->next += sizeof(uint64_t);
  }
  *at = w->next;
  w->bits >>= 1;
  w->next += sizeof(uint64_t);
  return true;
}
