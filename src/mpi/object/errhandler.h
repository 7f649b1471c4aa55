/* Error handlers of communicators, windows and files. */
#ifndef PEMS_MPI_OBJECT_ERRHANDLER_H
#define PEMS_MPI_OBJECT_ERRHANDLER_H

#include <mpi.h>
#include <stdbool.h>

/* Calls `function`, which is another language's: it gets the handle at *handle
   and the code as that language has them. */
typedef void errhandler_caller(void *handle, int *code, const char *name,
                               void (*function)(void));

/* The error handler of a communicator, window or file. */
struct errhandler {
  MPI_Errhandler handle;     /* or 0: none was set */
  void (*function)(void);    /* the program's, or NULL */
  errhandler_caller *caller; /* NULL: it is C's */
  bool outside;              /* in no checkpoint */
};

/* Part of a sentence about the handle of the calling thread's error that is to
   be handled now, or "". */
void errhandler_about(const char *hint);
/* Calls the handler of a communicator, window or file with `code`, unless that
   is MPI_SUCCESS; `handle` is what its function gets the address of. Returns
   code, unless the handler ends the job. `function` is "MPI_X". */
int errhandler_call(const struct errhandler *set, void *handle, int code,
                    const char *function);
/* Does MPI_COMM_WORLD's handler take the place of one that was not set, as with
   some MPIs below? */
bool errhandler_is_worlds(const struct errhandler *set);
/* What MPI_X_set_errhandler keeps for a handle, and what X_create did. */
struct errhandler errhandler_make(MPI_Errhandler handle);
/* An object, zeroed or not, has another one from now on, or none any more. What
   programs have freed is gone when no object has it. */
void errhandler_set(struct errhandler *to, struct errhandler what);
void errhandler_unset(struct errhandler *of);
/* The program frees a reference. An error class. */
int errhandler_free(MPI_Errhandler handle);
/* What MPI_X_get_errhandler gives: a reference of the program's; `none` where
   none was set. */
MPI_Errhandler errhandler_get(const struct errhandler *set,
                              MPI_Errhandler none);
/* What the real library is given for functions of other languages: never
   called. */
void errhandler_stands_in(void);
/* Note the program's function behind a real error handler that was made for
   it. An error class: without memory the real one is freed, and *handle is
   MPI_ERRHANDLER_NULL. */
int errhandler_note(MPI_Errhandler *handle, void (*function)(void));
int errhandler_note_for(MPI_Errhandler *handle, void (*function)(void),
                        errhandler_caller *caller);
/* `function` is for the caller only, and no checkpoint can have it. */
int errhandler_note_outside(MPI_Errhandler *handle, void (*function)(void),
                            errhandler_caller *caller);

/* In a checkpoint: what the rank's program has made, and one that is set, after
   those, if it is one of those or predefined. Those that return an int return
   an errno value, or 0. */
struct parcel;
struct rank;
const char *errhandlers_obstacle(const struct rank *rank);
void errhandlers_save(const struct rank *rank, struct parcel *to);
int errhandlers_load(struct rank *rank, struct parcel *from);
bool errhandler_is_own(const struct errhandler *set);
void errhandler_save(const struct errhandler *set, struct parcel *to);
int errhandler_load(struct errhandler *set, struct parcel *from);

#endif
