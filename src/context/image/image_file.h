/* Facts about a program's file, for those who load copies of it. */
#ifndef PEMS_CONTEXT_IMAGE_IMAGE_FILE_H
#define PEMS_CONTEXT_IMAGE_IMAGE_FILE_H

#include "context/image/image.h"
#include "context/image/image_elf.h"

struct link_map;

/* Functions that ld.so would have called, by their place in the image. */
struct image_functions {
  uint64_t vaddr;
  size_t count;
};

/* A table of relocations. */
struct image_relocations {
  Elf64_Rela *at;
  size_t n;
  uint64_t offset; /* in the file */
};

struct image_file {
  enum image_kind kind;
  struct image_elf elf;
  char *path;         /* what debuggers are told the copies come from */
  bool starved;       /* reading it failed for want of memory */
  bool traced;        /* a debugger has followed this process all along */
  uint64_t page;      /* bytes */
  uint64_t low, high; /* pages of the whole image, relative to its base */
  /* Pages past RELRO: start, end of those with bytes in the file, end. */
  uint64_t data, data_file_end, data_end;
  uint64_t dynamic_offset; /* in the file */
  Elf64_Dyn *dynamic;
  size_t ndynamic;
  struct image_functions preinit, init, fini; /* arrays */
  uint64_t init_function, fini_function;      /* 0: none */

  /* Of a program whose libraries were found, and of each of those: */
  char *original;             /* base of what ld.so loaded at the start, */
  const struct link_map *map; /* and how it knows that */
  bool shares_thread_data;    /* copies use the original's (thread_data.h) */
  struct image_relocations relocations[2]; /* of data, and of calls */
  uint64_t *relr;                          /* DT_RELR: words and bitmaps */
  size_t nrelr;
  uint64_t symbols, names;   /* tables: addresses in the image */
  uint64_t relro, relro_end; /* pages, or 0, 0 */

  /* Of a program: libraries of which each VP has a copy, those that others need
     first. */
  struct image_file **library;
  int libraries;
  char *shared; /* the user's list of libraries that are not copied, or NULL */
};

/* Reads and checks the shared library at `path`. As image_open. */
int image_open_library(struct image_file **f, const char *path,
                       struct pems_error *error);
/* Reads what is to be relocated. 0 or ENOEXEC. */
int image_read_relocations(struct image_file *f, struct pems_error *error);
/* Then: number i of those that have an entry of their own, in the order of the
   tables; NULL after the last. */
const Elf64_Rela *image_file_relocation(const struct image_file *f, size_t i);

/* Does each symbol that a relocation names lie in what is loaded of the file,
   and its name to the end? `base`: where that is in memory. */
bool image_file_has_symbols(const struct image_file *f, const char *base);

/* The first segment of a type, or NULL. */
const Elf64_Phdr *image_file_segment(const struct image_file *f, uint32_t type);

/* Multiples of the page size at or below n, and at or above it. */
static inline uint64_t page_down(const struct image_file *f, uint64_t n) {
  return n & -f->page;
}

static inline uint64_t page_up(const struct image_file *f, uint64_t n) {
  return (n + f->page - 1) & -f->page;
}

#endif
