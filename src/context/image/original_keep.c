#define _GNU_SOURCE
#include "context/image/original_keep.h"

#include "base/failure.h"
#include "context/image/original_table.h"
#include "os/native.h"

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

/* Segments may be apart from each other. */
static int keep_data(struct original *o) {
  const struct image_file *f = o->file;
  measure(o);
  o->pristine = native_zalloc(1, o->data_end - o->data + 1);
  if (o->pristine == NULL) {
    return -1;
  }
  for (int i = 0; i < f->elf.nsegments; i++) {
    const Elf64_Phdr *p = &f->elf.segment[i];
    if (p->p_type == PT_LOAD && p->p_flags & PF_W) {
      memcpy(o->pristine + (p->p_vaddr - o->data),
             (char *)o->map->l_addr + p->p_vaddr, p->p_filesz);
    }
  }
  return 0;
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

int original_keep(struct original *o, struct pems_error *error) {
  const int code = image_open_library(&o->own_file, o->map->l_name, error);
  if (code) {
    return code;
  }
  o->own_file->kind = IMAGE_OPENED;
  o->own_file->original = (char *)o->map->l_addr;
  if (!is_same(o->map, o->own_file)) {
    return failure(error, EINVAL, "its file was replaced");
  }
  o->file = o->own_file;
  if (keep_data(o) != 0 || disarm(o->map, o->file) != 0) {
    o->file = NULL;
    return failure(error, ENOMEM, "out of memory");
  }
  return 0;
}
