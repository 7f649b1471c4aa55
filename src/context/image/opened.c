/* What one VP's program opens by dlopen. The original is loaded once in the
   process (original.h); a copy is mapped by ld.so, which so knows it for
   unwinders and debuggers, but runs and binds nothing in it: its data are those
   of the original before any constructor, with each address in a library that
   ranks have copies of changed to the same place in this VP's. */
#define _GNU_SOURCE
#include "context/image/opened.h"

#include "context/image/copy_file.h"
#include "context/image/copy_pages.h"
#include "context/image/library.h"
#include "context/image/opened_set.h"
#include "context/image/original.h"
#include "context/image/search_path.h"
#include "os/native.h"
#include "os/pages.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void say(struct opened_error *error, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void say(struct opened_error *error, const char *format, ...) {
  va_list args;
  va_start(args, format);
  vsnprintf(error->text, sizeof(error->text), format, args);
  va_end(args);
}

/* --- the set --------------------------------------------------------------
 */

int opened_start(struct image *img, int rank, const char *dir,
                 const struct opened_host *host) {
  struct opened_set *set = native_zalloc(1, sizeof(*set));
  if (set == NULL) {
    return ENOMEM;
  }
  *set = (struct opened_set){.rank = rank, .host = *host};
  if (dir) {
    set->dir = strdup(dir);
  }
  set->self.is_self = true;
  img->opened = set;
  return 0;
}

struct opened *opened_find(const struct opened_set *set,
                           const struct original *of) {
  for (struct opened *o = set->first; o; o = o->next) {
    if (o->of == of) {
      return o;
    }
  }
  return NULL;
}

bool opened_is_handle(const struct opened_set *set, const void *handle) {
  for (const struct opened *o = set->first; o; o = o->next) {
    if (o == handle) {
      return true;
    }
  }
  return handle == &set->self;
}

char *opened_base(const struct image *img, const struct original *of) {
  switch (of->kind) {
  case ORIGINAL_PROGRAM:
    return img->base;
  case ORIGINAL_LINKED:
    return img->library[of->linked].base;
  case ORIGINAL_OPENED: {
    const struct opened *o = opened_find(img->opened, of);
    return o ? o->img.base : NULL;
  }
  default:
    return (char *)of->map->l_addr;
  }
}

static bool holds(const struct image *img, const void *p) {
  return (uintptr_t)p - (uintptr_t)img->text < img->text_len;
}

struct original *opened_owner(const struct image *img, const void *code) {
  for (int i = 0; i < original_count(); i++) {
    struct original *of = original_number(i);
    if (of->file && of->kind != ORIGINAL_SHARED) {
      const char *base = opened_base(img, of);
      if (base && (uintptr_t)code - (uintptr_t)base - of->file->low <
                      of->file->high - of->file->low) {
        return of;
      }
    }
  }
  return NULL;
}

bool opened_is_foreign(const struct image *img, const void *code) {
  Dl_info info;
  if (holds(img, code)) {
    return false;
  }
  for (int i = 0; i < img->libraries; i++) {
    if (holds(&img->library[i], code)) {
      return false;
    }
  }
  return !(img->opened && opened_site(img, code)) && dladdr(code, &info) != 0;
}

/* --- making copies --------------------------------------------------------
 */

static void append(struct opened_set *set, struct opened *o) {
  o->before = set->last;
  if (set->last) {
    set->last->next = o;
  } else {
    set->first = o;
  }
  set->last = o;
}

static void take_out(struct opened_set *set, struct opened *o) {
  if (o->before) {
    o->before->next = o->next;
  } else {
    set->first = o->next;
  }
  if (o->next) {
    o->next->before = o->before;
  } else {
    set->last = o->before;
  }
}

/* Those that others need come before them, where there are no circles. */
static int add_missing(struct image *img, struct original *of) {
  struct opened_set *set = img->opened;
  if (of->visited == set || opened_find(set, of)) {
    return 0;
  }
  of->visited = set;
  for (int i = 0; i < of->nneeds; i++) {
    if (of->kind == ORIGINAL_OPENED && add_missing(img, of->need[i]) != 0) {
      return -1;
    }
  }
  struct opened *o = native_zalloc(1, sizeof(*o));
  if (o == NULL) {
    return -1;
  }
  o->of = of;
  o->is_new = of->kind == ORIGINAL_OPENED;
  append(set, o);
  return 0;
}

static void unvisit(void) {
  for (int i = 0; i < original_count(); i++) {
    original_number(i)->visited = NULL;
  }
}

static int map_copy(struct image *img, struct opened *o,
                    struct pems_error *error) {
  const struct opened_set *set = img->opened;
  const struct image_file *f = o->of->file;
  o->img = (struct image){
      .file = f, .fini_left = f->fini.count, .has_fini = f->fini_function != 0};
  const int code = copy_file_load(&o->img, set->rank, set->dir, error);
  if (!code) {
    copy_pages_locate(&o->img);
  }
  return code;
}

struct filling {
  const struct original *of;
  char **base; /* of each original, for this VP */
};

static void fill(const void *arg, char *page, uint64_t start, uint64_t end) {
  const struct filling *w = arg;
  const struct original *of = w->of;
  const uint64_t from = of->data > start ? of->data : start;
  const uint64_t to = of->data_end < end ? of->data_end : end;
  if (from < to) {
    memcpy(page + (from - start), of->pristine + (from - of->data), to - from);
  }
  for (size_t i = 0; i < of->nwords; i++) {
    const struct original_word *word = &of->word[i];
    if (word->at >= start && word->at < end) {
      const uint64_t value = (uint64_t)w->base[word->owner] + word->value;
      memcpy(page + (word->at - start), &value, sizeof(value));
    }
  }
}

static size_t length(const struct image_part *part, int n) {
  size_t sum = 0;
  for (int i = 0; i < n; i++) {
    sum += part[i].len;
  }
  return sum;
}

/* Its data become parts of the VP's memory. */
static int take_home(struct image *img, struct opened *o) {
  const struct opened_host *host = &img->opened->host;
  struct image_part part[OPENED_PARTS];
  const int n = host->take ? copy_pages_parts(&o->img, part, OPENED_PARTS) : 0;
  if (n == 0) {
    return 0;
  }
  o->home = host->take(host->arg, length(part, n));
  if (o->home == NULL) {
    return ENOMEM;
  }
  char *home = o->home;
  for (; o->parts < n; o->parts++) {
    struct image_part *p = &o->part[o->parts];
    *p = part[o->parts];
    p->home = home;
    home += p->len;
    const int code = host->add(host->arg, *p, copy_pages_constant(&o->img, *p));
    if (code) {
      return code;
    }
  }
  return 0;
}

/* What the copy takes of the process's memory otherwise. */
static int count_beside(struct image *img, struct opened *o) {
  const struct opened_host *host = &img->opened->host;
  if (!host->count) {
    return 0;
  }
  const uint64_t bytes = copy_pages_beside(&o->img, length(o->part, o->parts));
  const int code = host->count(host->arg, bytes);
  o->beside = code ? 0 : bytes;
  return code;
}

static int build(struct image *img, struct opened *o, char **base,
                 struct pems_error *error) {
  const struct filling filling = {o->of, base};
  const bool keep = img->opened->dir || o->of->file->traced;
  int code = copy_pages_build(&o->img, keep, fill, &filling, error);
  code = code ? code : take_home(img, o);
  return code ? code : count_beside(img, o);
}

static char **find_bases(const struct image *img) {
  const int n = original_count();
  char **base = native_alloc(((size_t)n + 1) * sizeof(*base));
  for (int i = 0; base && i < n; i++) {
    base[i] = opened_base(img, original_number(i));
  }
  return base;
}

static int make_copies(struct image *img, struct opened *from,
                       struct pems_error *error) {
  int code = 0;
  for (struct opened *o = from; o && !code; o = o->next) {
    code = o->is_new ? map_copy(img, o, error) : 0;
  }
  char **base = code ? NULL : find_bases(img);
  code = code ? code : base ? 0 : ENOMEM;
  for (struct opened *o = from; o && !code; o = o->next) {
    code = o->is_new ? build(img, o, base, error) : 0;
    o->built = o->is_new && !code;
  }
  native_free(base);
  return code;
}

static void unload(struct image *img, struct opened *o) {
  const struct opened_host *host = &img->opened->host;
  for (int i = 0; i < o->parts; i++) {
    host->drop(host->arg, o->part[i]);
  }
  if (o->img.handle) {
    dlclose(o->img.handle);
  }
  if (o->home) {
    host->give(host->arg, o->home);
  }
  if (o->beside) {
    host->uncount(host->arg, o->beside);
  }
  take_out(img->opened, o);
  native_free(o);
}

static void unload_from(struct image *img, struct opened *o) {
  while (o) {
    struct opened *next = o->next;
    unload(img, o);
    o = next;
  }
}

/* The VP's handle for a library, which is made with all that it needs. */
static struct opened *provide(struct image *img, struct original *of,
                              const char *name, struct opened_error *error) {
  struct opened_set *set = img->opened;
  struct opened *last = set->last;
  struct pems_error why = {0};
  int code = add_missing(img, of);
  struct opened *from = last ? last->next : set->first;
  unvisit();
  code = code ? ENOMEM : make_copies(img, from, &why);
  if (code) {
    say(error, "%s: %s", name, why.text[0] ? why.text : strerror(code));
    unload_from(img, from);
    return NULL;
  }
  return opened_find(set, of);
}

/* --- opening --------------------------------------------------------------
 */

static const struct link_map *program_map(void) {
  return _r_debug.r_map;
}

/* How ld.so would look for it, from the caller's file. */
static void path_for(struct image *img, const void *caller, char *to,
                     size_t size) {
  const struct original *of = opened_owner(img, caller);
  const char *program = img->file->path ? img->file->path : "";
  const bool known = of && of->kind != ORIGINAL_PROGRAM;
  search_path_of(known ? of->map : program_map(),
                 known ? of->map->l_name : program, program_map(), program, to,
                 size);
}

static const char *caller_path(struct image *img, const void *caller) {
  const struct original *of = opened_owner(img, caller);
  return of && of->kind != ORIGINAL_PROGRAM ? of->map->l_name
         : img->file->path                  ? img->file->path
                                            : "";
}

/* ld.so trusts a file: what is cut off would end the process. */
static bool is_sound(const char *path, struct opened_error *error) {
  struct pems_error why = {0};
  struct image_elf elf;
  if (!strchr(path, '/')) {
    return true;
  }
  const int code = image_elf_open(&elf, path, IMAGE_OPENED, &why);
  if (!code) {
    close(elf.fd);
  }
  if (code == ENOEXEC) {
    say(error, "%s: file is damaged, or no shared object of this machine",
        path);
    return false;
  }
  return true; /* ld.so tells the rest */
}

static struct opened *open_named(struct image *img, const void *caller,
                                 const char *name, int flags,
                                 struct opened_error *error) {
  char path[PATH_MAX], runpath[4 * PATH_MAX];
  if (search_path_expand(name, caller_path(img, caller), path, sizeof(path))) {
    say(error, "%s: cannot open shared object file: File name too long", name);
    return NULL;
  }
  if (!is_sound(path, error)) {
    return NULL;
  }
  path_for(img, caller, runpath, sizeof(runpath));
  struct original *of = original_open(path, runpath[0] ? runpath : NULL, flags,
                                      error->text, sizeof(error->text));
  if (of == NULL) {
    return NULL;
  }
  if (of->kind == ORIGINAL_PROGRAM) {
    return &img->opened->self;
  }
  if (flags & RTLD_NOLOAD && of->kind == ORIGINAL_OPENED) {
    return opened_find(img->opened, of);
  }
  return provide(img, of, name, error);
}

struct opened *opened_open(struct image *img, const void *caller,
                           const char *name, int flags,
                           struct opened_error *error) {
  error->text[0] = '\0';
  if (!(flags & (RTLD_LAZY | RTLD_NOW))) {
    say(error, "%s: invalid mode for dlopen(): Invalid argument",
        name ? name : "");
    return NULL;
  }
  struct opened *o = !name || !*name
                         ? &img->opened->self
                         : open_named(img, caller, name, flags, error);
  if (o) {
    o->opens++;
    o->global |= (flags & RTLD_GLOBAL) != 0;
    o->stays |= (flags & RTLD_NODELETE) != 0;
  }
  return o;
}

struct opened *opened_next_new(struct image *img) {
  for (struct opened *o = img->opened->first; o; o = o->next) {
    if (o->is_new) {
      o->is_new = false;
      return o;
    }
  }
  return NULL;
}

/* --- thread-local data ----------------------------------------------------
 */

struct tls_index {
  size_t module, offset;
};
extern void *__tls_get_addr(struct tls_index *at);

static const Elf64_Phdr *tls_of(const struct original *of) {
  for (int i = 0; i < of->file->elf.nsegments; i++) {
    if (of->file->elf.segment[i].p_type == PT_TLS) {
      return &of->file->elf.segment[i];
    }
  }
  return NULL;
}

/* The original's is each thread's; what it begins with points to the
   original. */
static void point_tls(const struct image *img, const struct opened *o) {
  const Elf64_Phdr *tls = tls_of(o->of);
  char *block = NULL;
  for (size_t i = 0; tls && i < o->of->nwords; i++) {
    const struct original_word *word = &o->of->word[i];
    if (word->at - tls->p_vaddr >= tls->p_filesz) {
      continue;
    }
    struct tls_index at = {0, 0};
    if (!block && dlinfo(o->of->handle, RTLD_DI_TLS_MODID, &at.module) == 0) {
      block = __tls_get_addr(&at);
    }
    const char *base = opened_base(img, original_number(word->owner));
    const uint64_t value = (uint64_t)base + word->value;
    if (block && base) {
      memcpy(block + (word->at - tls->p_vaddr), &value, sizeof(value));
    }
  }
}

void opened_begin_thread(const struct image *img) {
  if (img->opened == NULL) {
    return;
  }
  for (const struct opened *o = img->opened->first; o; o = o->next) {
    if (o->built) {
      point_tls(img, o);
    }
  }
}

/* --- running --------------------------------------------------------------
 */

typedef void init_fn(int argc, char **argv, char **envp);
typedef void fini_fn(void);

void opened_construct(struct opened *o, int argc, char **argv, char **envp) {
  const struct image_file *f = o->of->file;
  o->constructed = true;
  if (f->init_function) {
    ((init_fn *)(o->img.base + f->init_function))(argc, argv, envp);
  }
  init_fn **functions = (init_fn **)(o->img.base + f->init.vaddr);
  for (size_t i = 0; i < f->init.count; i++) {
    functions[i](argc, argv, envp);
  }
}

void opened_destruct(struct opened *o) {
  const struct image_file *f = o->of->file;
  if (!o->constructed) {
    return;
  }
  fini_fn **functions = (fini_fn **)(o->img.base + f->fini.vaddr);
  while (o->img.fini_left > 0) {
    functions[--o->img.fini_left]();
  }
  if (o->img.has_fini) {
    o->img.has_fini = false;
    ((fini_fn *)(o->img.base + f->fini_function))();
  }
}

void opened_destruct_all(const struct image *img) {
  if (img->opened == NULL) {
    return;
  }
  for (struct opened *o = img->opened->last; o; o = o->before) {
    opened_destruct(o);
  }
}

/* --- closing --------------------------------------------------------------
 */

static void mark(const struct opened_set *set, struct opened *o) {
  if (o->needed) {
    return;
  }
  o->needed = true;
  for (int i = 0; o->built && i < o->of->nneeds; i++) {
    struct opened *other = opened_find(set, o->of->need[i]);
    if (other) {
      mark(set, other);
    }
  }
}

static void find_dead(struct opened_set *set) {
  for (struct opened *o = set->first; o; o = o->next) {
    o->needed = false;
  }
  for (struct opened *o = set->first; o; o = o->next) {
    if (o->opens > 0 || o->stays || o->of->stays || !o->built) {
      mark(set, o);
    }
  }
  for (struct opened *o = set->first; o; o = o->next) {
    o->dead |= !o->needed;
  }
}

int opened_close(struct image *img, struct opened *o,
                 struct opened_error *error) {
  error->text[0] = '\0';
  if (!opened_is_handle(img->opened, o) || o->opens == 0) {
    say(error, "shared object not open");
    return -1;
  }
  if (--o->opens == 0) {
    find_dead(img->opened);
  }
  return 0;
}

struct opened *opened_next_dead(struct image *img) {
  for (struct opened *o = img->opened->last; o; o = o->before) {
    if (o->dead && !o->ending) {
      o->ending = true;
      return o;
    }
  }
  return NULL;
}

void opened_sweep(struct image *img) {
  struct opened *o = img->opened->first;
  while (o) {
    struct opened *next = o->next;
    if (o->dead && o->ending) {
      unload(img, o);
    }
    o = next;
  }
}

void opened_end(struct image *img) {
  if (img->opened == NULL) {
    return;
  }
  for (struct opened *o = img->opened->first; o; o = o->next) {
    o->parts = 0; /* the VP's memory goes as a whole */
    o->home = NULL;
  }
  unload_from(img, img->opened->first);
  free(img->opened->dir);
  native_free(img->opened);
  img->opened = NULL;
}

/* --- for those who ask where something is ---------------------------------
 */

bool opened_place(const struct image *img, const void *code,
                  const char **library, uintptr_t *address) {
  for (const struct opened *o = img->opened ? img->opened->first : NULL; o;
       o = o->next) {
    if (o->built && holds(&o->img, code)) {
      *library = o->of->file->path;
      *address = (uintptr_t)code - (uintptr_t)o->img.base;
      return *library != NULL;
    }
  }
  return false;
}

uintptr_t opened_site(const struct image *img, const void *code) {
  for (const struct opened *o = img->opened ? img->opened->first : NULL; o;
       o = o->next) {
    if (o->built && holds(&o->img, code)) {
      return (uintptr_t)code - (uintptr_t)o->img.base +
             (uintptr_t)o->of->map->l_addr;
    }
  }
  return 0;
}

void *opened_original_handle(struct image *img, void *handle) {
  const struct opened *o = handle;
  if (!opened_is_handle(img->opened, handle)) {
    return NULL;
  }
  return o->is_self ? (void *)program_map() : o->of->handle;
}

struct link_map *opened_map(struct image *img, void *handle) {
  const struct opened *o = handle;
  if (o->is_self) {
    return copy_file_map(img->handle);
  }
  if (o->built) {
    return copy_file_map(o->img.handle);
  }
  return o->of->kind == ORIGINAL_LINKED
             ? copy_file_map(img->library[o->of->linked].handle)
             : o->of->map;
}
