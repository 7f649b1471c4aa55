#define _GNU_SOURCE
#include "context/image/thread_data.h"

#include "context/image/library.h"
#include "context/image/relocation.h"
#include "os/bits.h"
#include "os/pages.h"

#include <dlfcn.h>
#include <link.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

int thread_data_count(const struct image_file *f) {
  return 1 + f->libraries;
}

static const struct image_file *file_of(const struct image_file *f, int i) {
  return i ? f->library[i - 1] : f;
}

/* The calling thread's, or NULL. */
static char *block_of(const struct image_file *f) {
  void *block = NULL;
  return f->shares_thread_data &&
                 dlinfo((void *)f->map, RTLD_DI_TLS_DATA, (void *)&block) == 0
             ? block
             : NULL;
}

struct image_part thread_data_pages(const struct image_file *f, int i) {
  const struct image_file *const of = file_of(f, i);
  char *const block = block_of(of);
  if (!block) {
    return (struct image_part){0};
  }
  const uint64_t bytes = image_file_segment(of, PT_TLS)->p_memsz;
  const uintptr_t start = bits_align_up((uintptr_t)block, PAGE);
  const uintptr_t end = bits_align_down((uintptr_t)block + bytes, PAGE);
  return end >= start + THREAD_DATA_LARGE
             ? (struct image_part){(char *)start, end - start, NULL}
             : (struct image_part){0};
}

struct image_part thread_data_block(const struct image_file *f, int i) {
  const struct image_file *const of = file_of(f, i);
  char *const block = block_of(of);
  return block ? (struct image_part){block,
                                     image_file_segment(of, PT_TLS)->p_memsz,
                                     NULL}
               : (struct image_part){0};
}

/* Each may be aligned. */
static int add_block(struct dl_phdr_info *info, size_t size, void *sum) {
  (void)size;
  for (int i = 0; i < info->dlpi_phnum; i++) {
    const ElfW(Phdr) *const p = &info->dlpi_phdr[i];
    if (p->p_type == PT_TLS) {
      *(size_t *)sum += p->p_memsz + p->p_align;
    }
  }
  return 0;
}

size_t thread_data_span(const struct image_file *f) {
  enum { RECORD = 16 << 10 }; /* and what ld.so has in reserve */
  size_t sum = RECORD;
  bool large = false;
  for (int i = 0; i < thread_data_count(f); i++) {
    large |= thread_data_pages(f, i).len > 0;
  }
  (void)dl_iterate_phdr(add_block, &sum);
  return large ? bits_align_up(sum, PAGE) : 0;
}

void thread_data_drop(const struct image_file *f) {
  for (int i = 0; i < thread_data_count(f); i++) {
    const struct image_part part = thread_data_pages(f, i);
    if (part.len) {
      (void)madvise(part.data, part.len, MADV_DONTNEED);
    }
  }
}

/* --- what they begin with -------------------------------------------------
 */

struct filling {
  const struct image *img;
  const Elf64_Phdr *from; /* the segment */
  char *block;
};

/* A relocation has made the word that is at `at` in the image. */
static void move_word(const struct filling *w, uint64_t at) {
  uint64_t word;
  const uint64_t in = at - w->from->p_vaddr;
  if (in > w->from->p_filesz || w->from->p_filesz - in < sizeof(word)) {
    return;
  }
  memcpy(&word, w->block + in, sizeof(word));
  if (library_rebind(w->img, &word)) {
    memcpy(w->block + in, &word, sizeof(word));
  }
}

static void move_words(const struct filling *w, const struct image_file *f) {
  struct relocation_walk walk = {.at = f->relr, .left = f->nrelr};
  uint64_t at;
  const Elf64_Rela *r;
  for (size_t i = 0; (r = image_file_relocation(f, i)); i++) {
    if (relocation_is_own(r) || relocation_is_symbol(r)) {
      move_word(w, r->r_offset);
    }
  }
  while (relocation_next_relr(&walk, &at)) {
    move_word(w, at);
  }
}

void thread_data_begin(const struct image *img) {
  for (int i = 0; img->file && i < thread_data_count(img->file); i++) {
    const struct image_file *const f = file_of(img->file, i);
    const struct filling w = {img, image_file_segment(f, PT_TLS), block_of(f)};
    if (w.block && w.from->p_filesz) {
      memcpy(w.block, f->original + w.from->p_vaddr, w.from->p_filesz);
      move_words(&w, f);
    }
  }
}
