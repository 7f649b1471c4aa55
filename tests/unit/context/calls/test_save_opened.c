/* What a VP has opened is there again: where it was, with its handles, and in
   the state that it had. */
#define _GNU_SOURCE
#include "context/calls/save_opened.h"

#include "../image/opened_check.h"
#include "check_blocks.h"
#include "context/image/identity.h"
#include "context/image/opened_copy.h"

#include <errno.h>
#include <sys/mman.h>

static struct context c;
static struct parcel all;
static size_t usable; /* of any block of the context */

size_t __wrap_context_usable(struct context *of, const void *p) {
  ck_assert_ptr_eq(of, &c);
  ck_assert_ptr_nonnull(p);
  return usable;
}

bool __wrap_context_covers(const struct context *of, const void *p) {
  ck_assert_ptr_eq(of, &c);
  return p && usable;
}

/* --- a host --- */

static void *take(void *arg, size_t n) {
  (void)arg;
  return malloc(n);
}

static void give(void *arg, void *home) {
  (void)arg;
  free(home);
}

static int add(void *arg, struct image_part part, size_t constant) {
  const uintptr_t start = (uintptr_t)part.data;
  (void)arg;
  return protections_note(&c.protections, start, start + constant, PROT_READ);
}

static void drop(void *arg, struct image_part part) {
  const uintptr_t start = (uintptr_t)part.data;
  (void)arg;
  ck_assert_int_eq(protections_note(&c.protections, start, start + part.len, 3),
                   0);
}

/* img[1] is of a job with checkpoints. */
static void begin(void) {
  const struct opened_host host = {.place = (char *)((uintptr_t)3 << 45),
                                   .room = 1 << 26,
                                   .take = take,
                                   .give = give,
                                   .add = add,
                                   .drop = drop};
  build("base", "long start = 3; long *first(void) { return &start; }", "");
  build("plain",
        "extern long *first(void); static long made; long state = 1;"
        "int (*const table[1000])(void); static long *const at = &state;"
        "int f(void) { return 1; } int (*const table[1000])(void) = {f, f};"
        "__attribute__((constructor)) static void g(void) { made = ++*at; }"
        "long *from(void) { return first(); }"
        "long constructed(void) { return made; }",
        "-L. -lbase -Wl,-rpath,\\$ORIGIN");
  ck_assert_int_eq(opened_start(&img[1], 1, NULL, &host), 0);
  c.rank = 1;
  c.image = img[1];
  all = (struct parcel){0};
}

static struct opened *open_placed(const char *name) {
  struct opened *const o = open_it(1, name, RTLD_NOW);
  if (o && !o->placed) {
    printf("SKIP: system calls cannot be caught\n");
    return NULL;
  }
  ck_assert_msg(o != NULL, "%s", why.text);
  return o;
}

static long *variable(struct opened *o, const char *name) {
  return find(1, o, name);
}

static long *called(struct opened *o, const char *name) {
  long *(*f)(void) = (long *(*)(void))find(1, o, name);
  return f();
}

/* As another process has it: nothing but the heap. */
static void forget(void) {
  for (struct opened *o = img[1].opened->first; o; o = o->next) {
    o->home = NULL;
  }
  opened_copy_unload_from(&img[1], img[1].opened->first);
  img[1].opened->self.opens = 0;
}

static int load(void) {
  return save_opened_load(&c, &all, "the file", &error);
}

static void load_memory(void) {
  struct checkpoint_block b;
  while (checkpoint_next(&blocks_in, &b, NULL) == 0 &&
         b.kind == CHECKPOINT_MEMORY) {
    ck_assert_int_eq(checkpoint_get(&blocks_in, &b, (void *)b.at, NULL), 0);
  }
}

START_TEST(it_is_open_again) {
  begin();
  struct opened *o = open_placed("libplain.so");
  if (!o) {
    return;
  }
  void *const handle = opened_handle(&img[1], o);
  long *const state = variable(o, "state"), *const start = called(o, "from");
  *state = 77;
  *start = 88;
  img[1].opened->self.opens = 4;
  ck_assert_int_eq(save_opened_check(&c, &error), 0);
  ck_assert(save_opened_protects_all(&c));
  ck_assert(save_opened_has(&c, o->part[0]));
  ck_assert(!save_opened_has(&c, (struct image_part){.data = (char *)start}));
  save_opened(&c, &all);
  blocks_begin();
  ck_assert_int_eq(save_opened_memory(&c, &blocks_out, &error), 0);
  blocks_turn();
  forget();
  ck_assert_msg(load() == 0, "%s", error.text);
  o = opened_by_handle(&img[1], handle);
  ck_assert_ptr_nonnull(o);
  ck_assert_ptr_eq(variable(o, "state"), state);
  ck_assert_int_eq(*state, 0); /* until it is read */
  load_memory();
  save_opened_settle(&c);
  ck_assert_int_eq(*state, 77);
  ck_assert_ptr_eq(called(o, "from"), start);
  ck_assert_int_eq(*start, 88);
  long (*const constructed)(void) = (long (*)(void))find(1, o, "constructed");
  ck_assert_int_eq(constructed(), 2); /* in the other process */
  ck_assert_ptr_null(opened_next_new(&img[1]));
  ck_assert_int_eq(img[1].opened->self.opens, 4);
  ck_assert_int_eq(o->opens, 1);
  close_it(1, o);
  ck_assert_ptr_null(img[1].opened->first);
}
END_TEST

START_TEST(what_cannot_be_saved_is_named) {
  begin();
  struct opened *o = open_placed("libplain.so");
  if (!o) {
    return;
  }
  ck_assert_int_eq(
      protections_note(&c.protections, 1 << 20, 1 << 21, PROT_READ), 0);
  ck_assert(!save_opened_protects_all(&c));
  o->dead = true;
  ck_assert_int_eq(save_opened_check(&c, &error), ENOTSUP);
  ck_assert_ptr_nonnull(strstr(error.text, "libplain.so: it is being closed"));
  o->dead = o->placed = false;
  ck_assert_int_eq(save_opened_check(&c, &error), ENOTSUP);
  ck_assert_ptr_nonnull(strstr(error.text, "no place"));
  o->placed = true;
  ck_assert_int_eq(save_opened_check(&c, &error), 0);
  (void)open_placed("libinner.so");
  ck_assert_int_eq(save_opened_check(&c, &error), ENOTSUP);
  ck_assert_ptr_nonnull(strstr(error.text, "thread-local"));
  usable = 8;
  ck_assert_int_eq(save_opened_check(&c, &error), 0);
  build("fixed",
        "__thread int own __attribute__((tls_model(\"initial-exec\")));"
        "int get(void) { return own; }",
        "");
  (void)open_placed("libfixed.so");
  ck_assert_int_eq(save_opened_check(&c, &error), ENOTSUP);
  ck_assert_ptr_nonnull(strstr(error.text, "libfixed.so: its thread-local"));
}
END_TEST

START_TEST(what_all_share_is_in_the_way) {
  begin();
  if (opened_open(&img[1], NULL, "libc.so.6", RTLD_NOW, &why)) {
    ck_assert_int_eq(save_opened_check(&c, &error), 0); /* it was there */
  }
  if (opened_open(&img[1], NULL, "libresolv.so.2", RTLD_NOW, &why)) {
    ck_assert_int_eq(save_opened_check(&c, &error), ENOTSUP);
    ck_assert_ptr_nonnull(strstr(error.text, "all ranks share it"));
  }
}
END_TEST

/* The text in the bytes. */
static char *text_in(const char *text) {
  char *const p = memmem(all.bytes, all.n, text, strlen(text));
  ck_assert_ptr_nonnull(p);
  return p;
}

static void fails(int code, const char *what) {
  ck_assert_int_eq(load(), code);
  ck_assert_msg(strstr(error.text, what) != NULL, "%s", error.text);
  ck_assert_ptr_null(img[1].opened->first);
}

START_TEST(what_is_another_now_is_named) {
  char id[80];
  begin();
  const struct opened *const o = open_placed("libplain.so");
  if (!o) {
    return;
  }
  ck_assert_int_eq(identity_of_elf(&o->of->file->elf, id, sizeof(id)), 0);
  save_opened(&c, &all);
  forget();
  text_in(id)[3] ^= 1;
  fails(EINVAL, "libplain.so: its file is another now");
  text_in("/libplain.so")[4] = 'x';
  fails(ENOENT, "libxlain.so: cannot open");
  all.n /= 2;
  fails(EILSEQ, "the file: its libraries");
}
END_TEST

START_TEST(thread_local_data_must_be_where_they_were) {
  begin();
  usable = 8;
  if (!open_placed("libinner.so")) {
    return;
  }
  save_opened(&c, &all);
  forget();
  usable = 0;
  fails(EILSEQ, "libinner.so: its thread-local data lie elsewhere");
}
END_TEST

int main(void) {
  const TTest *const tests[] = {it_is_open_again,
                                what_cannot_be_saved_is_named,
                                what_all_share_is_in_the_way,
                                what_is_another_now_is_named,
                                thread_local_data_must_be_where_they_were,
                                NULL};
  return opened_check_main("save_opened", tests);
}
