/* Is a file a program built with pemscc, and are the tables of a library sound?
   Needs nothing of the runtime. */
#define _GNU_SOURCE
#include "context/image/image.h"

#include "base/failure.h"
#include "context/image/image_elf.h"
#include "context/image/program_abi.h"
#include "context/image/relocation.h"
#include "os/bits.h"
#include "os/native.h"
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
static const uint64_t thread_data_most = UINT64_C(1) << 32;

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
  if (p->p_type == PT_TLS) {
    /* ld.so ends the process where it cannot have that. */
    return p->p_filesz <= p->p_memsz && p->p_memsz < thread_data_most;
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

/* --- tables in which ld.so looks symbols up: it trusts them, so that one that
   is damaged sends it anywhere in memory --- */

struct lookup {
  const struct image_elf *elf;
  uint64_t gnu_hash, hash, symbols, names; /* in the image; 0: none */
  uint64_t versions, needed, defined;      /* of symbols, and which there are */
  struct {
    uint64_t at, size;    /* bytes */
  } words, calls, packed; /* relocations */
  bool any_segment;       /* these may change text */
  bool starved;           /* for want of memory */
};

/* How many bytes are loaded from the file at vaddr and behind it, and where
   they are in it. */
static uint64_t loaded_at(const struct image_elf *elf, uint64_t vaddr,
                          uint64_t *offset) {
  for (int i = 0; i < elf->nsegments; i++) {
    const Elf64_Phdr *p = &elf->segment[i];
    if (p->p_type == PT_LOAD && p->p_flags & PF_R && vaddr >= p->p_vaddr &&
        vaddr - p->p_vaddr < p->p_filesz) {
      *offset = p->p_offset + (vaddr - p->p_vaddr);
      return p->p_filesz - (vaddr - p->p_vaddr);
    }
  }
  return 0;
}

/* `n` things of `size` bytes that are loaded at vaddr, in memory of their own,
   or NULL. */
static void *read_loaded(struct lookup *l, uint64_t vaddr, uint64_t n,
                         size_t size) {
  uint64_t offset;
  const uint64_t room = loaded_at(l->elf, vaddr, &offset);
  if (n == 0 || n > room / size) {
    return NULL;
  }
  void *const to = native_zalloc(n, size);
  l->starved |= to == NULL;
  if (to && image_elf_read(l->elf, offset, to, n * size) != 0) {
    native_free(to);
    return NULL;
  }
  return to;
}

static void note(struct lookup *l, const Elf64_Dyn *d) {
  switch (d->d_tag) {
  case DT_GNU_HASH:
    l->gnu_hash = d->d_un.d_ptr;
    break;
  case DT_HASH:
    l->hash = d->d_un.d_ptr;
    break;
  case DT_SYMTAB:
    l->symbols = d->d_un.d_ptr;
    break;
  case DT_STRTAB:
    l->names = d->d_un.d_ptr;
    break;
  case DT_VERSYM:
    l->versions = d->d_un.d_ptr;
    break;
  case DT_VERNEED:
    l->needed = d->d_un.d_ptr;
    break;
  case DT_VERDEF:
    l->defined = d->d_un.d_ptr;
    break;
  case DT_RELA:
    l->words.at = d->d_un.d_ptr;
    break;
  case DT_RELASZ:
    l->words.size = d->d_un.d_val;
    break;
  case DT_JMPREL:
    l->calls.at = d->d_un.d_ptr;
    break;
  case DT_PLTRELSZ:
    l->calls.size = d->d_un.d_val;
    break;
  case DT_RELR:
    l->packed.at = d->d_un.d_ptr;
    break;
  case DT_RELRSZ:
    l->packed.size = d->d_un.d_val;
    break;
  case DT_TEXTREL:
    l->any_segment = true;
    break;
  case DT_FLAGS:
    l->any_segment |= (d->d_un.d_val & DF_TEXTREL) != 0;
    break;
  default:
    break;
  }
}

/* ld.so reads the dynamic section where it is loaded, up to its end. */
static bool find_tables(struct lookup *l, const Elf64_Phdr *dynamic) {
  uint64_t offset;
  const uint64_t room = loaded_at(l->elf, dynamic->p_vaddr, &offset);
  Elf64_Dyn d = {.d_tag = DT_NEEDED};
  for (uint64_t at = 0; d.d_tag != DT_NULL; at += sizeof(d)) {
    if (room < sizeof(d) || at > room - sizeof(d) ||
        image_elf_read(l->elf, offset + at, &d, sizeof(d)) != 0) {
      return false;
    }
    note(l, &d);
  }
  return true;
}

static bool read_one(const struct lookup *l, uint64_t vaddr, void *to,
                     size_t size) {
  uint64_t offset;
  return loaded_at(l->elf, vaddr, &offset) >= size &&
         image_elf_read(l->elf, offset, to, size) == 0;
}

static bool has_name(const struct lookup *l, uint64_t name) {
  uint64_t offset;
  return loaded_at(l->elf, l->names + name, &offset) > 0;
}

/* --- versions: lists whose items say where the next one is; ld.so makes a
   table of them, in which symbols have a place --- */

enum { PLACE = 0x7fff }; /* another bit says that it is hidden */

static void see_place(uint32_t *most, uint32_t place) {
  *most = (place & PLACE) > *most ? place & PLACE : *most;
}

static bool see_needed_of(const struct lookup *l, uint64_t at, uint32_t *most) {
  Elf64_Vernaux v;
  do {
    if (!read_one(l, at, &v, sizeof(v)) || !has_name(l, v.vna_name)) {
      return false;
    }
    see_place(most, v.vna_other);
    at += v.vna_next;
  } while (v.vna_next);
  return true;
}

static bool see_needed(const struct lookup *l, uint32_t *most) {
  uint64_t at = l->needed;
  Elf64_Verneed v = {.vn_next = 0};
  do {
    if (at && (!read_one(l, at, &v, sizeof(v)) || !has_name(l, v.vn_file) ||
               !see_needed_of(l, at + v.vn_aux, most))) {
      return false;
    }
    at += v.vn_next;
  } while (v.vn_next);
  return true;
}

static bool see_defined(const struct lookup *l, uint32_t *most) {
  uint64_t at = l->defined;
  Elf64_Verdef v = {.vd_next = 0};
  Elf64_Verdaux name;
  do {
    if (at && (!read_one(l, at, &v, sizeof(v)) ||
               !read_one(l, at + v.vd_aux, &name, sizeof(name)) ||
               !has_name(l, name.vda_name))) {
      return false;
    }
    see_place(most, v.vd_ndx);
    at += v.vd_next;
  } while (v.vd_next);
  return true;
}

/* Of n symbols. */
static bool has_versions(struct lookup *l, uint64_t n) {
  uint32_t most = VER_NDX_GLOBAL;
  if (!l->versions || (!l->needed && !l->defined) || n == 0) {
    return true;
  }
  if (!see_needed(l, &most) || !see_defined(l, &most)) {
    return false;
  }
  Elf64_Half *const place = read_loaded(l, l->versions, n, sizeof(*place));
  bool sound = place != NULL;
  for (uint64_t i = 0; sound && i < n; i++) {
    sound = (place[i] & PLACE) <= most;
  }
  native_free(place);
  return sound;
}

/* --- symbols ---------------------------------------------------------------
 */

/* Symbols [first, end) are there, and so are the beginnings of their names, and
   the versions of all up to the end. */
static bool has_symbols(struct lookup *l, uint64_t first, uint64_t end) {
  const uint64_t at = l->symbols + first * sizeof(Elf64_Sym);
  if (first >= end) {
    return has_versions(l, end);
  }
  Elf64_Sym *const symbol = read_loaded(l, at, end - first, sizeof(*symbol));
  bool sound = symbol && at % _Alignof(Elf64_Sym) == 0;
  for (uint64_t i = 0; sound && i < end - first; i++) {
    sound = has_name(l, symbol[i].st_name);
  }
  native_free(symbol);
  return sound && has_versions(l, end);
}

/* --- DT_GNU_HASH: a bloom filter, buckets, and chains of hash values; the last
   of a chain is odd --- */

struct gnu_header {
  uint32_t buckets, first_symbol, words, shift;
};

/* The symbol behind the last one of the chain that begins with this one, or 0
   if it has no end. */
static uint64_t end_of_chain(const struct image_elf *elf, uint64_t chains,
                             const struct gnu_header *h, uint32_t symbol) {
  uint64_t offset;
  const uint64_t room = loaded_at(elf, chains, &offset);
  uint32_t hash;
  for (uint64_t i = symbol - h->first_symbol;; i++) {
    const uint64_t at = i * sizeof(hash);
    if (room < sizeof(hash) || at > room - sizeof(hash) ||
        image_elf_read(elf, offset + at, &hash, sizeof(hash)) != 0) {
      return 0;
    }
    if (hash & 1) {
      return h->first_symbol + i + 1;
    }
  }
}

static bool has_gnu_chains(struct lookup *l, const struct gnu_header *h,
                           uint64_t buckets) {
  uint32_t *const bucket = read_loaded(l, buckets, h->buckets, sizeof(*bucket));
  uint32_t last = 0;
  bool sound = bucket != NULL;
  for (uint32_t i = 0; sound && i < h->buckets; i++) {
    sound = bucket[i] == 0 || bucket[i] >= h->first_symbol;
    last = bucket[i] > last ? bucket[i] : last;
  }
  native_free(bucket);
  if (!sound || last == 0) {
    return sound && has_symbols(l, h->first_symbol, h->first_symbol);
  }
  /* All other chains end before, or with this one. */
  const uint64_t end = end_of_chain(
      l->elf, buckets + (uint64_t)h->buckets * sizeof(*bucket), h, last);
  return end && has_symbols(l, h->first_symbol, end);
}

static bool has_gnu_hash(struct lookup *l) {
  const uint64_t words = l->gnu_hash + sizeof(struct gnu_header);
  uint64_t offset;
  struct gnu_header *const h = read_loaded(l, l->gnu_hash, 1, sizeof(*h));
  bool sound = h && l->gnu_hash % sizeof(uint32_t) == 0;
  if (sound && h->buckets > 0) {
    /* ld.so takes the remainder by masking. */
    sound = h->words > 0 && (h->words & (h->words - 1)) == 0 &&
            loaded_at(l->elf, words, &offset) / sizeof(uint64_t) >= h->words &&
            has_gnu_chains(l, h, words + h->words * sizeof(uint64_t));
  }
  native_free(h);
  return sound;
}

/* --- DT_HASH: buckets and chains of symbols' numbers, which end with 0 --- */

/* No chain leaves the table or is a circle: together they are not longer than
   it. */
static bool has_ends(const uint32_t *bucket, uint32_t buckets,
                     const uint32_t *chain, uint32_t chains) {
  uint32_t left = chains;
  for (uint32_t i = 0; i < buckets; i++) {
    for (uint32_t at = bucket[i]; at != 0; at = chain[at]) {
      if (at >= chains || left-- == 0) {
        return false;
      }
    }
  }
  return true;
}

static bool has_hash(struct lookup *l) {
  uint32_t *const h = read_loaded(l, l->hash, 2, sizeof(*h));
  bool sound = h && l->hash % sizeof(*h) == 0;
  if (sound && h[0] > 0) {
    const uint64_t n = (uint64_t)h[0] + h[1];
    uint32_t *const table =
        read_loaded(l, l->hash + 2 * sizeof(*h), n, sizeof(*table));
    sound = table && has_ends(table, h[0], table + h[0], h[1]) &&
            has_symbols(l, 1, h[1]);
    native_free(table);
  }
  native_free(h);
  return sound;
}

/* --- relocations: ld.so writes where they say, and looks up the symbols that
   they say --- */

static bool is_target(const struct lookup *l, uint64_t vaddr) {
  for (int i = 0; i < l->elf->nsegments; i++) {
    const Elf64_Phdr *p = &l->elf->segment[i];
    if (p->p_type == PT_LOAD && (l->any_segment || p->p_flags & PF_W) &&
        vaddr >= p->p_vaddr && p->p_memsz >= sizeof(uint64_t) &&
        vaddr - p->p_vaddr <= p->p_memsz - sizeof(uint64_t)) {
      return true;
    }
  }
  return false;
}

/* *last becomes the last symbol of them, if it is less. */
static bool has_targets(struct lookup *l, uint64_t at, uint64_t size,
                        uint64_t *last) {
  const uint64_t n = size / sizeof(Elf64_Rela);
  Elf64_Rela *const r = read_loaded(l, at, n, sizeof(*r));
  bool sound = n == 0 || r;
  for (uint64_t i = 0; sound && i < n; i++) {
    const uint64_t symbol = ELF64_R_SYM(r[i].r_info);
    sound = is_target(l, r[i].r_offset);
    *last = symbol > *last ? symbol : *last;
  }
  native_free(r);
  return sound && size % sizeof(*r) == 0;
}

static bool has_packed_targets(struct lookup *l) {
  const uint64_t n = l->packed.size / sizeof(uint64_t);
  uint64_t *const word = read_loaded(l, l->packed.at, n, sizeof(*word));
  struct relocation_walk walk = {.at = word, .left = n};
  bool sound = n == 0 || word;
  for (uint64_t at; sound && n && relocation_next_relr(&walk, &at);) {
    sound = is_target(l, at);
  }
  native_free(word);
  return sound && l->packed.size % sizeof(*word) == 0;
}

/* All symbols are there, up to the last that a relocation wants: those that the
   library does not define are in no chain. */
static bool has_relocations(struct lookup *l) {
  uint64_t last = 0;
  return has_targets(l, l->words.at, l->words.size, &last) &&
         has_targets(l, l->calls.at, l->calls.size, &last) &&
         has_packed_targets(l) && (last == 0 || has_symbols(l, 0, last + 1));
}

int image_lookup_check(const struct image_elf *elf) {
  struct lookup l = {.elf = elf};
  bool sound = true;
  for (int i = 0; sound && i < elf->nsegments; i++) {
    if (elf->segment[i].p_type == PT_DYNAMIC) {
      sound = find_tables(&l, &elf->segment[i]);
    }
  }
  /* ld.so does not look at the older one where both are there. */
  sound = sound && (l.gnu_hash ? has_gnu_hash(&l) : !l.hash || has_hash(&l)) &&
          has_relocations(&l);
  return sound ? 0 : l.starved ? ENOMEM : ENOEXEC;
}
