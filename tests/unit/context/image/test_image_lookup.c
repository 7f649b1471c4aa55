/* Tables of symbols that are damaged in one place each. */
#define _GNU_SOURCE
#include "context/image/image_elf.h"

#include <errno.h>
#include <link.h>

#include "check_memory.h"
#include "opened_check.h"

/* --- a library whose bytes are changed --- */

static struct image_elf elf;

static int check_file(const char *path) {
  ck_assert_int_eq(image_elf_open(&elf, path, IMAGE_OPENED, &error), 0);
  const int code = image_lookup_check(&elf);
  close(elf.fd);
  return code;
}

static void get(uint64_t at, void *to, size_t n) {
  ck_assert_int_eq(
      image_elf_open(&elf, in_dir("libit.so"), IMAGE_OPENED, &error), 0);
  ck_assert_int_eq(image_elf_read(&elf, at, to, n), 0);
  close(elf.fd);
}

static void put(uint64_t at, const void *from, size_t n) {
  FILE *const f = fopen(in_dir("libit.so"), "r+b");
  ck_assert_ptr_nonnull(f);
  ck_assert_int_eq(fseek(f, (long)at, SEEK_SET), 0);
  ck_assert_uint_eq(fwrite(from, n, 1, f), 1);
  ck_assert_int_eq(fclose(f), 0);
}

static uint32_t word_at(uint64_t at) {
  uint32_t word;
  get(at, &word, sizeof(word));
  return word;
}

/* What the check says of the file while n bytes are others. */
static int with(uint64_t at, const void *bytes, size_t n) {
  char was[sizeof(uint64_t)];
  ck_assert_uint_le(n, sizeof(was));
  get(at, was, n);
  put(at, bytes, n);
  const int code = check_file(in_dir("libit.so"));
  put(at, was, n);
  return code;
}

static void refused_with(uint64_t at, uint32_t word) {
  ck_assert_msg(with(at, &word, sizeof(word)) == ENOEXEC, "%lx: %x",
                (unsigned long)at, word);
}

/* Where a tag's value is in the file. */
static uint64_t place_of(int64_t tag) {
  Elf64_Dyn d;
  ck_assert_int_eq(check_file(in_dir("libit.so")), 0);
  for (int i = 0; i < elf.nsegments; i++) {
    if (elf.segment[i].p_type == PT_DYNAMIC) {
      uint64_t at = elf.segment[i].p_offset;
      for (get(at, &d, sizeof(d)); d.d_tag != tag; get(at, &d, sizeof(d))) {
        ck_assert_int_ne(d.d_tag, DT_NULL);
        at += sizeof(d);
      }
      return at + offsetof(Elf64_Dyn, d_un);
    }
  }
  ck_abort_msg("no dynamic section");
}

static uint64_t value_of(int64_t tag) {
  uint64_t value;
  get(place_of(tag), &value, sizeof(value));
  return value;
}

/* The first segment begins at 0, as GNU ld has it. */
static void make(const char *style) {
  char options[64];
  snprintf(options, sizeof(options), "-Wl,--hash-style=%s", style);
  build("it", "int one = 1, two = 2, three = 3; int f(void) { return one; }",
        options);
}

/* --- sound --- */

static int look(struct dl_phdr_info *info, size_t size, void *seen) {
  (void)size;
  if (info->dlpi_name[0] == '/') {
    ck_assert_msg(check_file(info->dlpi_name) == 0, "%s", info->dlpi_name);
    (*(int *)seen)++;
  }
  return 0;
}

START_TEST(libraries_are_sound) {
  int seen = 0;
  const char *const style[] = {"gnu", "sysv", "both"};
  for (int i = 0; i < 3; i++) {
    make(style[i]);
    ck_assert_int_eq(check_file(in_dir("libit.so")), 0);
  }
  dl_iterate_phdr(look, &seen);
  ck_assert_int_ge(seen, 3);
}
END_TEST

/* As ld.so has it: there is nothing to be found in it. */
START_TEST(a_table_without_buckets_is_sound) {
  const uint32_t none = 0;
  make("gnu");
  ck_assert_int_eq(with(value_of(DT_GNU_HASH), &none, sizeof(none)), 0);
  make("sysv");
  ck_assert_int_eq(with(value_of(DT_HASH), &none, sizeof(none)), 0);
}
END_TEST

/* --- damaged --- */

enum { BUCKETS, FIRST, WORDS, SHIFT, HEADER }; /* of DT_GNU_HASH */

START_TEST(headers_and_buckets_are_checked) {
  make("gnu");
  const uint64_t at = value_of(DT_GNU_HASH);
  const uint32_t words = word_at(at + 4 * WORDS);
  const uint64_t bucket = at + 4 * HEADER + 8 * words;
  refused_with(at + 4 * BUCKETS, 1U << 31);
  refused_with(at + 4 * FIRST, 1U << 17); /* before the table */
  const uint32_t wrong[] = {0, 3, 1U << 31};
  for (int i = 0; i < 3; i++) {
    refused_with(at + 4 * WORDS, wrong[i]);
  }
  const uint32_t first = word_at(at + 4 * FIRST);
  /* Without any word, all else would be in its place. */
  const uint64_t zero = 0;
  put(at + 4 * HEADER, &zero, sizeof(zero));
  ck_assert_int_eq(check_file(in_dir("libit.so")), 0);
  refused_with(at + 4 * WORDS, 0);
  refused_with(bucket, first - 1);
  refused_with(bucket, 1U << 31);
}
END_TEST

/* The last chain has an end in the file, but the symbols of it have not. */
START_TEST(chains_have_symbols) {
  make("gnu");
  uint64_t size = sizeof(Elf64_Sym);
  ck_assert_int_eq(check_file(in_dir("libit.so")), 0);
  const uint64_t last =
      elf.segment[0].p_type == PT_LOAD ? elf.segment[0].p_filesz : 0;
  ck_assert_uint_gt(last, 2 * size);
  const uint64_t tables[] = {last - last % 8 - size, last, UINT64_C(1) << 40,
                             -size, value_of(DT_SYMTAB) + 1};
  for (int i = 0; i < 5; i++) {
    ck_assert_msg(with(place_of(DT_SYMTAB), &tables[i], 8) == ENOEXEC, "%d", i);
  }
}
END_TEST

START_TEST(names_are_in_the_file) {
  const char *const style[] = {"gnu", "sysv"};
  for (int i = 0; i < 2; i++) {
    make(style[i]);
    const uint64_t table = UINT64_C(1) << 40;
    ck_assert_int_eq(with(place_of(DT_STRTAB), &table, 8), ENOEXEC);
    Elf64_Sym symbol;
    uint64_t at = value_of(DT_SYMTAB);
    do {
      at += sizeof(symbol);
      get(at, &symbol, sizeof(symbol));
    } while (symbol.st_shndx == SHN_UNDEF);
    refused_with(at + offsetof(Elf64_Sym, st_name), 1U << 31);
  }
}
END_TEST

START_TEST(older_tables_are_checked) {
  make("sysv");
  const uint64_t at = value_of(DT_HASH);
  const uint32_t buckets = word_at(at), chains = word_at(at + 4);
  const uint64_t bucket = at + 8, chain = bucket + 4UL * buckets;
  refused_with(at, 1U << 31);
  refused_with(at + 4, 1U << 31);
  uint32_t i = 0;
  for (; i < buckets && word_at(bucket + 4 * i) == 0; i++) {
  }
  ck_assert_uint_lt(i, buckets);
  refused_with(bucket + 4 * i, chains);
  const uint32_t symbol = word_at(bucket + 4 * i);
  refused_with(chain + 4 * symbol, symbol); /* a circle */
  refused_with(chain + 4 * symbol, 1U << 31);
}
END_TEST

/* Tables that are nowhere, and a dynamic section without an end. */
START_TEST(tables_are_in_the_file) {
  const int64_t tags[] = {DT_GNU_HASH, DT_HASH};
  for (int i = 0; i < 2; i++) {
    make(i == 0 ? "gnu" : "sysv");
    const uint64_t wrong[] = {UINT64_C(1) << 40, value_of(tags[i]) + 1,
                              UINT64_MAX};
    for (int j = 0; j < 3; j++) {
      ck_assert_int_eq(with(place_of(tags[i]), &wrong[j], 8), ENOEXEC);
    }
  }
  make("gnu");
  ck_assert_int_eq(check_file(in_dir("libit.so")), 0);
  for (int i = 0; i < elf.nsegments; i++) {
    if (elf.segment[i].p_type == PT_DYNAMIC) {
      elf.segment[i].p_vaddr = UINT64_C(1) << 40;
    }
  }
  ck_assert_int_eq(image_lookup_check(&elf), ENOEXEC);
}
END_TEST

static uint64_t in_file(uint64_t vaddr) {
  for (int i = 0; i < elf.nsegments; i++) {
    const Elf64_Phdr *p = &elf.segment[i];
    if (p->p_type == PT_LOAD && vaddr - p->p_vaddr < p->p_filesz) {
      return p->p_offset + (vaddr - p->p_vaddr);
    }
  }
  ck_abort_msg("%lx is not in the file", (unsigned long)vaddr);
}

static uint64_t text_of_it(void) {
  for (int i = 0; i < elf.nsegments; i++) {
    const Elf64_Phdr *p = &elf.segment[i];
    if (p->p_type == PT_LOAD && p->p_flags & PF_X) {
      return p->p_vaddr;
    }
  }
  ck_abort_msg("no text");
}

/* With versions of its own, and of the C library's. */
START_TEST(versions_are_checked) {
  build("versions",
        "int atoi(const char *); int f(char *s) { return atoi(s); }", "");
  char command[2 * PATH_MAX];
  snprintf(command, sizeof(command),
           "cd %s && echo \"FIRST { global: f; local: *; };\" >versions.map && "
           "cc -fPIC -shared -o libit.so versions.c -Wl,-z,lazy "
           "-Wl,--version-script=versions.map",
           dir);
  ck_assert_int_eq(system(command), 0);
  const uint64_t place = in_file(value_of(DT_VERSYM)) + sizeof(Elf64_Half);
  const Elf64_Half wrong = 0x7ffe, hidden = 0x8001;
  ck_assert_int_eq(with(place, &wrong, sizeof(wrong)), ENOEXEC);
  ck_assert_int_eq(with(place, &hidden, sizeof(hidden)), 0);
  const uint64_t needed = in_file(value_of(DT_VERNEED));
  const uint32_t first = word_at(needed + offsetof(Elf64_Verneed, vn_aux));
  refused_with(needed + offsetof(Elf64_Verneed, vn_aux), 1U << 30);
  refused_with(needed + offsetof(Elf64_Verneed, vn_next), 1U << 30);
  refused_with(needed + offsetof(Elf64_Verneed, vn_file), 1U << 30);
  refused_with(needed + first + offsetof(Elf64_Vernaux, vna_next), 1U << 30);
  refused_with(needed + first + offsetof(Elf64_Vernaux, vna_name), 1U << 30);
  const uint64_t defined = in_file(value_of(DT_VERDEF));
  const uint32_t name = word_at(defined + offsetof(Elf64_Verdef, vd_aux));
  refused_with(defined + offsetof(Elf64_Verdef, vd_aux), 1U << 30);
  refused_with(defined + offsetof(Elf64_Verdef, vd_next), 1U << 30);
  refused_with(defined + name + offsetof(Elf64_Verdaux, vda_name), 1U << 30);
  const int64_t tags[] = {DT_VERSYM, DT_VERNEED, DT_VERDEF};
  for (int i = 0; i < 3; i++) {
    const uint64_t nowhere = UINT64_C(1) << 40;
    ck_assert_int_eq(with(place_of(tags[i]), &nowhere, 8), ENOEXEC);
  }
}
END_TEST

/* They may write where the library can be written only, and stand for symbols
   that are there. */
static void relocation_is_checked(uint64_t at) {
  refused_with(at + offsetof(Elf64_Rela, r_offset), 1U << 30);
  refused_with(at + offsetof(Elf64_Rela, r_offset), (uint32_t)text_of_it());
  refused_with(at + offsetof(Elf64_Rela, r_info) + 4, 1U << 30);
}

START_TEST(relocations_are_checked) {
  build("it", "int atoi(const char *); int f(char *s) { return atoi(s); }",
        "-Wl,-z,lazy");
  const int64_t tables[] = {DT_RELA, DT_JMPREL};
  const int64_t sizes[] = {DT_RELASZ, DT_PLTRELSZ};
  const uint64_t nowhere = UINT64_C(1) << 40;
  for (int i = 0; i < 2; i++) {
    const uint64_t odd = value_of(sizes[i]) - 8;
    relocation_is_checked(in_file(value_of(tables[i])));
    ck_assert_int_eq(with(place_of(tables[i]), &nowhere, 8), ENOEXEC);
    ck_assert_int_eq(with(place_of(sizes[i]), &odd, 8), ENOEXEC);
  }
}
END_TEST

/* Where the linker can do it. */
START_TEST(packed_relocations_are_checked) {
  make("gnu");
  char command[2 * PATH_MAX];
  snprintf(
      command, sizeof(command),
      "cd %s && cc -fPIC -shared -o libit.so it.c "
      "-Wl,-z,pack-relative-relocs && readelf -d libit.so | grep -q RELRSZ",
      dir);
  if (system(command) != 0) {
    puts("no packed relocations: not tried");
    return;
  }
  refused_with(in_file(value_of(DT_RELR)), 1U << 30);
  const uint64_t nowhere = UINT64_C(1) << 40;
  ck_assert_int_eq(with(place_of(DT_RELR), &nowhere, 8), ENOEXEC);
}
END_TEST

START_TEST(memory_may_be_short) {
  const char *const style[] = {"gnu", "sysv"};
  for (int i = 0; i < 2; i++) {
    make(style[i]);
    long allocations = 0;
    for (bool enough = false; !enough; allocations++) {
      ck_assert_int_eq(
          image_elf_open(&elf, in_dir("libit.so"), IMAGE_OPENED, &error), 0);
      const long live = atomic_load(&check_memory.live);
      memory_for(allocations);
      const int code = image_lookup_check(&elf);
      enough = !memory_was_out();
      memory_again();
      close(elf.fd);
      ck_assert_int_eq(code, enough ? 0 : ENOMEM);
      ck_assert_int_eq(atomic_load(&check_memory.live), live);
    }
    ck_assert_int_ge(allocations, 3);
  }
}
END_TEST

/* What is opened is looked at before ld.so has it. */
START_TEST(a_rank_gets_an_error) {
  make("gnu");
  const uint32_t wrong = 1U << 31;
  put(value_of(DT_GNU_HASH) + 4 * WORDS, &wrong, sizeof(wrong));
  ck_assert_ptr_null(open_it(0, "libit.so", RTLD_NOW));
  ck_assert_ptr_nonnull(strstr(why.text, "libit.so: file is damaged"));
}
END_TEST

int main(void) {
  const TTest *const tests[] = {libraries_are_sound,
                                a_table_without_buckets_is_sound,
                                headers_and_buckets_are_checked,
                                chains_have_symbols,
                                names_are_in_the_file,
                                older_tables_are_checked,
                                tables_are_in_the_file,
                                versions_are_checked,
                                relocations_are_checked,
                                packed_relocations_are_checked,
                                memory_may_be_short,
                                a_rank_gets_an_error,
                                NULL};
  return opened_check_main("image_lookup", tests);
}
