/* Error handlers of communicators, windows and files. */
#include "mpi/object/errhandler.h"

#include "base/message.h"
#include "base/self.h"
#include "base/text.h"
#include "checkpoint/parcel.h"
#include "mpi/object/naming.h"
#include "mpi/object/rank.h"
#include "mpi_abi/carried.h"
#include "mpi_below/real.h"
#include "os/lock.h"
#include "os/native.h"

#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* Functions behind error handlers that programs made. */
static struct {
  struct lock lock;
  struct handler {
    struct handler *next;
    struct errhandler what;
    int references; /* of the program: made, and got from objects */
    int sets;       /* objects that have it */
  } *first;
} handlers = {.lock = LOCK_INITIALIZER(LOCK_ERRHANDLERS)};

static int note(MPI_Errhandler *handle, struct errhandler what) {
  struct handler *h = native_alloc(sizeof(*h));
  what.handle = handles_fixed ? carried_real_Errhandler(*handle) : *handle;
  if (!h) {
    real.Errhandler_free(&what.handle);
    *handle = MPI_ERRHANDLER_NULL;
    return MPI_ERR_NO_MEM;
  }
  lock_take(&handlers.lock);
  /* Newest first: a handle may be used again after it was freed. */
  *h = (struct handler){handlers.first, what, 1, 0};
  handlers.first = h;
  lock_give(&handlers.lock);
  return MPI_SUCCESS;
}

void errhandler_stands_in(void) {
}

int errhandler_note(MPI_Errhandler *handle, void (*function)(void)) {
  return note(handle, (struct errhandler){.function = function});
}

int errhandler_note_for(MPI_Errhandler *handle, void (*function)(void),
                        errhandler_caller *caller) {
  return note(handle,
              (struct errhandler){.function = function, .caller = caller});
}

int errhandler_note_outside(MPI_Errhandler *handle, void (*function)(void),
                            errhandler_caller *caller) {
  return note(handle, (struct errhandler){.function = function,
                                          .caller = caller,
                                          .outside = true});
}

/* Locked. */
static struct handler *find_handler_locked(MPI_Errhandler handle) {
  struct handler *h = handlers.first;
  while (h && h->what.handle != handle) {
    h = h->next;
  }
  return h;
}

MPI_Errhandler errhandler_get(const struct errhandler *set,
                              MPI_Errhandler none) {
  lock_take(&handlers.lock);
  struct handler *h = find_handler_locked(set->handle);
  if (h) {
    h->references++;
  }
  lock_give(&handlers.lock);
  return set->handle ? set->handle : none;
}

/* Takes it out if nobody has it any more, or NULL. */
static struct handler *take_over_locked(struct handler *h) {
  if (!h || h->references > 0 || h->sets > 0) {
    return NULL;
  }
  struct handler **link = &handlers.first;
  while (*link != h) {
    link = &(*link)->next;
  }
  *link = h->next;
  return h;
}

/* One that was taken out, or NULL. */
static void end(struct handler *h, void (*forget)(uintptr_t real)) {
  if (h) {
    if (handles_fixed) {
      forget((uintptr_t)h->what.handle);
    }
    real.Errhandler_free(&h->what.handle);
    native_free(h);
  }
}

/* The real one is kept while something has it set. */
int errhandler_free(MPI_Errhandler handle) {
  lock_take(&handlers.lock);
  struct handler *h = find_handler_locked(handle);
  const bool gone =
      h ? --h->references < 0 : !carried_errhandler_is_predefined(handle);
  struct handler *const over = gone ? NULL : take_over_locked(h);
  lock_give(&handlers.lock);
  end(over, carried_over);
  return gone ? MPI_ERR_ARG : MPI_SUCCESS;
}

void errhandler_unset(struct errhandler *of) {
  lock_take(&handlers.lock);
  struct handler *const h =
      of->function ? find_handler_locked(of->handle) : NULL;
  if (h) {
    h->sets--;
  }
  struct handler *const over = take_over_locked(h);
  lock_give(&handlers.lock);
  end(over, carried_forget);
  *of = (struct errhandler){0};
}

void errhandler_set(struct errhandler *to, struct errhandler what) {
  lock_take(&handlers.lock);
  struct handler *const h =
      what.function ? find_handler_locked(what.handle) : NULL;
  if (h) {
    h->sets++;
  }
  lock_give(&handlers.lock);
  errhandler_unset(to);
  *to = what;
}

struct errhandler errhandler_make(MPI_Errhandler handle) {
  /* The function outlives the handle, which the program may free. */
  struct errhandler set = {.handle = handle};
  lock_take(&handlers.lock);
  const struct handler *h = find_handler_locked(handle);
  if (h) {
    set = h->what;
  }
  lock_give(&handlers.lock);
  return set;
}

static __thread const char *about = "";

void errhandler_about(const char *hint) {
  about = hint;
}

static _Noreturn void fatal_error(int code, const char *function) {
  char text[MPI_MAX_ERROR_STRING] = "unknown error";
  int len, class = code;
  real.Error_string(code, text, &len);
  real.Error_class(code, &class);
  /* Calls that are delegated note no place. */
  char site[160] = "", by[160] = "";
  const char *library;
  struct text t = text_in(site, sizeof(site)), b = text_in(by, sizeof(by));
  if (self.function && strcmp(self.function, function) == 0) {
    name_site(&t, self.vp, self.site);
    if (self.site && name_fortran(self.site, &library)) {
      text_add(&b, ", and whether %s passes them on as they are", library);
    }
  }
  msg_fail(class, "%s: rank %d%s: %s%s: check the arguments of the call%s",
           function, self.vp->rank, site, text, about, by);
}

/* A rank cannot end without its job. */
static bool is_fatal(MPI_Errhandler handle) {
#if defined MPI_ERRORS_ABORT
  if (handle == MPI_ERRORS_ABORT) {
    return true;
  }
#endif
  return !handle || handle == MPI_ERRORS_ARE_FATAL;
}

int errhandler_call(const struct errhandler *set, void *handle, int code,
                    const char *function) {
  if (code == MPI_SUCCESS) {
    return code;
  }
  if (is_fatal(set->handle)) {
    fatal_error(code, function);
  }
  if (!set->function) {
    return code;
  }
  /* The program's own code: its memory is its context again. */
  const int inside = self.inside;
  self.inside = 0;
  int passed = code;
  if (set->caller) {
    set->caller(handle, &passed, function, set->function);
  } else {
    /* Those of communicators, windows and files differ only in what the first
       argument points to. */
    ((void (*)(void *, int *, ...))set->function)(handle, &passed, function);
  }
  self.inside = inside;
  return ABI_HANDLERS_SET_CODE ? passed : code;
}

bool errhandler_is_worlds(const struct errhandler *set) {
  return ABI_WORLD_HANDLES && !set->handle;
}

/* --- in a checkpoint --- */

static struct handler behind(const struct carried *c) {
  struct handler found = {0};
  lock_take(&handlers.lock);
  const struct handler *const h = find_handler_locked((MPI_Errhandler)c->real);
  if (h) {
    found = *h;
  }
  lock_give(&handlers.lock);
  return found;
}

const char *errhandlers_obstacle(const struct rank *rank) {
  const struct carried *c = NULL;
  while ((c = carried_next(rank->vp->rank, HANDLE_ERRHANDLER, c))) {
    const struct errhandler what = behind(c).what;
    if (!what.function || what.outside) {
      return "error handlers of another language";
    }
  }
  return NULL;
}

void errhandlers_save(const struct rank *rank, struct parcel *to) {
  const struct carried *c = NULL;
  while ((c = carried_next(rank->vp->rank, HANDLE_ERRHANDLER, c))) {
    const struct handler h = behind(c);
    parcel_put_number(to, c->handle.fortran);
    parcel_put_number(to, h.references);
    parcel_put(to, &h.what.function, sizeof(h.what.function));
    parcel_put(to, &h.what.caller, sizeof(h.what.caller));
  }
  parcel_put_number(to, 0);
}

static void refer(MPI_Errhandler handle, int references) {
  lock_take(&handlers.lock);
  find_handler_locked(handle)->references = references;
  lock_give(&handlers.lock);
}

static int load_one(int number, struct parcel *from) {
  struct errhandler what = {0};
  MPI_Errhandler handle;
  const int references = (int)parcel_number(from);
  parcel_get(from, &what.function, sizeof(what.function));
  parcel_get(from, &what.caller, sizeof(what.caller));
  /* Never called, so all kinds are one. */
  if (real.Comm_create_errhandler((MPI_Comm_errhandler_function *)what.function,
                                  &handle) ||
      note(&handle, what)) {
    return ENOMEM;
  }
  refer(handle, references);
  const struct carried c = {.real = (uintptr_t)handle, .references = 1};
  return carried_restore(HANDLE_ERRHANDLER, &c, number) ? 0 : ENOMEM;
}

int errhandlers_load(struct rank *rank, struct parcel *from) {
  int code = 0, number;
  (void)rank;
  while (!code && (number = (int)parcel_number(from))) {
    code = load_one(number, from);
  }
  return code;
}

bool errhandler_is_own(const struct errhandler *set) {
  return carried_of_real(HANDLE_ERRHANDLER, (uintptr_t)set->handle);
}

void errhandler_save(const struct errhandler *set, struct parcel *to) {
  const struct carried *const c =
      carried_of_real(HANDLE_ERRHANDLER, (uintptr_t)set->handle);
  parcel_put_number(to, c ? c->handle.fortran : 0);
  parcel_put(to, &set->handle, sizeof(set->handle));
}

int errhandler_load(struct errhandler *set, struct parcel *from) {
  const int number = (int)parcel_number(from);
  MPI_Errhandler handle = 0;
  parcel_get(from, &handle, sizeof(handle));
  const struct carried *const c =
      number ? (struct carried *)handle_f2c(HANDLE_ERRHANDLER, number) : NULL;
  errhandler_set(set, errhandler_make(c ? (MPI_Errhandler)c->real : handle));
  return number && !c ? EILSEQ : 0;
}
