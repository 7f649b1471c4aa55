#define _GNU_SOURCE
#include "context/calls/save_opened.h"

#include "base/failure.h"
#include "context/calls/allocate.h"
#include "context/image/copy_pages.h"
#include "context/image/identity.h"
#include "context/image/library.h"
#include "context/image/opened_copy.h"
#include "context/image/opened_error.h"
#include "context/image/opened_set.h"
#include "context/image/opened_tls.h"
#include "context/image/original.h"
#include "os/native.h"
#include "os/pages.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>

enum { ID_SIZE = sizeof(((struct identity_file *)0)->id) };

/* What all ranks share stays in the set when it has been closed. */
static struct opened *counted(struct opened *o) {
  while (o && !o->built && o->opens == 0) {
    o = o->next;
  }
  return o;
}

static struct opened *first(const struct context *c) {
  return counted(c->image.opened ? c->image.opened->first : NULL);
}

static struct opened *next(const struct opened *o) {
  return counted(o->next);
}

/* --- what stands in the way --- */

/* Where ld.so has put it depends on what this process has done before. */
static bool is_late(const struct original *of) {
  return of->kind == ORIGINAL_SHARED && !of->in_scope;
}

static void note_late(void *arg, const char *name) {
  bool *const late = arg;
  const struct original *const of = original_named(name);
  *late = *late || (of && is_late(of));
}

static bool needs_late(const struct original *of) {
  bool late = is_late(of);
  library_each_needed(of->map, note_late, &late);
  return late;
}

static bool has_thread_data_elsewhere(struct context *c,
                                      const struct opened *o) {
  const char *const block = opened_tls_block(&c->image, o);
  return !opened_tls_loose(o) || (block && context_usable(c, block) == 0);
}

static const char *obstacle(struct context *c, const struct opened *o) {
  return needs_late(o->of) ? "all ranks share it, or what it needs"
         : !o->built       ? NULL
         : o->dead         ? "it is being closed"
         : !o->placed      ? "there was no place for it that is the rank's own"
         : has_thread_data_elsewhere(c, o) ? "its thread-local data are not in "
                                             "the rank's memory"
                                           : NULL;
}

int save_opened_check(struct context *c, struct pems_error *error) {
  if (c->image.opened && c->image.opened->space) {
    return failure(error, ENOTSUP, "it has opened libraries by dlmopen");
  }
  for (const struct opened *o = first(c); o; o = next(o)) {
    const char *const why = obstacle(c, o);
    if (why) {
      return failure(error, ENOTSUP, "it has opened a library: %s: %s",
                     o->of->map->l_name, why);
    }
  }
  return 0;
}

/* --- saving --- */

/* What of the part is never written. */
static size_t constant(const struct opened *o, int part) {
  return copy_pages_constant(&o->img, o->part[part]);
}

bool save_opened_has(const struct context *c, struct image_part part) {
  for (const struct opened *o = first(c); o; o = next(o)) {
    for (int i = 0; i < o->parts; i++) {
      if (o->part[i].data == part.data) {
        return true;
      }
    }
  }
  return false;
}

static bool is_constant(const struct context *c, struct range r) {
  for (const struct opened *o = first(c); o; o = next(o)) {
    for (int i = 0; i < o->parts; i++) {
      const uintptr_t start = (uintptr_t)o->part[i].data;
      if (r.start >= start && r.end <= start + constant(o, i)) {
        return true;
      }
    }
  }
  return false;
}

bool save_opened_protects_all(const struct context *c) {
  bool all = true;
  for (size_t i = 0; i < c->protections.n; i++) {
    all = all && is_constant(c, c->protections.item[i]);
  }
  return all;
}

/* Empty: all ranks share it. */
static const char *id_of(const struct original *of, char id[ID_SIZE]) {
  if (!of->file || identity_of_elf(&of->file->elf, id, ID_SIZE) != 0) {
    id[0] = '\0';
  }
  return id;
}

static int index_of(const struct context *c, const struct original *of) {
  int n = 0;
  for (const struct opened *o = first(c); o; o = next(o), n++) {
    if (o->of == of) {
      return n;
    }
  }
  return -1;
}

static void put_one(const struct context *c, const struct opened *o,
                    struct parcel *to) {
  char id[ID_SIZE];
  parcel_put_text(to, o->of->map->l_name);
  parcel_put_text(to, id_of(o->of, id));
  parcel_put_number(to, o->of->kind);
  parcel_put_number(to, index_of(c, o->root));
  parcel_put_number(to, o->opens);
  parcel_put_number(to, o->global);
  parcel_put_number(to, o->stays);
  parcel_put_number(to, o->is_new);
  parcel_put_number(to, o->constructed);
  parcel_put_number(to, (int64_t)o->img.fini_left);
  parcel_put_number(to, o->img.has_fini);
  parcel_put_address(to, o->built ? o->img.text : NULL);
  parcel_put_address(to, o->home);
  parcel_put_address(to, opened_tls_block(&c->image, o));
}

void save_opened(const struct context *c, struct parcel *to) {
  const struct opened_set *const set = c->image.opened;
  int n = 0;
  for (const struct opened *o = first(c); o; o = next(o)) {
    n++;
  }
  parcel_put_number(to, n);
  parcel_put_number(to, set ? set->self.opens : 0);
  for (const struct opened *o = first(c); o; o = next(o)) {
    put_one(c, o, to);
  }
}

int save_opened_memory(const struct context *c, struct checkpoint_out *o,
                       struct pems_error *error) {
  int code = 0;
  for (const struct opened *of = first(c); of; of = next(of)) {
    for (int i = 0; i < of->parts && !code; i++) {
      const size_t before = constant(of, i);
      code = checkpoint_put_memory(o, of->part[i].data + before,
                                   of->part[i].len - before, error);
    }
  }
  return code;
}

/* --- loading --- */

struct saved {
  const char *path, *id;
  enum original_kind kind;
  int64_t root, opens;
  bool global, stays, is_new, constructed, has_fini;
  size_t fini_left;
  char *text, *home, *block;
  struct original *of;
  struct opened *opened;
};

struct all_saved {
  int n, self_opens;
  struct saved *item;
};

static struct saved get_one(struct parcel *from) {
  struct saved s = {.path = parcel_text(from), .id = parcel_text(from)};
  s.kind = (enum original_kind)parcel_number(from);
  s.root = parcel_number(from);
  s.opens = parcel_number(from);
  s.global = parcel_number(from) != 0;
  s.stays = parcel_number(from) != 0;
  s.is_new = parcel_number(from) != 0;
  s.constructed = parcel_number(from) != 0;
  s.fini_left = (size_t)parcel_number(from);
  s.has_fini = parcel_number(from) != 0;
  s.text = parcel_address(from);
  s.home = parcel_address(from);
  s.block = parcel_address(from);
  return s;
}

/* The caller frees all->item with native_free. */
static int get_all(struct parcel *from, struct all_saved *all) {
  enum { MOST = 1 << 16 };
  *all = (struct all_saved){0};
  from->at = 0;
  const int64_t n = parcel_number(from);
  all->self_opens = (int)parcel_number(from);
  if (n < 0 || n > MOST) {
    return EILSEQ;
  }
  all->item = native_zalloc((size_t)n + 1, sizeof(*all->item));
  if (!all->item) {
    return ENOMEM;
  }
  for (; all->n < n && !from->failed; all->n++) {
    all->item[all->n] = get_one(from);
  }
  return from->failed ? EILSEQ : 0;
}

static struct original *original_by_path(const char *path) {
  for (int i = 0; i < original_count(); i++) {
    struct original *const of = original_number(i);
    if (strcmp(of->map->l_name, path) == 0) {
      return of;
    }
  }
  return NULL;
}

/* Whoever was opened with what it needs: that is loaded with it, since alone it
   may lack symbols. */
static int open_roots(struct all_saved *all, struct pems_error *error) {
  for (int i = 0; i < all->n; i++) {
    const struct saved *const s = &all->item[i];
    struct opened_error why = {.text = ""};
    const int flags = RTLD_LAZY | (s->global ? RTLD_GLOBAL : 0);
    if ((s->root == i || s->root < 0) &&
        !original_open(s->path, NULL, flags, why.text, sizeof(why.text))) {
      return failure(error, ENOENT, "restart: a library that was open: %s",
                     why.text);
    }
  }
  return 0;
}

static int find_one(struct saved *s, struct pems_error *error) {
  char id[ID_SIZE];
  s->of = original_by_path(s->path);
  if (!s->of) {
    return failure(error, ENOENT,
                   "restart: a library that was open: %s: it is not needed "
                   "any more",
                   s->path);
  }
  if (s->of->kind != s->kind) {
    return failure(
        error, EINVAL,
        "restart: a library that was open: %s: it is shared, or was: "
        "give the same --pems-shared",
        s->path);
  }
  return strcmp(id_of(s->of, id), s->id) == 0
             ? 0
             : failure(error, EINVAL,
                       "restart: a library that was open: %s: its file is "
                       "another now",
                       s->path);
}

static int append_one(struct context *c, struct saved *s) {
  struct opened *const o = native_zalloc(1, sizeof(*o));
  if (!o) {
    return ENOMEM;
  }
  o->of = o->root = s->of;
  o->is_new = s->kind == ORIGINAL_OPENED;
  o->wanted = s->text;
  o->had = s->home;
  opened_set_append(c->image.opened, o);
  s->opened = o;
  return 0;
}

static void set_up_one(const struct all_saved *all, const struct saved *s) {
  struct opened *const o = s->opened;
  o->root = s->root >= 0 && s->root < all->n ? all->item[s->root].of : o->of;
  o->opens = (int)s->opens;
  o->global = s->global;
  o->stays = s->stays;
  o->is_new = s->is_new;
  o->constructed = s->constructed;
  o->img.fini_left =
      s->fini_left < o->img.fini_left ? s->fini_left : o->img.fini_left;
  o->img.has_fini = s->has_fini && o->img.has_fini;
}

/* All that is not read-only comes from the checkpoint, without what is zero. */
static void empty(const struct opened *o) {
  for (int i = 0; i < o->parts; i++) {
    const size_t before = constant(o, i);
    pages_clear(o->part[i].data + before, o->part[i].len - before);
  }
}

static int begin_one(struct context *c, const struct saved *s,
                     struct pems_error *error) {
  const struct opened *const o = s->opened;
  const size_t n = opened_tls_size(o);
  if (n == 0) {
    return 0;
  }
  if (!s->block || !context_covers(c, s->block) ||
      !context_covers(c, s->block + n - 1) ||
      !opened_begin_at(&c->image, o, s->block)) {
    return failure(error, EILSEQ,
                   "restart: a library that was open: %s: its thread-local "
                   "data lie elsewhere here",
                   s->path);
  }
  memset(s->block, 0, n);
  return 0;
}

static int make_all(struct context *c, struct all_saved *all,
                    struct pems_error *error) {
  int code = 0;
  for (int i = 0; i < all->n && !code; i++) {
    code = append_one(c, &all->item[i]);
  }
  if (code) {
    return failure(error, code, "restart: rank %d: out of memory", c->rank);
  }
  code = opened_copy_make(&c->image, c->image.opened->first, error);
  for (int i = 0; i < all->n && !code; i++) {
    set_up_one(all, &all->item[i]);
    empty(all->item[i].opened);
    code = begin_one(c, &all->item[i], error);
  }
  return code;
}

/* Blocks of the heap stay: what tells of them has not been read. */
static void unload(struct context *c) {
  struct opened *const all = c->image.opened->first;
  for (struct opened *o = all; o; o = o->next) {
    o->home = NULL;
  }
  opened_copy_unload_from(&c->image, all);
}

int save_opened_load(struct context *c, struct parcel *from, const char *name,
                     struct pems_error *error) {
  struct all_saved all;
  int code = get_all(from, &all);
  if (code) {
    failure(error, code, "checkpoint: %s: its libraries: %s", name,
            strerror(code));
  }
  code = code ? code : open_roots(&all, error);
  for (int i = 0; i < all.n && !code; i++) {
    code = find_one(&all.item[i], error);
  }
  code = code ? code : make_all(c, &all, error);
  if (code) {
    unload(c);
  } else if (c->image.opened) {
    c->image.opened->self.opens = all.self_opens;
  }
  native_free(all.item);
  return code;
}

void save_opened_settle(const struct context *c) {
  for (const struct opened *o = first(c); o; o = next(o)) {
    opened_tls_renumber(o);
  }
}
