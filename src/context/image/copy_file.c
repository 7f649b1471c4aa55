/* Files that ld.so has not seen before: copies of a program's or library's file
   of which it runs nothing. */
#define _GNU_SOURCE
#include "context/image/copy_file.h"

#include "base/failure.h"
#include "base/limit.h"
#include "context/image/relocation.h"
#include "os/guided.h"
#include "os/memory_file.h"
#include "os/refused.h"
#include "os/whole.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <unistd.h>

#ifndef MFD_EXEC
#define MFD_EXEC 0x10U
#endif

/* In the range that ELF leaves to operating systems; ld.so ignores it. */
static const int64_t ignored_tag = 0x6000001f;

static bool runs_code(int64_t tag) {
  return tag == DT_INIT || tag == DT_FINI || tag == DT_INIT_ARRAY ||
         tag == DT_INIT_ARRAYSZ || tag == DT_FINI_ARRAY ||
         tag == DT_FINI_ARRAYSZ || tag == DT_PREINIT_ARRAY ||
         tag == DT_PREINIT_ARRAYSZ;
}

static int write_tag(const struct image_file *f, int fd, size_t i) {
  return whole_write_at(fd, &ignored_tag, sizeof(ignored_tag),
                        f->dynamic_offset + i * sizeof(Elf64_Dyn));
}

/* A library's copy needs nothing that is not there already, and nothing asks
   for it by name: ld.so compares each name that it loads by with those of all
   that is there. */
static int write_library(const struct image_file *f, int fd) {
  int rc = 0;
  for (size_t i = 0; i < f->ndynamic && rc == 0; i++) {
    const int64_t tag = f->dynamic[i].d_tag;
    if (tag == DT_NEEDED || tag == DT_SONAME) {
      rc = write_tag(f, fd, i);
    }
  }
  return rc;
}

static int write_no_thread_segment(const struct image_file *f, int fd) {
  static const uint32_t no_segment = PT_NULL;
  int rc = 0;
  for (int i = 0; i < f->elf.nsegments && rc == 0; i++) {
    if (f->elf.segment[i].p_type == PT_TLS) {
      rc = whole_write_at(fd, &no_segment, sizeof(no_segment),
                          f->elf.segments_offset + i * sizeof(Elf64_Phdr));
    }
  }
  return rc;
}

/* A copy that has no thread-local data of its own. */
static int write_no_thread_data(const struct image_file *f, int fd) {
  static const uint64_t no_relocation;
  int rc = write_no_thread_segment(f, fd);
  for (int t = 0; t < 2; t++) {
    const struct image_relocations *table = &f->relocations[t];
    for (size_t i = 0; i < table->n && rc == 0; i++) {
      if (relocation_is_tls(&table->at[i])) {
        rc = whole_write_at(fd, &no_relocation, sizeof(no_relocation),
                            table->offset + i * sizeof(Elf64_Rela) +
                                offsetof(Elf64_Rela, r_info));
      }
    }
  }
  return rc;
}

/* Appends [from, end) of the original at the same place. */
static int write_range(const struct image_file *f, int fd, uint64_t from,
                       uint64_t end) {
  off_t at = (off_t)from;
  if (lseek(fd, at, SEEK_SET) < 0) {
    return -1;
  }
  while ((uint64_t)at < end) {
    const ssize_t n = sendfile(fd, f->elf.fd, &at, end - (uint64_t)at);
    if (n < 0 && errno == EINTR) {
      continue;
    }
    if (n == 0) {
      errno = EIO; /* the program's file shrank */
    }
    if (n <= 0) {
      return -1;
    }
  }
  return 0;
}

/* What ld.so would act on in a library that pems relocates itself. */
static bool acts(int64_t tag) {
  switch (tag) {
  case DT_NEEDED:
  case DT_SONAME:
  case DT_RELA:
  case DT_RELASZ:
  case DT_RELAENT:
  case DT_RELACOUNT:
  case DT_JMPREL:
  case DT_PLTREL:
  case DT_PLTRELSZ:
  case DT_RELR:
  case DT_RELRSZ:
  case DT_RELRENT:
  case DT_VERNEED:
  case DT_VERNEEDNUM:
  case DT_RPATH:
  case DT_RUNPATH:
  case DT_BIND_NOW:
  case DT_FLAGS:
  case DT_FLAGS_1:
    return true;
  default:
    return runs_code(tag);
  }
}

/* Tables that ld.so looks symbols up in. */
static bool is_table(int64_t tag) {
  return tag == DT_STRTAB || tag == DT_SYMTAB || tag == DT_HASH ||
         tag == DT_GNU_HASH || tag == DT_VERSYM || tag == DT_VERDEF;
}

bool copy_file_has_tables(const struct image_file *f, const Elf64_Phdr *p) {
  for (size_t i = 0; i < f->ndynamic; i++) {
    if (is_table(f->dynamic[i].d_tag) &&
        f->dynamic[i].d_un.d_val - p->p_vaddr < p->p_filesz) {
      return true;
    }
  }
  return false;
}

/* Headers, dynamic section and tables: all else is replaced. */
static int write_what_is_read(const struct image_file *f, int fd) {
  const uint64_t headers =
      f->elf.segments_offset + (uint64_t)f->elf.nsegments * sizeof(Elf64_Phdr);
  int rc = ftruncate(fd, (off_t)f->elf.size) ||
           write_range(f, fd, 0, sizeof(Elf64_Ehdr)) ||
           write_range(f, fd, f->elf.segments_offset, headers);
  for (int i = 0; i < f->elf.nsegments && rc == 0; i++) {
    const Elf64_Phdr *p = &f->elf.segment[i];
    if (p->p_type == PT_DYNAMIC || p->p_type == PT_NOTE ||
        p->p_type == PT_GNU_PROPERTY ||
        (p->p_type == PT_LOAD && copy_file_has_tables(f, p))) {
      rc = write_range(f, fd, p->p_offset, p->p_offset + p->p_filesz);
    }
  }
  return rc ? -1 : 0;
}

static int write_opened(const struct image_file *f, int fd, bool whole) {
  int rc =
      whole ? write_range(f, fd, 0, f->elf.size) : write_what_is_read(f, fd);
  for (size_t i = 0; i < f->ndynamic && rc == 0; i++) {
    if (acts(f->dynamic[i].d_tag)) {
      rc = write_tag(f, fd, i);
    }
  }
  return rc ? rc : write_no_thread_segment(f, fd);
}

/* --- copies of the program, and of libraries that it is linked with --- */

/* ld.so asks a function which one it is to be bound to. */
static bool is_chosen(const struct image_file *f, const Elf64_Rela *r) {
  const Elf64_Sym *symbols = (const Elf64_Sym *)(f->original + f->symbols);
  return relocation_is_chosen(r) ||
         (relocation_is_symbol(r) &&
          ELF64_ST_TYPE(symbols[ELF64_R_SYM(r->r_info)].st_info) ==
              STT_GNU_IFUNC);
}

/* May ld.so run code of it while it loads it? */
static bool is_run(const struct image_file *f) {
  const Elf64_Rela *r;
  for (size_t i = 0; (r = image_file_relocation(f, i)); i++) {
    if (is_chosen(f, r)) {
      return true;
    }
  }
  return false;
}

/* Tables that ld.so reads. */
static bool is_read(int64_t tag) {
  return is_table(tag) || tag == DT_RELA || tag == DT_JMPREL ||
         tag == DT_RELR || tag == DT_VERNEED;
}

static bool holds_tables(const struct image_file *f, const Elf64_Phdr *p) {
  for (size_t i = 0; i < f->ndynamic; i++) {
    if (is_read(f->dynamic[i].d_tag) &&
        f->dynamic[i].d_un.d_val - p->p_vaddr < p->p_filesz) {
      return true;
    }
  }
  for (int i = 0; i < f->elf.nsegments; i++) {
    const uint32_t type = f->elf.segment[i].p_type;
    if ((type == PT_DYNAMIC || type == PT_NOTE || type == PT_GNU_PROPERTY) &&
        f->elf.segment[i].p_offset - p->p_offset < p->p_filesz) {
      return true;
    }
  }
  return p->p_offset == 0; /* headers */
}

/* Its pages are the original file's before anybody has looked at them. */
static bool is_unread(const struct image_file *f, const Elf64_Phdr *p) {
  return p->p_type == PT_LOAD && !(p->p_flags & PF_W) &&
         p->p_memsz == p->p_filesz && !holds_tables(f, p);
}

/* What ld.so reads, the data, and what lies between. */
static int write_loaded(const struct image_file *f, int fd) {
  uint64_t at = 0, end = 0;
  int rc = ftruncate(fd, (off_t)f->elf.size);
  for (int i = 0; i < f->elf.nsegments && rc == 0; i++) {
    const Elf64_Phdr *p = &f->elf.segment[i];
    const uint64_t from = page_up(f, p->p_offset);
    const uint64_t to = page_down(f, p->p_offset + p->p_filesz);
    if (p->p_type == PT_LOAD && p->p_offset + p->p_filesz > end) {
      end = p->p_offset + p->p_filesz;
    }
    if (is_unread(f, p) && at <= from && from < to) {
      rc = write_range(f, fd, at, from);
      at = to;
    }
  }
  return rc ? -1 : write_range(f, fd, at, end);
}

/* Copies the file, less what makes ld.so call functions in it. */
static int write_linked(const struct image_file *f, int fd, bool whole) {
  const bool all = whole || !f->original || is_run(f);
  if ((all ? write_range(f, fd, 0, f->elf.size) : write_loaded(f, fd)) != 0) {
    return -1;
  }
  for (size_t i = 0; i < f->ndynamic; i++) {
    if (runs_code(f->dynamic[i].d_tag) && write_tag(f, fd, i) != 0) {
      return -1;
    }
  }
  int rc = f->kind == IMAGE_LIBRARY ? write_library(f, fd) : 0;
  if (rc == 0 && (f->kind == IMAGE_LIBRARY || f->shares_thread_data)) {
    rc = write_no_thread_data(f, fd);
  }
  return rc;
}

static int write_copy(const struct image_file *f, int fd, bool named) {
  const bool whole = named || f->traced;
  return f->kind == IMAGE_OPENED ? write_opened(f, fd, whole)
                                 : write_linked(f, fd, whole);
}

int copy_file_spell(char *to, size_t size, int fd, size_t min_len) {
  static unsigned serial;
  char self[32];
  const ssize_t n = readlink("/proc/self", self, sizeof(self) - 1);
  if (n <= 0) {
    return -1;
  }
  self[n] = '\0';
  size_t len = (size_t)snprintf(to, size, "/proc/%s/fd", self);
  for (unsigned i = 0, id = serial++; i < 32; i++, id >>= 1) {
    len += (size_t)snprintf(to + len, size - len, id & 1 ? "//." : "/.");
  }
  while (len < min_len && len < size - 16) {
    to[len++] = '/';
  }
  snprintf(to + len, size - len, "/%d", fd);
  return 0;
}

struct link_map *copy_file_map(void *handle) {
  struct link_map *map = NULL;
  return dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 ? map : NULL;
}

/* What reads cores, and backtraces, read this name. In place, because ld.so
   owns the memory. A debugger that is there already knows the other one. */
static void rename_copy(const struct image_file *f, struct link_map *map) {
  if (!f->traced && f->path && strlen(f->path) <= strlen(map->l_name)) {
    memcpy(map->l_name, f->path, strlen(f->path) + 1);
  }
}

/* errno, which is not set where a file took less than it was to. */
static int reason(void) {
  return errno ? errno : EIO;
}

static int open_copy(const char *path, struct image *img, void *at,
                     struct pems_error *error) {
  int code = at ? guided_begin(at) : 0;
  if (!code) {
    img->handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    code = at ? guided_end() : 0;
  }
  if (code) {
    return failure(error, code,
                   "cannot load a copy of a library at its place: %p: %s", at,
                   strerror(code));
  }
  if (img->handle) {
    return 0;
  }
  return failure(error, ENOEXEC,
                 "cannot load a copy of the program: %s: is all of it compiled "
                 "with pemscc?",
                 dlerror());
}

/* Loads from `fd` under a name of the original's descriptor, for which it
   stands in meanwhile: debuggers, which open the file by that name later on,
   too, then find the original, and all copies do with one descriptor. */
static int open_stand_in(struct image *img, int fd, void *at,
                         struct pems_error *error) {
  const struct image_file *f = img->file;
  const int number = f->elf.fd;
  char path[PATH_MAX];
  if (copy_file_spell(path, sizeof(path), number,
                      f->path ? strlen(f->path) : 0)) {
    return failure(error, reason(), "cannot read /proc/self: %s: mount /proc",
                   strerror(errno));
  }
  const int original = fcntl(number, F_DUPFD_CLOEXEC, 0);
  if (original < 0 || dup3(fd, number, O_CLOEXEC) < 0) {
    char advice[LIMIT_TEXT];
    const int code =
        failure(error, reason(), "cannot load a copy of the program: %s: %s",
                strerror(errno),
                limit_advice(advice, LIMIT_FILE, errno, 0, "free some memory"));
    if (original >= 0) {
      close(original);
    }
    return code;
  }
  const int code = open_copy(path, img, at, error);
  dup3(original, number, O_CLOEXEC);
  close(original);
  return code;
}

static int load_memfd(struct image *img, int rank, void *at,
                      struct pems_error *error) {
  const struct image_file *f = img->file;
  char name[32];
  int code;
  snprintf(name, sizeof(name), "pems-rank%d", rank);
  const int fd = memory_file(name, true);
  if (fd < 0 || write_copy(f, fd, false) != 0) {
    char advice[LIMIT_TEXT];
    code =
        failure(error, reason(), "cannot copy the program: rank %d: %s: %s",
                rank, strerror(errno),
                limit_advice(advice, LIMIT_MEMORY, errno, 0,
                             refused_advice(errno,
                                            "allow memfd_create (seccomp), or "
                                            "files in $TMPDIR that may be run",
                                            "free some memory")));
  } else {
    code = open_stand_in(img, fd, at, error);
  }
  if (!code) {
    rename_copy(f, copy_file_map(img->handle));
  }
  if (fd >= 0) {
    close(fd);
  }
  return code;
}

bool image_wants_name(void) {
  const char *const preloaded = getenv("LD_PRELOAD");
  return preloaded && strstr(preloaded, "/vgpreload_");
}

static void (*note_copy)(const char *path);

void image_on_copy(void (*note)(const char *path)) {
  note_copy = note;
}

/* valgrind reads the symbols of a file when it is mapped, and does not know
   what was mapped if it has no name; 3.24 reads lines when it tells
   the first one, so the file stays until the job's end. */
static int load_named(struct image *img, int rank, const char *dir,
                      struct pems_error *error) {
  static unsigned serial;
  char path[PATH_MAX];
  const int n = snprintf(path, sizeof(path), "%s/pems-%ld-rank%d-%u.so", dir,
                         (long)getpid(), rank, serial++);
  const int fd =
      n < (int)sizeof(path)
          ? open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0700)
          : -1;
  if (fd < 0) {
    return failure(error, reason(),
                   "cannot make a copy of the program for valgrind: %s: %s",
                   path, strerror(errno));
  }
  if (note_copy) {
    note_copy(path);
  }
  int code = 0;
  if (write_copy(img->file, fd, true) != 0) {
    code = failure(error, reason(),
                   "cannot write a copy of the program for valgrind: %s: %s",
                   path, strerror(errno));
  }
  close(fd); /* what is open for writing cannot be run */
  if (!code) {
    code = open_copy(path, img, NULL, error);
  }
  if (code || !note_copy) {
    unlink(path);
  }
  return code;
}

int copy_file_load(struct image *img, int rank, const char *dir, void *at,
                   struct pems_error *error) {
  return dir ? load_named(img, rank, dir, error)
             : load_memfd(img, rank, at, error);
}
