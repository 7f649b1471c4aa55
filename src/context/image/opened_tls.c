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

/* The original's is each thread's; ld.so makes it when it is asked for. */
static char *block_of(const struct image *img, const struct opened *o,
                      const Elf64_Phdr *tls) {
  const struct opened_host *const host = &img->opened->host;
  struct tls_index at = {0, 0};
  if (dlinfo(o->of->handle, RTLD_DI_TLS_MODID, &at.module) != 0) {
    return NULL;
  }
  if (host->expect) {
    host->expect(tls->p_memsz, tls->p_align);
  }
  char *const block = __tls_get_addr(&at);
  if (host->expect) {
    host->expect(0, 0);
  }
  return block;
}

/* What it begins with points to the original. */
void opened_begin(const struct image *img, const struct opened *o) {
  const Elf64_Phdr *const tls =
      o->built ? image_file_segment(o->of->file, PT_TLS) : NULL;
  char *const block = tls ? block_of(img, o, tls) : NULL;
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
