/* MPI's sessions: a rank has begun long before, so that one is no more than an
   error handler and a level of threads. There are two sets of processes. */
#include "mpi/job/session.h"

#include "mpi/object/comm.h"
#include "mpi/object/comm_error.h"
#include "mpi/object/info.h"
#include "mpi/p2p/buffered.h"
#include "mpi/request/request.h"
#include "mpi_abi/functions.h"
#include "mpi_below/real.h"
#include "mpi_below/thread_level.h"
#include "os/native.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#if defined PEMS_MPI_HAS_Session_init
struct session {
  struct handle handle;
  struct errhandler errhandler;
  int thread_level;
  MPI_Info info; /* own copy, or MPI_INFO_NULL */
};

static const char *const sets[] = {"mpi://WORLD", "mpi://SELF"};
enum { WORLD, SELF, SETS };

static struct session *session_of(MPI_Session handle) {
  return handle_object(ABI_OBJECT(handle), HANDLE_SESSION);
}

/* Where there is no session, MPI_COMM_SELF's handler is told. */
static int session_error(MPI_Session handle, int code, const char *function) {
  const struct session *s = session_of(handle);
  return s ? errhandler_call(&s->errhandler, &handle, code, function)
           : comm_error(MPI_COMM_SELF, code, function);
}

/* MPI_ERR_ARG for a name that is none. */
static int level_asked(MPI_Info info, int *level) {
  char name[32] = "";
  int found = 0;
  *level = MPI_THREAD_SINGLE;
  if (info == MPI_INFO_NULL) {
    return MPI_SUCCESS;
  }
  int code =
      real.Info_get(info, "thread_level", sizeof(name) - 1, name, &found);
  if (code || !found) {
    return code;
  }
  const int named = thread_level_named(name);
  if (named < 0) {
    return MPI_ERR_ARG;
  }
  *level = named;
  return MPI_SUCCESS;
}

/* Kinds of memory that were asked for become those that there are. */
static int provide_kinds(MPI_Info info) {
  static const char key[] = "mpi_memory_alloc_kinds";
  int length, found = 0;
  const int code = info == MPI_INFO_NULL
                       ? MPI_SUCCESS
                       : real.Info_get_valuelen(info, key, &length, &found);
  return code || !found ? code : real.Info_set(info, key, "mpi,system");
}

static int session_make(MPI_Info info, MPI_Session *handle,
                        const struct errhandler *errhandler) {
  struct session *s = native_zalloc(1, sizeof(*s));
  if (!s) {
    return MPI_ERR_NO_MEM;
  }
  s->handle = handle_make(HANDLE_SESSION);
  errhandler_set(&s->errhandler, *errhandler);
  s->info = MPI_INFO_NULL;
  int code = level_asked(info, &s->thread_level);
  if (!code && info != MPI_INFO_NULL) {
    code = real.Info_dup(info, &s->info);
  }
  if (!code) {
    code = provide_kinds(s->info);
  }
  if (code) {
    if (s->info != MPI_INFO_NULL) {
      real.Info_free(&s->info);
    }
    errhandler_unset(&s->errhandler);
    native_free(s);
    return code;
  }
  struct vp *vp = comm_me();
  if (vp->thread_level < s->thread_level) {
    vp->thread_level = s->thread_level;
    if (vp->thread_level == MPI_THREAD_MULTIPLE) {
      run_queue_share(vp);
    }
  }
  s->thread_level = vp->thread_level;
  *handle = ABI_HANDLE(MPI_Session, s);
  return MPI_SUCCESS;
}

int pems_Session_init(MPI_Info info, MPI_Errhandler errhandler,
                      MPI_Session *session) {
  const struct errhandler told = errhandler_make(errhandler);
  MPI_Session none = MPI_SESSION_NULL;
  const int code = !info      ? MPI_ERR_INFO
                   : !session ? MPI_ERR_ARG
                              : session_make(info, session, &told);
  return errhandler_call(&told, &none, code, "MPI_Session_init");
}

int pems_Session_finalize(MPI_Session *session) {
  struct session *s = session ? session_of(*session) : NULL;
  if (!s) {
    return comm_error(MPI_COMM_SELF, MPI_ERR_SESSION, "MPI_Session_finalize");
  }
  requests_end("MPI_Session_finalize");
  if (s->info != MPI_INFO_NULL) {
    real.Info_free(&s->info);
  }
  buffered_forget(s);
  errhandler_unset(&s->errhandler);
  handle_end(&s->handle);
  native_free(s);
  *session = MPI_SESSION_NULL;
  return MPI_SUCCESS;
}

/* --- in a checkpoint --- */

static const struct session *next(const struct rank *rank,
                                  const struct session *after) {
  const struct handle *h = NULL;
  int number = after ? after->handle.fortran : 0;
  while ((h = handle_next(rank->vp->rank, number)) &&
         !handle_is(h, HANDLE_SESSION)) {
    number = h->fortran;
  }
  return (const struct session *)h;
}

const char *sessions_obstacle(const struct rank *rank) {
  const struct session *s = NULL;
  bool foreign = false;
  while (!foreign && (s = next(rank, s))) {
    foreign = s->errhandler.function && !errhandler_is_own(&s->errhandler);
  }
  return foreign ? "an error handler of another language" : NULL;
}

void sessions_save(const struct rank *rank, struct parcel *to) {
  for (const struct session *s = NULL; (s = next(rank, s));) {
    parcel_put_number(to, s->handle.fortran);
    parcel_put_number(to, s->thread_level);
    errhandler_save(&s->errhandler, to);
    info_save(s->info, to);
  }
  parcel_put_number(to, 0);
}

static int load_one(int number, struct parcel *from) {
  struct session *const s = native_zalloc(1, sizeof(*s));
  if (!s) {
    return ENOMEM;
  }
  s->handle = handle_make(HANDLE_SESSION);
  s->thread_level = (int)parcel_number(from);
  int code = errhandler_load(&s->errhandler, from);
  code = code ? code : info_load(&s->info, from);
  return code || handle_restore(&s->handle, number) ? code : EILSEQ;
}

int sessions_load(struct rank *rank, struct parcel *from) {
  int code = 0, number;
  (void)rank;
  while (!code && (number = (int)parcel_number(from))) {
    code = load_one(number, from);
  }
  return code;
}

/* --- sets of processes --- */

int pems_Session_get_num_psets(MPI_Session session, MPI_Info info, int *n) {
  (void)info;
  const int code = !session_of(session) ? MPI_ERR_SESSION
                   : !n                 ? MPI_ERR_ARG
                                        : MPI_SUCCESS;
  if (!code) {
    *n = SETS;
  }
  return session_error(session, code, "MPI_Session_get_num_psets");
}

/* The length counts the byte that ends the name; 0 asks for it only. */
int pems_Session_get_nth_pset(MPI_Session session, MPI_Info info, int n,
                              int *length, char *name) {
  (void)info;
  const int code =
      !session_of(session) ? MPI_ERR_SESSION
      : n < 0 || n >= SETS || !length || *length < 0 || (*length && !name)
          ? MPI_ERR_ARG
          : MPI_SUCCESS;
  if (!code) {
    if (*length) {
      snprintf(name, (size_t)*length, "%s", sets[n]);
    }
    *length = (int)strlen(sets[n]) + 1;
  }
  return session_error(session, code, "MPI_Session_get_nth_pset");
}

/* Its group, or NULL. */
static struct group *set_named(const char *name) {
  return !name                                ? NULL
         : strcasecmp(name, sets[WORLD]) == 0 ? rank_me()->world->group
         : strcasecmp(name, sets[SELF]) == 0  ? rank_me()->self->group
                                              : NULL;
}

int pems_Session_get_pset_info(MPI_Session session, const char *name,
                               MPI_Info *info) {
  const struct group *g = set_named(name);
  int code = !session_of(session) ? MPI_ERR_SESSION
             : !g || !info        ? MPI_ERR_ARG
                                  : real.Info_create(info);
  if (!code) {
    char size[16];
    snprintf(size, sizeof(size), "%d", g->n);
    code = real.Info_set(*info, "mpi_size", size);
  }
  return session_error(session, code, "MPI_Session_get_pset_info");
}

int pems_Group_from_session_pset(MPI_Session session, const char *name,
                                 MPI_Group *newgroup) {
  struct group *g = set_named(name);
  int code = !session_of(session) ? MPI_ERR_SESSION
             : !g || !newgroup    ? MPI_ERR_ARG
                                  : MPI_SUCCESS;
  if (!code) {
    code = group_give(g, newgroup);
  }
  return session_error(session, code, "MPI_Group_from_session_pset");
}

/* --- hints --- */

int pems_Session_get_info(MPI_Session session, MPI_Info *info) {
  const struct session *s = session_of(session);
  int code = !s ? MPI_ERR_SESSION : !info ? MPI_ERR_INFO : MPI_SUCCESS;
  if (!code) {
    code = s->info == MPI_INFO_NULL ? real.Info_create(info)
                                    : real.Info_dup(s->info, info);
  }
  if (!code) {
    code = real.Info_set(*info, "thread_level",
                         thread_level_name(s->thread_level));
  }
  return session_error(session, code, "MPI_Session_get_info");
}

#if defined PEMS_MPI_HAS_Session_set_info
int pems_Session_set_info(MPI_Session session, MPI_Info info) {
  struct session *s = session_of(session);
  MPI_Info copy = MPI_INFO_NULL;
  int code = !s                               ? MPI_ERR_SESSION
             : !info || info == MPI_INFO_NULL ? MPI_ERR_INFO
                                              : real.Info_dup(info, &copy);
  if (!code) {
    if (s->info != MPI_INFO_NULL) {
      real.Info_free(&s->info);
    }
    s->info = copy;
  }
  return session_error(session, code, "MPI_Session_set_info");
}
#endif

/* --- error handlers --- */

int pems_Session_create_errhandler(MPI_Session_errhandler_function *function,
                                   MPI_Errhandler *handle) {
  int code = real.Session_create_errhandler(function, handle);
  if (!code) {
    code = errhandler_note(handle, (void (*)(void))function);
  }
  return comm_error(MPI_COMM_SELF, code, "MPI_Session_create_errhandler");
}

int pems_Session_set_errhandler(MPI_Session session, MPI_Errhandler handle) {
  struct session *s = session_of(session);
  const int code = !s                                         ? MPI_ERR_SESSION
                   : !handle || handle == MPI_ERRHANDLER_NULL ? MPI_ERR_ARG
                                                              : MPI_SUCCESS;
  if (!code) {
    errhandler_set(&s->errhandler, errhandler_make(handle));
  }
  return session_error(session, code, "MPI_Session_set_errhandler");
}

int pems_Session_get_errhandler(MPI_Session session, MPI_Errhandler *handle) {
  const struct session *s = session_of(session);
  const int code = !s ? MPI_ERR_SESSION : !handle ? MPI_ERR_ARG : MPI_SUCCESS;
  if (!code) {
    *handle = errhandler_get(&s->errhandler, MPI_ERRORS_ARE_FATAL);
  }
  return session_error(session, code, "MPI_Session_get_errhandler");
}

int pems_Session_call_errhandler(MPI_Session session, int code) {
  static const char name[] = "MPI_Session_call_errhandler";
  if (!session_of(session)) {
    return session_error(session, MPI_ERR_SESSION, name);
  }
  session_error(session, code, name);
  return MPI_SUCCESS;
}

/* --- buffers --- */

#if defined PEMS_MPI_HAS_Session_attach_buffer
int pems_Session_attach_buffer(MPI_Session session, void *address,
                               MPI_Count size) {
  const struct session *s = session_of(session);
  const int code = s ? buffered_attach(s, address, size) : MPI_ERR_SESSION;
  return session_error(session, code, "MPI_Session_attach_buffer");
}

static int detach(MPI_Session session, void *address, MPI_Count *size,
                  const char *name) {
  const struct session *s = session_of(session);
  const int code = s ? buffered_detach(s, address, size) : MPI_ERR_SESSION;
  return session_error(session, code, name);
}

int pems_Session_detach_buffer(MPI_Session session, void *address, int *size) {
  MPI_Count large = 0;
  const int code = detach(session, address, size ? &large : NULL,
                          "MPI_Session_detach_buffer");
  if (!code) {
    *size = (int)large;
  }
  return code;
}

int pems_Session_detach_buffer_c(MPI_Session session, void *address,
                                 MPI_Count *size) {
  return detach(session, address, size, "MPI_Session_detach_buffer_c");
}

int pems_Session_flush_buffer(MPI_Session session) {
  return session_error(session,
                       session_of(session) ? buffered_flush() : MPI_ERR_SESSION,
                       "MPI_Session_flush_buffer");
}

int pems_Session_iflush_buffer(MPI_Session session, MPI_Request *request) {
  static const char name[] = "MPI_Session_iflush_buffer";
  return session_error(session,
                       session_of(session) ? buffered_iflush(request, name)
                                           : MPI_ERR_SESSION,
                       name);
}
#endif
#else
const char *sessions_obstacle(const struct rank *rank) {
  (void)rank;
  return NULL;
}

void sessions_save(const struct rank *rank, struct parcel *to) {
  (void)rank, (void)to;
}

int sessions_load(struct rank *rank, struct parcel *from) {
  (void)rank, (void)from;
  return 0;
}
#endif
