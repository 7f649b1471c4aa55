/* Fortran's MPI_Wait, MPI_Test and their kin, and generalized requests. */
#include "mpi_abi/fortran.h"

#include "base/need.h"
#include "base/self.h"
#include "context/calls/allocate.h"
#include "mpi_abi/handle.h"
#include "os/native.h"
#include "vp/vp.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

enum { STATUS_WORDS = sizeof(MPI_Status) / sizeof(MPI_Fint) };

static bool is_ignored(const MPI_Fint *status) {
  return status == &mpi_fortran_status_ignore_ ||
         status == &mpi_fortran_statuses_ignore_;
}

/* C's arrays for a call on n requests: given back by arrays_end. */
struct arrays {
  int n;
  bool kept; /* in the rank's context, which a checkpoint saves; else native */
  MPI_Request *request;
  MPI_Status *status;
};

/* A rank may stop in the call, and go on from there in another process, where
   addresses of pems's memory are none. */
static bool is_kept(void) {
  return handles_fixed && self.vp && !self.inside;
}

static struct arrays arrays_begin(int n, const MPI_Fint *numbers) {
  const size_t size = sizeof(MPI_Request) + sizeof(MPI_Status);
  struct arrays a = {n > 0 ? n : 0, is_kept(), NULL, NULL};
  const size_t bytes = ((size_t)a.n + 1) * size;
  a.request = a.kept ? context_alloc(self.vp->context, bytes, 16)
                     : need_alloc(bytes, "requests of Fortran");
  if (!a.request) {
    need_fail("requests of Fortran");
  }
  a.status = (MPI_Status *)(a.request + a.n);
  for (int i = 0; i < a.n; i++) {
    a.request[i] = MPI_Request_f2c(numbers[i]);
  }
  return a;
}

/* What has become of the requests; their numbers go with the objects. */
static void arrays_end(const struct arrays *a, MPI_Fint *numbers) {
  for (int i = 0; i < a->n; i++) {
    numbers[i] = MPI_Request_c2f(a->request[i]);
  }
  if (a->kept) {
    context_free(self.vp->context, a->request);
  } else {
    native_free(a->request);
  }
}

static void give_status(const MPI_Status *from, MPI_Fint *to) {
  if (!is_ignored(to)) {
    MPI_Status_c2f(from, to);
  }
}

static void give_statuses(const MPI_Status *from, int n, MPI_Fint *to) {
  for (int i = 0; i < n && !is_ignored(to); i++) {
    MPI_Status_c2f(&from[i], to + (size_t)i * STATUS_WORDS);
  }
}

/* Statuses are defined then. */
static bool has_statuses(int code) {
  if (code == MPI_SUCCESS) {
    return true;
  }
  int class = code;
  MPI_Error_class(code, &class);
  return class == MPI_ERR_IN_STATUS;
}

FORTRAN_ENTRY(wait, WAIT, MPI_Fint *number, MPI_Fint *status, MPI_Fint *ierr) {
  MPI_Request request = MPI_Request_f2c(*number);
  MPI_Status s;
  const int code = MPI_Wait(&request, &s);
  *number = MPI_Request_c2f(request);
  if (code == MPI_SUCCESS) {
    give_status(&s, status);
  }
  fortran_result(ierr, code);
}

FORTRAN_ENTRY(test, TEST, MPI_Fint *number, MPI_Fint *done, MPI_Fint *status,
              MPI_Fint *ierr) {
  MPI_Request request = MPI_Request_f2c(*number);
  MPI_Status s;
  int flag = 0;
  const int code = MPI_Test(&request, &flag, &s);
  *number = MPI_Request_c2f(request);
  if (code == MPI_SUCCESS) {
    *done = flag ? FORTRAN_TRUE : FORTRAN_FALSE;
    if (flag) {
      give_status(&s, status);
    }
  }
  fortran_result(ierr, code);
}

FORTRAN_ENTRY(waitall, WAITALL, MPI_Fint *n, MPI_Fint *numbers,
              MPI_Fint *statuses, MPI_Fint *ierr) {
  const struct arrays a = arrays_begin(*n, numbers);
  const int code = MPI_Waitall(*n, a.request, a.status);
  if (has_statuses(code)) {
    give_statuses(a.status, a.n, statuses);
  }
  arrays_end(&a, numbers);
  fortran_result(ierr, code);
}

FORTRAN_ENTRY(testall, TESTALL, MPI_Fint *n, MPI_Fint *numbers, MPI_Fint *done,
              MPI_Fint *statuses, MPI_Fint *ierr) {
  const struct arrays a = arrays_begin(*n, numbers);
  int flag = 0;
  const int code = MPI_Testall(*n, a.request, &flag, a.status);
  *done = flag ? FORTRAN_TRUE : FORTRAN_FALSE;
  if (flag && has_statuses(code)) {
    give_statuses(a.status, a.n, statuses);
  }
  arrays_end(&a, numbers);
  fortran_result(ierr, code);
}

/* C counts from 0. */
static void give_index(MPI_Fint *to, int index) {
  *to = index == MPI_UNDEFINED ? MPI_UNDEFINED : index + 1;
}

FORTRAN_ENTRY(waitany, WAITANY, MPI_Fint *n, MPI_Fint *numbers, MPI_Fint *which,
              MPI_Fint *status, MPI_Fint *ierr) {
  const struct arrays a = arrays_begin(*n, numbers);
  int index = MPI_UNDEFINED;
  MPI_Status s;
  const int code = MPI_Waitany(*n, a.request, &index, &s);
  if (code == MPI_SUCCESS) {
    give_status(&s, status);
  }
  give_index(which, index);
  arrays_end(&a, numbers);
  fortran_result(ierr, code);
}

FORTRAN_ENTRY(testany, TESTANY, MPI_Fint *n, MPI_Fint *numbers, MPI_Fint *which,
              MPI_Fint *done, MPI_Fint *status, MPI_Fint *ierr) {
  const struct arrays a = arrays_begin(*n, numbers);
  int index = MPI_UNDEFINED, flag = 0;
  MPI_Status s;
  const int code = MPI_Testany(*n, a.request, &index, &flag, &s);
  *done = flag ? FORTRAN_TRUE : FORTRAN_FALSE;
  if (flag && code == MPI_SUCCESS) {
    give_status(&s, status);
  }
  give_index(which, index);
  arrays_end(&a, numbers);
  fortran_result(ierr, code);
}

typedef int some_function(int n, MPI_Request *requests, int *completed,
                          int *indices, MPI_Status *statuses);

static int some(some_function *f, int n, MPI_Fint *numbers, MPI_Fint *completed,
                MPI_Fint *indices, MPI_Fint *statuses) {
  const struct arrays a = arrays_begin(n, numbers);
  int count = MPI_UNDEFINED;
  const int code = f(n, a.request, &count, indices, a.status);
  *completed = count;
  if (count != MPI_UNDEFINED && has_statuses(code)) {
    give_statuses(a.status, count, statuses);
    for (int i = 0; i < count; i++) {
      indices[i]++;
    }
  }
  arrays_end(&a, numbers);
  return code;
}

FORTRAN_ENTRY(waitsome, WAITSOME, MPI_Fint *n, MPI_Fint *numbers,
              MPI_Fint *completed, MPI_Fint *indices, MPI_Fint *statuses,
              MPI_Fint *ierr) {
  fortran_result(ierr,
                 some(MPI_Waitsome, *n, numbers, completed, indices, statuses));
}

FORTRAN_ENTRY(testsome, TESTSOME, MPI_Fint *n, MPI_Fint *numbers,
              MPI_Fint *completed, MPI_Fint *indices, MPI_Fint *statuses,
              MPI_Fint *ierr) {
  fortran_result(ierr,
                 some(MPI_Testsome, *n, numbers, completed, indices, statuses));
}

/* mpi_f08's modules would make arrays of their own, which no checkpoint has;
   what they are given is the same. */
FORTRAN_ENTRY_F08(waitall);
FORTRAN_ENTRY_F08(waitany);
FORTRAN_ENTRY_F08(waitsome);

/* --- generalized requests --- */

/* What the program gave to MPI_Grequest_start. */
struct grequest {
  void (*query)(MPI_Aint *extra, MPI_Fint *status, MPI_Fint *ierr);
  void (*free)(MPI_Aint *extra, MPI_Fint *ierr);
  void (*cancel)(MPI_Aint *extra, MPI_Fint *complete, MPI_Fint *ierr);
  MPI_Aint extra;
};

static int query(void *arg, MPI_Status *status) {
  struct grequest *g = arg;
  MPI_Fint words[STATUS_WORDS], ierr = MPI_SUCCESS;
  memcpy(words, status, sizeof(words));
  g->query(&g->extra, words, &ierr);
  memcpy(status, words, sizeof(words));
  return ierr;
}

static int free_request(void *arg) {
  struct grequest *g = arg;
  MPI_Fint ierr = MPI_SUCCESS;
  g->free(&g->extra, &ierr);
  native_free(g);
  return ierr;
}

static int cancel(void *arg, int complete) {
  struct grequest *g = arg;
  MPI_Fint ierr = MPI_SUCCESS;
  MPI_Fint flag = complete ? FORTRAN_TRUE : FORTRAN_FALSE;
  g->cancel(&g->extra, &flag, &ierr);
  return ierr;
}

FORTRAN_ENTRY(grequest_start, GREQUEST_START,
              void (*query_fn)(MPI_Aint *, MPI_Fint *, MPI_Fint *),
              void (*free_fn)(MPI_Aint *, MPI_Fint *),
              void (*cancel_fn)(MPI_Aint *, MPI_Fint *, MPI_Fint *),
              MPI_Aint *extra, MPI_Fint *number, MPI_Fint *ierr) {
  struct grequest *g = native_alloc(sizeof(*g));
  if (!g) {
    fortran_result(ierr, fortran_no_memory());
    return;
  }
  *g = (struct grequest){query_fn, free_fn, cancel_fn, *extra};
  MPI_Request request;
  const int code = MPI_Grequest_start(query, free_request, cancel, g, &request);
  if (code == MPI_SUCCESS) {
    *number = MPI_Request_c2f(request);
  } else {
    native_free(g);
  }
  fortran_result(ierr, code);
}
