#define _GNU_SOURCE
#include "context/image/opened_tls.h"

#include "context/image/opened_set.h"
#include "context/image/original.h"

#include <dlfcn.h>
#include <link.h>
#include <stdint.h>
#include <string.h>

struct tls_index {
  size_t module, offset;
};
extern void *__tls_get_addr(struct tls_index *at);

static const Elf64_Phdr *tls_of(const struct original *of) {
  for (int i = 0; i < of->file->elf.nsegments; i++) {
    if (of->file->elf.segment[i].p_type == PT_TLS) {
      return &of->file->elf.segment[i];
    }
  }
  return NULL;
}

/* The original's is each thread's; what it begins with points to the
   original. */
static void point_tls(const struct image *img, const struct opened *o) {
  const Elf64_Phdr *tls = tls_of(o->of);
  char *block = NULL;
  for (size_t i = 0; tls && i < o->of->nwords; i++) {
    const struct original_word *word = &o->of->word[i];
    if (word->at - tls->p_vaddr >= tls->p_filesz) {
      continue;
    }
    struct tls_index at = {0, 0};
    if (!block && dlinfo(o->of->handle, RTLD_DI_TLS_MODID, &at.module) == 0) {
      block = __tls_get_addr(&at);
    }
    const char *base = opened_base(img, original_number(word->owner));
    const uint64_t value = (uint64_t)base + word->value;
    if (block && base) {
      memcpy(block + (word->at - tls->p_vaddr), &value, sizeof(value));
    }
  }
}

void opened_begin_thread(const struct image *img) {
  if (img->opened == NULL) {
    return;
  }
  for (const struct opened *o = img->opened->first; o; o = o->next) {
    if (o->built) {
      point_tls(img, o);
    }
  }
}
