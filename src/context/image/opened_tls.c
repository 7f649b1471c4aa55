#define _GNU_SOURCE
#include "context/image/opened_tls.h"

#include "context/image/copy_pages.h"
#include "context/image/opened_set.h"
#include "context/image/original.h"
#include "context/image/relocation.h"

#include <dlfcn.h>
#include <link.h>
#include <stdint.h>
#include <string.h>

struct tls_index {
  size_t module, offset;
};
extern void *__tls_get_addr(struct tls_index *at);

static const Elf64_Phdr *segment_of(const struct opened *o) {
  return o->built ? image_file_segment(o->of->file, PT_TLS) : NULL;
}

/* The original's is each thread's; ld.so makes it when it is asked for: where
   `there` is, if that is not NULL. */
static char *block_of(const struct image *img, const struct opened *o,
                      const Elf64_Phdr *tls, char *there) {
  const struct opened_host *const host = &img->opened->host;
  struct tls_index at = {0, 0};
  if (dlinfo(o->of->handle, RTLD_DI_TLS_MODID, &at.module) != 0) {
    return NULL;
  }
  if (host->expect) {
    host->expect(tls->p_memsz, tls->p_align, there);
  }
  char *const block = __tls_get_addr(&at);
  if (host->expect) {
    host->expect(0, 0, NULL);
  }
  return block;
}

/* What it begins with points to the original. */
void opened_begin(const struct image *img, const struct opened *o) {
  const Elf64_Phdr *const tls = segment_of(o);
  char *const block = tls ? block_of(img, o, tls, NULL) : NULL;
  for (size_t i = 0; block && i < o->of->nwords; i++) {
    const struct original_word *word = &o->of->word[i];
    if (word->at - tls->p_vaddr >= tls->p_filesz) {
      continue;
    }
    const char *base = opened_base(img, original_number(word->owner));
    const uint64_t value = (uint64_t)base + word->value;
    if (base) {
      memcpy(block + (word->at - tls->p_vaddr), &value, sizeof(value));
    }
  }
}

void opened_begin_thread(const struct image *img) {
  if (img->opened == NULL) {
    return;
  }
  for (const struct opened *o = img->opened->first; o; o = o->next) {
    opened_begin(img, o);
  }
}

size_t opened_tls_size(const struct opened *o) {
  const Elf64_Phdr *const tls = segment_of(o);
  return tls ? tls->p_memsz : 0;
}

/* Where more is asked for, ld.so cuts the block out of a larger one. */
bool opened_tls_loose(const struct opened *o) {
  enum { MOST = 16 };
  const Elf64_Phdr *const tls = segment_of(o);
  bool loose = !tls || tls->p_align <= MOST;
  const Elf64_Rela *r;
  for (size_t i = 0; o->built && (r = image_file_relocation(o->of->file, i));
       i++) {
    loose = loose && !relocation_is_fixed(r);
  }
  return loose;
}

char *opened_tls_block(const struct image *img, const struct opened *o) {
  const Elf64_Phdr *const tls = segment_of(o);
  return tls ? block_of(img, o, tls, NULL) : NULL;
}

bool opened_begin_at(const struct image *img, const struct opened *o,
                     char *block) {
  const Elf64_Phdr *const tls = segment_of(o);
  return !tls || block_of(img, o, tls, block) == block;
}

static void copy_words(const struct opened *o, const Elf64_Rela *r) {
  const size_t n = sizeof(uint64_t) * (size_t)relocation_tls_words(r);
  char *const to = o->img.base + r->r_offset;
  if (!original_keeps(o->of, r->r_offset, n)) {
    return;
  }
  for (int i = 0; i < o->parts; i++) {
    const struct image_part *const p = &o->part[i];
    if (to >= p->data + copy_pages_constant(&o->img, *p) &&
        to + n <= p->data + p->len) {
      memcpy(to, o->of->pristine + (r->r_offset - o->of->data), n);
    }
  }
}

void opened_tls_renumber(const struct opened *o) {
  const Elf64_Rela *r;
  for (size_t i = 0; o->built && (r = image_file_relocation(o->of->file, i));
       i++) {
    if (relocation_is_tls(r)) {
      copy_words(o, r);
    }
  }
}
