#define _GNU_SOURCE
#include "interpose/real.h"

#include "base/message.h"

#include <link.h>
#include <stdint.h>
#include <string.h>

/* The value of a tag of the dynamic section; ld.so has relocated addresses. */
static uintptr_t tag_of(const struct link_map *map, int64_t tag) {
  for (const ElfW(Dyn) *d = map->l_ld; d->d_tag != DT_NULL; d++) {
    if (d->d_tag == tag) {
      return d->d_un.d_ptr;
    }
  }
  return 0;
}

/* The symbol that DT_GNU_HASH has under a name. */
static const ElfW(Sym) *
    find_symbol(const struct link_map *map, const char *name) {
  const uint32_t *table = (const uint32_t *)tag_of(map, DT_GNU_HASH);
  const ElfW(Sym) *symbols = (const ElfW(Sym) *)tag_of(map, DT_SYMTAB);
  const char *strings = (const char *)tag_of(map, DT_STRTAB);
  uint32_t hash = 5381;
  if ((uintptr_t)table < map->l_addr || !symbols || !strings) {
    return NULL;
  }
  for (const char *c = name; *c; c++) {
    hash = hash * 33 + (unsigned char)*c;
  }
  const uint32_t buckets = table[0], offset = table[1];
  const uint32_t *bucket = table + 4 + 2 * table[2];
  const uint32_t *chain = bucket + buckets;
  uint32_t i = buckets ? bucket[hash % buckets] : 0;
  for (; i >= offset && i > 0; i++) {
    if (strcmp(strings + symbols[i].st_name, name) == 0) {
      return &symbols[i];
    }
    if (chain[i - offset] & 1) {
      break;
    }
  }
  return NULL;
}

real_function *real_of_library(const char *library, const char *name) {
  for (const struct link_map *m = _r_debug.r_map; m; m = m->l_next) {
    const char *slash = strrchr(m->l_name, '/');
    const char *base = slash ? slash + 1 : m->l_name;
    const ElfW(Sym) *symbol = strncmp(base, library, strlen(library)) == 0
                                  ? find_symbol(m, name)
                                  : NULL;
    if (symbol && symbol->st_shndx != SHN_UNDEF) {
      return (real_function *)(m->l_addr + symbol->st_value);
    }
  }
  return NULL;
}

real_function *real_of_libc(const char *name) {
  real_function *f = real_of_library("libc.so", name);
  f = f ? f : real_of_library("libdl.so", name);
  if (f) {
    return f;
  }
  msg_fail(MSG_FAILED, "cannot find %s: in libc: is this glibc?", name);
}
