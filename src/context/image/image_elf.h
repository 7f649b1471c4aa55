/* Reading a program's ELF file without trusting a byte of it. */
#ifndef PEMS_CONTEXT_IMAGE_IMAGE_ELF_H
#define PEMS_CONTEXT_IMAGE_IMAGE_ELF_H

#include <elf.h>
#include <stddef.h>
#include <stdint.h>

#include <pems/status.h>

enum { IMAGE_SEGMENTS_MAX = 64 };

/* The file and those of its headers that were checked: an ELF64 shared object
   of this machine, and if a program, one with pemscc's note. Every segment that
   has bytes in the file lies within it, and every loaded one below 2^46 with no
   overflow. */
struct image_elf {
  int fd;                   /* read-only */
  uint64_t size;            /* bytes */
  uint64_t segments_offset; /* of their headers in the file */
  Elf64_Phdr segment[IMAGE_SEGMENTS_MAX];
  int nsegments;
};

enum image_kind {
  IMAGE_PROGRAM,
  IMAGE_LIBRARY, /* linked with the program */
  IMAGE_OPENED,  /* opened at run time */
};

/* Returns 0, or an errno value with *error filled in, ENOEXEC for what is
   wrong in the file. On success the caller closes elf->fd. */
int image_elf_open(struct image_elf *elf, const char *path,
                   enum image_kind kind, struct pems_error *error);
/* Reads exactly len bytes at `offset`. 0 or -1. */
int image_elf_read(const struct image_elf *elf, uint64_t offset, void *to,
                   size_t len);

/* Does the hash table lie in what is loaded of the file, with all its chains,
   the symbols that these stand for, their names, and their versions? So with
   relocations, and do they change nothing else? 0, ENOEXEC, or ENOMEM. 0, too,
   if there is no hash table: ld.so says so itself. */
int image_lookup_check(const struct image_elf *elf);

#endif
