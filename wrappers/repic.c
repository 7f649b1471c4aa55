/* pems_repic: makes position-independent what was compiled for executables.

     pems_repic FILE COPY

   FILE is an object or an archive of x86-64. Code for an executable may take
   the address of a variable of a shared library (MPI_COMM_WORLD is one) by its
   distance, which no shared object can know: `lea x(%rip), %reg`. The same
   instruction with another opcode loads it from the global offset table: `mov
   x@GOTPCREL(%rip), %reg`. Exit status 1: nothing to do, 2: an error. */
#include <elf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef R_X86_64_REX_GOTPCRELX
#define R_X86_64_REX_GOTPCRELX 42
#endif

struct bytes {
  unsigned char *at;
  size_t n;
};

static int changes;

static _Noreturn void fail(const char *path, const char *why) {
  fprintf(stderr, "pems: making position-independent: %s: %s\n", path, why);
  exit(2);
}

static struct bytes read_file(const char *path) {
  struct bytes b = {NULL, 0};
  FILE *const f = fopen(path, "rb");
  if (!f || fseek(f, 0, SEEK_END) != 0) {
    fail(path, strerror(errno));
  }
  const long n = ftell(f);
  rewind(f);
  b.at = malloc(n > 0 ? (size_t)n : 1);
  if (!b.at || n < 0 || fread(b.at, 1, (size_t)n, f) != (size_t)n) {
    fail(path, "cannot be read");
  }
  b.n = (size_t)n;
  fclose(f);
  return b;
}

static bool within(struct bytes b, uint64_t offset, uint64_t n) {
  return offset <= b.n && n <= b.n - offset;
}

/* The relocation r of `code`: "REX.W lea disp32(%rip), reg" of a symbol that is
   defined elsewhere. */
static void convert(struct bytes code, Elf64_Rela *r, const Elf64_Sym *symbol) {
  const uint64_t at = r->r_offset;
  if (ELF64_R_TYPE(r->r_info) != R_X86_64_PC32 || r->r_addend != -4 ||
      symbol->st_shndx != SHN_UNDEF || at < 3 || !within(code, at, 4)) {
    return;
  }
  unsigned char *const p = code.at + at - 3;
  if ((p[0] != 0x48 && p[0] != 0x4c) || p[1] != 0x8d || (p[2] & 0xc7) != 0x05) {
    return;
  }
  p[1] = 0x8b;
  r->r_info = ELF64_R_INFO(ELF64_R_SYM(r->r_info), R_X86_64_REX_GOTPCRELX);
  changes++;
}

/* Headers and tables need not be aligned within an archive. */
static void convert_table(struct bytes object, const Elf64_Shdr *table,
                          const Elf64_Shdr *code, const Elf64_Shdr *symbols) {
  if (!within(object, table->sh_offset, table->sh_size) ||
      !within(object, code->sh_offset, code->sh_size) ||
      !within(object, symbols->sh_offset, symbols->sh_size)) {
    return;
  }
  const struct bytes text = {object.at + code->sh_offset, code->sh_size};
  for (uint64_t i = 0; i < table->sh_size / sizeof(Elf64_Rela); i++) {
    unsigned char *const at =
        object.at + table->sh_offset + i * sizeof(Elf64_Rela);
    Elf64_Rela r;
    Elf64_Sym s;
    memcpy(&r, at, sizeof(r));
    if (ELF64_R_SYM(r.r_info) >= symbols->sh_size / sizeof(s)) {
      continue;
    }
    memcpy(&s,
           object.at + symbols->sh_offset + ELF64_R_SYM(r.r_info) * sizeof(s),
           sizeof(s));
    convert(text, &r, &s);
    memcpy(at, &r, sizeof(r));
  }
}

static void convert_object(struct bytes object) {
  Elf64_Ehdr h;
  if (object.n < sizeof(h)) {
    return;
  }
  memcpy(&h, object.at, sizeof(h));
  if (memcmp(h.e_ident, ELFMAG, SELFMAG) != 0 || h.e_type != ET_REL ||
      h.e_machine != EM_X86_64 || h.e_shentsize != sizeof(Elf64_Shdr) ||
      !within(object, h.e_shoff, (uint64_t)h.e_shnum * sizeof(Elf64_Shdr))) {
    return;
  }
  Elf64_Shdr *const s = malloc((h.e_shnum + (size_t)1) * sizeof(*s));
  if (!s) {
    exit(2);
  }
  memcpy(s, object.at + h.e_shoff, h.e_shnum * sizeof(*s));
  for (int i = 0; i < h.e_shnum; i++) {
    if (s[i].sh_type == SHT_RELA && s[i].sh_info < h.e_shnum &&
        s[i].sh_link < h.e_shnum && s[s[i].sh_info].sh_flags & SHF_EXECINSTR &&
        s[s[i].sh_link].sh_type == SHT_SYMTAB) {
      convert_table(object, &s[i], &s[s[i].sh_info], &s[s[i].sh_link]);
    }
  }
  free(s);
}

/* An archive: members behind headers of 60 characters, each at an even place.
 */
static void convert_archive(struct bytes b) {
  enum { MAGIC = 8, HEADER = 60, SIZE_AT = 48, SIZE_DIGITS = 10 };
  for (size_t at = MAGIC; within(b, at, HEADER);) {
    char digits[SIZE_DIGITS + 1] = {0};
    memcpy(digits, b.at + at + SIZE_AT, SIZE_DIGITS);
    const size_t n = strtoul(digits, NULL, 10);
    at += HEADER;
    if (!within(b, at, n)) {
      return;
    }
    convert_object((struct bytes){b.at + at, n});
    at += n + n % 2;
  }
}

int main(int argc, char **argv) {
  if (argc != 3) {
    fputs("usage: pems_repic FILE COPY\n", stderr);
    return 2;
  }
  const struct bytes b = read_file(argv[1]);
  if (b.n >= 8 && memcmp(b.at, "!<arch>\n", 8) == 0) {
    convert_archive(b);
  } else {
    convert_object(b);
  }
  if (!changes) {
    return 1;
  }
  FILE *const f = fopen(argv[2], "wb");
  if (!f || fwrite(b.at, 1, b.n, f) != b.n || fclose(f) != 0) {
    fail(argv[2], strerror(errno));
  }
  free(b.at);
  return 0;
}
