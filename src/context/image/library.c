/* Shared libraries of which each VP has a copy of its own. ld.so loads the
   copies, and binds each symbol to what the process had from the start, the
   originals. Then every word that points into an original is made to point to
   the same place in the copy. */
#define _GNU_SOURCE
#include "context/image/library.h"

#include "base/failure.h"
#include "context/image/relocation.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>

/* Beginnings of names. Those with no state of a rank's: */
static const char *const of_system[] = {
    "ld-linux",     "linux-vdso",   "libc.so",        "libm.so",
    "libmvec.so",   "libdl.so",     "libpthread.",    "librt.so",
    "libutil.so",   "libresolv.so", "libgcc_s.",      "libatomic.",
    "libquadmath.", "libpems.so",   "libpems-mpi.so", "libpems-em.so",
    "libmpi",       "libopen-rte",  "libopen-pal",    "libmca_",
    "libasan.",     "libtsan.so",   "libubsan.",      "libnuma.",
    "libhugetlbfs", "libhwloc.",    "libpmix.",       "libpmi.",
    "libpmi2.",     "libucp.",      "libuct.",        "libucs.",
    "libucm.",      "libfabric.",   "libibverbs.",    "librdmacm.",
    "libpsm"};

/* Those made for calls by many threads that run threads of their own, or
   allocate for the whole process. */
static const char *const of_process[] = {
    "libgomp.",    "libomp.",           "libiomp5.",   "libtbb",
    "libopenblas", "libscipy_openblas", "libmkl_",     "libjemalloc.",
    "libtcmalloc", "libcuda",           "libcublas",   "libcufft",
    "libcurand",   "libcusolver",       "libcusparse", "libcudnn",
    "libnvrtc",    "libnccl",           "libnvidia-"};

/* --- which they are --------------------------------------------------------
 */

static const char *base_name(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

static bool begins(const char *text, const char *start, size_t n) {
  return n > 0 && strncmp(text, start, n) == 0;
}

/* "libfoo,libbar" */
static bool in_list(const char *name, const char *list) {
  for (const char *at = list; at && *at; at += strspn(at, ",")) {
    const size_t n = strcspn(at, ",");
    if (begins(name, at, n) || begins("all", at, n > 2 ? n : 0)) {
      return true;
    }
    at += n;
  }
  return false;
}

void library_each_needed(const struct link_map *map,
                         void (*f)(void *arg, const char *name), void *arg) {
  const char *strings = NULL;
  for (const ElfW(Dyn) *d = map->l_ld; d->d_tag != DT_NULL; d++) {
    if (d->d_tag == DT_STRTAB) {
      strings = (const char *)d->d_un.d_ptr;
    }
  }
  if (strings && (uintptr_t)strings < map->l_addr) {
    strings += map->l_addr; /* where ld.so leaves the section as it is */
  }
  for (const ElfW(Dyn) *d = map->l_ld; strings && d->d_tag != DT_NULL; d++) {
    if (d->d_tag == DT_NEEDED) {
      f(arg, strings + d->d_un.d_val);
    }
  }
}

static const char *soname(const struct link_map *map) {
  const char *strings = NULL;
  const ElfW(Dyn) *name = NULL;
  for (const ElfW(Dyn) *d = map->l_ld; d->d_tag != DT_NULL; d++) {
    if (d->d_tag == DT_STRTAB) {
      strings = (const char *)d->d_un.d_ptr;
    }
    if (d->d_tag == DT_SONAME) {
      name = d;
    }
  }
  if (strings && (uintptr_t)strings < map->l_addr) {
    strings += map->l_addr;
  }
  return strings && name ? strings + name->d_un.d_val : "";
}

/* The walk through what the program needs. */
struct walk {
  const struct link_map *main;
  const char *shared; /* the user's list */
  const struct link_map **seen;
  size_t nseen, room;
  const struct link_map **chosen; /* those that others need come first */
  size_t nchosen;
  bool only_seen; /* what is found is to be shared */
};

bool library_is_named(const struct link_map *map, const char *name) {
  return strcmp(map->l_name, name) == 0 || strcmp(soname(map), name) == 0 ||
         strcmp(base_name(map->l_name), name) == 0;
}

struct link_map *library_find(struct link_map *map, const char *name) {
  while (map && !library_is_named(map, name)) {
    map = map->l_next;
  }
  return map;
}

static bool see(struct walk *w, const struct link_map *m) {
  for (size_t i = 0; i < w->nseen; i++) {
    if (w->seen[i] == m) {
      return false;
    }
  }
  if (w->nseen == w->room) {
    return false;
  }
  w->seen[w->nseen++] = m;
  return true;
}

static bool is_among(const struct link_map *m, const char *const *start,
                     size_t n) {
  const char *name = base_name(m->l_name);
  for (size_t i = 0; i < n; i++) {
    if (begins(name, start[i], strlen(start[i]))) {
      return true;
    }
  }
  return false;
}

bool library_is_process_wide(const struct link_map *m) {
  return is_among(m, of_process, sizeof(of_process) / sizeof(*of_process));
}

bool library_is_shared(const struct link_map *m, const char *shared) {
  return is_among(m, of_system, sizeof(of_system) / sizeof(*of_system)) ||
         library_is_process_wide(m) || in_list(base_name(m->l_name), shared);
}

static void visit(void *arg, const char *name) {
  struct walk *w = arg;
  const struct link_map *m = library_find(w->main->l_next, name);
  if (!m || !m->l_name[0] ||
      (!w->only_seen && library_is_shared(m, w->shared)) || !see(w, m)) {
    return;
  }
  library_each_needed(m, visit, w);
  if (!w->only_seen) {
    w->chosen[w->nchosen++] = m;
  }
}

/* Is this a library of MPI's? */
static void note_mpi(void *arg, const char *name) {
  bool *found = arg;
  *found = *found || begins(name, "libmpi", 6);
}

/* Preloaded libraries that call MPI are tools that count or log a rank's calls:
   they belong to the ranks as well. They come before what the program needs. */
static void visit_preloaded(struct walk *w) {
  for (const struct link_map *m = w->main->l_next; m; m = m->l_next) {
    bool calls_mpi = false;
    if (begins(base_name(m->l_name), "libpems", 7)) {
      return;
    }
    library_each_needed(m, note_mpi, &calls_mpi);
    if (calls_mpi) {
      visit(w, m->l_name);
    }
  }
}

/* What MPI and pems need is one with them. */
static void share_their_libraries(struct walk *w) {
  w->only_seen = true;
  for (const struct link_map *m = w->main->l_next; m; m = m->l_next) {
    const char *name = base_name(m->l_name);
    if (begins(name, "libpems.so", 10) || begins(name, "libpems-em.so", 13) ||
        begins(name, "libmpi.so", 9)) {
      library_each_needed(m, visit, w);
    }
  }
  w->only_seen = false;
}

static int open_chosen(struct image_file *f, const struct walk *w,
                       struct pems_error *error) {
  f->library = calloc(w->nchosen + 1, sizeof(struct image_file *));
  if (f->library == NULL) {
    return failure(error, ENOMEM, "out of memory: libraries: free memory");
  }
  for (size_t i = 0; i < w->nchosen; i++) {
    const struct link_map *m = w->chosen[i];
    const int code = image_open_library(&f->library[i], m->l_name, error);
    if (code) {
      return code;
    }
    struct image_file *const lib = f->library[i];
    lib->original = (char *)m->l_addr;
    lib->map = m;
    lib->shares_thread_data = image_file_segment(lib, PT_TLS) != NULL;
    f->libraries++;
  }
  return 0;
}

/* Is it the program that this process runs? */
static bool is_running(const struct image_file *f) {
  const void *const segments = (const void *)getauxval(AT_PHDR);
  return segments && getauxval(AT_PHNUM) == (unsigned long)f->elf.nsegments &&
         memcmp(segments, f->elf.segment,
                (size_t)f->elf.nsegments * sizeof(*f->elf.segment)) == 0;
}

static int note_program(struct image_file *f, const struct link_map *map,
                        struct pems_error *error) {
  f->original = (char *)map->l_addr;
  f->map = map;
  f->shares_thread_data = image_file_segment(f, PT_TLS) && is_running(f);
  return f->libraries || f->shares_thread_data
             ? image_read_relocations(f, error)
             : 0;
}

int image_find_libraries(struct image_file *f, const char *shared,
                         struct pems_error *error) {
  struct walk w = {.shared = shared};
  struct link_map *main_map = NULL;
  void *self = dlopen(NULL, RTLD_LAZY);
  if (self == NULL || dlinfo(self, RTLD_DI_LINKMAP, &main_map) != 0) {
    return failure(error, ENOEXEC, "cannot find the program's libraries: %s",
                   dlerror());
  }
  w.main = main_map;
  for (const struct link_map *m = main_map; m; m = m->l_next) {
    w.room++;
  }
  w.seen = calloc(w.room, sizeof(*w.seen));
  w.chosen = calloc(w.room, sizeof(*w.chosen));
  int code;
  if (w.seen && w.chosen) {
    share_their_libraries(&w);
    library_each_needed(main_map, visit, &w);
    visit_preloaded(&w);
    code = open_chosen(f, &w, error);
  } else {
    code = failure(error, ENOMEM, "out of memory: libraries: free memory");
  }
  free((void *)w.seen);
  free((void *)w.chosen);
  code = code ? code : note_program(f, main_map, error);
  dlclose(self);
  if (!code && shared) {
    f->shared = strdup(shared);
    code = f->shared ? 0
                     : failure(error, ENOMEM,
                               "out of memory: libraries: free memory");
  }
  return code;
}

/* --- binding the copies to each other --------------------------------------
 */

/* Constants of Fortran are addresses that all know: those of the process. MPIs
   have them in common blocks of these names. */
bool library_is_common(const char *name) {
  static const char *const begin[] = {"mpi_fortran_", "mpifcmb", "mpipriv"};
  for (size_t i = 0; i < sizeof(begin) / sizeof(begin[0]); i++) {
    if (strncmp(name, begin[i], strlen(begin[i])) == 0) {
      return true;
    }
  }
  return false;
}

static bool is_common_constant(const struct image *img, const Elf64_Rela *r) {
  const struct image_file *f = img->file;
  const Elf64_Sym *symbols = (const Elf64_Sym *)(img->base + f->symbols);
  const char *name =
      img->base + f->names + symbols[ELF64_R_SYM(r->r_info)].st_name;
  return library_is_common(name);
}

/* If *word points into the original of `copy`, makes it point into the copy. */
static bool rebind(uint64_t *word, const struct image *copy) {
  const struct image_file *f = copy->file;
  const uint64_t start = (uint64_t)f->original + f->low;
  if (*word - start >= f->high - f->low) {
    return false;
  }
  *word += (uint64_t)copy->base - (uint64_t)f->original;
  return true;
}

static bool rebind_to_library(const struct image *img, uint64_t *word) {
  bool done = false;
  for (int i = 0; i < img->libraries && !done; i++) {
    done = rebind(word, &img->library[i]);
  }
  return done;
}

bool library_rebind(const struct image *img, uint64_t *word) {
  return rebind(word, img) || rebind_to_library(img, word);
}

static void bind_address(const struct image *img, const struct image *copy,
                         const Elf64_Rela *r) {
  uint64_t word;
  char *at = copy->base + r->r_offset;
  memcpy(&word, at, sizeof(word));
  if (is_common_constant(copy, r) ? rebind_to_library(img, &word)
                                  : library_rebind(img, &word)) {
    memcpy(at, &word, sizeof(word));
  }
}

static void bind_tls(const struct image *copy, const Elf64_Rela *r) {
  memcpy(copy->base + r->r_offset, copy->file->original + r->r_offset,
         (size_t)relocation_tls_words(r) * sizeof(uint64_t));
}

static int protect(const struct image *copy, int protection) {
  const struct image_file *f = copy->file;
  return f->relro == f->relro_end
             ? 0
             : mprotect(copy->base + f->relro, f->relro_end - f->relro,
                        protection);
}

static int bind_one(const struct image *img, const struct image *copy) {
  const struct image_file *f = copy->file;
  if (protect(copy, PROT_READ | PROT_WRITE) != 0) {
    return -1;
  }
  const Elf64_Rela *r;
  for (size_t i = 0; (r = image_file_relocation(f, i)); i++) {
    if (relocation_is_symbol(r) && img->libraries) {
      bind_address(img, copy, r);
    } else if (relocation_is_tls(r) &&
               (f->kind == IMAGE_LIBRARY || f->shares_thread_data)) {
      bind_tls(copy, r);
    }
  }
  return protect(copy, PROT_READ);
}

int library_bind(const struct image *img) {
  if (!img->libraries && !img->file->shares_thread_data) {
    return 0;
  }
  int rc = bind_one(img, img);
  for (int i = 0; i < img->libraries && rc == 0; i++) {
    rc = bind_one(img, &img->library[i]);
  }
  return rc;
}
