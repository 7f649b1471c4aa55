/* A copy is mapped by ld.so, which so knows it for unwinders and debuggers, but
   runs and binds nothing in it: its data are those of the original before any
   constructor, with each address in a library that ranks have copies of changed
   to the same place in this VP's. */
#include "context/image/opened_copy.h"

#include "context/image/copy_file.h"
#include "context/image/copy_pages.h"
#include "context/image/opened_set.h"
#include "context/image/original.h"
#include "os/native.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>

/* Those that others need come before them, where there are no circles. */
static int add_missing(struct image *img, struct original *of,
                       struct original *root) {
  struct opened_set *set = img->opened;
  if (of->visited == set || opened_find(set, of)) {
    return 0;
  }
  of->visited = set;
  for (int i = 0; i < of->nneeds; i++) {
    if (of->kind == ORIGINAL_OPENED &&
        add_missing(img, of->need[i], root) != 0) {
      return -1;
    }
  }
  struct opened *o = native_zalloc(1, sizeof(*o));
  if (o == NULL) {
    return -1;
  }
  o->of = of;
  o->root = root;
  o->is_new = of->kind == ORIGINAL_OPENED;
  opened_set_append(set, o);
  return 0;
}

static void unvisit(void) {
  for (int i = 0; i < original_count(); i++) {
    original_number(i)->visited = NULL;
  }
}

/* Where it is the VP's, if that can be; where it was once it has to be. */
static int load_file(const struct opened_set *set, struct opened *o,
                     struct pems_error *error) {
  const bool must = o->wanted != NULL;
  o->wanted = must ? o->wanted : opened_set_place(set, o->of->file);
  int code = copy_file_load(&o->img, set->rank, set->dir, o->wanted, error);
  o->placed = o->wanted && !code;
  if (code && o->wanted && !must) {
    *error = (struct pems_error){0};
    code = copy_file_load(&o->img, set->rank, set->dir, NULL, error);
  }
  return code;
}

static int map_copy(struct image *img, struct opened *o,
                    struct pems_error *error) {
  const struct opened_set *set = img->opened;
  const struct image_file *f = o->of->file;
  o->img = (struct image){
      .file = f, .fini_left = f->fini.count, .has_fini = f->fini_function != 0};
  const int code = load_file(set, o, error);
  if (!code) {
    copy_pages_locate(&o->img);
    o->placed = o->placed && o->img.text == o->wanted;
  }
  return code;
}

struct filling {
  const struct original *of;
  char **base; /* of each original, for this VP */
};

static void fill(const void *arg, char *page, uint64_t start, uint64_t end) {
  const struct filling *w = arg;
  const struct original *of = w->of;
  const uint64_t from = of->data > start ? of->data : start;
  const uint64_t to = of->data_end < end ? of->data_end : end;
  if (from < to) {
    memcpy(page + (from - start), of->pristine + (from - of->data), to - from);
  }
  for (size_t i = 0; i < of->nwords; i++) {
    const struct original_word *word = &of->word[i];
    if (word->at >= start && word->at < end) {
      const uint64_t value = (uint64_t)w->base[word->owner] + word->value;
      memcpy(page + (word->at - start), &value, sizeof(value));
    }
  }
}

static size_t length(const struct image_part *part, int n) {
  size_t sum = 0;
  for (int i = 0; i < n; i++) {
    sum += part[i].len;
  }
  return sum;
}

/* Its data become parts of the VP's memory. */
static int take_home(struct image *img, struct opened *o) {
  const struct opened_host *host = &img->opened->host;
  struct image_part part[OPENED_PARTS];
  const int n = host->take ? copy_pages_parts(&o->img, part, OPENED_PARTS) : 0;
  if (n == 0) {
    return 0;
  }
  o->home = o->had ? o->had : host->take(host->arg, length(part, n));
  if (o->home == NULL) {
    return ENOMEM;
  }
  char *home = o->home;
  for (; o->parts < n; o->parts++) {
    struct image_part *p = &o->part[o->parts];
    *p = part[o->parts];
    p->home = home;
    home += p->len;
    const int code = host->add(host->arg, *p, copy_pages_constant(&o->img, *p));
    if (code) {
      return code;
    }
  }
  return 0;
}

/* What the copy takes of the process's memory otherwise. */
static int count_beside(struct image *img, struct opened *o) {
  const struct opened_host *host = &img->opened->host;
  if (!host->count) {
    return 0;
  }
  const uint64_t bytes = copy_pages_beside(&o->img, length(o->part, o->parts));
  const int code = host->count(host->arg, bytes);
  o->beside = code ? 0 : bytes;
  return code;
}

static int build(struct image *img, struct opened *o, char **base,
                 struct pems_error *error) {
  const struct filling filling = {o->of, base};
  const bool keep = img->opened->dir || o->of->file->traced;
  int code = copy_pages_build(&o->img, keep, fill, &filling, error);
  code = code ? code : take_home(img, o);
  return code ? code : count_beside(img, o);
}

static char **find_bases(const struct image *img) {
  const int n = original_count();
  char **base = native_alloc(((size_t)n + 1) * sizeof(*base));
  for (int i = 0; base && i < n; i++) {
    base[i] = opened_base(img, original_number(i));
  }
  return base;
}

int opened_copy_make(struct image *img, struct opened *from,
                     struct pems_error *error) {
  int code = 0;
  for (struct opened *o = from; o && !code; o = o->next) {
    code = o->is_new ? map_copy(img, o, error) : 0;
  }
  char **base = code ? NULL : find_bases(img);
  code = code ? code : base ? 0 : ENOMEM;
  for (struct opened *o = from; o && !code; o = o->next) {
    code = o->is_new ? build(img, o, base, error) : 0;
    o->built = o->is_new && !code;
  }
  native_free(base);
  return code;
}

void opened_copy_unload(struct image *img, struct opened *o) {
  const struct opened_host *host = &img->opened->host;
  for (int i = 0; i < o->parts; i++) {
    host->drop(host->arg, o->part[i]);
  }
  if (o->img.handle) {
    dlclose(o->img.handle);
  }
  if (o->home) {
    host->give(host->arg, o->home);
  }
  if (o->beside) {
    host->uncount(host->arg, o->beside);
  }
  opened_set_remove(img->opened, o);
  native_free(o);
}

void opened_copy_unload_from(struct image *img, struct opened *o) {
  while (o) {
    struct opened *next = o->next;
    opened_copy_unload(img, o);
    o = next;
  }
}

/* The VP's handle for a library, which is made with all that it needs. */
struct opened *opened_copy_provide(struct image *img, struct original *of,
                                   const char *name,
                                   struct opened_error *error) {
  struct opened_set *set = img->opened;
  struct opened *last = set->last;
  struct pems_error why = {0};
  int code = add_missing(img, of, of);
  struct opened *from = last ? last->next : set->first;
  unvisit();
  code = code ? ENOMEM : opened_copy_make(img, from, &why);
  if (code) {
    opened_error_say(error, "%s: %s", name,
                     why.text[0] ? why.text : strerror(code));
    opened_copy_unload_from(img, from);
    return NULL;
  }
  return opened_find(set, of);
}
