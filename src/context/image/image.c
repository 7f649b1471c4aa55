/* Copies of the program: dlopen of one file per VP that ld.so has not seen
   before, after which all that is never written is mapped from the original
   again and the rest becomes anonymous memory. */
#define _GNU_SOURCE
#include "base/failure.h"
#include "context/image/library.h"
#include "context/image/program_abi.h"
#include "os/pages.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stdbool.h>
#include <stddef.h>
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

extern void __cxa_finalize(void *dso_handle);

/* --- making a file that ld.so has not seen -------------------------------- */

static bool runs_code(int64_t tag) {
  return tag == DT_INIT || tag == DT_FINI || tag == DT_INIT_ARRAY ||
         tag == DT_INIT_ARRAYSZ || tag == DT_FINI_ARRAY ||
         tag == DT_FINI_ARRAYSZ || tag == DT_PREINIT_ARRAY ||
         tag == DT_PREINIT_ARRAYSZ;
}

static int write_all(int fd, const void *from, size_t len, uint64_t offset) {
  const char *p = from;
  while (len > 0) {
    const ssize_t n = pwrite(fd, p, len, (off_t)offset);
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

static int write_tag(const struct image_file *f, int fd, size_t i) {
  return write_all(fd, &ignored_tag, sizeof(ignored_tag),
                   f->dynamic_offset + i * sizeof(Elf64_Dyn));
}

/* A library's copy has no thread-local data of its own, and needs nothing that
   is not there already. */
static int write_library(const struct image_file *f, int fd) {
  static const uint32_t no_segment = PT_NULL;
  static const uint64_t no_relocation;
  int rc = 0;
  for (size_t i = 0; i < f->ndynamic && rc == 0; i++) {
    if (f->dynamic[i].d_tag == DT_NEEDED) {
      rc = write_tag(f, fd, i);
    }
  }
  for (int i = 0; i < f->elf.nsegments && rc == 0; i++) {
    if (f->elf.segment[i].p_type == PT_TLS) {
      rc = write_all(fd, &no_segment, sizeof(no_segment),
                     f->elf.segments_offset + i * sizeof(Elf64_Phdr));
    }
  }
  for (int t = 0; t < 2; t++) {
    const struct image_relocations *table = &f->relocations[t];
    for (size_t i = 0; i < table->n && rc == 0; i++) {
      if (library_is_tls(&table->at[i])) {
        rc = write_all(fd, &no_relocation, sizeof(no_relocation),
                       table->offset + i * sizeof(Elf64_Rela) +
                           offsetof(Elf64_Rela, r_info));
      }
    }
  }
  return rc;
}

/* Copies the file, less what makes ld.so call functions in it. */
static int write_copy(const struct image_file *f, int fd) {
  off_t from = 0;
  while ((uint64_t)from < f->elf.size) {
    const size_t left = (size_t)(f->elf.size - (uint64_t)from);
    const ssize_t n = sendfile(fd, f->elf.fd, &from, left);
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
  for (size_t i = 0; i < f->ndynamic; i++) {
    if (runs_code(f->dynamic[i].d_tag) && write_tag(f, fd, i) != 0) {
      return -1;
    }
  }
  return f->kind == IMAGE_LIBRARY ? write_library(f, fd) : 0;
}

static int open_memfd(int rank) {
  char name[32];
  snprintf(name, sizeof(name), "pems-rank%d", rank);
  const int fd = memfd_create(name, MFD_CLOEXEC | MFD_EXEC);
  if (fd >= 0 || errno != EINVAL) {
    return fd;
  }
  return memfd_create(name, MFD_CLOEXEC); /* Linux before 6.3 */
}

/* A name for descriptor fd that no earlier copy had, though descriptors are
   used again: ld.so hands back the old copy when it knows the name. A number
   is spelled in superfluous slashes and dots, up to min_len characters at
   least, so that another name can take its place. The process by number:
   "self" would be the debugger where a debugger reads it. */
static int spell_unique(char *to, size_t size, int fd, size_t min_len) {
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

static struct link_map *map_of(void *handle) {
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

static int open_copy(const char *path, struct image *img,
                     struct pems_error *error) {
  img->handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
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
static int open_stand_in(struct image *img, int fd, struct pems_error *error) {
  const struct image_file *f = img->file;
  const int number = f->elf.fd;
  char path[PATH_MAX];
  if (spell_unique(path, sizeof(path), number, f->path ? strlen(f->path) : 0)) {
    return failure(error, reason(), "cannot read /proc/self: %s: mount /proc",
                   strerror(errno));
  }
  const int original = fcntl(number, F_DUPFD_CLOEXEC, 0);
  if (original < 0 || dup3(fd, number, O_CLOEXEC) < 0) {
    const int code = failure(
        error, reason(),
        "cannot load a copy of the program: %s: raise the limit on open "
        "files",
        strerror(errno));
    if (original >= 0) {
      close(original);
    }
    return code;
  }
  const int code = open_copy(path, img, error);
  dup3(original, number, O_CLOEXEC);
  close(original);
  return code;
}

static int load_memfd(struct image *img, int rank, struct pems_error *error) {
  const struct image_file *f = img->file;
  int code;
  const int fd = open_memfd(rank);
  if (fd < 0 || write_copy(f, fd) != 0) {
    code = failure(
        error, reason(),
        "cannot copy the program: rank %d: %s; free memory or raise the "
        "limit on open files",
        rank, strerror(errno));
  } else {
    code = open_stand_in(img, fd, error);
  }
  if (!code) {
    rename_copy(f, map_of(img->handle));
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
   what was mapped if it has no name. */
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
  if (write_copy(img->file, fd) != 0) {
    code = failure(error, reason(),
                   "cannot write a copy of the program for valgrind: %s: %s",
                   path, strerror(errno));
  }
  close(fd); /* what is open for writing cannot be run */
  if (!code) {
    code = open_copy(path, img, error);
  }
  unlink(path);
  return code;
}

/* --- turning its pages into the context's --------------------------------- */

static int protection(const Elf64_Phdr *p) {
  return (p->p_flags & PF_R ? PROT_READ : 0) |
         (p->p_flags & PF_W ? PROT_WRITE : 0) |
         (p->p_flags & PF_X ? PROT_EXEC : 0);
}

/* Maps a read-only segment from the original file: one text in memory. */
static int share_segment(const struct image *img, const Elf64_Phdr *p) {
  const struct image_file *f = img->file;
  const uint64_t start = page_down(f, p->p_vaddr);
  const uint64_t end = page_up(f, p->p_vaddr + p->p_filesz);
  if (start == end || p->p_memsz != p->p_filesz) {
    return 0;
  }
  return mmap(img->base + start, end - start, protection(p),
              MAP_PRIVATE | MAP_FIXED, f->elf.fd,
              (off_t)page_down(f, p->p_offset)) == MAP_FAILED
             ? -1
             : 0;
}

static void *map_anonymous(void *at, size_t len, int flags) {
  return mmap(at, len, PROT_READ | PROT_WRITE,
              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | flags, -1, 0);
}

/* Replaces read-only pages that were relocated. ld.so reads them at any time,
   so the new ones come in one step. */
static int replace_relro(const struct image *img, uint64_t start,
                         uint64_t end) {
  if (start >= end) {
    return 0;
  }
  void *page = map_anonymous(NULL, end - start, 0);
  if (page == MAP_FAILED) {
    return -1;
  }
  memcpy(page, img->base + start, end - start);
  if (mprotect(page, end - start, PROT_READ) == 0 &&
      pages_move(page, img->base + start, end - start, false) == 0) {
    return 0;
  }
  munmap(page, end - start);
  return -1;
}

/* ld.so maps the whole file and then the segments over it: what is left of it
   between them, where segments are further apart than a page. */
static int drop_gap(const struct image *img, uint64_t start, uint64_t end) {
  return start < end &&
                 mmap(img->base + start, end - start, PROT_NONE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE,
                      -1, 0) == MAP_FAILED
             ? -1
             : 0;
}

static int leave_file(const struct image *img) {
  const struct image_file *f = img->file;
  uint64_t last = f->low;
  for (int i = 0; i < f->elf.nsegments; i++) {
    const Elf64_Phdr *p = &f->elf.segment[i];
    if (p->p_type != PT_LOAD) {
      continue;
    }
    const uint64_t start = page_down(f, p->p_vaddr);
    const uint64_t end = page_up(f, p->p_vaddr + p->p_memsz);
    const int rc =
        p->p_flags & PF_W
            ? replace_relro(img, start, end < f->data ? end : f->data)
            : share_segment(img, p);
    if (rc != 0 || drop_gap(img, last, start) != 0) {
      return -1;
    }
    last = end;
  }
  return 0;
}

/* One mapping for .data and .bss; pages of .bss stay untouched. */
static int replace_data(const struct image *img) {
  const struct image_file *f = img->file;
  const size_t len = f->data_file_end - f->data;
  char *saved = NULL;
  if (len > 0) {
    saved = map_anonymous(NULL, len, 0);
    if (saved == MAP_FAILED) {
      return -1;
    }
    memcpy(saved, img->data, len);
  }
  const void *data = map_anonymous(img->data, img->data_len, MAP_FIXED);
  if (data != MAP_FAILED && len > 0) {
    memcpy(img->data, saved, len);
  }
  if (len > 0) {
    munmap(saved, len);
  }
  return data == MAP_FAILED ? -1 : 0;
}

static const struct pems_image *facts_of(const struct image *img) {
  return dlsym(img->handle, "pems_image");
}

static bool is_within(const struct image *img, const void *p, size_t len) {
  const uintptr_t at = (uintptr_t)p, start = (uintptr_t)img->text;
  return at >= start && at - start <= img->text_len - len;
}

/* Is this a new copy, and one of ours? */
static bool is_new(const struct image *img) {
  const struct pems_image *facts = facts_of(img);
  return facts && is_within(img, facts, sizeof(*facts)) &&
         memcmp(facts->magic, PEMS_IMAGE_MAGIC, sizeof(facts->magic)) == 0 &&
         facts->abi == PEMS_PROGRAM_ABI && facts->size == sizeof(*facts) &&
         is_within(img, facts->state, sizeof(*facts->state)) &&
         facts->state->loaded == 0;
}

static void locate(struct image *img) {
  const struct image_file *f = img->file;
  img->base = (char *)map_of(img->handle)->l_addr;
  img->text = img->base + f->low;
  img->text_len = f->high - f->low;
  img->data = img->base + f->data;
  img->data_len = f->data_end - f->data;
}

static int take_over(const struct image *img, bool keep_file,
                     struct pems_error *error) {
  if ((keep_file || leave_file(img) == 0) &&
      (img->data_len == 0 || replace_data(img) == 0)) {
    return 0;
  }
  return failure(error, reason(),
                 "cannot map a copy of the program: %s; free memory or raise "
                 "vm.max_map_count",
                 strerror(errno));
}

static int load_copy(struct image *img, int rank, const char *dir,
                     struct pems_error *error) {
  return dir ? load_named(img, rank, dir, error) : load_memfd(img, rank, error);
}

static int load_library(struct image *lib, const struct image_file *f, int rank,
                        const char *dir, struct pems_error *error) {
  *lib = (struct image){
      .file = f, .fini_left = f->fini.count, .has_fini = f->fini_function != 0};
  const int code = load_copy(lib, rank, dir, error);
  if (!code) {
    locate(lib);
  }
  return code;
}

static int load_libraries(struct image *img, int rank, const char *dir,
                          struct pems_error *error) {
  const struct image_file *f = img->file;
  if (f->libraries == 0) {
    return 0;
  }
  img->library = calloc((size_t)f->libraries, sizeof(*img->library));
  if (img->library == NULL) {
    return failure(error, ENOMEM, "out of memory: rank %d: free memory", rank);
  }
  for (; img->libraries < f->libraries; img->libraries++) {
    const int code = load_library(&img->library[img->libraries],
                                  f->library[img->libraries], rank, dir, error);
    if (code) {
      return code;
    }
  }
  return 0;
}

static int load_program(struct image *img, int rank, const char *dir,
                        struct pems_error *error) {
  const int code = load_copy(img, rank, dir, error);
  if (code) {
    return code;
  }
  locate(img);
  if (!is_new(img)) {
    return failure(error, ENOEXEC,
                   "cannot load a copy of the program: %s: build it again with "
                   "pemscc",
                   img->file->path ? img->file->path
                                   : "ld.so gave something else");
  }
  return 0;
}

/* All pages are their own from here on; where the code stays as it was loaded,
   a debugger has breakpoints in it. */
static int adopt(struct image *img, bool keep_file, struct pems_error *error) {
  if (library_bind(img) != 0) {
    return failure(error, reason(), "cannot bind a copy of the program: %s",
                   strerror(errno));
  }
  int code = 0;
  for (int i = 0; i < img->libraries && !code; i++) {
    code = take_over(&img->library[i], keep_file, error);
  }
  code = code ? code : take_over(img, keep_file, error);
  if (!code) {
    facts_of(img)->state->loaded = 1;
  }
  return code;
}

int image_load(struct image *img, const struct image_file *f, int rank,
               const char *dir, struct pems_error *error) {
  *img = (struct image){.file = f};
  int code = load_libraries(img, rank, dir, error);
  code = code ? code : load_program(img, rank, dir, error);
  code = code ? code : adopt(img, dir || f->traced, error);
  if (code) {
    image_unload(img);
  }
  return code;
}

void image_unload(struct image *img) {
  if (img->handle) {
    dlclose(img->handle);
  }
  img->handle = NULL;
  for (int i = 0; i < img->libraries; i++) {
    image_unload(&img->library[i]);
  }
  free(img->library);
  img->library = NULL;
  img->libraries = 0;
}

static bool holds(const struct image *img, const void *p) {
  return (uintptr_t)p - (uintptr_t)img->text < img->text_len;
}

uintptr_t image_site(const struct image *img, const void *code) {
  uintptr_t before = 0;
  for (int i = 0; i <= img->libraries; i++) {
    const struct image *of = i ? &img->library[i - 1] : img;
    if (holds(of, code)) {
      return before + ((uintptr_t)code - (uintptr_t)of->text);
    }
    before += of->text_len;
  }
  return (uintptr_t)code;
}

bool image_place(const struct image *img, const void *code,
                 const char **library, uintptr_t *address) {
  for (int i = 0; i <= img->libraries; i++) {
    const struct image *of = i ? &img->library[i - 1] : img;
    if (holds(of, code)) {
      *library = i ? of->file->path : NULL;
      *address = (uintptr_t)code - (uintptr_t)of->base;
      return !i || *library;
    }
  }
  return false;
}

/* --- running it ------------------------------------------------------------
 */

typedef void init_fn(int argc, char **argv, char **envp);
typedef void fini_fn(void);

static void run_array(const struct image *img, const struct image_functions *a,
                      int argc, char **argv, char **envp) {
  init_fn **functions = (init_fn **)(img->base + a->vaddr);
  for (size_t i = 0; i < a->count; i++) {
    functions[i](argc, argv, envp);
  }
}

/* What ld.so would have run first. */
static void construct(const struct image *img, int argc, char **argv,
                      char **envp) {
  const struct image_file *f = img->file;
  if (f->init_function) {
    ((init_fn *)(img->base + f->init_function))(argc, argv, envp);
  }
  run_array(img, &f->init, argc, argv, envp);
}

void image_construct(const struct image *img, int argc, char **argv,
                     char **envp) {
  const struct image_file *f = img->file;
  const struct pems_image *facts = facts_of(img);
  facts->state->fini_left = f->fini.count;
  facts->state->has_fini = f->fini_function != 0;
  facts->begin(envp);
  run_array(img, &f->preinit, argc, argv, envp);
  for (int i = 0; i < img->libraries; i++) {
    construct(&img->library[i], argc, argv, envp);
  }
  construct(img, argc, argv, envp);
}

int image_main(const struct image *img, int argc, char **argv, char **envp) {
  return facts_of(img)->main(argc, argv, envp);
}

/* Its own fini functions call the handlers that it gave to libc. */
static void destruct_library(struct image *lib) {
  const struct image_file *f = lib->file;
  fini_fn **functions = (fini_fn **)(lib->base + f->fini.vaddr);
  while (lib->fini_left > 0) {
    functions[--lib->fini_left]();
  }
  if (lib->has_fini) {
    lib->has_fini = false;
    ((fini_fn *)(lib->base + f->fini_function))();
  }
}

void image_destruct(const struct image *img) {
  const struct image_file *f = img->file;
  const struct pems_image *facts = facts_of(img);
  struct pems_image_state *state = facts->state;
  fini_fn **functions = (fini_fn **)(img->base + f->fini.vaddr);
  __cxa_finalize(facts->dso_handle);
  while (state->fini_left > 0) {
    functions[--state->fini_left]();
  }
  if (state->has_fini) {
    state->has_fini = 0;
    ((fini_fn *)(img->base + f->fini_function))();
  }
  for (int i = img->libraries; i > 0; i--) {
    destruct_library(&img->library[i - 1]);
  }
  facts->flush();
}
