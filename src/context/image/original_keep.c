#define _GNU_SOURCE
#include "context/image/original_keep.h"

#include "base/failure.h"
#include "context/image/original_table.h"
#include "context/image/relocation.h"
#include "os/native.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>

static void nothing(void) {
}

/* ld.so finds no constructors and destructors in it. */
static int disarm(const struct link_map *map, const struct image_file *f) {
  const uint64_t start = page_down(f, (uintptr_t)map->l_ld);
  const uint64_t end = page_up(f, (uintptr_t)(map->l_ld + f->ndynamic + 1));
  if (mprotect((void *)start, end - start, PROT_READ | PROT_WRITE) != 0) {
    return -1;
  }
  for (ElfW(Dyn) *d = map->l_ld; d->d_tag != DT_NULL; d++) {
    if (d->d_tag == DT_INIT_ARRAYSZ || d->d_tag == DT_FINI_ARRAYSZ) {
      d->d_un.d_val = 0;
    } else if (d->d_tag == DT_INIT || d->d_tag == DT_FINI) {
      d->d_un.d_ptr = (uintptr_t)nothing - map->l_addr;
    }
  }
  /* Where the section is not read-only, its page holds data, too. */
  const uint64_t low = start - map->l_addr;
  if (f->relro <= low && end - map->l_addr <= f->relro_end) {
    (void)mprotect((void *)start, end - start, PROT_READ);
  }
  return 0;
}

static void measure(struct original *o) {
  const struct image_file *f = o->file;
  o->data = UINT64_MAX;
  for (int i = 0; i < f->elf.nsegments; i++) {
    const Elf64_Phdr *p = &f->elf.segment[i];
    if (p->p_type == PT_LOAD && p->p_flags & PF_W) {
      o->data = p->p_vaddr < o->data ? p->p_vaddr : o->data;
      o->data_end = p->p_vaddr + p->p_filesz;
    }
  }
  if (o->data > o->data_end) {
    o->data = o->data_end = 0;
  }
}

/* A segment's bytes, as they are in memory now. */
static int copy_loaded(const struct original *o, const Elf64_Phdr *p,
                       char *to) {
  memcpy(to, (char *)o->map->l_addr + p->p_vaddr, p->p_filesz);
  return 0;
}

static int read_stored(const struct original *o, const Elf64_Phdr *p,
                       char *to) {
  return image_elf_read(&o->file->elf, p->p_offset, to, p->p_filesz) ? EIO : 0;
}

/* Segments may be apart from each other. 0 or an errno value. */
static int keep_data(struct original *o,
                     int (*get)(const struct original *o, const Elf64_Phdr *p,
                                char *to)) {
  const struct image_file *f = o->file;
  measure(o);
  o->pristine = native_zalloc(1, o->data_end - o->data + 1);
  int code = o->pristine ? 0 : ENOMEM;
  for (int i = 0; i < f->elf.nsegments && !code; i++) {
    const Elf64_Phdr *p = &f->elf.segment[i];
    if (p->p_type == PT_LOAD && p->p_flags & PF_W) {
      code = get(o, p, o->pristine + (p->p_vaddr - o->data));
    }
  }
  return code;
}

/* The file is the one that was loaded. */
static bool is_same(const struct link_map *map, const struct image_file *f) {
  for (int i = 0; i < f->elf.nsegments; i++) {
    const Elf64_Phdr *p = &f->elf.segment[i];
    if (p->p_type == PT_DYNAMIC) {
      return (uintptr_t)map->l_ld == map->l_addr + p->p_vaddr;
    }
  }
  return false;
}

/* Of a damaged file, ld.so may have read the dynamic section at one place, and
   image_open_library at another. */
static bool is_sound(const struct link_map *map, const struct image_file *f) {
  for (size_t i = 0; i <= f->ndynamic; i++) {
    if (map->l_ld[i].d_tag != f->dynamic[i].d_tag) {
      return false;
    }
  }
  return image_file_has_symbols(f, (const char *)map->l_addr);
}

/* --- relocating once more --------------------------------------------------

   What ld.so has written where nobody else writes is taken from the loaded
   library: tables of addresses, and all that is read-only since. The rest may
   have been changed, and is worked out; of symbols with several versions the
   default one is taken. */

static void put(struct original *o, uint64_t at, uint64_t word) {
  if (original_keeps(o, at, sizeof(word))) {
    memcpy(o->pristine + (at - o->data), &word, sizeof(word));
  }
}

static void take_loaded(struct original *o, uint64_t at, int words) {
  const size_t n = (size_t)words * sizeof(uint64_t);
  if (original_keeps(o, at, n)) {
    memcpy(o->pristine + (at - o->data), (const char *)o->map->l_addr + at, n);
  }
}

static bool is_constant(const struct original *o, uint64_t at) {
  return at >= o->file->relro && at < o->file->relro_end;
}

static void *find(void *handle, const char *name) {
  void *const p = dlsym(RTLD_DEFAULT, name);
  return p ? p : dlsym(handle, name);
}

/* 0 where there is none: it is weak. */
static uint64_t address_of(const struct original *o, void *handle,
                           const Elf64_Rela *r) {
  const uint64_t base = o->map->l_addr;
  const Elf64_Sym *symbol =
      (const Elf64_Sym *)(base + o->file->symbols) + ELF64_R_SYM(r->r_info);
  const bool is_local = ELF64_ST_BIND(symbol->st_info) == STB_LOCAL;
  void *const p =
      is_local
          ? NULL
          : find(handle, (const char *)base + o->file->names + symbol->st_name);
  return p                                           ? (uint64_t)p
         : is_local || symbol->st_shndx != SHN_UNDEF ? base + symbol->st_value
                                                     : 0;
}

static void relocate(struct original *o, void *handle, const Elf64_Rela *r) {
  if (relocation_is_tls(r)) {
    take_loaded(o, r->r_offset, relocation_tls_words(r));
  } else if (relocation_is_data(r) && !is_constant(o, r->r_offset)) {
    put(o, r->r_offset, address_of(o, handle, r) + (uint64_t)r->r_addend);
  } else if (relocation_is_symbol(r) || relocation_is_chosen(r)) {
    take_loaded(o, r->r_offset, 1);
  } else if (relocation_is_own(r)) {
    put(o, r->r_offset, o->map->l_addr + (uint64_t)r->r_addend);
  }
}

static void relocate_relr(struct original *o) {
  struct relocation_walk walk = {.at = o->file->relr, .left = o->file->nrelr};
  uint64_t at, word;
  while (relocation_next_relr(&walk, &at)) {
    if (original_keeps(o, at, sizeof(word))) {
      memcpy(&word, o->pristine + (at - o->data), sizeof(word));
      put(o, at, word + o->map->l_addr);
    }
  }
}

static int relocate_anew(struct original *o) {
  void *const handle = dlopen(o->map->l_name, RTLD_LAZY | RTLD_NOLOAD);
  if (!handle) {
    return EINVAL;
  }
  relocate_relr(o);
  const Elf64_Rela *r;
  for (size_t i = 0; (r = image_file_relocation(o->file, i)); i++) {
    relocate(o, handle, r);
  }
  dlclose(handle);
  return 0;
}

/* ---------------------------------------------------------------------------
 */

static int find_file(struct original *o, struct pems_error *error) {
  const int code = image_open_library(&o->own_file, o->map->l_name, error);
  if (code) {
    return code;
  }
  o->own_file->kind = IMAGE_OPENED;
  o->own_file->original = (char *)o->map->l_addr;
  if (!is_same(o->map, o->own_file)) {
    return failure(error, EINVAL, "its file was replaced");
  }
  if (!is_sound(o->map, o->own_file)) {
    return failure(error, EINVAL, "its file is damaged");
  }
  o->file = o->own_file;
  return 0;
}

static int refuse(struct original *o, int code, struct pems_error *error) {
  o->file = NULL;
  return failure(error, code, "%s",
                 code == ENOMEM ? "out of memory" : "its file cannot be read");
}

int original_keep(struct original *o, struct pems_error *error) {
  int code = find_file(o, error);
  if (code) {
    return code;
  }
  code = keep_data(o, copy_loaded);
  return code || disarm(o->map, o->file) != 0 ? refuse(o, ENOMEM, error) : 0;
}

int original_keep_used(struct original *o, struct pems_error *error) {
  int code = find_file(o, error);
  if (code) {
    return code;
  }
  code = keep_data(o, read_stored);
  code = code ? code : relocate_anew(o);
  return code ? refuse(o, code, error) : 0;
}
