#define _GNU_SOURCE
#include "context/image/identity.h"

#include "base/failure.h"
#include "context/image/image_elf.h"

#include <errno.h>
#include <gnu/libc-version.h>
#include <limits.h>
#include <link.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

static const char first_line[] = "identity 1";

static int starved(struct pems_error *error) {
  return failure(error, ENOMEM,
                 "out of memory: identity of the program: free memory");
}

void identity_free(struct identity *which) {
  for (int i = 0; i < which->n; i++) {
    free(which->file[i].path);
  }
  free(which->file);
  *which = (struct identity){0};
}

/* --- files ----------------------------------------------------------------
 */

/* Note headers and their contents are padded to 4 bytes. */
static size_t padded(size_t n) {
  return (n + 3) & ~(size_t)3;
}

/* Writes the build-id among n bytes of notes in hexadecimal. */
static bool find_build_id(const char *notes, size_t n, char *to, size_t size) {
  Elf64_Nhdr h;
  for (size_t at = 0; n - at >= sizeof(h);) {
    memcpy(&h, notes + at, sizeof(h));
    const size_t name = at + sizeof(h), id = name + padded(h.n_namesz);
    if (h.n_namesz > n || h.n_descsz > n || id + h.n_descsz > n) {
      return false;
    }
    if (h.n_type == NT_GNU_BUILD_ID && h.n_namesz == 4 &&
        memcmp(notes + name, "GNU", 4) == 0 && 2 * h.n_descsz < size) {
      for (size_t i = 0; i < h.n_descsz; i++) {
        snprintf(to + 2 * i, 3, "%02x", (unsigned char)notes[id + i]);
      }
      return h.n_descsz > 0;
    }
    at = id + padded(h.n_descsz);
    if (at > n) {
      return false;
    }
  }
  return false;
}

static bool build_id_of_file(const struct image_elf *elf, char *to,
                             size_t size) {
  enum { MOST = 1 << 16 };
  bool found = false;
  for (int i = 0; i < elf->nsegments && !found; i++) {
    const Elf64_Phdr *const p = &elf->segment[i];
    if (p->p_type == PT_NOTE && p->p_filesz <= MOST) {
      char *const notes = malloc(p->p_filesz + 1);
      found = notes &&
              image_elf_read(elf, p->p_offset, notes, p->p_filesz) == 0 &&
              find_build_id(notes, p->p_filesz, to, size);
      free(notes);
    }
  }
  return found;
}

/* FNV-1a, for files without a build-id. */
static int sum_of_file(const struct image_elf *elf, char *to, size_t size) {
  char buffer[4096];
  uint64_t sum = UINT64_C(0xcbf29ce484222325);
  for (uint64_t at = 0; at < elf->size;) {
    const size_t n =
        elf->size - at < sizeof(buffer) ? elf->size - at : sizeof(buffer);
    if (image_elf_read(elf, at, buffer, n) != 0) {
      return -1;
    }
    for (size_t i = 0; i < n; i++) {
      sum = (sum ^ (unsigned char)buffer[i]) * UINT64_C(0x100000001b3);
    }
    at += n;
  }
  snprintf(to, size, "sum:%016llx", (unsigned long long)sum);
  return 0;
}

int identity_of_elf(const struct image_elf *elf, char *to, size_t size) {
  return build_id_of_file(elf, to, size) || sum_of_file(elf, to, size) == 0
             ? 0
             : EIO;
}

static int id_of_path(const char *path, char *to, size_t size,
                      struct pems_error *error) {
  struct image_elf elf;
  const int code = image_elf_open(&elf, path, IMAGE_OPENED, error);
  if (code) {
    return failure(error, code, "cannot read a file: %s: %s", path,
                   strerror(code));
  }
  const bool found = identity_of_elf(&elf, to, size) == 0;
  close(elf.fd);
  return found ? 0
               : failure(error, EIO, "cannot read a file: %s: %s", path,
                         strerror(EIO));
}

static struct identity_file *append(struct identity *to, const char *path) {
  struct identity_file *const more =
      realloc(to->file, ((size_t)to->n + 1) * sizeof(*more));
  char *const copy = more ? strdup(path) : NULL;
  to->file = more ? more : to->file;
  if (!copy) {
    return NULL;
  }
  to->file[to->n] = (struct identity_file){.path = copy};
  return &to->file[to->n++];
}

/* --- the machine ----------------------------------------------------------
 */

static const char *const level2[] = {"cx16",   "lahf_lm", "popcnt", "sse4_1",
                                     "sse4_2", "ssse3",   NULL};
static const char *const level3[] = {"avx", "avx2", "bmi1",  "bmi2",  "f16c",
                                     "fma", "abm",  "movbe", "xsave", NULL};
static const char *const level4[] = {"avx512f",  "avx512bw", "avx512cd",
                                     "avx512dq", "avx512vl", NULL};

/* Is the word in the line? */
static bool has(const char *line, const char *word) {
  const size_t n = strlen(word);
  for (const char *at = strstr(line, word); at; at = strstr(at + 1, word)) {
    if (at > line && (at[-1] == ' ' || at[-1] == '\t') &&
        (at[n] == ' ' || at[n] == '\n' || at[n] == '\0')) {
      return true;
    }
  }
  return false;
}

static bool has_all(const char *line, const char *const *words) {
  while (*words && has(line, *words)) {
    words++;
  }
  return *words == NULL;
}

static int level_of(const char *flags) {
  return !has_all(flags, level2)   ? 1
         : !has_all(flags, level3) ? 2
         : !has_all(flags, level4) ? 3
                                   : 4;
}

static void find_machine(struct identity *to) {
  struct utsname name;
  char *line = NULL;
  size_t room = 0;
  snprintf(to->libc, sizeof(to->libc), "glibc %s", gnu_get_libc_version());
  snprintf(to->processor, sizeof(to->processor), "%.30s",
           uname(&name) == 0 ? name.machine : "unknown");
  FILE *const f = fopen("/proc/cpuinfo", "re");
  while (f && getline(&line, &room, f) > 0) {
    if (strncmp(line, "flags", 5) == 0) {
      snprintf(to->processor, sizeof(to->processor), "x86-64-v%d",
               level_of(line));
      break;
    }
  }
  free(line);
  if (f) {
    fclose(f);
  }
}

/* --- this process ---------------------------------------------------------
 */

static bool build_id_in_memory(const struct dl_phdr_info *info, char *to,
                               size_t size) {
  bool found = false;
  for (int i = 0; i < info->dlpi_phnum && !found; i++) {
    const ElfW(Phdr) *const p = &info->dlpi_phdr[i];
    found = p->p_type == PT_NOTE &&
            find_build_id((const char *)info->dlpi_addr + p->p_vaddr,
                          p->p_memsz, to, size);
  }
  return found;
}

static bool holds(const struct dl_phdr_info *info, const void *at) {
  bool found = false;
  for (int i = 0; i < info->dlpi_phnum && !found; i++) {
    const ElfW(Phdr) *const p = &info->dlpi_phdr[i];
    found = p->p_type == PT_LOAD &&
            (uintptr_t)at - (info->dlpi_addr + p->p_vaddr) < p->p_memsz;
  }
  return found;
}

struct finding {
  struct identity *to;
  const void *at; /* NULL: all are wanted */
  struct pems_error *error;
  int code;
};

/* The kernel's own has no path. */
static int see(struct dl_phdr_info *info, size_t size, void *arg) {
  struct finding *const f = arg;
  char program[PATH_MAX];
  const char *path = info->dlpi_name;
  (void)size;
  if (f->at && !holds(info, f->at)) {
    return 0;
  }
  if (!*path && !f->to->n) {
    const ssize_t n = readlink("/proc/self/exe", program, sizeof(program) - 1);
    program[n > 0 ? n : 0] = '\0';
    path = program;
  }
  if (!strchr(path, '/')) {
    return 0;
  }
  struct identity_file *const file = append(f->to, path);
  if (!file) {
    f->code = starved(f->error);
  } else if (!build_id_in_memory(info, file->id, sizeof(file->id))) {
    f->code = id_of_path(path, file->id, sizeof(file->id), f->error);
  }
  return f->code;
}

int identity_find(struct identity *to, struct pems_error *error) {
  return identity_find_one(to, NULL, error);
}

int identity_find_one(struct identity *to, const void *at,
                      struct pems_error *error) {
  struct finding f = {.to = to, .at = at, .error = error};
  *to = (struct identity){0};
  find_machine(to);
  (void)dl_iterate_phdr(see, &f);
  return f.code;
}

int identity_here(struct identity *to, const struct identity *like,
                  struct pems_error *error) {
  int code = 0;
  *to = (struct identity){0};
  find_machine(to);
  for (int i = 0; i < like->n && !code; i++) {
    struct identity_file *const file = append(to, like->file[i].path);
    code = file ? id_of_path(file->path, file->id, sizeof(file->id), error)
                : starved(error);
  }
  return code;
}

/* --- text -----------------------------------------------------------------
 */

int identity_write(const struct identity *from, FILE *to,
                   struct pems_error *error) {
  fprintf(to, "%s\nlibc %s\nprocessor %s\n", first_line, from->libc,
          from->processor);
  for (int i = 0; i < from->n; i++) {
    fprintf(to, "file %s %s\n", from->file[i].id, from->file[i].path);
  }
  return fflush(to) == 0 && !ferror(to)
             ? 0
             : failure(error, errno ? errno : EIO,
                       "cannot write the identity of the program: %s",
                       strerror(errno));
}

static int unreadable(const char *name, int line, struct pems_error *error) {
  return failure(error, EINVAL,
                 "%s: line %d: not what identifies a program: name a file that "
                 "pems has written",
                 name, line);
}

/* A word of a line without its end; false if it does not fit. */
static bool copy(char *to, size_t size, const char *from) {
  const size_t n = strlen(from);
  if (n == 0 || n >= size) {
    return false;
  }
  memcpy(to, from, n + 1);
  return true;
}

/* "ID PATH" */
static int read_file_line(struct identity *to, const char *text, bool *good,
                          struct pems_error *error) {
  char id[sizeof(to->file->id)];
  const char *const path = strchr(text, ' ');
  *good = path && path > text && (size_t)(path - text) < sizeof(id) && path[1];
  if (!*good) {
    return 0;
  }
  memcpy(id, text, (size_t)(path - text));
  id[path - text] = '\0';
  struct identity_file *const file = append(to, path + 1);
  if (!file) {
    return starved(error);
  }
  memcpy(file->id, id, sizeof(id));
  return 0;
}

static const char *after(const char *line, const char *start) {
  const size_t n = strlen(start);
  return strncmp(line, start, n) == 0 ? line + n : NULL;
}

static int read_line(struct identity *to, const char *line, int number,
                     const char *name, struct pems_error *error) {
  const char *text;
  bool good = false;
  int code = 0;
  if (number == 1) {
    good = strcmp(line, first_line) == 0;
  } else if ((text = after(line, "libc "))) {
    good = copy(to->libc, sizeof(to->libc), text);
  } else if ((text = after(line, "processor "))) {
    good = copy(to->processor, sizeof(to->processor), text);
  } else if ((text = after(line, "file "))) {
    code = read_file_line(to, text, &good, error);
  }
  return code ? code : good ? 0 : unreadable(name, number, error);
}

int identity_read(struct identity *to, FILE *from, const char *name,
                  struct pems_error *error) {
  char *line = NULL;
  size_t room = 0;
  ssize_t n;
  int number = 0, code = 0;
  *to = (struct identity){0};
  while (!code && (n = getline(&line, &room, from)) > 0) {
    line[strcspn(line, "\n")] = '\0';
    code = read_line(to, line, ++number, name, error);
  }
  free(line);
  const bool whole = to->libc[0] && to->processor[0] && to->n > 0;
  return code ? code : whole ? 0 : unreadable(name, number, error);
}

/* --- comparing ------------------------------------------------------------
 */

static int differ(struct pems_error *error, const char *what, const char *was,
                  const char *is) {
  return failure(error, EINVAL, "%s: it was %s, and is %s", what, was, is);
}

int identity_compare(const struct identity *was, const struct identity *is,
                     struct pems_error *error) {
  const int n = was->n < is->n ? was->n : is->n;
  if (strcmp(was->libc, is->libc) != 0) {
    return differ(error, "another C library", was->libc, is->libc);
  }
  if (strcmp(was->processor, is->processor) != 0) {
    return differ(error, "another processor", was->processor, is->processor);
  }
  for (int i = 0; i < n; i++) {
    const struct identity_file *const a = &was->file[i], *const b =
                                                             &is->file[i];
    if (strcmp(a->path, b->path) != 0) {
      return differ(error, "another file is loaded", a->path, b->path);
    }
    if (strcmp(a->id, b->id) != 0) {
      return failure(error, EINVAL,
                     "another version of a file: %s: it was %s, and is %s",
                     a->path, a->id, b->id);
    }
  }
  return was->n == is->n ? 0
         : was->n > n
             ? differ(error, "a file less is loaded", was->file[n].path, "none")
             : differ(error, "a file more is loaded", "none", is->file[n].path);
}
