#define _GNU_SOURCE
#include "context/image/original_bind.h"

#include "context/image/library.h"
#include "context/image/original_table.h"
#include "context/image/relocation.h"
#include "os/native.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>

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
  struct original *other = original_named(name);
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

/* The word that relocation has made, wherever it lies. */
static uint64_t word_at(const struct original *o, uint64_t at) {
  uint64_t word;
  memcpy(&word,
         original_keeps(o, at, sizeof(uint64_t))
             ? o->pristine + (at - o->data)
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
   write to the original. Of one that the library defines itself, too, the word
   is an entry of its PLT until then, which leads nowhere in a copy. */
static uint64_t resolve_call(const struct original *o, const Elf64_Rela *r,
                             uint64_t word) {
  const Elf64_Sym *const symbol = symbol_of(o, r);
  const bool is_bound = symbol->st_shndx != SHN_UNDEF &&
                        word == o->map->l_addr + symbol->st_value;
  if (is_bound || !original_holds(o, (const void *)word)) {
    return word;
  }
  const char *name = name_of(o, symbol);
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
    if (address != word && original_keeps(o, r->r_offset, sizeof(uint64_t))) {
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
    const int code = original_keeps(o, at, sizeof(uint64_t))
                         ? note_word(o, at, word_at(o, at), o)
                         : -1;
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
  const Elf64_Rela *r;
  for (size_t i = 0; rc == 0 && (r = image_file_relocation(f, i)); i++) {
    rc = bind_one(o, r);
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

int original_bind_all(void) {
  int rc = 0;
  for (int i = 0; i < original_count(); i++) {
    struct original *o = original_number(i);
    if (!o->bound && bind_original(o) != 0) {
      rc = -1;
    }
  }
  return rc;
}
