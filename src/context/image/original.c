/* What ld.so has loaded of each library, for copies made at run time: before
   constructors change it, the data of each is kept as relocation has left it,
   and where addresses are in it. */
#define _GNU_SOURCE
#include "context/image/original.h"

#include "base/failure.h"
#include "context/image/library.h"
#include "context/image/relocation.h"
#include "context/image/stub.h"
#include "os/native.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static struct {
  struct original **item;
  int n, room;
  const struct image_file *program;
  void (*note)(const struct link_map *map, const char *why);
} originals;

/* --- the table ------------------------------------------------------------
 */

static struct original *find(const struct link_map *map) {
  for (int i = 0; i < originals.n; i++) {
    if (originals.item[i]->map == map) {
      return originals.item[i];
    }
  }
  return NULL;
}

static struct original *add(struct link_map *map) {
  if (originals.n == originals.room) {
    const int room = 2 * originals.room + 64;
    struct original **item =
        native_realloc(originals.item, (size_t)room * sizeof(*item));
    if (item == NULL) {
      errno = ENOMEM;
      return NULL;
    }
    originals.item = item;
    originals.room = room;
  }
  struct original *o = native_zalloc(1, sizeof(*o));
  if (o) {
    *o = (struct original){
        .index = originals.n, .map = map, .handle = map, .constructed = true};
    originals.item[originals.n++] = o;
  } else {
    errno = ENOMEM;
  }
  return o;
}

struct original *original_of(struct link_map *map) {
  struct original *o = find(map);
  return o ? o : add(map);
}

struct original *original_number(int index) {
  return originals.item[index];
}

int original_count(void) {
  return originals.n;
}

static bool holds(const struct original *o, const void *p) {
  const struct image_file *f = o->file;
  return f &&
         (uintptr_t)p - (uintptr_t)o->map->l_addr - f->low < f->high - f->low;
}

struct original *original_at(const void *p) {
  for (int i = 0; i < originals.n; i++) {
    if (holds(originals.item[i], p)) {
      return originals.item[i];
    }
  }
  return NULL;
}

void original_on_shared(void (*note)(const struct link_map *map,
                                     const char *why)) {
  originals.note = note;
}

static void classify(struct original *o, const struct image_file *program) {
  if ((char *)o->map->l_addr == program->original && !o->map->l_name[0]) {
    o->kind = ORIGINAL_PROGRAM;
    o->file = program;
  }
  for (int i = 0; i < program->libraries; i++) {
    if ((char *)o->map->l_addr == program->library[i]->original) {
      o->kind = ORIGINAL_LINKED;
      o->linked = i;
      o->file = program->library[i];
    }
  }
}

int original_start(const struct image_file *f, struct pems_error *error) {
  originals.program = f;
  for (struct link_map *m = _r_debug.r_map; m; m = m->l_next) {
    struct original *o = original_of(m);
    if (o == NULL) {
      return failure(error, ENOMEM, "out of memory: libraries: free memory");
    }
    classify(o, f);
    o->bound = true;
  }
  return 0;
}

static void forget(struct original *o) {
  image_close(o->own_file);
  native_free(o->pristine);
  native_free(o->word);
  native_free(o->need);
  native_free(o);
}

void original_end(void) {
  for (int i = 0; i < originals.n; i++) {
    forget(originals.item[i]);
  }
  native_free(originals.item);
  originals.item = NULL;
  originals.n = originals.room = 0;
}

/* --- between relocation and constructors ----------------------------------
 */

static bool is_named(const struct original *o, const char *name) {
  return library_is_named(o->map, name);
}

static struct original *find_named(const char *name) {
  for (int i = 0; i < originals.n; i++) {
    if (is_named(originals.item[i], name)) {
      return originals.item[i];
    }
  }
  return NULL;
}

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

static int adopt(struct original *o, struct pems_error *error) {
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

static void say_shared(const struct original *o, const char *why) {
  if (originals.note) {
    originals.note(o->map, why);
  }
}

/* What a shared library needs is shared, too. */
static void share_needed(void *arg, const char *name) {
  const int first = *(const int *)arg;
  struct original *o = find_named(name);
  if (o && o->index >= first && o->kind == ORIGINAL_OPENED) {
    o->kind = ORIGINAL_SHARED;
    say_shared(o, "a shared library needs it");
    library_each_needed(o->map, share_needed, arg);
  }
}

static void choose(int first) {
  for (int i = first; i < originals.n; i++) {
    struct original *o = originals.item[i];
    if (library_is_shared(o->map, originals.program->shared)) {
      say_shared(o, NULL);
    } else {
      o->kind = ORIGINAL_OPENED;
    }
  }
  for (int i = first; i < originals.n; i++) {
    if (originals.item[i]->kind == ORIGINAL_SHARED) {
      library_each_needed(originals.item[i]->map, share_needed, &first);
    }
  }
}

/* Called by ld.so for what it has just loaded: from here on it runs
   constructors. */
static void see_loaded(struct link_map *m) {
  int first = originals.n;
  for (; m; m = m->l_next) {
    if (!find(m)) {
      (void)add(m);
    }
  }
  choose(first);
  for (int i = first; i < originals.n; i++) {
    struct original *o = originals.item[i];
    struct pems_error error = {0};
    if (o->kind == ORIGINAL_OPENED && adopt(o, &error) != 0) {
      o->kind = ORIGINAL_SHARED;
      say_shared(o, error.text);
      library_each_needed(o->map, share_needed, &first);
    }
  }
  for (int i = first; i < originals.n; i++) {
    originals.item[i]->constructed = originals.item[i]->kind == ORIGINAL_SHARED;
  }
}

/* --- where addresses are --------------------------------------------------
 */

/* 0 or ENOMEM. */
static int need(struct original *o, struct original *other) {
  if (other == o || other->kind != ORIGINAL_OPENED) {
    return 0;
  }
  for (int i = 0; i < o->nneeds; i++) {
    if (o->need[i] == other) {
      return 0;
    }
  }
  struct original **more =
      native_realloc(o->need, ((size_t)o->nneeds + 1) * sizeof(*more));
  if (more == NULL) {
    return ENOMEM;
  }
  o->need = more;
  o->need[o->nneeds++] = other;
  return 0;
}

struct needing {
  struct original *o;
  int code;
};

static void need_named(void *arg, const char *name) {
  struct needing *n = arg;
  struct original *other = find_named(name);
  if (other && !n->code) {
    n->code = need(n->o, other);
  }
}

static int note_word(struct original *o, uint64_t at, uint64_t address,
                     struct original *owner) {
  o->word[o->nwords++] = (struct original_word){
      at, address - (uint64_t)owner->map->l_addr, owner->index};
  return need(o, owner);
}

static bool is_kept(const struct original *o, uint64_t at) {
  return at >= o->data && at < o->data_end &&
         o->data_end - at >= sizeof(uint64_t);
}

/* The word that relocation has made, wherever it lies. */
static uint64_t word_at(const struct original *o, uint64_t at) {
  uint64_t word;
  memcpy(&word,
         is_kept(o, at) ? o->pristine + (at - o->data)
                        : (const char *)o->map->l_addr + at,
         sizeof(word));
  return word;
}

static const Elf64_Sym *symbol_of(const struct original *o,
                                  const Elf64_Rela *r) {
  return (const Elf64_Sym *)(o->map->l_addr + o->file->symbols) +
         ELF64_R_SYM(r->r_info);
}

static const char *name_of(const struct original *o, const Elf64_Sym *symbol) {
  return (const char *)o->map->l_addr + o->file->names + symbol->st_name;
}

/* A function that ld.so would look for when it is called first: it is not to
   write to the original. */
static uint64_t resolve_call(const struct original *o, const Elf64_Rela *r,
                             uint64_t word) {
  if (!holds(o, (const void *)word) || symbol_of(o, r)->st_shndx != SHN_UNDEF) {
    return word;
  }
  const char *name = name_of(o, symbol_of(o, r));
  void *p = dlsym(RTLD_DEFAULT, name);
  p = p ? p : dlsym(o->handle, name);
  return p ? (uint64_t)p : word;
}

static int bind_symbol(struct original *o, const Elf64_Rela *r) {
  const uint64_t addend = relocation_addend(r);
  const uint64_t word = word_at(o, r->r_offset) - addend;
  const uint64_t address =
      relocation_is_call(r) ? resolve_call(o, r, word) : word;
  if (address == 0 || library_is_common(name_of(o, symbol_of(o, r)))) {
    return 0;
  }
  struct original *owner = original_at((const void *)address);
  if (owner == NULL && address == (uint64_t)o->map->l_addr + o->file->high) {
    owner = o; /* the end of its own data */
  }
  if (owner == NULL) {
    /* What was looked up only now must be written, too. */
    if (address != word && is_kept(o, r->r_offset)) {
      memcpy(o->pristine + (r->r_offset - o->data), &address, sizeof(address));
    }
    return 0;
  }
  o->stays =
      o->stays ||
      (owner == o && ELF64_ST_BIND(symbol_of(o, r)->st_info) == STB_GNU_UNIQUE);
  return note_word(o, r->r_offset, address + addend, owner);
}

static int bind_one(struct original *o, const Elf64_Rela *r) {
  if (relocation_is_symbol(r)) {
    return bind_symbol(o, r);
  }
  if (relocation_is_own(r)) {
    return note_word(o, r->r_offset, word_at(o, r->r_offset), o);
  }
  return 0;
}

static int bind_relr(struct original *o) {
  struct relocation_walk walk = {.at = o->file->relr, .left = o->file->nrelr};
  uint64_t at;
  while (relocation_next_relr(&walk, &at)) {
    const int code = is_kept(o, at) ? note_word(o, at, word_at(o, at), o) : -1;
    if (code) {
      return code;
    }
  }
  return 0;
}

static size_t count_relr(const struct image_file *f) {
  struct relocation_walk walk = {.at = f->relr, .left = f->nrelr};
  uint64_t at;
  size_t n = 0;
  while (relocation_next_relr(&walk, &at)) {
    n++;
  }
  return n;
}

static int find_words(struct original *o) {
  const struct image_file *f = o->file;
  const size_t most = f->relocations[0].n + f->relocations[1].n + count_relr(f);
  o->word = native_alloc((most + 1) * sizeof(*o->word));
  int rc = o->word ? bind_relr(o) : ENOMEM;
  for (int t = 0; t < 2; t++) {
    const struct image_relocations *table = &f->relocations[t];
    for (size_t i = 0; i < table->n && rc == 0; i++) {
      rc = bind_one(o, &table->at[i]);
    }
  }
  return rc;
}

static void note_stay(struct original *o) {
  for (size_t i = 0; i < o->file->ndynamic; i++) {
    const Elf64_Dyn *d = &o->file->dynamic[i];
    if (d->d_tag == DT_FLAGS_1 && d->d_un.d_val & DF_1_NODELETE) {
      o->stays = true;
    }
  }
}

/* Where memory was short, it is tried again the next time that a library is
   opened: nothing of half a table is used. */
static void unbind(struct original *o) {
  native_free(o->word);
  o->word = NULL;
  o->nwords = 0;
  o->nneeds = 0;
  o->bound = false;
}

/* 0, ENOMEM, or -1: it cannot be. */
static int bind_original(struct original *o) {
  struct needing needing = {o, 0};
  o->bound = true;
  if (o->kind != ORIGINAL_OPENED) {
    return 0;
  }
  library_each_needed(o->map, need_named, &needing);
  if (needing.code) {
    unbind(o);
    return needing.code;
  }
  o->direct = o->nneeds;
  note_stay(o);
  o->handle = dlopen(o->map->l_name, RTLD_LAZY | RTLD_NOLOAD);
  const int code = o->handle ? find_words(o) : -1;
  if (code == ENOMEM) {
    dlclose(o->handle);
    o->handle = o->map;
    unbind(o);
  }
  return code;
}

static int bind_all(void) {
  int rc = 0;
  for (int i = 0; i < originals.n; i++) {
    if (!originals.item[i]->bound && bind_original(originals.item[i]) != 0) {
      rc = -1;
    }
  }
  return rc;
}

/* --- opening --------------------------------------------------------------
 */

static void say(char *why, size_t size) {
  const char *text = dlerror();
  snprintf(why, size, "%s", text ? text : strerror(errno ? errno : ENOMEM));
}

static struct original *known(void *handle) {
  struct link_map *map = NULL;
  return handle && dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 ? original_of(map)
                                                              : NULL;
}

/* A function that is missing is no error before it is called. */
static int open_new(const char *name, const char *runpath, int flags, char *why,
                    size_t size) {
  const int scope = flags & (RTLD_GLOBAL | RTLD_DEEPBIND);
  if (stub_open(name, runpath, RTLD_NOW | scope, see_loaded) == 0) {
    return 0;
  }
  say(why, size);
  if (flags & RTLD_LAZY && strstr(why, "undefined symbol") &&
      stub_open(name, runpath, RTLD_LAZY | scope, see_loaded) == 0) {
    return 0;
  }
  return -1;
}

struct original *original_open(const char *name, const char *runpath, int flags,
                               char *why, size_t size) {
  const int scope = flags & (RTLD_GLOBAL | RTLD_NODELETE);
  why[0] = '\0';
  (void)dlerror();
  void *handle = dlopen(name, RTLD_LAZY | RTLD_NOLOAD | scope);
  if (handle == NULL) {
    (void)dlerror();
    if (flags & RTLD_NOLOAD || open_new(name, runpath, flags, why, size) != 0) {
      return NULL;
    }
    handle = dlopen(name, RTLD_LAZY | RTLD_NOLOAD | scope);
  }
  struct original *o = known(handle);
  if (o == NULL) {
    say(why, size);
  } else if (bind_all() != 0) {
    snprintf(why, size, "%s: cannot bind it: out of memory", name);
    return NULL;
  }
  return o;
}
