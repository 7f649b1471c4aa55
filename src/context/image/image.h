/* The program's image: one private copy of its writable data per VP. */
#ifndef PEMS_CONTEXT_IMAGE_IMAGE_H
#define PEMS_CONTEXT_IMAGE_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <pems/status.h>

struct image_file; /* facts about the program's file, read once */
struct opened_set; /* context/image/opened.h */

/* The parts of a copy's data, each at its own address: the program's is part 0,
   those of its libraries follow, then the upper end of its VP's stack, and
   those of what was opened at run time, which lie on disk where a block of the
   heap would, their `home`. So do those of the stack that came as it grew. A
   part may be empty. */
struct image_part {
  char *data;
  size_t len;
  char *home; /* NULL: it has a place of its own, before the heap */
};

/* One VP's copy of the program. */
struct image {
  void *handle;    /* of dlopen */
  char *base;      /* load address */
  char *data;      /* page-aligned start of the private writable data that
                      belongs to the context (.data past RELRO, .bss) */
  size_t data_len; /* bytes, whole pages */
  char *text;      /* mapped range of the whole copy, to tell callers */
  size_t text_len;
  const struct image_file *file;

  struct image *library; /* its copies of libraries, or NULL; owned */
  int libraries;
  /* Of a library: destructors that are still to run. */
  size_t fini_left;
  bool has_fini;

  struct image_part stack; /* empty where stacks stay in memory */
  char *stack_low; /* the lowest address of all of the stack; NULL: all there is
                      of it is `stack` */
  struct opened_set *opened; /* at run time, or NULL; owned */
  /* Parts that have come since. Others may read while one is added: then they
     see fewer. */
  struct image_part *_Atomic later;
  _Atomic int nlater;
};

static inline int image_parts(const struct image *img) {
  return 2 + img->libraries + img->nlater;
}
static inline struct image_part image_part(const struct image *img, int i) {
  if (i == 1 + img->libraries) {
    return img->stack;
  }
  if (i > img->libraries) {
    return img->later[i - 2 - img->libraries];
  }
  const struct image *of = i ? &img->library[i - 1] : img;
  return (struct image_part){of->data, of->data_len, NULL};
}
static inline bool image_part_is_stack(const struct image *img, int i) {
  const char *const data = image_part(img, i).data;
  return i == 1 + img->libraries ||
         (img->stack_low && data >= img->stack_low && data < img->stack.data);
}
/* Of those with a place of their own. */
static inline size_t image_parts_len(const struct image *img) {
  size_t n = 0;
  for (int i = 0; i <= img->libraries + 1; i++) {
    n += image_part(img, i).len;
  }
  return n;
}
/* A number for an address in its code that is the same in all copies; other
   addresses as they are. */
uintptr_t image_site(const struct image *img, const void *code);
/* Is this code of the copy, or of its libraries, of those opened, too? Then
   *address is what it has in their file, and *library that file, or NULL for
   the program's. For signal handlers, too. */
bool image_place(const struct image *img, const void *code,
                 const char **library, uintptr_t *address);

/* Reads and checks the ELF file at `path`. Returns 0, or an errno value with
   *error filled in, ENOEXEC for what is wrong in the file ("not built with
   pemscc: ..."). */
int image_open(struct image_file **f, const char *path,
               struct pems_error *error);
/* 0 if the ELF file at `path` carries pemscc's note, else as image_open; needs
   nothing of the runtime (pemsrun uses it). */
int image_check(const char *path, struct pems_error *error);
/* Finds the shared libraries that the program in f (this process's) is linked
   with and that may have state of their own: each copy of the program gets a
   copy of them. Those of the system and of MPI are shared, and those whose
   names begin with one in `shared` ("libfoo,libbar", NULL for none; "all"). 0,
   or an errno value with *error filled in. */
int image_find_libraries(struct image_file *f, const char *shared,
                         struct pems_error *error);
void image_close(struct image_file *f);
/* Of the program and its libraries. */
size_t image_data_len(const struct image_file *f);

/* Loads one more copy by dlopen, without running its constructors, shares its
   read-only pages with the original file and turns [data, data + data_len)
   into plain anonymous private memory (one mapping) with the same contents.
   `dir` NULL: the copy comes from a memfd, and no descriptor stays open. Else
   it comes from a file there, which whoever image_on_copy tells removes, and
   keeps it mapped. It also keeps the memfd if a debugger follows this process.
   `f` must outlive the copy. Returns 0, or an errno value with *error filled
   in. Not thread-safe. */
int image_load(struct image *img, const struct image_file *f, int rank,
               const char *dir, struct pems_error *error);
/* Calls `note` with the path of each such file before it is written, so that it
   is removed at the end of the job, even if that is killed. NULL at first: it
   is removed when it is loaded. */
void image_on_copy(void (*note)(const char *path));
/* Does a tool run this process that has to find what it loads by a name:
   valgrind? */
bool image_wants_name(void);
/* Unmaps the copy; nothing of it may be in use, and image_destruct must have
   run if image_construct has, for libc still knows its handlers. Runs no
   program code. */
void image_unload(struct image *img);

/* These run program code: call them on the VP's own thread, with the data in
   place. image_construct first points the copy's `environ` at envp, which the
   program may read until the process ends and never writes to. */
void image_construct(const struct image *img, int argc, char **argv,
                     char **envp);
int image_main(const struct image *img, int argc, char **argv, char **envp);
/* atexit handlers, static destructors and fini functions of this copy, and a
   flush of its private stdio. Each runs at most once however often this is
   called: a handler may leave by exit or longjmp, and the next call goes on
   with those that are left. */
void image_destruct(const struct image *img);

#endif
