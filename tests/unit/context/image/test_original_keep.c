/* Data as relocation has left them, and constructors that do not run. */
#define _GNU_SOURCE
#include "context/image/original_keep.h"

#include <errno.h>

#include "check_memory.h"
#include "context/image/stub.h"
#include "opened_check.h"

/* --- what is done between relocation and constructors --- */

static struct original *kept; /* the library that was loaded */
static int code;              /* what original_keep returned */
static long gained;           /* blocks of memory that it has left */
static void (*before)(void);  /* what is done first, or NULL */

static void keep(struct link_map *first) {
  kept = original_of(first);
  ck_assert_ptr_nonnull(kept);
  if (before) {
    before();
  }
  const long live = atomic_load(&check_memory.live);
  code = original_keep(kept, &error);
  gained = atomic_load(&check_memory.live) - live;
}

static int *load(const char *name, const char *variable) {
  error.text[0] = '\0';
  ck_assert_int_eq(stub_open(in_dir(name), NULL, RTLD_NOW, keep), 0);
  void *const handle = dlopen(in_dir(name), RTLD_NOW | RTLD_NOLOAD);
  ck_assert_ptr_nonnull(handle);
  int *const at = dlsym(handle, variable);
  ck_assert_ptr_nonnull(at);
  return at;
}

static int pristine(const int *at) {
  int value;
  const uint64_t place = (uintptr_t)at - kept->map->l_addr;
  ck_assert_uint_ge(place, kept->data);
  ck_assert_uint_le(place + sizeof(value), kept->data_end);
  memcpy(&value, kept->pristine + (place - kept->data), sizeof(value));
  return value;
}

START_TEST(data_are_kept_and_no_constructor_runs) {
  int *const value = load("libinner.so", "value");
  ck_assert_int_eq(code, 0);
  ck_assert_ptr_eq(kept->file, kept->own_file);
  ck_assert_int_eq(*value, 5);
  *value = 9;
  ck_assert_int_eq(pristine(value), 5);
}
END_TEST

/* Addresses in its data are those that ld.so has put there. */
START_TEST(data_are_relocated) {
  int **const at = (int **)(void *)load("libinner.so", "at");
  int *copy;
  memcpy(&copy,
         kept->pristine + ((uintptr_t)at - kept->map->l_addr - kept->data),
         sizeof(copy));
  ck_assert_ptr_eq(copy, *at);
  ck_assert_int_eq(*copy, 1);
}
END_TEST

/* --- what the process uses --- */

static const char *const tables =
    "extern int value; extern __thread int *thread; int unknown(void)"
    "__attribute__((weak)); int own = 3; static int hidden = 4;"
    "int *const fixed = &value; int *table[] = {&value, &own + 1, &hidden};"
    "int (*none)(void) = unknown; int **deep[2] = {table, table + 2};"
    "static int f(void) { return 1; } int (*volatile call)(void) = f;"
    "__thread int mine = 8; int *thread_at(void) { return thread + mine; }"
    "static void *choose(void) { return f; } int chosen(void)"
    "__attribute__((ifunc(\"choose\"))); int (*by_choice)(void) = chosen;";

static void change(void *handle) {
  int **const table = dlsym(handle, "table");
  table[0] = table[2] = NULL;
  *(int *)dlsym(handle, "own") = 99;
  *(void **)dlsym(handle, "deep") = NULL;
  *(void **)dlsym(handle, "call") = NULL;
}

/* Read from the file and relocated anew they are what ld.so has made of them,
   whatever became of them since. */
static void expect_same(const char *name, void (*use)(void *handle)) {
  ck_assert_int_eq(stub_open(name, NULL, RTLD_NOW, keep), 0);
  ck_assert_int_eq(code, 0);
  void *const handle = dlopen(name, RTLD_NOW | RTLD_NOLOAD);
  ck_assert_ptr_nonnull(handle);
  if (use) {
    use(handle);
  }
  struct original again = {.map = kept->map};
  ck_assert_int_eq(original_keep_used(&again, &error), 0);
  ck_assert_uint_eq(again.data, kept->data);
  ck_assert_uint_eq(again.data_end, kept->data_end);
  /* The first has hidden its constructors since. */
  const uint64_t dynamic = (uintptr_t)kept->map->l_ld - kept->map->l_addr;
  const uint64_t past = dynamic + kept->file->ndynamic * sizeof(Elf64_Dyn);
  for (uint64_t at = kept->data; at < kept->data_end; at++) {
    ck_assert_msg(again.pristine[at - again.data] ==
                          kept->pristine[at - kept->data] ||
                      (at >= dynamic && at < past),
                  "%s: %lx", name, (unsigned long)at);
  }
  image_close(again.own_file);
  free(again.pristine);
}

START_TEST(they_are_relocated_anew) {
  build("tables", tables, "-L. -linner -Wl,-rpath,\\$ORIGIN -Wl,-z,lazy");
  expect_same(in_dir("libtables.so"), change);
}
END_TEST

START_TEST(they_are_relocated_anew_with_small_tables) {
  build("relr", tables,
        "-L. -linner -Wl,-rpath,\\$ORIGIN -Wl,-z,pack-relative-relocs");
  expect_same(in_dir("librelr.so"), change);
}
END_TEST

/* --- what cannot be kept --- */

static void expect_refused(const int *value) {
  ck_assert_ptr_null(kept->file);
  ck_assert_int_eq(*value, 6); /* its constructor has run */
}

static void replace(void) {
  char from[PATH_MAX];
  snprintf(from, sizeof(from), "%s", in_dir("libother.so"));
  ck_assert_int_eq(rename(from, in_dir("libinner.so")), 0);
}

START_TEST(a_file_that_was_replaced_is_refused) {
  build("other", "int value = 7, more[100000] = {1};", "");
  before = replace;
  const int *const value = load("libinner.so", "value");
  ck_assert_int_eq(code, EINVAL);
  ck_assert_str_eq(error.text, "its file was replaced");
  expect_refused(value);
}
END_TEST

/* Reads the header of the dynamic section, and changes it. */
static void change_dynamic(const char *path, void (*change)(Elf64_Phdr *p)) {
  FILE *const f = fopen(path, "r+b");
  Elf64_Ehdr h;
  Elf64_Phdr p;
  ck_assert_ptr_nonnull(f);
  ck_assert_uint_eq(fread(&h, sizeof(h), 1, f), 1);
  long at = (long)h.e_phoff;
  do {
    ck_assert_int_eq(fseek(f, at, SEEK_SET), 0);
    ck_assert_uint_eq(fread(&p, sizeof(p), 1, f), 1);
    at += (long)sizeof(p);
  } while (p.p_type != PT_DYNAMIC);
  change(&p);
  ck_assert_int_eq(fseek(f, at - (long)sizeof(p), SEEK_SET), 0);
  ck_assert_uint_eq(fwrite(&p, sizeof(p), 1, f), 1);
  ck_assert_int_eq(fclose(f), 0);
}

/* It is not where ld.so finds it in memory. */
static void bend(Elf64_Phdr *p) {
  p->p_offset += sizeof(Elf64_Dyn);
}

static void stretch(Elf64_Phdr *p) {
  p->p_filesz = p->p_memsz = UINT64_C(1) << 62;
}

/* ld.so does not look at that: it reads up to the end mark. */
static void claim_memory(Elf64_Phdr *p) {
  p->p_memsz = UINT64_C(1) << 62;
}

START_TEST(a_file_that_says_two_things_is_refused) {
  change_dynamic(in_dir("libinner.so"), bend);
  const int *const value = load("libinner.so", "value");
  ck_assert_int_eq(code, ENOEXEC);
  ck_assert_ptr_nonnull(strstr(error.text, "it is damaged"));
  expect_refused(value);
}
END_TEST

START_TEST(memory_that_the_dynamic_section_claims_does_not_matter) {
  change_dynamic(in_dir("libinner.so"), claim_memory);
  load("libinner.so", "value");
  ck_assert_int_eq(code, 0);
  ck_assert_ptr_nonnull(kept->file);
}
END_TEST

START_TEST(a_dynamic_section_without_an_end_is_refused) {
  change_dynamic(in_dir("libinner.so"), stretch);
  const int *const value = load("libinner.so", "value");
  ck_assert_int_eq(code, ENOEXEC);
  ck_assert_ptr_nonnull(strstr(error.text, "file is damaged"));
  expect_refused(value);
}
END_TEST

/* Another tag is none, and the size behind it nothing. */
static void rename_tag(const char *path, int64_t from, int64_t to) {
  struct image_file *f;
  ck_assert_int_eq(image_open_library(&f, path, &error), 0);
  size_t i = 0;
  for (; i < f->ndynamic && f->dynamic[i].d_tag != from; i++) {
  }
  ck_assert_uint_lt(i, f->ndynamic);
  FILE *const to_file = fopen(path, "r+b");
  ck_assert_ptr_nonnull(to_file);
  const long at = (long)(f->dynamic_offset + i * sizeof(Elf64_Dyn));
  ck_assert_int_eq(fseek(to_file, at, SEEK_SET), 0);
  ck_assert_uint_eq(fwrite(&to, sizeof(to), 1, to_file), 1);
  ck_assert_int_eq(fclose(to_file), 0);
  image_close(f);
}

static void change_meanwhile(void) {
  rename_tag(in_dir("libinner.so"), DT_RELACOUNT, DT_RELCOUNT);
}

/* ld.so has read it as it was. */
START_TEST(a_file_that_has_changed_since_is_refused) {
  before = change_meanwhile;
  const int *const value = load("libinner.so", "value");
  ck_assert_int_eq(code, EINVAL);
  ck_assert_str_eq(error.text, "its file is damaged");
  expect_refused(value);
}
END_TEST

START_TEST(a_size_without_an_array_is_nothing) {
  enum { UNKNOWN = 0x219 };
  rename_tag(in_dir("libinner.so"), DT_INIT_ARRAY, UNKNOWN);
  rename_tag(in_dir("libinner.so"), DT_FINI_ARRAY, UNKNOWN);
  const int *const value = load("libinner.so", "value");
  ck_assert_int_eq(code, 0);
  ck_assert_int_eq(*value, 5);
  ck_assert_uint_eq(kept->file->init.count, 0);
  ck_assert_uint_eq(kept->file->fini.count, 0);
}
END_TEST

/* Where a table would end behind what is loaded. */
START_TEST(symbols_and_their_names_lie_in_the_file) {
  (void)load("libinner.so", "value");
  struct image_file *const f = kept->own_file;
  const char *const base = (const char *)kept->map->l_addr;
  uint64_t *const table[] = {&f->symbols, &f->names};
  ck_assert(image_file_has_symbols(f, base));
  for (int i = 0; i < 2; i++) {
    const uint64_t was = *table[i];
    for (int j = 0; j < 3; j++) {
      *table[i] = j == 0 ? f->high : j == 1 ? 1UL << 40 : -was;
      ck_assert_msg(!image_file_has_symbols(f, base), "%d, %d", i, j);
    }
    *table[i] = was;
  }
  f->symbols++;
  ck_assert(!image_file_has_symbols(f, base));
  f->symbols--;
  Elf64_Rela *const r = f->relocations[0].at;
  size_t i = 0;
  for (; i < f->relocations[0].n && !ELF64_R_SYM(r[i].r_info); i++) {
  }
  ck_assert_uint_lt(i, f->relocations[0].n);
  r[i].r_info += ELF64_R_INFO(1UL << 24, 0);
  ck_assert(!image_file_has_symbols(f, base));
}
END_TEST

static void take_away(void) {
  ck_assert_int_eq(unlink(in_dir("libinner.so")), 0);
}

START_TEST(a_file_that_is_gone_is_refused) {
  before = take_away;
  ck_assert_int_eq(stub_open(in_dir("libinner.so"), NULL, RTLD_NOW, keep), 0);
  ck_assert_int_ne(code, 0);
  ck_assert_ptr_nonnull(strstr(error.text, "libinner.so"));
  ck_assert_ptr_null(kept->file);
}
END_TEST

static long allocations;

static void run_short(void) {
  memory_for(allocations);
}

START_TEST(what_is_used_is_kept_or_refused) {
  (void)load("libinner.so", "value");
  bool enough = false;
  for (; !enough; allocations++) {
    struct original again = {.map = kept->map};
    memory_for(allocations);
    const int rc = original_keep_used(&again, &error);
    enough = !memory_was_out();
    memory_again();
    ck_assert_int_eq(rc, enough ? 0 : ENOMEM);
    ck_assert(enough == (again.file != NULL));
    image_close(again.own_file);
    free(again.pristine);
  }
  ck_assert_int_ge(allocations, 2);
}
END_TEST

START_TEST(they_are_kept_or_refused) {
  bool enough = false;
  before = run_short;
  for (; !enough; allocations++) {
    char name[64], command[3 * PATH_MAX];
    snprintf(name, sizeof(name), "libinner%ld.so", allocations);
    snprintf(command, sizeof(command), "cd %s && cp libinner.so %s", dir, name);
    ck_assert_int_eq(system(command), 0);
    const int *const value = load(name, "value");
    enough = !memory_was_out();
    memory_again();
    ck_assert_int_eq(code, enough ? 0 : ENOMEM);
    ck_assert_int_eq(gained, enough);
    if (!enough) {
      ck_assert_ptr_nonnull(strstr(error.text, "memory"));
      expect_refused(value);
    }
  }
  ck_assert_int_ge(allocations, 2);
}
END_TEST

int main(void) {
  const TTest *const tests[] = {
      data_are_kept_and_no_constructor_runs,
      data_are_relocated,
      they_are_relocated_anew,
      they_are_relocated_anew_with_small_tables,
      a_file_that_was_replaced_is_refused,
      a_file_that_says_two_things_is_refused,
      a_file_that_has_changed_since_is_refused,
      memory_that_the_dynamic_section_claims_does_not_matter,
      a_dynamic_section_without_an_end_is_refused,
      symbols_and_their_names_lie_in_the_file,
      a_size_without_an_array_is_nothing,
      a_file_that_is_gone_is_refused,
      what_is_used_is_kept_or_refused,
      they_are_kept_or_refused,
      NULL};
  return opened_check_main("original_keep", tests);
}
