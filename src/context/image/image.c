/* Copies of the program: dlopen of one file per VP that ld.so has not seen
   before, after which all that is never written is mapped from the original
   again and the rest becomes anonymous memory. */
#define _GNU_SOURCE
#include "base/failure.h"
#include "context/image/copy_file.h"
#include "context/image/copy_pages.h"
#include "context/image/image_place.h"
#include "context/image/library.h"
#include "context/image/opened.h"
#include "context/image/opened_place.h"
#include "context/image/opened_run.h"
#include "context/image/program_abi.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

extern void __cxa_finalize(void *dso_handle);

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

static int load_library(struct image *lib, const struct image_file *f, int rank,
                        const char *dir, struct pems_error *error) {
  *lib = (struct image){
      .file = f, .fini_left = f->fini.count, .has_fini = f->fini_function != 0};
  const int code = copy_file_load(lib, rank, dir, image_place_next(f), error);
  if (!code) {
    copy_pages_locate(lib);
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
  const int code =
      copy_file_load(img, rank, dir, image_place_next(img->file), error);
  if (code) {
    return code;
  }
  copy_pages_locate(img);
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
    return failure(error, errno ? errno : EIO,
                   "cannot bind a copy of the program: %s", strerror(errno));
  }
  int code = 0;
  for (int i = 0; i < img->libraries && !code; i++) {
    code = copy_pages_take_over(&img->library[i], keep_file, error);
  }
  code = code ? code : copy_pages_take_over(img, keep_file, error);
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
  opened_end(img);
  free(img->later);
  img->later = NULL;
  img->nlater = 0;
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
  const uintptr_t opened = opened_site(img, code);
  return opened ? opened : (uintptr_t)code;
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
  return opened_place(img, code, library, address);
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
  opened_destruct_all(img);
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
