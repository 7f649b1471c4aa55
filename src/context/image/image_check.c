/* Is a file a program built with pemscc? Needs nothing of the runtime. */
#define _GNU_SOURCE
#include "context/image/image.h"
#include "context/image/image_elf.h"
#include "context/image/program_abi.h"
#include "os/bits.h"

#include <errno.h>
#include <fcntl.h>
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
  char *p = to;
  while (len > 0) {
    const ssize_t n = pread(elf->fd, p, len, (off_t)offset);
    if (n < 0 && errno == EINTR) {
      continue;
    }
    if (n <= 0) {
      return -1;
    }
    p += n;
    offset += (uint64_t)n;
    len -= (size_t)n;
  }
  return 0;
}

static int refuse(const char *path, char *err, size_t err_size) {
  snprintf(err, err_size,
           "not built with pemscc: %s: compile and link it with pemscc", path);
  return -1;
}

static int damaged(const char *path, char *err, size_t err_size) {
  snprintf(err, err_size,
           "the program's file is damaged: %s: build it again with pemscc",
           path);
  return -1;
}

static int unreadable(const char *path, const char *why, char *err,
                      size_t err_size) {
  snprintf(err, err_size,
           "cannot read the program: %s: %s; name an executable built with "
           "pemscc",
           path, why);
  return -1;
}

static int is_ours(const Elf64_Ehdr *h) {
  return memcmp(h->e_ident, ELFMAG, SELFMAG) == 0 &&
         h->e_ident[EI_CLASS] == ELFCLASS64 &&
         h->e_ident[EI_DATA] == ELFDATA2LSB && h->e_machine == THIS_MACHINE &&
         h->e_type == ET_DYN && h->e_version == EV_CURRENT;
}

static int is_sound(const struct image_elf *elf, const Elf64_Phdr *p) {
  if (p->p_filesz > 0 &&
      (p->p_offset > elf->size || p->p_filesz > elf->size - p->p_offset)) {
    return 0;
  }
  if (p->p_type != PT_LOAD) {
    return 1;
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

static int check_abi(const struct image_elf *elf, const char *path, char *err,
                     size_t err_size) {
  const uint32_t abi = find_abi(elf);
  if (abi == 0) {
    return refuse(path, err, err_size);
  }
  if (abi != PEMS_PROGRAM_ABI) {
    snprintf(err, err_size,
             "built with another version of pemscc: %s: link it again", path);
    return -1;
  }
  return 0;
}

static int read_headers(struct image_elf *elf, const char *path,
                        enum image_kind kind, char *err, size_t err_size) {
  Elf64_Ehdr h;
  if (image_elf_read(elf, 0, &h, sizeof(h)) != 0 || !is_ours(&h)) {
    return refuse(path, err, err_size);
  }
  if (h.e_phentsize != sizeof(Elf64_Phdr) || h.e_phnum == 0 ||
      h.e_phnum > IMAGE_SEGMENTS_MAX ||
      image_elf_read(elf, h.e_phoff, elf->segment,
                     h.e_phnum * sizeof(Elf64_Phdr)) != 0) {
    return damaged(path, err, err_size);
  }
  elf->nsegments = h.e_phnum;
  elf->segments_offset = h.e_phoff;
  if (kind == IMAGE_PROGRAM && check_abi(elf, path, err, err_size) != 0) {
    return -1;
  }
  for (int i = 0; i < elf->nsegments; i++) {
    if (!is_sound(elf, &elf->segment[i])) {
      return damaged(path, err, err_size);
    }
  }
  return 0;
}

int image_elf_open(struct image_elf *elf, const char *path,
                   enum image_kind kind, char *err, size_t err_size) {
  struct stat st;
  /* O_NONBLOCK: opening a FIFO must not wait for its writer. */
  elf->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (elf->fd < 0) {
    return unreadable(path, strerror(errno), err, err_size);
  }
  int rc = -1;
  if (fstat(elf->fd, &st) != 0) {
    unreadable(path, strerror(errno), err, err_size);
  } else if (!S_ISREG(st.st_mode)) {
    unreadable(path, "not a file", err, err_size);
  } else {
    elf->size = (uint64_t)st.st_size;
    rc = read_headers(elf, path, kind, err, err_size);
  }
  if (rc != 0) {
    close(elf->fd);
  }
  return rc;
}

int image_check(const char *path, char *err, size_t err_size) {
  struct image_elf elf;
  if (image_elf_open(&elf, path, IMAGE_PROGRAM, err, err_size) != 0) {
    return -1;
  }
  close(elf.fd);
  return 0;
}
