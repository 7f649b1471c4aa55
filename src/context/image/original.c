#define _GNU_SOURCE
#include "context/image/original.h"

#include "base/failure.h"
#include "context/image/library.h"
#include "context/image/original_bind.h"
#include "context/image/original_keep.h"
#include "context/image/stub.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static struct {
  const struct image_file *program;
  void (*note)(const struct link_map *map, const char *why);
} originals;

void original_on_shared(void (*note)(const struct link_map *map,
                                     const char *why)) {
  originals.note = note;
}

static void classify(struct original *o, const struct image_file *program) {
  if ((char *)o->map->l_addr == program->original && !o->map->l_name[0]) {
    o->kind = ORIGINAL_PROGRAM;
    o->file = program;
  }
  for (int i = 0; i < program->libraries; i++) {
    if ((char *)o->map->l_addr == program->library[i]->original) {
      o->kind = ORIGINAL_LINKED;
      o->linked = i;
      o->file = program->library[i];
    }
  }
}

static void note_scope(void *arg, const char *name) {
  struct original *const o = original_named(name);
  (void)arg;
  if (o && !o->in_scope) {
    o->in_scope = true;
    library_each_needed(o->map, note_scope, NULL);
  }
}

/* What came with the program stands before all that was opened since; preloaded
   libraries are needed by nobody. */
static void note_scopes(void) {
  int last = original_count();
  library_each_needed(original_number(0)->map, note_scope, NULL);
  while (last > 1 && !original_number(last - 1)->in_scope) {
    last--;
  }
  for (int i = 0; i < last; i++) {
    original_number(i)->in_scope = true;
  }
}

int original_start(const struct image_file *f, struct pems_error *error) {
  originals.program = f;
  for (struct link_map *m = _r_debug.r_map; m; m = m->l_next) {
    struct original *o = original_of(m);
    if (o == NULL) {
      return failure(error, ENOMEM, "out of memory: libraries: free memory");
    }
    classify(o, f);
    o->bound = o->at_start = true;
  }
  note_scopes();
  return 0;
}

void original_end(void) {
  original_table_end();
}

/* --- between relocation and constructors ----------------------------------
 */

/* `why`: NULL where nobody need be told. */
static void share(struct original *o, const char *why) {
  o->kind = ORIGINAL_SHARED;
  if (originals.note) {
    originals.note(o->map, why);
  }
}

/* Unlike in other jobs. */
static void share_stray(struct original *o, const char *why) {
  o->stray = true;
  share(o, why);
}

/* Those that all jobs share, and those that the user wants to be shared. */
static bool share_by_name(struct original *o) {
  if (!library_is_shared(o->map, originals.program->shared)) {
    return false;
  }
  share(o, library_is_process_wide(o->map)
               ? "its state is the process's, as for "
                 "threads: nothing to do"
               : NULL);
  return true;
}

/* What a shared library needs is shared, too. */
static void share_needed(void *arg, const char *name) {
  const int first = *(const int *)arg;
  struct original *o = original_named(name);
  if (o && o->index >= first && o->kind == ORIGINAL_OPENED) {
    share_stray(o, "a shared library needs it");
    library_each_needed(o->map, share_needed, arg);
  }
}

static void choose(int first) {
  for (int i = first; i < original_count(); i++) {
    struct original *o = original_number(i);
    o->chosen = true;
    if (!share_by_name(o)) {
      o->kind = ORIGINAL_OPENED;
    }
  }
  for (int i = first; i < original_count(); i++) {
    if (original_number(i)->kind == ORIGINAL_SHARED) {
      library_each_needed(original_number(i)->map, share_needed, &first);
    }
  }
}

/* Called by ld.so for what it has just loaded: from here on it runs
   constructors. */
static void see_loaded(struct link_map *m) {
  int first = original_count();
  for (; m; m = m->l_next) {
    if (!original_find(m)) {
      (void)original_add(m);
    }
  }
  choose(first);
  for (int i = first; i < original_count(); i++) {
    struct original *o = original_number(i);
    struct pems_error error = {0};
    if (o->kind == ORIGINAL_OPENED && original_keep(o, &error) != 0) {
      share_stray(o, error.text);
      library_each_needed(o->map, share_needed, &first);
    }
  }
  for (int i = first; i < original_count(); i++) {
    original_number(i)->constructed =
        original_number(i)->kind == ORIGINAL_SHARED;
  }
}

/* --- opening --------------------------------------------------------------
 */

static void say(char *why, size_t size) {
  const char *text = dlerror();
  snprintf(why, size, "%s", text ? text : strerror(errno ? errno : ENOMEM));
}

/* What the process has opened for itself, MPI for its plug-ins, say: a rank
   that opens it, too, gets a copy in which nothing has happened yet. */
static void keep_used(struct original *o) {
  struct pems_error error = {0};
  o->chosen = true;
  if (share_by_name(o)) {
    return;
  }
  if (original_keep_used(o, &error) != 0) {
    share_stray(o, error.text);
  } else {
    o->kind = ORIGINAL_OPENED;
    o->bound = false;
  }
}

static void see_named(void *arg, const char *name);

/* What is opened, and what it needs, as far as ranks may have copies of it.
   NULL: memory is short. */
static struct original *see(struct link_map *map) {
  struct original *o = original_of(map);
  if (!o || o->seen || o->in_scope) {
    return o;
  }
  o->seen = true;
  if (!o->chosen) {
    keep_used(o);
  }
  if (o->kind == ORIGINAL_OPENED) {
    library_each_needed(map, see_named, NULL);
  }
  return o;
}

static void see_named(void *arg, const char *name) {
  struct link_map *const map = library_find(_r_debug.r_map, name);
  (void)arg;
  if (map) {
    (void)see(map);
  }
}

static struct original *known(void *handle) {
  struct link_map *map = NULL;
  return handle && dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 ? see(map) : NULL;
}

/* ld.so trusts a file: what is cut off or damaged would end the process. One
   that is searched for is taken as it is. */
static bool is_sound(const char *path, char *why, size_t size) {
  struct pems_error error = {0};
  struct image_elf elf;
  if (!strchr(path, '/')) {
    return true;
  }
  int code = image_elf_open(&elf, path, IMAGE_OPENED, &error);
  if (!code) {
    code = image_lookup_check(&elf);
    close(elf.fd);
  }
  if (code == ENOEXEC) {
    snprintf(why, size,
             "%s: file is damaged, or no shared object of this machine", path);
  } else if (code == ENOMEM) {
    snprintf(why, size, "%s: out of memory", path);
  }
  return code != ENOEXEC && code != ENOMEM; /* ld.so tells the rest */
}

/* A function that is missing is no error before it is called. */
static int open_new(const char *name, const char *runpath, int flags, char *why,
                    size_t size) {
  const int scope = flags & (RTLD_GLOBAL | RTLD_DEEPBIND);
  if (stub_open(name, runpath, RTLD_NOW | scope, see_loaded) == 0) {
    return 0;
  }
  say(why, size);
  if (flags & RTLD_LAZY && strstr(why, "undefined symbol") &&
      stub_open(name, runpath, RTLD_LAZY | scope, see_loaded) == 0) {
    return 0;
  }
  return -1;
}

struct original *original_open(const char *name, const char *runpath, int flags,
                               char *why, size_t size) {
  const int scope = flags & (RTLD_GLOBAL | RTLD_NODELETE);
  why[0] = '\0';
  (void)dlerror();
  void *handle = dlopen(name, RTLD_LAZY | RTLD_NOLOAD | scope);
  if (handle == NULL) {
    (void)dlerror();
    if (flags & RTLD_NOLOAD || !is_sound(name, why, size) ||
        open_new(name, runpath, flags, why, size) != 0) {
      return NULL;
    }
    handle = dlopen(name, RTLD_LAZY | RTLD_NOLOAD | scope);
  }
  struct original *o = known(handle);
  if (o == NULL) {
    say(why, size);
  } else if (original_bind_all() != 0) {
    snprintf(why, size, "%s: cannot bind it: out of memory", name);
    return NULL;
  }
  return o;
}

/* --- what is shared, unlike in other jobs ---------------------------------
 */

struct stray_search {
  const struct original *found, *asked;
};

static void look(struct stray_search *s, struct original *o);

static void look_named(void *arg, const char *name) {
  struct stray_search *s = arg;
  struct original *o = original_named(name);
  struct link_map *map = o ? NULL : library_find(_r_debug.r_map, name);
  if (map && !(o = see(map))) {
    s->found = s->asked;
  }
  if (o) {
    look(s, o);
  }
}

static void look(struct stray_search *s, struct original *o) {
  if (s->found || o->visited == s) {
    return;
  }
  o->visited = s;
  if (o->stray) {
    s->found = o;
  } else {
    library_each_needed(o->map, look_named, s);
  }
}

const char *original_stray(struct original *o) {
  struct stray_search s = {NULL, o};
  look(&s, o);
  for (int i = 0; i < original_count(); i++) {
    original_number(i)->visited = NULL;
  }
  return s.found ? s.found->map->l_name : NULL;
}
