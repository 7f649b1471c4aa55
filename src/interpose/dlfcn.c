/* dlopen and its kin, interposed: a VP's program gets copies of its own of what
   it opens (context/image/opened.h). Calls of others go to the real functions
   by a jump, since these look at who has called them. */
#define _GNU_SOURCE
#include "interpose/dlfcn.h"

#include "base/failure.h"
#include "base/message.h"
#include "base/self.h"
#include "checkpoint/parcel.h"
#include "context/calls/parts.h"
#include "context/calls/save_opened.h"
#include "context/image/opened.h"
#include "context/image/opened_list.h"
#include "context/image/opened_place.h"
#include "context/image/opened_run.h"
#include "context/image/opened_set.h"
#include "context/image/opened_symbol.h"
#include "context/image/opened_tls.h"
#include "context/image/original.h"
#include "context/residency/residency.h"
#include "interpose/malloc.h"
#include "interpose/real.h"
#include "mpi_below/link.h"
#include "os/lock.h"
#include "os/native.h"
#include "vp/vp.h"

#include <alloca.h>
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))
#define CALLER __builtin_return_address(0)

typedef void function(void);

static struct {
  struct lock lock; /* all that opened.h and original.h keep */
  bool strict;
  struct shared {
    struct shared *next;
    char text[];
  } *shared;
} loader = {.lock = LOCK_INITIALIZER(LOCK_LOADER)};

/* What dlerror is to tell next, of this thread. */
static __thread struct opened_error last_error;
static __thread bool failed;

/* --- the real ones --------------------------------------------------------
 */

enum call { OPEN, OPEN_IN, SYMBOL, SYMBOL_OF, CLOSE, INFO, ERROR, EACH, CALLS };
static const char *const names[CALLS] = {"dlopen",  "dlmopen",        "dlsym",
                                         "dlvsym",  "dlclose",        "dlinfo",
                                         "dlerror", "dl_iterate_phdr"};
static function *real[CALLS];

static function *real_one(enum call call) {
  if (!real[call]) {
    real[call] = real_of_libc(names[call]);
  }
  return real[call];
}

/* --- a VP's ---------------------------------------------------------------
 */

static struct image *image(void) {
  return &self.vp->context->image;
}

/* Who has the loader never waits for memory: another, whose threads may be
   using its own, may be waiting for the loader. */
static void enter(void) {
  self_enter();
  lock_take(&loader.lock);
}

static void end(void) {
  lock_give(&loader.lock);
  self_leave();
}

static void begin(void) {
  enter();
  failed = false;
}

/* Constructors and destructors are the program's: without the lock. */
static void run_new(void) {
  for (;;) {
    enter();
    struct opened *o = opened_next_new(image());
    end();
    if (!o) {
      return;
    }
    opened_begin(image(), o);
    opened_construct(o, self.vp->argc, self.vp->argv, self.vp->envp);
  }
}

static void run_dead(void) {
  for (;;) {
    enter();
    struct opened *o = opened_next_dead(image());
    if (!o) {
      opened_sweep(image());
      end();
      return;
    }
    end();
    opened_destruct(o);
  }
}

/* With --pems-strict what would be shared stays open in the process, but no
   rank gets it. */
static bool refuse(struct opened *o, int flags) {
  struct opened_error ignored;
  const char *name =
      loader.strict && !(flags & RTLD_NOLOAD) ? opened_stray(o) : NULL;
  if (!name) {
    return false;
  }
  opened_error_say(
      &last_error,
      "%s: it would be shared by all ranks: leave out --pems-strict", name);
  (void)opened_close(image(), opened_handle(image(), o), &ignored);
  return true;
}

/* A module of Python, say, that is built for another MPI. */
static void check_mpi(const char *name) {
  struct pems_error error;
  if (link_check_opened(&error)) {
    msg_fail(MSG_USAGE, "%s: %s", name, error.text);
  }
}

static void *open_once(const void *caller, const char *name, int flags,
                       bool *refused) {
  begin();
  struct opened *o = opened_open(image(), caller, name, flags, &last_error);
  if (o && name && !(flags & RTLD_NOLOAD)) {
    check_mpi(name);
  }
  *refused = o && refuse(o, flags);
  failed = (!o && last_error.text[0]) || *refused;
  void *const handle = o ? opened_handle(image(), o) : NULL;
  end();
  return handle;
}

/* Without the loader: waits for the room that was lacking. */
static bool make_room(void) {
  self_enter();
  const bool room = parts_make_room(self.vp->context);
  self_leave();
  return room;
}

static void *open_in_turn(const void *caller, const char *name, int flags) {
  void *handle;
  bool refused;
  do {
    handle = open_once(caller, name, flags, &refused);
  } while (!handle && failed && make_room());
  if (refused) {
    run_dead(); /* nothing of it has been constructed */
    return NULL;
  }
  run_new();
  return handle;
}

static void *open_for(const void *caller, const char *name, int flags) {
  opened_take_turn(image());
  void *const handle = open_in_turn(caller, name, flags);
  opened_give_turn(image());
  return handle;
}

static void *vp_dlopen(const char *name, int flags) {
  return open_for(CALLER, name, flags);
}

/* A namespace of its own has a libc of its own: that is a copy already, though
   no part of the context. */
static void *open_space(Lmid_t space, const char *name, int flags) {
  self_enter();
  void *handle = ((void *(*)(Lmid_t, const char *, int))real_one(OPEN_IN))(
      space, name, flags);
  self_leave();
  begin();
  if (handle && opened_space_add(image(), handle) != 0) {
    ((int (*)(void *))real_one(CLOSE))(handle);
    opened_error_say(&last_error, "%s: out of memory", name);
    failed = true;
    handle = NULL;
  }
  end();
  return handle;
}

static void *vp_dlmopen(Lmid_t space, const char *name, int flags) {
  return space == LM_ID_BASE ? open_for(CALLER, name, flags)
                             : open_space(space, name, flags);
}

/* Is a handle ld.so's? dlerror then tells what ld.so does. */
static bool is_space(const void *handle) {
  begin();
  const bool has = opened_space_has(image(), handle);
  end();
  return has;
}

static void *find_in_space(void *handle, const char *name,
                           const char *version) {
  return version ? ((void *(*)(void *, const char *, const char *))real_one(
                       SYMBOL_OF))(handle, name, version)
                 : ((void *(*)(void *, const char *))real_one(SYMBOL))(handle,
                                                                       name);
}

static void *find_for(const void *caller, void *handle, const char *name,
                      const char *version) {
  if (is_space(handle)) {
    return find_in_space(handle, name, version);
  }
  begin();
  void *p = opened_symbol(image(), caller, handle, name, version, &last_error);
  failed = last_error.text[0] != '\0';
  end();
  return p;
}

static void *vp_dlsym(void *handle, const char *name) {
  return find_for(CALLER, handle, name, NULL);
}

static void *vp_dlvsym(void *handle, const char *name, const char *version) {
  return find_for(CALLER, handle, name, version);
}

static int close_space(void *handle) {
  begin();
  opened_space_drop(image(), handle);
  end();
  self_enter();
  const int rc = ((int (*)(void *))real_one(CLOSE))(handle);
  self_leave();
  return rc;
}

static int vp_dlclose(void *handle) {
  if (is_space(handle)) {
    return close_space(handle);
  }
  opened_take_turn(image());
  begin();
  const int rc = opened_close(image(), handle, &last_error);
  failed = rc != 0;
  end();
  run_dead();
  opened_give_turn(image());
  return rc;
}

static int vp_dlinfo(void *handle, int request, void *arg) {
  int (*ask)(void *, int, void *) =
      (int (*)(void *, int, void *))real_one(INFO);
  int rc = 0;
  if (is_space(handle)) {
    return ask(handle, request, arg);
  }
  begin();
  void *original = opened_original_handle(image(), handle);
  if (!original) {
    failed = true;
    snprintf(last_error.text, sizeof(last_error.text), "invalid handle");
    rc = -1;
  } else if (request == RTLD_DI_LINKMAP) {
    *(struct link_map **)arg = opened_map(image(), handle);
  } else {
    rc = ask(original, request, arg);
  }
  end();
  return rc;
}

static char *vp_dlerror(void) {
  if (failed) {
    failed = false;
    return last_error.text;
  }
  return ((char *(*)(void))real_one(ERROR))();
}

static int list(struct dl_phdr_info *to, int room) {
  enter();
  const int n = opened_list(image(), to, room);
  end();
  return n;
}

/* The function is the program's: without the lock, as far as what was there
   then. */
static int vp_dl_iterate_phdr(int (*f)(struct dl_phdr_info *, size_t, void *),
                              void *arg) {
  const int room = list(NULL, 0);
  struct dl_phdr_info *const each = alloca((size_t)room * sizeof(*each));
  const int n = list(each, room);
  int rc = 0;
  for (int i = 0; i < n && i < room && rc == 0; i++) {
    rc = f(&each[i], sizeof(*each), arg);
  }
  return rc;
}

static function *const for_vp[CALLS] = {
    (function *)vp_dlopen,  (function *)vp_dlmopen,
    (function *)vp_dlsym,   (function *)vp_dlvsym,
    (function *)vp_dlclose, (function *)vp_dlinfo,
    (function *)vp_dlerror, (function *)vp_dl_iterate_phdr,
};

/* --- who calls ------------------------------------------------------------
 */

/* What the functions below jump to. */
__attribute__((visibility("hidden"), used)) function *
dlfcn_choose(int call, const void *caller) {
  if (self_native() || !image()->opened || opened_is_foreign(image(), caller)) {
    return real_one((enum call)call);
  }
  return for_vp[call];
}

#if defined __x86_64__
#define JUMP(name, call)                                                       \
  __asm__(".pushsection .text\n"                                               \
          ".globl " #name "\n"                                                 \
          ".type " #name ", @function\n" #name ":\n"                           \
          ".cfi_startproc\n"                                                   \
          "  endbr64\n"                                                        \
          "  sub $40, %rsp\n"                                                  \
          ".cfi_adjust_cfa_offset 40\n"                                        \
          "  mov %rdi, (%rsp)\n"                                               \
          "  mov %rsi, 8(%rsp)\n"                                              \
          "  mov %rdx, 16(%rsp)\n"                                             \
          "  mov $" #call ", %edi\n"                                           \
          "  mov 40(%rsp), %rsi\n"                                             \
          "  call dlfcn_choose\n"                                              \
          "  mov (%rsp), %rdi\n"                                               \
          "  mov 8(%rsp), %rsi\n"                                              \
          "  mov 16(%rsp), %rdx\n"                                             \
          "  add $40, %rsp\n"                                                  \
          ".cfi_adjust_cfa_offset -40\n"                                       \
          "  jmp *%rax\n"                                                      \
          ".cfi_endproc\n"                                                     \
          ".size " #name ", . - " #name "\n"                                   \
          ".popsection\n")
#elif defined __aarch64__
#define JUMP(name, call)                                                       \
  __asm__(".pushsection .text\n"                                               \
          ".globl " #name "\n"                                                 \
          ".type " #name ", @function\n" #name ":\n"                           \
          ".cfi_startproc\n"                                                   \
          "  stp x29, x30, [sp, #-48]!\n"                                      \
          ".cfi_def_cfa_offset 48\n"                                           \
          ".cfi_offset 29, -48\n"                                              \
          ".cfi_offset 30, -40\n"                                              \
          "  stp x0, x1, [sp, #16]\n"                                          \
          "  str x2, [sp, #32]\n"                                              \
          "  mov w0, #" #call "\n"                                             \
          "  mov x1, x30\n"                                                    \
          "  bl dlfcn_choose\n"                                                \
          "  mov x16, x0\n"                                                    \
          "  ldp x0, x1, [sp, #16]\n"                                          \
          "  ldr x2, [sp, #32]\n"                                              \
          "  ldp x29, x30, [sp], #48\n"                                        \
          ".cfi_restore 29\n"                                                  \
          ".cfi_restore 30\n"                                                  \
          ".cfi_def_cfa_offset 0\n"                                            \
          "  br x16\n"                                                         \
          ".cfi_endproc\n"                                                     \
          ".size " #name ", . - " #name "\n"                                   \
          ".popsection\n")
#endif

/* The numbers are enum call's. */
JUMP(dlopen, 0);
JUMP(dlmopen, 1);
JUMP(dlclose, 4);
JUMP(dlinfo, 5);
JUMP(dlerror, 6);
/* A sanitizer calls these before its own memory is there. */
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
JUMP(dlsym, 2);
JUMP(dlvsym, 3);
JUMP(dl_iterate_phdr, 7);
#endif

/* --- the job --------------------------------------------------------------
 */

/* Under the lock. What a shared library allocates is everybody's. A line that
   finds no memory is left out. */
static void note_shared(const struct link_map *map, const char *why) {
  malloc_note_shared(map->l_name);
  if (!why) {
    return;
  }
  const size_t n = strlen(map->l_name) + strlen(why) + 3;
  struct shared *s = native_alloc(sizeof(*s) + n);
  if (s) {
    snprintf(s->text, n, "%s: %s", map->l_name, why);
    s->next = loader.shared;
    loader.shared = s;
  }
}

/* What the process has of the start allocates for all ranks, too: libraries
   that MPI needs, and those that the user wants to be shared. But what C++'s
   allocates is for who calls new. */
static void note_at_start(void) {
  for (int i = 0; i < original_count(); i++) {
    const struct original *of = original_number(i);
    const char *const name = of->map->l_name;
    if (of->kind == ORIGINAL_SHARED && name[0] &&
        !strstr(name, "/libstdc++.") && !strstr(name, "/libc++.")) {
      malloc_note_shared(name);
    }
  }
}

void dlfcn_start(bool strict) {
  loader.strict = strict;
  for (int i = 0; i < CALLS; i++) {
    (void)real_one((enum call)i);
  }
  note_at_start();
  original_on_shared(note_shared);
}

int dlfcn_begin(struct vp *vp, const char *dir, void *place, size_t room) {
  struct opened_host host = {0};
  parts_host(&host, vp->context);
  host.place = place;
  host.room = room;
  host.expect = malloc_expect;
  return opened_start(&vp->context->image, vp->rank, dir, &host);
}

void dlfcn_begin_thread(const struct vp *vp) {
  opened_begin_thread(&vp->context->image);
}

void dlfcn_print_shared(void) {
  lock_take(&loader.lock);
  for (const struct shared *s = loader.shared; s; s = s->next) {
    msg_warn("opened, and shared by all ranks: %s", s->text);
  }
  lock_give(&loader.lock);
}

/* --- checkpoints ----------------------------------------------------------
 */

/* What a VP had opened, from when its file is read until it has it again. */
static __thread struct parcel had;

int dlfcn_check(struct vp *vp, struct pems_error *error) {
  enter();
  const int code = save_opened_check(vp->context, error);
  end();
  return code;
}

int dlfcn_save(const struct vp *vp, struct checkpoint_out *o,
               struct pems_error *error) {
  struct parcel all = {0};
  enter();
  save_opened(vp->context, &all);
  end();
  const int code =
      all.n > CHECKPOINT_LARGEST
          ? failure(error, ENOTSUP, "it has opened too many libraries")
          : parcel_save(&all, CHECKPOINT_LIBRARIES, o, error);
  parcel_free(&all);
  return code;
}

int dlfcn_load(struct checkpoint_in *in, struct pems_error *error) {
  void *bytes = NULL;
  size_t n = 0;
  const int code = checkpoint_take(in, CHECKPOINT_LIBRARIES, &bytes, &n, error);
  had = (struct parcel){.bytes = bytes, .n = n, .room = n};
  return code;
}

int dlfcn_open_again(struct vp *vp, const char *name,
                     struct pems_error *error) {
  enter();
  const int code = save_opened_load(vp->context, &had, name, error);
  end();
  parcel_free(&had);
  return code;
}

void dlfcn_settle(struct vp *vp) {
  enter();
  save_opened_settle(vp->context);
  end();
}
