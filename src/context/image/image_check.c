/* Is a file a program built with pemscc? Needs nothing of the runtime. */
#define _GNU_SOURCE
#include "context/image/image.h"

#include "base/failure.h"
#include "context/image/image_elf.h"
#include "context/image/program_abi.h"
#include "os/bits.h"
#include "os/whole.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#if defined __x86_64__
#define THIS_MACHINE EM_X86_64
#elif defined __aarch64__
#define THIS_MACHINE EM_AARCH64
#endif

enum { NOTES_MAX = 65536 }; /* bytes looked at */
static const uint64_t address_end = UINT64_C(1) << 46;

int image_elf_read(const struct image_elf *elf, uint64_t offset, void *to,
                   size_t len) {
  if (offset > elf->size || len > elf->size - offset) {
    return -1;
  }
  return whole_read_at(elf->fd, to, len, offset) ? -1 : 0;
}

static int refuse(const char *path, struct pems_error *error) {
  return failure(error, ENOEXEC,
                 "not built with pemscc: %s: compile and link it with pemscc",
                 path);
}

static int damaged(const char *path, struct pems_error *error) {
  return failure(
      error, ENOEXEC,
      "the program's file is damaged: %s: build it again with pemscc", path);
}

static int unreadable(const char *path, int code, const char *why,
                      struct pems_error *error) {
  return failure(
      error, code,
      "cannot read the program: %s: %s; name an executable built with "
      "pemscc",
      path, why);
}

static bool is_ours(const Elf64_Ehdr *h) {
  return memcmp(h->e_ident, ELFMAG, SELFMAG) == 0 &&
         h->e_ident[EI_CLASS] == ELFCLASS64 &&
         h->e_ident[EI_DATA] == ELFDATA2LSB && h->e_machine == THIS_MACHINE &&
         h->e_type == ET_DYN && h->e_version == EV_CURRENT;
}

static bool is_sound(const struct image_elf *elf, const Elf64_Phdr *p) {
  if (p->p_filesz > 0 &&
      (p->p_offset > elf->size || p->p_filesz > elf->size - p->p_offset)) {
    return false;
  }
  if (p->p_type != PT_LOAD) {
    return true;
  }
  return p->p_filesz <= p->p_memsz && p->p_vaddr < address_end &&
         p->p_memsz < address_end - p->p_vaddr;
}

/* The ABI in pems's note among notes[0..len), or 0. */
static uint32_t abi_in(const char *notes, uint64_t len, uint64_t align) {
  uint64_t at = 0;
  Elf64_Nhdr n;
  while (at <= len && len - at >= sizeof(n)) {
    memcpy(&n, notes + at, sizeof(n));
    const uint64_t name = at + sizeof(n);
    const uint64_t desc = bits_align_up(name + n.n_namesz, align);
    uint32_t abi = 0;
    if (desc > len || n.n_descsz > len - desc) {
      return 0;
    }
    if (n.n_type == PEMS_NOTE_TYPE && n.n_namesz == sizeof(PEMS_NOTE_OWNER) &&
        n.n_descsz == sizeof(abi) &&
        memcmp(notes + name, PEMS_NOTE_OWNER, n.n_namesz) == 0) {
      memcpy(&abi, notes + desc, sizeof(abi));
      return abi;
    }
    at = bits_align_up(desc + n.n_descsz, align);
  }
  return 0;
}

static uint32_t find_abi(const struct image_elf *elf) {
  static char notes[NOTES_MAX];
  for (int i = 0; i < elf->nsegments; i++) {
    const Elf64_Phdr *p = &elf->segment[i];
    if (p->p_type != PT_NOTE || p->p_filesz > NOTES_MAX ||
        image_elf_read(elf, p->p_offset, notes, p->p_filesz) != 0) {
      continue;
    }
    const uint32_t abi = abi_in(notes, p->p_filesz, p->p_align == 8 ? 8 : 4);
    if (abi != 0) {
      return abi;
    }
  }
  return 0;
}

static int check_abi(const struct image_elf *elf, const char *path,
                     struct pems_error *error) {
  const uint32_t abi = find_abi(elf);
  if (abi == 0) {
    return refuse(path, error);
  }
  if (abi != PEMS_PROGRAM_ABI) {
    return failure(error, ENOEXEC,
                   "built with another version of pemscc: %s: link it again",
                   path);
  }
  return 0;
}

static int read_headers(struct image_elf *elf, const char *path,
                        enum image_kind kind, struct pems_error *error) {
  Elf64_Ehdr h;
  if (image_elf_read(elf, 0, &h, sizeof(h)) != 0 || !is_ours(&h)) {
    return refuse(path, error);
  }
  if (h.e_phentsize != sizeof(Elf64_Phdr) || h.e_phnum == 0 ||
      h.e_phnum > IMAGE_SEGMENTS_MAX ||
      image_elf_read(elf, h.e_phoff, elf->segment,
                     h.e_phnum * sizeof(Elf64_Phdr)) != 0) {
    return damaged(path, error);
  }
  elf->nsegments = h.e_phnum;
  elf->segments_offset = h.e_phoff;
  const int code = kind == IMAGE_PROGRAM ? check_abi(elf, path, error) : 0;
  if (code) {
    return code;
  }
  for (int i = 0; i < elf->nsegments; i++) {
    if (!is_sound(elf, &elf->segment[i])) {
      return damaged(path, error);
    }
  }
  return 0;
}

int image_elf_open(struct image_elf *elf, const char *path,
                   enum image_kind kind, struct pems_error *error) {
  struct stat st;
  /* O_NONBLOCK: opening a FIFO must not wait for its writer. */
  elf->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (elf->fd < 0) {
    const int code = errno;
    return unreadable(path, code, strerror(code), error);
  }
  int code = fstat(elf->fd, &st) == 0 ? 0 : errno;
  if (code) {
    unreadable(path, code, strerror(code), error);
  } else if (!S_ISREG(st.st_mode)) {
    code = unreadable(path, EINVAL, "not a file", error);
  } else {
    elf->size = (uint64_t)st.st_size;
    code = read_headers(elf, path, kind, error);
  }
  if (code) {
    close(elf->fd);
  }
  return code;
}

int image_check(const char *path, struct pems_error *error) {
  struct image_elf elf;
  const int code = image_elf_open(&elf, path, IMAGE_PROGRAM, error);
  if (!code) {
    close(elf.fd);
  }
  return code;
}
