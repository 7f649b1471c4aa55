/* The real MPI in unit tests of MPI calls: it knows MPI_BYTE only, and says
   that all is right. */
#ifndef TESTS_MPI_CHECK_BYTE_H
#define TESTS_MPI_CHECK_BYTE_H

#include "mpi_below/real.h"

#include <mpi.h>
#include <stddef.h>

static inline int byte_named(MPI_Datatype type, int *integers, int *addresses,
                             int *types, int *combiner) {
  (void)type;
  *integers = *addresses = *types = 0;
  *combiner = MPI_COMBINER_NAMED;
  return MPI_SUCCESS;
}

static inline int byte_size(MPI_Datatype type, MPI_Count *size) {
  (void)type;
  *size = 1;
  return MPI_SUCCESS;
}

static inline int byte_extent(MPI_Datatype type, MPI_Count *low,
                              MPI_Count *extent) {
  (void)type;
  *low = 0;
  *extent = 1;
  return MPI_SUCCESS;
}

static inline int byte_create_keyval(MPI_Type_copy_attr_function *copy,
                                     MPI_Type_delete_attr_function *delete,
                                     int *key, void *extra) {
  (void)copy, (void)delete, (void)extra;
  *key = 1;
  return MPI_SUCCESS;
}

/* The layout, which is made once and kept. */
static void *byte_layout;

static inline int byte_get_attr(MPI_Datatype type, int key, void *value,
                                int *found) {
  (void)type, (void)key;
  *(void **)value = byte_layout;
  *found = byte_layout != NULL;
  return MPI_SUCCESS;
}

static inline int byte_set_attr(MPI_Datatype type, int key, void *value) {
  (void)type, (void)key;
  byte_layout = value;
  return MPI_SUCCESS;
}

/* With these the real MPI says whether a type or an operation is right. */
static inline int byte_send(const void *buffer, int count, MPI_Datatype type,
                            int to, int tag, MPI_Comm comm) {
  (void)buffer, (void)count, (void)type, (void)to, (void)tag, (void)comm;
  return MPI_SUCCESS;
}

static inline int byte_allreduce(const void *from, void *to, int count,
                                 MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  (void)from, (void)to, (void)count, (void)type, (void)op, (void)comm;
  return MPI_SUCCESS;
}

static inline void byte_only(void) {
  real.Type_get_envelope = byte_named;
  real.Type_size_x = byte_size;
  real.Type_get_extent_x = byte_extent;
  real.Send = byte_send;
  real.Allreduce = byte_allreduce;
  real.Type_create_keyval = byte_create_keyval;
  real.Type_get_attr = byte_get_attr;
  real.Type_set_attr = byte_set_attr;
}

#endif
