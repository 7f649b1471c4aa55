/* What one VP's program opens by dlopen: copies of its own of libraries, and of
   all that these need, bound to each other. */
#ifndef PEMS_CONTEXT_IMAGE_OPENED_H
#define PEMS_CONTEXT_IMAGE_OPENED_H

#include "context/image/image.h"

#include <link.h>

struct opened;   /* a handle */
struct original; /* context/image/original.h */

/* Where the data of copies goes; all may be NULL: then it stays where it is, in
   memory. */
struct opened_host {
  void *arg;
  /* Room for n bytes, whole pages, which nobody touches, or NULL. */
  void *(*take)(void *arg, size_t n);
  void (*give)(void *arg, void *home);
  /* A part has come, of which `constant` bytes at its start are read-only: 0,
     or an errno value. Before it goes: */
  int (*add)(void *arg, struct image_part part, size_t constant);
  void (*drop)(void *arg, struct image_part part);
  /* A copy takes so many bytes beside the parts: 0, or an errno value. When it
     goes: */
  int (*count)(void *arg, uint64_t bytes);
  void (*uncount)(void *arg, uint64_t bytes);
};

/* Why a call failed, as dlerror tells it; empty if it did not. */
struct opened_error {
  char text[1024];
};

/* All of the following are called under one lock of the caller's, except where
   said, on a thread of the VP. */

/* Once per copy of the program, before the others; `dir` as for image_load,
   copied. 0 or ENOMEM. */
int opened_start(struct image *img, int rank, const char *dir,
                 const struct opened_host *host);

/* As dlopen(name, flags) called by code at `caller`. The handle, or NULL with
   `error` filled in (not if RTLD_NOLOAD finds nothing). Constructors have not
   run: opened_next_new tells whose must, in their order. */
struct opened *opened_open(struct image *img, const void *caller,
                           const char *name, int flags,
                           struct opened_error *error);
struct opened *opened_next_new(struct image *img);
/* Runs program code: without the lock. */
void opened_construct(struct opened *o, int argc, char **argv, char **envp);

/* As dlclose. 0, or -1 with `error` filled in. Destructors have not run:
   opened_next_dead tells whose must, in their order; opened_sweep then unloads
   what nobody needs. */
int opened_close(struct image *img, struct opened *o,
                 struct opened_error *error);
struct opened *opened_next_dead(struct image *img);
void opened_sweep(struct image *img);
/* Runs program code: without the lock. At most once for each. */
void opened_destruct(struct opened *o);
/* At the end of the copy: those of all, the latest first. Without the lock. */
void opened_destruct_all(const struct image *img);
/* Unloads all; nothing of them may be in use. */
void opened_end(struct image *img);

/* As dlsym, or dlvsym if version is not NULL. RTLD_DEFAULT, RTLD_NEXT or a
   handle. NULL may be a value, too: then error is empty. */
void *opened_symbol(struct image *img, const void *caller, void *handle,
                    const char *name, const char *version,
                    struct opened_error *error);

/* What dlinfo may be asked about instead, or NULL if it is no handle: the
   library that ld.so has loaded; and the map of the VP's own copy. */
void *opened_original_handle(struct image *img, void *handle);
struct link_map *opened_map(struct image *img, void *handle);

/* Is `code` of a library that all ranks share, or of the process? Then it is
   not the VP's program that calls. */
bool opened_is_foreign(const struct image *img, const void *code);

/* On a thread that the program starts: gives addresses in its initial
   thread_local data the values they have in this copy. */
void opened_begin_thread(const struct image *img);

/* As image_place, for what was opened; no lock needed, for signal handlers,
   too. */
bool opened_place(const struct image *img, const void *code,
                  const char **library, uintptr_t *address);
/* The address of the same code in the original, or 0. */
uintptr_t opened_site(const struct image *img, const void *code);

#endif
