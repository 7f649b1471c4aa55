/* Turning what ld.so has mapped into a context's pages: all that is never
   written comes from the original file again, the rest is anonymous memory. */
#define _GNU_SOURCE
#include "context/image/copy_pages.h"

#include "base/failure.h"
#include "base/limit.h"
#include "context/image/copy_file.h"
#include "context/image/image_file.h"
#include "os/pages.h"
#include "os/refused.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

static int protection(const Elf64_Phdr *p) {
  return (p->p_flags & PF_R ? PROT_READ : 0) |
         (p->p_flags & PF_W ? PROT_WRITE : 0) |
         (p->p_flags & PF_X ? PROT_EXEC : 0);
}

/* Maps a read-only segment from the original file: one text in memory. */
static int share_segment(const struct image *img, const Elf64_Phdr *p) {
  const struct image_file *f = img->file;
  const uint64_t start = page_down(f, p->p_vaddr);
  const uint64_t end = page_up(f, p->p_vaddr + p->p_filesz);
  if (start == end || p->p_memsz != p->p_filesz) {
    return 0;
  }
  return mmap(img->base + start, end - start, protection(p),
              MAP_PRIVATE | MAP_FIXED, f->elf.fd,
              (off_t)page_down(f, p->p_offset)) == MAP_FAILED
             ? -1
             : 0;
}

static void *map_anonymous(void *at, size_t len, int flags) {
  return mmap(at, len, PROT_READ | PROT_WRITE,
              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | flags, -1, 0);
}

/* Replaces read-only pages that were relocated. ld.so reads them at any time,
   so the new ones come in one step. */
static int replace_relro(const struct image *img, uint64_t start,
                         uint64_t end) {
  if (start >= end) {
    return 0;
  }
  void *page = map_anonymous(NULL, end - start, 0);
  if (page == MAP_FAILED) {
    return -1;
  }
  memcpy(page, img->base + start, end - start);
  if (mprotect(page, end - start, PROT_READ) == 0 &&
      pages_move(page, img->base + start, end - start, false) == 0) {
    return 0;
  }
  munmap(page, end - start);
  return -1;
}

/* ld.so maps the whole file and then the segments over it: what is left of it
   between them, where segments are further apart than a page. */
static int drop_gap(const struct image *img, uint64_t start, uint64_t end) {
  return start < end &&
                 mmap(img->base + start, end - start, PROT_NONE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE,
                      -1, 0) == MAP_FAILED
             ? -1
             : 0;
}

static int leave_file(const struct image *img) {
  const struct image_file *f = img->file;
  uint64_t last = f->low;
  for (int i = 0; i < f->elf.nsegments; i++) {
    const Elf64_Phdr *p = &f->elf.segment[i];
    if (p->p_type != PT_LOAD) {
      continue;
    }
    const uint64_t start = page_down(f, p->p_vaddr);
    const uint64_t end = page_up(f, p->p_vaddr + p->p_memsz);
    const int rc =
        p->p_flags & PF_W
            ? replace_relro(img, start, end < f->data ? end : f->data)
            : share_segment(img, p);
    if (rc != 0 || drop_gap(img, last, start) != 0) {
      return -1;
    }
    last = end;
  }
  return 0;
}

/* One mapping for .data and .bss; pages of .bss stay untouched. */
static int replace_data(const struct image *img) {
  const struct image_file *f = img->file;
  const size_t len = f->data_file_end - f->data;
  char *saved = NULL;
  if (len > 0) {
    saved = map_anonymous(NULL, len, 0);
    if (saved == MAP_FAILED) {
      return -1;
    }
    memcpy(saved, img->data, len);
  }
  const void *data = map_anonymous(img->data, img->data_len, MAP_FIXED);
  if (data != MAP_FAILED && len > 0) {
    memcpy(img->data, saved, len);
  }
  if (len > 0) {
    munmap(saved, len);
  }
  return data == MAP_FAILED ? -1 : 0;
}

void copy_pages_locate(struct image *img) {
  const struct image_file *f = img->file;
  img->base = (char *)copy_file_map(img->handle)->l_addr;
  img->text = img->base + f->low;
  img->text_len = f->high - f->low;
  img->data = img->base + f->data;
  img->data_len = f->data_end - f->data;
}

static int cannot_map(const char *what, size_t bytes,
                      struct pems_error *error) {
  const int code = errno ? errno : EIO;
  char advice[LIMIT_TEXT];
  return failure(
      error, code, "cannot map a copy of %s: %s: %s", what, strerror(code),
      limit_advice(advice, LIMIT_MEMORY, code, bytes,
                   refused_advice(code, "allow mremap (seccomp)",
                                  "free memory or raise vm.max_map_count")));
}

int copy_pages_take_over(const struct image *img, bool keep_file,
                         struct pems_error *error) {
  if ((keep_file || leave_file(img) == 0) &&
      (img->data_len == 0 || replace_data(img) == 0)) {
    return 0;
  }
  return cannot_map("the program", img->data_len, error);
}

/* --- copies of what was opened at run time --------------------------------
 */

static const Elf64_Phdr *dynamic_of(const struct image_file *f) {
  for (int i = 0; i < f->elf.nsegments; i++) {
    if (f->elf.segment[i].p_type == PT_DYNAMIC) {
      return &f->elf.segment[i];
    }
  }
  return NULL;
}

/* ld.so reads it up to its end mark, whatever its header says. */
static uint64_t dynamic_end(const struct image_file *f) {
  return dynamic_of(f)->p_vaddr + (f->ndynamic + 1) * sizeof(Elf64_Dyn);
}

/* What ld.so has made of the dynamic section is the copy's own. */
static void keep_dynamic(const struct image *img, char *page, uint64_t start,
                         uint64_t end) {
  const Elf64_Phdr *p = dynamic_of(img->file);
  const uint64_t from = p->p_vaddr > start ? p->p_vaddr : start;
  const uint64_t past = dynamic_end(img->file);
  const uint64_t to = past < end ? past : end;
  if (from < to) {
    memcpy(page + (from - start), img->base + from, to - from);
  }
}

/* Moves prepared pages over [start, end) of the copy. */
static int put(const struct image *img, char *page, uint64_t start,
               uint64_t end, int rights) {
  return start >= end ||
                 (mprotect(page, end - start, rights) == 0 &&
                  pages_move(page, img->base + start, end - start, false) == 0)
             ? 0
             : -1;
}

static uint64_t clamp(uint64_t at, uint64_t start, uint64_t end) {
  return at < start ? start : at > end ? end : at;
}

/* Read-only after relocation: [a, b) of [start, end). */
static int put_all(const struct image *img, char *page, uint64_t start,
                   uint64_t end) {
  const struct image_file *f = img->file;
  const uint64_t a = clamp(f->relro, start, end);
  const uint64_t b = clamp(f->relro_end, a, end);
  return put(img, page, start, a, PROT_READ | PROT_WRITE) ||
                 put(img, page + (a - start), a, b, PROT_READ) ||
                 put(img, page + (b - start), b, end, PROT_READ | PROT_WRITE)
             ? -1
             : 0;
}

static int fill_segment(const struct image *img, const Elf64_Phdr *p,
                        copy_pages_fill *fill, const void *arg) {
  const struct image_file *f = img->file;
  const uint64_t start = page_down(f, p->p_vaddr);
  const uint64_t end = page_up(f, p->p_vaddr + p->p_memsz);
  if (start == end) {
    return 0;
  }
  char *page = map_anonymous(NULL, end - start, 0);
  if (page == MAP_FAILED) {
    return -1;
  }
  fill(arg, page, start, end);
  keep_dynamic(img, page, start, end);
  if (put_all(img, page, start, end) == 0) {
    return 0; /* its pages have moved away */
  }
  munmap(page, end - start);
  return -1;
}

static int build(const struct image *img, bool keep_file, copy_pages_fill *fill,
                 const void *arg) {
  const struct image_file *f = img->file;
  uint64_t last = f->low;
  for (int i = 0; i < f->elf.nsegments; i++) {
    const Elf64_Phdr *p = &f->elf.segment[i];
    if (p->p_type != PT_LOAD) {
      continue;
    }
    int rc = 0;
    if (p->p_flags & PF_W) {
      rc = fill_segment(img, p, fill, arg);
    } else if (!keep_file) {
      rc = share_segment(img, p);
    }
    if (rc != 0 || drop_gap(img, last, page_down(f, p->p_vaddr)) != 0) {
      return -1;
    }
    last = page_up(f, p->p_vaddr + p->p_memsz);
  }
  return 0;
}

int copy_pages_build(const struct image *img, bool keep_file,
                     copy_pages_fill *fill, const void *arg,
                     struct pems_error *error) {
  if (build(img, keep_file, fill, arg) == 0) {
    return 0;
  }
  return cannot_map("a library", img->data_len, error);
}

/* --- what of them may leave memory -----------------------------------------
 */

static bool is_writable(const Elf64_Phdr *p) {
  return p->p_type == PT_LOAD && p->p_flags & PF_W;
}

struct parts {
  const struct image *img;
  struct image_part *part;
  int n, most;
};

/* Stretches that touch are one. */
static void add_part(struct parts *all, uint64_t start, uint64_t end) {
  char *const data = all->img->base + start;
  struct image_part *last = all->n ? &all->part[all->n - 1] : NULL;
  if (start >= end) {
    return;
  }
  if (last && last->data + last->len == data) {
    last->len += end - start;
  } else if (all->n < all->most) {
    all->part[all->n++] = (struct image_part){.data = data, .len = end - start};
  }
}

int copy_pages_parts(const struct image *img, struct image_part *part,
                     int most) {
  const struct image_file *f = img->file;
  const Elf64_Phdr *dynamic = dynamic_of(f);
  const uint64_t kept = page_down(f, dynamic->p_vaddr);
  const uint64_t kept_end = page_up(f, dynamic_end(f));
  struct parts all = {.img = img, .part = part, .most = most};
  for (int i = 0; i < f->elf.nsegments; i++) {
    const Elf64_Phdr *p = &f->elf.segment[i];
    if (is_writable(p) && !copy_file_has_tables(f, p)) {
      const uint64_t start = page_down(f, p->p_vaddr);
      const uint64_t end = page_up(f, p->p_vaddr + p->p_memsz);
      add_part(&all, start, clamp(kept, start, end));
      add_part(&all, clamp(kept_end, start, end), end);
    }
  }
  return all.n;
}

size_t copy_pages_constant(const struct image *img, struct image_part part) {
  const struct image_file *f = img->file;
  const uint64_t start = (uint64_t)(part.data - img->base);
  const uint64_t end = clamp(f->relro_end, start, start + part.len);
  return f->relro <= start ? end - start : 0;
}

uint64_t copy_pages_beside(const struct image *img, uint64_t parts) {
  enum { RECORDS = 8 << 10 }; /* measured: doc/python.md */
  const struct image_file *f = img->file;
  uint64_t pages = 0;
  for (int i = 0; i < f->elf.nsegments; i++) {
    const Elf64_Phdr *p = &f->elf.segment[i];
    if (is_writable(p)) {
      pages += page_up(f, p->p_vaddr + p->p_memsz) - page_down(f, p->p_vaddr);
    }
  }
  return pages - parts + RECORDS;
}
