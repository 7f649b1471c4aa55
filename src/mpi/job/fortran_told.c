/* What a Fortran library tells the ABI of MPI 5 of its compiler. A process
   tells it once, so that the real library hears of the first rank's words only:
   others must say the same, and have not said it before they do. */
#include "checkpoint/parcel.h"
#include "mpi/object/comm.h"
#include "mpi/object/comm_error.h"
#include "mpi/object/info.h"
#include "mpi/object/rank.h"
#include "mpi_abi/functions.h"
#include "mpi_below/real.h"
#include "os/lock.h"

#include <stdbool.h>
#include <string.h>

#if defined PEMS_MPI_HAS_Abi_set_fortran_info
enum { LARGEST = 16 }; /* bytes of a LOGICAL */

struct booleans {
  int size; /* of each */
  char yes[LARGEST], no[LARGEST];
};

/* What ranks of this process have told. */
static struct {
  struct lock lock;
  struct booleans booleans; /* of size 0: nothing */
  MPI_Info info;            /* a copy, or MPI_INFO_NULL */
} told = {.lock = LOCK_INITIALIZER(LOCK_FORTRAN), .info = MPI_INFO_NULL};

static int tell_booleans_locked(const struct booleans *b, void *yes, void *no) {
  if (told.booleans.size) {
    return memcmp(&told.booleans, b, sizeof(*b)) == 0 ? MPI_SUCCESS
                                                      : MPI_ERR_ABI;
  }
  const int code = real.Abi_set_fortran_booleans(b->size, yes, no);
  if (!code) {
    told.booleans = *b;
  }
  return code;
}

int pems_Abi_set_fortran_booleans(int size, void *yes, void *no) {
  struct rank *const rank = rank_me();
  struct booleans b = {.size = size};
  int code = size <= 0 || size > LARGEST || !yes || !no ? MPI_ERR_ARG
             : rank->told_booleans                      ? MPI_ERR_ABI
                                                        : MPI_SUCCESS;
  if (!code) {
    memcpy(b.yes, yes, (size_t)size);
    memcpy(b.no, no, (size_t)size);
    lock_take(&told.lock);
    code = tell_booleans_locked(&b, yes, no);
    lock_give(&told.lock);
  }
  if (!code) {
    rank->told_booleans = true;
  }
  return comm_error(MPI_COMM_SELF, code, "MPI_Abi_set_fortran_booleans");
}

int pems_Abi_get_fortran_booleans(int size, void *yes, void *no, int *is_set) {
  const struct rank *const rank = rank_me();
  lock_take(&told.lock);
  const bool others = (told.booleans.size || told.info != MPI_INFO_NULL) &&
                      !rank->told_booleans && !rank->told_info;
  lock_give(&told.lock);
  int code = is_set ? MPI_SUCCESS : MPI_ERR_ARG;
  if (!code && others) {
    *is_set = 0;
  } else if (!code) {
    code = real.Abi_get_fortran_booleans(size, yes, no, is_set);
  }
  return comm_error(MPI_COMM_SELF, code, "MPI_Abi_get_fortran_booleans");
}

/* Keys and values in the same order, as one library makes them. */
static bool is_same(MPI_Info a, MPI_Info b) {
  struct parcel one = {0}, other = {0};
  info_save(a, &one);
  info_save(b, &other);
  const bool same = !one.failed && !other.failed && one.n == other.n &&
                    memcmp(one.bytes, other.bytes, one.n) == 0;
  parcel_free(&one);
  parcel_free(&other);
  return same;
}

static int tell_info_locked(MPI_Info info) {
  if (told.info != MPI_INFO_NULL) {
    return is_same(told.info, info) ? MPI_SUCCESS : MPI_ERR_ABI;
  }
  const int code = real.Abi_set_fortran_info(info);
  return code ? code : real.Info_dup(info, &told.info);
}

int pems_Abi_set_fortran_info(MPI_Info info) {
  struct rank *const rank = rank_me();
  int code = !info || info == MPI_INFO_NULL ? MPI_ERR_INFO
             : rank->told_info              ? MPI_ERR_ABI
                                            : MPI_SUCCESS;
  if (!code) {
    lock_take(&told.lock);
    code = tell_info_locked(info);
    lock_give(&told.lock);
  }
  if (!code) {
    rank->told_info = true;
  }
  return comm_error(MPI_COMM_SELF, code, "MPI_Abi_set_fortran_info");
}

int pems_Abi_get_fortran_info(MPI_Info *info) {
  lock_take(&told.lock);
  const bool others = told.info != MPI_INFO_NULL && !rank_me()->told_info;
  lock_give(&told.lock);
  int code = info ? MPI_SUCCESS : MPI_ERR_ARG;
  if (!code && others) {
    *info = MPI_INFO_NULL;
  } else if (!code) {
    code = real.Abi_get_fortran_info(info);
  }
  return comm_error(MPI_COMM_SELF, code, "MPI_Abi_get_fortran_info");
}
#endif
