/* Reads what loading a copy needs to know of the program's file: where its
   data is, and the functions that ld.so would call. */
#include "context/image/image_file.h"

#include "base/failure.h"
#include "context/image/relocation.h"
#include "os/traced.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const Elf64_Phdr *image_file_segment(const struct image_file *f,
                                     uint32_t type) {
  for (int i = 0; i < f->elf.nsegments; i++) {
    if (f->elf.segment[i].p_type == type) {
      return &f->elf.segment[i];
    }
  }
  return NULL;
}

/* Loaded segments: ascending, none sharing a page. */
static int measure_segments(struct image_file *f) {
  uint64_t end = 0;
  f->low = UINT64_MAX;
  for (int i = 0; i < f->elf.nsegments; i++) {
    const Elf64_Phdr *p = &f->elf.segment[i];
    if (p->p_type != PT_LOAD) {
      continue;
    }
    if (page_down(f, p->p_vaddr) < end ||
        ((p->p_vaddr ^ p->p_offset) & (f->page - 1)) != 0) {
      return -1;
    }
    if (f->low == UINT64_MAX) {
      f->low = page_down(f, p->p_vaddr);
    }
    end = page_up(f, p->p_vaddr + p->p_memsz);
  }
  f->high = end;
  return end > 0 ? 0 : -1;
}

/* What may be written after relocation: all of the writable segments past
   RELRO, which must be one stretch. */
static int measure_data(struct image_file *f) {
  const Elf64_Phdr *relro = image_file_segment(f, PT_GNU_RELRO);
  const Elf64_Phdr *dynamic = image_file_segment(f, PT_DYNAMIC);
  if (relro == NULL || dynamic == NULL || relro->p_memsz > f->high ||
      relro->p_vaddr > f->high - relro->p_memsz) {
    return -1;
  }
  const uint64_t relro_start = page_down(f, relro->p_vaddr);
  const uint64_t relro_end = page_down(f, relro->p_vaddr + relro->p_memsz);
  for (int i = 0; i < f->elf.nsegments; i++) {
    const Elf64_Phdr *p = &f->elf.segment[i];
    if (p->p_type != PT_LOAD || !(p->p_flags & PF_W)) {
      continue;
    }
    uint64_t start = page_down(f, p->p_vaddr);
    const uint64_t end = page_up(f, p->p_vaddr + p->p_memsz);
    if (start < relro_start) {
      return -1;
    }
    if (end <= relro_end) {
      continue;
    }
    start = start < relro_end ? relro_end : start;
    if (f->data_end == 0) {
      f->data = f->data_file_end = start;
    } else if (start != f->data_end) {
      return -1;
    }
    f->data_end = end;
    const uint64_t file_end = page_up(f, p->p_vaddr + p->p_filesz);
    if (file_end > f->data_file_end) {
      f->data_file_end = file_end;
    }
  }
  /* ld.so reads the dynamic section whenever it looks for a symbol. */
  return f->data_end != 0 && dynamic->p_vaddr + dynamic->p_memsz <= f->data &&
                 dynamic->p_vaddr >= f->low
             ? 0
             : -1;
}

static int read_dynamic(struct image_file *f) {
  const Elf64_Phdr *p = image_file_segment(f, PT_DYNAMIC);
  if (p->p_filesz == 0 || p->p_filesz % sizeof(Elf64_Dyn) != 0) {
    return -1;
  }
  f->dynamic_offset = p->p_offset;
  f->dynamic = malloc(p->p_filesz);
  f->starved = f->dynamic == NULL;
  if (f->starved ||
      image_elf_read(&f->elf, p->p_offset, f->dynamic, p->p_filesz) != 0) {
    return -1;
  }
  const size_t room = p->p_filesz / sizeof(Elf64_Dyn);
  while (f->ndynamic < room && f->dynamic[f->ndynamic].d_tag != DT_NULL) {
    f->ndynamic++;
  }
  return f->ndynamic < room ? 0 : -1;
}

/* Of several, as ld.so has it: the last. */
static uint64_t dynamic_value(const struct image_file *f, int64_t tag) {
  for (size_t i = f->ndynamic; i > 0; i--) {
    if (f->dynamic[i - 1].d_tag == tag) {
      return f->dynamic[i - 1].d_un.d_val;
    }
  }
  return 0;
}

/* How many bytes are loaded from the file at vaddr and behind it. */
static uint64_t loaded_at(const struct image_file *f, uint64_t vaddr) {
  for (int i = 0; i < f->elf.nsegments; i++) {
    const Elf64_Phdr *p = &f->elf.segment[i];
    if (p->p_type == PT_LOAD && p->p_flags & PF_R && vaddr >= p->p_vaddr &&
        vaddr - p->p_vaddr < p->p_filesz) {
      return p->p_filesz - (vaddr - p->p_vaddr);
    }
  }
  return 0;
}

/* [vaddr, vaddr + len) is loaded from the file by a segment with `flags`. */
static bool in_segment(const struct image_file *f, uint64_t vaddr, uint64_t len,
                       uint32_t flags) {
  for (int i = 0; i < f->elf.nsegments; i++) {
    const Elf64_Phdr *p = &f->elf.segment[i];
    if (p->p_type == PT_LOAD && (p->p_flags & flags) == flags &&
        vaddr >= p->p_vaddr && vaddr - p->p_vaddr <= p->p_filesz &&
        len <= p->p_filesz - (vaddr - p->p_vaddr)) {
      return true;
    }
  }
  return false;
}

static int read_array(const struct image_file *f, struct image_functions *to,
                      int64_t tag, int64_t size_tag) {
  to->vaddr = dynamic_value(f, tag);
  /* A size alone is nothing, to ld.so either. */
  const uint64_t bytes = to->vaddr ? dynamic_value(f, size_tag) : 0;
  to->count = bytes / sizeof(uintptr_t);
  return bytes == 0 || (bytes % sizeof(uintptr_t) == 0 &&
                        to->vaddr % sizeof(uintptr_t) == 0 &&
                        in_segment(f, to->vaddr, bytes, PF_R))
             ? 0
             : -1;
}

static int read_functions(struct image_file *f) {
  f->init_function = dynamic_value(f, DT_INIT);
  f->fini_function = dynamic_value(f, DT_FINI);
  if ((f->init_function && !in_segment(f, f->init_function, 1, PF_X)) ||
      (f->fini_function && !in_segment(f, f->fini_function, 1, PF_X))) {
    return -1;
  }
  return read_array(f, &f->preinit, DT_PREINIT_ARRAY, DT_PREINIT_ARRAYSZ) ||
                 read_array(f, &f->init, DT_INIT_ARRAY, DT_INIT_ARRAYSZ) ||
                 read_array(f, &f->fini, DT_FINI_ARRAY, DT_FINI_ARRAYSZ)
             ? -1
             : 0;
}

static bool has_text_relocations(const struct image_file *f) {
  for (size_t i = 0; i < f->ndynamic; i++) {
    if (f->dynamic[i].d_tag == DT_TEXTREL) {
      return true;
    }
  }
  return (dynamic_value(f, DT_FLAGS) & DF_TEXTREL) != 0;
}

/* Where an address of the image is in the file. */
static uint64_t offset_of(const struct image_file *f, uint64_t vaddr) {
  for (int i = 0; i < f->elf.nsegments; i++) {
    const Elf64_Phdr *p = &f->elf.segment[i];
    if (p->p_type == PT_LOAD && vaddr >= p->p_vaddr &&
        vaddr - p->p_vaddr < p->p_filesz) {
      return vaddr - p->p_vaddr + p->p_offset;
    }
  }
  return 0;
}

static int read_table(struct image_file *f, struct image_relocations *to,
                      int64_t tag, int64_t size_tag) {
  const uint64_t vaddr = dynamic_value(f, tag);
  const uint64_t bytes = dynamic_value(f, size_tag);
  if (bytes == 0) {
    return 0;
  }
  if (bytes % sizeof(Elf64_Rela) != 0 || !in_segment(f, vaddr, bytes, PF_R)) {
    return -1;
  }
  to->offset = offset_of(f, vaddr);
  to->n = bytes / sizeof(Elf64_Rela);
  to->at = malloc(bytes);
  f->starved = to->at == NULL;
  return to->at && image_elf_read(&f->elf, to->offset, to->at, bytes) == 0 ? 0
                                                                           : -1;
}

/* Every word that a relocation changes lies in a writable segment. */
static bool in_writable(const struct image_file *f, uint64_t vaddr) {
  for (int i = 0; i < f->elf.nsegments; i++) {
    const Elf64_Phdr *p = &f->elf.segment[i];
    if (p->p_type == PT_LOAD && p->p_flags & PF_W && vaddr >= p->p_vaddr &&
        vaddr - p->p_vaddr < p->p_memsz &&
        p->p_memsz - (vaddr - p->p_vaddr) >= sizeof(uint64_t)) {
      return true;
    }
  }
  return false;
}

#ifndef DT_RELR
#define DT_RELRSZ 35
#define DT_RELR 36
#endif

static int read_relr(struct image_file *f) {
  const uint64_t vaddr = dynamic_value(f, DT_RELR);
  const uint64_t bytes = dynamic_value(f, DT_RELRSZ);
  if (bytes == 0) {
    return 0;
  }
  if (bytes % sizeof(uint64_t) != 0 || !in_segment(f, vaddr, bytes, PF_R)) {
    return -1;
  }
  f->nrelr = bytes / sizeof(uint64_t);
  f->relr = malloc(bytes);
  f->starved = f->relr == NULL;
  return f->relr && image_elf_read(&f->elf, offset_of(f, vaddr), f->relr,
                                   bytes) == 0
             ? 0
             : -1;
}

const Elf64_Rela *image_file_relocation(const struct image_file *f, size_t i) {
  const struct image_relocations *const of_data = &f->relocations[0];
  const struct image_relocations *const of_calls = &f->relocations[1];
  return i < of_data->n                 ? &of_data->at[i]
         : i - of_data->n < of_calls->n ? &of_calls->at[i - of_data->n]
                                        : NULL;
}

static int out_of_memory(const char *path, struct pems_error *error) {
  return failure(error, ENOMEM,
                 "out of memory: %s: free memory and run it again", path);
}

int image_read_relocations(struct image_file *f, struct pems_error *error) {
  const Elf64_Phdr *relro = image_file_segment(f, PT_GNU_RELRO);
  bool bad = read_table(f, &f->relocations[0], DT_RELA, DT_RELASZ) ||
             read_table(f, &f->relocations[1], DT_JMPREL, DT_PLTRELSZ) ||
             read_relr(f);
  const Elf64_Rela *r;
  for (size_t i = 0; !bad && (r = image_file_relocation(f, i)); i++) {
    bad = !in_writable(f, r->r_offset);
  }
  f->symbols = dynamic_value(f, DT_SYMTAB);
  f->names = dynamic_value(f, DT_STRTAB);
  if (relro) {
    f->relro = page_down(f, relro->p_vaddr);
    f->relro_end = page_down(f, relro->p_vaddr + relro->p_memsz);
  }
  const char *const path = f->path ? f->path : "a library";
  return !bad         ? 0
         : f->starved ? out_of_memory(path, error)
                      : failure(error, ENOEXEC,
                                "cannot read the relocations: %s: build it "
                                "again",
                                path);
}

static bool has_symbol(const struct image_file *f, const char *base,
                       const Elf64_Rela *r) {
  const uint64_t at = f->symbols + ELF64_R_SYM(r->r_info) * sizeof(Elf64_Sym);
  if (at % _Alignof(Elf64_Sym) != 0 || loaded_at(f, at) < sizeof(Elf64_Sym)) {
    return false;
  }
  const uint64_t name = f->names + ((const Elf64_Sym *)(base + at))->st_name;
  const uint64_t n = loaded_at(f, name);
  return n && memchr(base + name, '\0', n);
}

bool image_file_has_symbols(const struct image_file *f, const char *base) {
  const Elf64_Rela *r;
  for (size_t i = 0; (r = image_file_relocation(f, i)); i++) {
    if (relocation_is_symbol(r) && !has_symbol(f, base, r)) {
      return false;
    }
  }
  return true;
}

/* What ld.so reads whenever it looks for a symbol: its pages are never the
   context's. It is read here where it is in the file. */
static bool has_dynamic(const struct image_file *f) {
  const Elf64_Phdr *const p = image_file_segment(f, PT_DYNAMIC);
  return p && in_segment(f, p->p_vaddr, p->p_filesz, PF_R) &&
         offset_of(f, p->p_vaddr) == p->p_offset;
}

/* The data of a library that was linked without RELRO cannot be told from what
   ld.so needs: it is private, and stays in memory. */
static int read_library(struct image_file *f, const char *path,
                        struct pems_error *error) {
  if (measure_segments(f) != 0 || !has_dynamic(f) || read_dynamic(f) != 0 ||
      read_functions(f) != 0 || has_text_relocations(f)) {
    return failure(
        error, ENOEXEC,
        "cannot copy a library: %s: it is damaged, or has relocations in its "
        "code: name it with --pems-shared",
        path);
  }
  if (measure_data(f) != 0) {
    f->data = f->data_file_end = f->data_end = 0;
  }
  return image_read_relocations(f, error);
}

static int read_file(struct image_file *f, const char *path,
                     struct pems_error *error) {
  if (f->kind == IMAGE_LIBRARY) {
    return read_library(f, path, error);
  }
  if (measure_segments(f) != 0 || measure_data(f) != 0) {
    return failure(error, ENOEXEC,
                   "cannot tell the program's data from its code: %s: link it "
                   "with pemscc and GNU ld, without -z norelro",
                   path);
  }
  if (read_dynamic(f) != 0 || read_functions(f) != 0) {
    return failure(
        error, ENOEXEC,
        "the program's file is damaged: %s: build it again with pemscc", path);
  }
  if (has_text_relocations(f)) {
    return failure(
        error, ENOEXEC,
        "the program has relocations in its code: %s: compile all of "
        "it with pemscc",
        path);
  }
  return 0;
}

static int open_file(struct image_file **to, const char *path,
                     enum image_kind kind, struct pems_error *error) {
  *to = NULL;
  struct image_file *f = calloc(1, sizeof(*f));
  if (f == NULL) {
    return out_of_memory(path, error);
  }
  f->kind = kind;
  int code = image_elf_open(&f->elf, path, kind, error);
  if (code) {
    free(f);
    return code;
  }
  f->page = (uint64_t)sysconf(_SC_PAGESIZE);
  f->path = realpath(path, NULL);
  f->traced = traced_is();
  code = read_file(f, path, error);
  if (code) {
    code = f->starved ? out_of_memory(path, error) : code;
    image_close(f);
    return code;
  }
  *to = f;
  return 0;
}

int image_open(struct image_file **to, const char *path,
               struct pems_error *error) {
  return open_file(to, path, IMAGE_PROGRAM, error);
}

int image_open_library(struct image_file **to, const char *path,
                       struct pems_error *error) {
  return open_file(to, path, IMAGE_LIBRARY, error);
}

void image_close(struct image_file *f) {
  if (f == NULL) {
    return;
  }
  for (int i = 0; i < f->libraries; i++) {
    image_close(f->library[i]);
  }
  free(f->library);
  free(f->relocations[0].at);
  free(f->relocations[1].at);
  free(f->relr);
  free(f->shared);
  close(f->elf.fd);
  free(f->path);
  free(f->dynamic);
  free(f);
}

size_t image_data_len(const struct image_file *f) {
  size_t n = f->data_end - f->data;
  for (int i = 0; i < f->libraries; i++) {
    n += image_data_len(f->library[i]);
  }
  return n;
}
