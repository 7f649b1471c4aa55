/* Communicators: a rank's handle on a team. Checks of arguments that all calls
   share, and error handlers. */
#ifndef PEMS_MPI_OBJECT_COMM_H
#define PEMS_MPI_OBJECT_COMM_H

#include "mpi/object/group.h"
#include "mpi/object/rank.h"
#include "mpi/object/team.h"
#include "mpi_abi/handle.h"

#include <mpi.h>
#include <stdbool.h>

struct attributes;  /* attribute.c */
struct derivations; /* comm_create.c */
struct topology;    /* topology.c */

/* Of libmpi_cxx: makes an object of the handle and calls `function`. */
typedef void errhandler_cxx(void *handle, int *code, const char *name,
                            void (*function)(void));

/* The error handler of a communicator, window or file. */
struct errhandler {
  MPI_Errhandler handle;  /* or NULL: none was set */
  void (*function)(void); /* the program's, or NULL */
  bool fortran;           /* it is a subroutine: of two INTEGERs */
  errhandler_cxx *cxx;    /* if not NULL, what calls it for C++ */
};

struct comm {
  struct handle handle;
  struct team *team;
  struct vp *vp; /* whose handle it is */
  int rank;      /* in its own group */
  int peer;      /* its number in the team */
  int index;     /* among the team's members in this process */

  struct group *group;  /* its own */
  struct group *remote; /* the other, or NULL: an intra-communicator */
  int first_peer;       /* peer number of rank 0 of the group that messages and
                           collectives address: the other one, if there is */
  int peers;            /* its size: ranks 0 .. peers - 1 */
  struct comm *local;   /* of an inter-communicator: its own group, hidden from
                           the program; else NULL */

  uint64_t collectives; /* collective calls that it has made */
  const char *function; /* that made it, and where: for reports */
  void *site;
  int users;                    /* requests, windows, files that need it */
  bool freed;                   /* by the program: goes when users is 0 */
  struct comm *next, *previous; /* in rank->comms */

  struct errhandler errhandler;
  struct attributes *attributes;   /* or NULL */
  struct topology *topology;       /* or NULL */
  struct derivations *derivations; /* MPI_Comm_create_group, or NULL */
  MPI_Info info;                   /* own copy, or MPI_INFO_NULL */
  char name[MPI_MAX_OBJECT_NAME];
};

/* The calling VP. */
struct vp *comm_me(void);

/* The communicator behind a handle of the calling VP; NULL for what is none. */
struct comm *comm_of(MPI_Comm handle);
MPI_Comm comm_handle(const struct comm *comm); /* NULL: MPI_COMM_NULL */

/* A handle for the calling VP (or `rank`'s), a member of the new team. `world`
   are the team's members, `first` of them in the first group; the VP is member
   `peer`. Attributes, topology, name and error handler are empty. */
struct comm *comm_new(struct rank *rank, uint64_t id, const int *world,
                      int size, int first, int peer);
static inline bool comm_is_inter(const struct comm *comm) {
  return comm->remote != 0;
}
/* Something that is under way needs it. Called by its VP. */
void comm_use(struct comm *comm);
void comm_unuse(struct comm *comm);
/* The program (or who made it) is done with it. */
void comm_free(struct comm *comm);

/* Calls the error handler of `comm` (that of MPI_COMM_WORLD where comm is not a
   communicator) with `code`. Returns code, unless the handler ends the job.
   `function` is "MPI_X". No effect for MPI_SUCCESS. */
int comm_error(MPI_Comm comm, int code, const char *function);
/* The same for a window's or file's handler; `handle` is what its function gets
   the address of. */
int errhandler_call(const struct errhandler *set, void *handle, int code,
                    const char *function);
/* What MPI_X_set_errhandler keeps for a handle, and what X_create did. */
struct errhandler errhandler_make(MPI_Errhandler handle);
/* What MPI_X_get_errhandler gives: a reference of the program's; `none` where
   none was set. */
MPI_Errhandler errhandler_get(const struct errhandler *set,
                              MPI_Errhandler none);
/* What the real library is given for functions of other languages: never
   called. */
void errhandler_stands_in(void);
void errhandler_note(MPI_Errhandler handle, void (*function)(void));
void errhandler_note_fortran(MPI_Errhandler handle, void (*function)(void));
void errhandler_note_cxx(MPI_Errhandler handle, void (*function)(void),
                         errhandler_cxx *caller);

/* Makes mpi_delegated call the VP's handlers. */
void comm_install(void);

/* Each returns MPI_SUCCESS or the error class that Open MPI gives. */
int check_comm(MPI_Comm comm); /* any kind */
int check_intra(MPI_Comm comm);
/* A rank of the addressed group; also MPI_PROC_NULL (and MPI_ANY_SOURCE). */
int check_peer(const struct comm *comm, int rank, bool any);
/* A buffer to send or receive; count and type as in MPI. */
int check_buffer(const void *buffer, int count, MPI_Datatype type);
/* n counts, each at least 0, and their buffer. */
int check_counts(const void *buffer, const int *counts, int n,
                 MPI_Datatype type);
int check_op(MPI_Op op, MPI_Datatype type);

#endif
