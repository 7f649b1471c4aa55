/* Attributes that programs hang on communicators, windows and datatypes.
   Keyvals are each VP's own, and so are the copies of its attributes: no locks.
 */
#ifndef PEMS_MPI_OBJECT_ATTRIBUTE_H
#define PEMS_MPI_OBJECT_ATTRIBUTE_H

#include "checkpoint/parcel.h"
#include "mpi_abi/abi.h"

#include <mpi.h>
#include <stdbool.h>

enum attribute_kind { ATTRIBUTE_COMM, ATTRIBUTE_WIN, ATTRIBUTE_TYPE };

/* Programs write pointers in C, and integers in Fortran. Of those, and of
   predefined attributes that are integers, C gets the address. */
enum attribute_type { ATTRIBUTE_POINTER, ATTRIBUTE_INT, ATTRIBUTE_AINT };

struct attribute_value {
  enum attribute_type type;
  union {
    void *pointer;
    int integer;
    MPI_Aint aint;
  };
};

/* All attributes of one object: NULL at first, grown by attribute_set. */
struct attributes;

/* Keyvals of the calling VP, with the callbacks of C (Fortran's stand behind
   such). All return an MPI error class. */
int attribute_keyval_create(enum attribute_kind kind, void (*copy)(void),
                            void (*delete)(void), void *extra, int *keyval);
int attribute_keyval_free(enum attribute_kind kind, int *keyval);

/* What calls callbacks that are another language's, in the place of pems.
   `type` is 0. */
typedef int attribute_copier(void (*copy)(void), abi_holder handle, int keyval,
                             void *extra, int type, void *in, void **out,
                             int *flag);
typedef int attribute_deleter(void (*delete)(void), abi_holder handle,
                              int keyval, int type, void *value, void *extra);
/* Callbacks of the keyval, of whichever kind, are called by these. False: there
   is no such keyval. */
bool attribute_keyval_call_by(int keyval, attribute_copier *copier,
                              attribute_deleter *deleter);

/* What stands behind the callbacks is lost in other processes. */
void attribute_keyval_is_foreign(int keyval);

/* `handle` is the object for callbacks: an MPI_Comm, MPI_Win or MPI_Datatype.
   Returns what a callback did, if that fails. */
int attribute_set(enum attribute_kind kind, abi_holder handle,
                  struct attributes **on, int keyval,
                  struct attribute_value value);
int attribute_delete(enum attribute_kind kind, abi_holder handle,
                     struct attributes **on, int keyval);
/* Predefined keyvals too. The value stays where it is until it is deleted or
   set anew; NULL if there is none. */
int attribute_find(enum attribute_kind kind, struct attributes *on, int keyval,
                   struct attribute_value **value);
/* What C sees of a value: the same for all MPI_X_get_attr. */
void *attribute_for_c(struct attribute_value *value);
/* Fortran's functions call C's. The calling thread's next MPI_X_set_attr gets
   no pointer but an integer of that type, or its MPI_X_get_attr gives one of an
   address's size; ATTRIBUTE_POINTER: they are C's again. */
void attribute_as(enum attribute_type type);
/* What MPI_X_set_attr is given. */
struct attribute_value attribute_given(void *value);
/* The bodies of MPI_X_get_attr. */
int attribute_get(enum attribute_kind kind, struct attributes *on, int keyval,
                  void *out, int *flag);
static inline struct attribute_value attribute_pointer(void *pointer) {
  return (struct attribute_value){ATTRIBUTE_POINTER, {.pointer = pointer}};
}

/* Is it MPI_TAG_UB, MPI_WIN_BASE or the like? */
bool attribute_is_predefined(int keyval);
/* A predefined attribute: MPI_TAG_UB, MPI_WIN_BASE. The program cannot change
   or delete it. */
int attribute_predefine(struct attributes **on, int keyval,
                        struct attribute_value value);

/* For a duplicate of an object: calls copy callbacks, in the order in which the
   attributes were set. */
int attributes_copy(abi_holder from_handle, struct attributes *from,
                    struct attributes **to);
/* Deletes all in the reverse order, until a callback fails. */
int attributes_delete(abi_holder handle, struct attributes **on);
/* Frees what is left without a word to the program. NULL is allowed. */
void attributes_free(struct attributes *on);

struct rank;
/* At the rank's end, after its communicators'. */
void attribute_end(struct rank *rank);

/* In a checkpoint: the calling rank's keyvals, and then what is on an object,
   which is NULL, or has predefined ones. Those that return an int return an
   errno value, or 0. */
const char *attribute_keyvals_obstacle(const struct rank *rank);
void attribute_keyvals_save(const struct rank *rank, struct parcel *to);
int attribute_keyvals_load(struct rank *rank, struct parcel *from);
void attributes_save(const struct attributes *on, struct parcel *to);
int attributes_load(struct attributes **on, struct parcel *from);

#endif
