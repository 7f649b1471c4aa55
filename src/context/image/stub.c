/* Opening a library of which no constructor must run: a small shared object
   that consists of a dynamic section is written to memory and opened instead.
   It needs the library, and its own constructor comes before all others. */
#define _GNU_SOURCE
#include "context/image/stub.h"

#include "context/image/copy_file.h"
#include "os/memory_file.h"
#include "os/native.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#if defined __x86_64__
#define THIS_MACHINE EM_X86_64
#elif defined __aarch64__
#define THIS_MACHINE EM_AARCH64
#endif

enum { SEGMENTS = 3, TAGS = 11, STUB_PAGE = 65536 };

/* The whole file: one segment, at address 0. */
struct stub {
  Elf64_Ehdr header;
  Elf64_Phdr segment[SEGMENTS];
  Elf64_Dyn dynamic[TAGS];
  uint64_t first; /* DT_INIT_ARRAY: an address that needs no relocation */
  Elf64_Sym none; /* DT_SYMTAB */
  uint32_t hash[4];
  char strings[]; /* "", the name, the path */
};

static struct {
  char path[PATH_MAX]; /* of the stub that is being opened */
  void (*loaded)(struct link_map *first);
} opening;

/* Runs first of all that ld.so has just loaded, which stands behind the stub in
   its list. */
static void run_first(int argc, char **argv, char **envp) {
  (void)argc, (void)argv, (void)envp;
  for (struct link_map *m = _r_debug.r_map; m; m = m->l_next) {
    if (strcmp(m->l_name, opening.path) == 0) {
      opening.loaded(m->l_next);
      return;
    }
  }
}

static void fill_headers(struct stub *s, uint64_t size) {
  s->header = (Elf64_Ehdr){
      .e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
                  EV_CURRENT},
      .e_type = ET_DYN,
      .e_machine = THIS_MACHINE,
      .e_version = EV_CURRENT,
      .e_phoff = offsetof(struct stub, segment),
      .e_ehsize = sizeof(Elf64_Ehdr),
      .e_phentsize = sizeof(Elf64_Phdr),
      .e_phnum = SEGMENTS,
  };
  const uint64_t dynamic = offsetof(struct stub, dynamic);
  s->segment[0] = (Elf64_Phdr){.p_type = PT_LOAD,
                               .p_flags = PF_R | PF_W,
                               .p_filesz = size,
                               .p_memsz = size,
                               .p_align = STUB_PAGE};
  s->segment[1] = (Elf64_Phdr){.p_type = PT_DYNAMIC,
                               .p_flags = PF_R | PF_W,
                               .p_offset = dynamic,
                               .p_vaddr = dynamic,
                               .p_paddr = dynamic,
                               .p_filesz = sizeof(s->dynamic),
                               .p_memsz = sizeof(s->dynamic),
                               .p_align = 8};
  s->segment[2] = (Elf64_Phdr){
      .p_type = PT_GNU_STACK, .p_flags = PF_R | PF_W, .p_align = 16};
}

static void fill_dynamic(struct stub *s, size_t name, size_t path) {
  const Elf64_Dyn tags[TAGS] = {
      {DT_NEEDED, {1}},
      {path ? DT_RUNPATH : DT_DEBUG, {path ? 1 + name : 0}},
      {DT_HASH, {offsetof(struct stub, hash)}},
      {DT_STRTAB, {offsetof(struct stub, strings)}},
      {DT_SYMTAB, {offsetof(struct stub, none)}},
      {DT_STRSZ, {1 + name + path}},
      {DT_SYMENT, {sizeof(Elf64_Sym)}},
      {DT_INIT_ARRAY, {offsetof(struct stub, first)}},
      {DT_INIT_ARRAYSZ, {sizeof(s->first)}},
      {DT_FLAGS_1, {DF_1_INITFIRST}},
      {DT_NULL, {0}},
  };
  memcpy(s->dynamic, tags, sizeof(tags));
  s->first = (uint64_t)(uintptr_t)run_first;
  s->hash[0] = s->hash[1] = 1; /* one bucket, one symbol that is none */
}

static int write_stub(int fd, const char *name, const char *runpath) {
  const size_t name_len = strlen(name) + 1;
  const size_t path_len = runpath ? strlen(runpath) + 1 : 0;
  const size_t size = sizeof(struct stub) + 1 + name_len + path_len;
  struct stub *s = native_zalloc(1, size);
  if (s == NULL) {
    errno = ENOMEM;
    return -1;
  }
  fill_headers(s, size);
  fill_dynamic(s, name_len, path_len);
  memcpy(s->strings + 1, name, name_len);
  if (runpath) {
    memcpy(s->strings + 1 + name_len, runpath, path_len);
  }
  const ssize_t n = write(fd, s, size);
  native_free(s);
  return n == (ssize_t)size ? 0 : -1;
}

int stub_open(const char *name, const char *runpath, int flags,
              void (*loaded)(struct link_map *first)) {
  const int fd = memory_file("pems-open", true);
  int rc = -1;
  if (fd >= 0 && write_stub(fd, name, runpath) == 0 &&
      copy_file_spell(opening.path, sizeof(opening.path), fd, 0) == 0) {
    opening.loaded = loaded;
    /* Never closed: what it needs stays, too. */
    rc = dlopen(opening.path, flags) ? 0 : -1;
  }
  if (fd >= 0) {
    close(fd);
  }
  return rc;
}
