/* MPI_Wait, MPI_Test and their kin. */
#include "mpi/object/comm_error.h"
#include "mpi/request/requests.h"
#include "mpi_abi/functions.h"

/* Reports one end: of a persistent request the round, of others all. */
static int report_end(MPI_Request *handle, struct request *r,
                      MPI_Status *status) {
  request_finish(r);
  const int error = r->result.error;
  request_status_set(status, &r->result);
  if (r->persistent) {
    r->active = false;
  } else {
    *handle = MPI_REQUEST_NULL;
  }
  return error;
}

/* After its error was reported, which needs its communicator. */
static void drop(struct request *r) {
  if (!r->persistent) {
    request_end(r);
  }
}

static int failed(const struct request *r, int code, const char *function) {
  return comm_error(r && r->comm ? comm_handle(r->comm) : MPI_COMM_WORLD, code,
                    function);
}

static int refuse(int code, const char *function) {
  return comm_error(MPI_COMM_WORLD, code, function);
}

static void set_error(MPI_Status *status, int error) {
  if (status != MPI_STATUS_IGNORE) {
    status->MPI_ERROR = error;
  }
}

/* MPI_ERROR is a part of an empty status (MPI 3.1, section 3.7.3), though of
   others only where there are several. */
static void set_empty(MPI_Status *status) {
  const struct request_result empty = request_result_empty();
  request_status_set(status, &empty);
  set_error(status, MPI_SUCCESS);
}

static int check_request(const MPI_Request *handle) {
  return handle && (*handle == MPI_REQUEST_NULL || request_of(*handle))
             ? MPI_SUCCESS
             : MPI_ERR_REQUEST;
}

static int check_requests(const MPI_Request *handles, int n) {
  if (n < 0) {
    return MPI_ERR_ARG;
  }
  for (int i = 0; i < n; i++) {
    if (!handles || check_request(&handles[i])) {
      return MPI_ERR_REQUEST;
    }
  }
  return MPI_SUCCESS;
}

/* One that is done. */
static int end_one(MPI_Request *handle, MPI_Status *status,
                   const char *function) {
  struct request *r = requests_at(requests_of(handle, 1), 0);
  if (!r) {
    set_empty(status);
    return MPI_SUCCESS;
  }
  int error = report_end(handle, r, status);
  if (error) {
    error = failed(r, error, function);
  }
  drop(r);
  return error;
}

static MPI_Status *status_at(MPI_Status *statuses, int i) {
  return statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[i];
}

/* Ends those of n that are done, all of which count if `indices` is NULL; else
   only those, whose places are noted. Statuses are in the order of the ends.
   Returns MPI_ERR_IN_STATUS if any had an error. */
static int end_some(MPI_Request *handles, int n, int *indices, int *count,
                    MPI_Status *statuses, const char *function) {
  int ended = 0, code = MPI_SUCCESS;
  for (int i = 0; i < n; i++) {
    struct request *r = requests_at(requests_of(handles, n), i);
    if (indices && !(r && request_is_done(r))) {
      continue;
    }
    MPI_Status *status = status_at(statuses, indices ? ended : i);
    int error = MPI_SUCCESS;
    if (r) {
      error = report_end(&handles[i], r, status);
    } else {
      set_empty(status);
    }
    set_error(status, error);
    if (error && !code) {
      code = failed(r, MPI_ERR_IN_STATUS, function);
    }
    if (r) {
      drop(r);
    }
    if (indices) {
      indices[ended] = i;
    }
    ended++;
  }
  if (count) {
    *count = ended;
  }
  return code;
}

int pems_Wait(MPI_Request *handle, MPI_Status *status) {
  if (check_request(handle)) {
    return refuse(MPI_ERR_REQUEST, "MPI_Wait");
  }
  return requests_await_all(requests_of(handle, 1), "MPI_Wait")
             ? end_one(handle, status, "MPI_Wait")
             : VP_LEFT;
}

int pems_Waitall(int n, MPI_Request handles[], MPI_Status statuses[]) {
  const int code = check_requests(handles, n);
  if (code) {
    return refuse(code, "MPI_Waitall");
  }
  return requests_await_all(requests_of(handles, n), "MPI_Waitall")
             ? end_some(handles, n, NULL, NULL, statuses, "MPI_Waitall")
             : VP_LEFT;
}

int pems_Waitany(int n, MPI_Request handles[], int *index, MPI_Status *status) {
  int code = check_requests(handles, n);
  code = code ? code : index ? MPI_SUCCESS : MPI_ERR_ARG;
  if (code) {
    return refuse(code, "MPI_Waitany");
  }
  const int first = requests_await_any(requests_of(handles, n), "MPI_Waitany");
  if (first == VP_LEFT) {
    return VP_LEFT;
  }
  *index = first;
  if (first == MPI_UNDEFINED) {
    set_empty(status);
    return MPI_SUCCESS;
  }
  return end_one(&handles[*index], status, "MPI_Waitany");
}

int pems_Waitsome(int n, MPI_Request handles[], int *count, int indices[],
                  MPI_Status statuses[]) {
  int code = check_requests(handles, n);
  code = code ? code : count && (indices || !n) ? MPI_SUCCESS : MPI_ERR_ARG;
  if (code) {
    return refuse(code, "MPI_Waitsome");
  }
  const int first = requests_await_any(requests_of(handles, n), "MPI_Waitsome");
  if (first == VP_LEFT) {
    return VP_LEFT;
  }
  if (first == MPI_UNDEFINED) {
    *count = MPI_UNDEFINED;
    return MPI_SUCCESS;
  }
  return end_some(handles, n, indices, count, statuses, "MPI_Waitsome");
}

/* Notes whether a call that asked for n requests found something. */
static bool polled(bool found, int n) {
  struct vp *vp = comm_me();
  if (found) {
    request_poll_over(vp);
    requests_remove_gone(rank_me());
  } else {
    request_polled(vp, n, rank_me()->n_requests);
  }
  return found;
}

int pems_Test(MPI_Request *handle, int *flag, MPI_Status *status) {
  if (check_request(handle)) {
    return refuse(MPI_ERR_REQUEST, "MPI_Test");
  }
  if (!flag) {
    return refuse(MPI_ERR_ARG, "MPI_Test");
  }
  const struct request *r = requests_at(requests_of(handle, 1), 0);
  *flag = polled(!r || request_is_done(r), 1);
  return *flag ? end_one(handle, status, "MPI_Test") : MPI_SUCCESS;
}

int pems_Testall(int n, MPI_Request handles[], int *flag,
                 MPI_Status statuses[]) {
  int code = check_requests(handles, n);
  code = code ? code : flag ? MPI_SUCCESS : MPI_ERR_ARG;
  if (code) {
    return refuse(code, "MPI_Testall");
  }
  int done;
  const int active = requests_count(requests_of(handles, n), &done);
  *flag = polled(active == done, active);
  return *flag ? end_some(handles, n, NULL, NULL, statuses, "MPI_Testall")
               : MPI_SUCCESS;
}

int pems_Testany(int n, MPI_Request handles[], int *index, int *flag,
                 MPI_Status *status) {
  int code = check_requests(handles, n);
  code = code ? code : index && flag ? MPI_SUCCESS : MPI_ERR_ARG;
  if (code) {
    return refuse(code, "MPI_Testany");
  }
  int done;
  const int active = requests_count(requests_of(handles, n), &done);
  *flag = polled(!active || done, active);
  *index = MPI_UNDEFINED;
  if (!active) {
    set_empty(status);
  }
  if (!active || !done) {
    return MPI_SUCCESS;
  }
  *index = requests_first_done(requests_of(handles, n));
  return end_one(&handles[*index], status, "MPI_Testany");
}

int pems_Testsome(int n, MPI_Request handles[], int *count, int indices[],
                  MPI_Status statuses[]) {
  int code = check_requests(handles, n);
  code = code ? code : count && (indices || !n) ? MPI_SUCCESS : MPI_ERR_ARG;
  if (code) {
    return refuse(code, "MPI_Testsome");
  }
  int done;
  const int active = requests_count(requests_of(handles, n), &done);
  if (!polled(!active || done, active)) {
    *count = 0;
    return MPI_SUCCESS;
  }
  if (!active) {
    *count = MPI_UNDEFINED;
    return MPI_SUCCESS;
  }
  return end_some(handles, n, indices, count, statuses, "MPI_Testsome");
}

int pems_Request_get_status(MPI_Request handle, int *flag, MPI_Status *status) {
  if (check_request(&handle)) {
    return refuse(MPI_ERR_REQUEST, "MPI_Request_get_status");
  }
  if (!flag) {
    return refuse(MPI_ERR_ARG, "MPI_Request_get_status");
  }
  struct request *r = requests_at(requests_of(&handle, 1), 0);
  *flag = polled(!r || request_is_done(r), 1);
  if (!r) {
    set_empty(status);
  } else if (*flag) {
    request_finish(r);
    request_status_set(status, &r->result);
  }
  return MPI_SUCCESS;
}

#if defined PEMS_MPI_HAS_Request_get_status_any
/* What a status says of one that is done, or is none; it stays as it is. */
static void look(struct request *r, MPI_Status *status) {
  if (!r) {
    set_empty(status);
    return;
  }
  request_finish(r);
  request_status_set(status, &r->result);
}

int pems_Request_get_status_any(int n, const MPI_Request handles[], int *index,
                                int *flag, MPI_Status *status) {
  int code = check_requests(handles, n);
  code = code ? code : index && flag ? MPI_SUCCESS : MPI_ERR_ARG;
  if (code) {
    return refuse(code, "MPI_Request_get_status_any");
  }
  int done;
  const struct requests all = requests_of(handles, n);
  const int active = requests_count(all, &done);
  *flag = polled(!active || done, active);
  *index = MPI_UNDEFINED;
  if (!active) {
    set_empty(status);
  } else if (done) {
    *index = requests_first_done(all);
    look(requests_at(all, *index), status);
  }
  return MPI_SUCCESS;
}

int pems_Request_get_status_all(int n, const MPI_Request handles[], int *flag,
                                MPI_Status statuses[]) {
  int code = check_requests(handles, n);
  code = code ? code : flag ? MPI_SUCCESS : MPI_ERR_ARG;
  if (code) {
    return refuse(code, "MPI_Request_get_status_all");
  }
  int done;
  const struct requests all = requests_of(handles, n);
  const int active = requests_count(all, &done);
  *flag = polled(active == done, active);
  for (int i = 0; *flag && i < n; i++) {
    look(requests_at(all, i), status_at(statuses, i));
  }
  return MPI_SUCCESS;
}

int pems_Request_get_status_some(int n, const MPI_Request handles[], int *count,
                                 int indices[], MPI_Status statuses[]) {
  int code = check_requests(handles, n);
  code = code ? code : count && (indices || !n) ? MPI_SUCCESS : MPI_ERR_ARG;
  if (code) {
    return refuse(code, "MPI_Request_get_status_some");
  }
  int done;
  const struct requests all = requests_of(handles, n);
  const int active = requests_count(all, &done);
  polled(!active || done, active);
  *count = active ? 0 : MPI_UNDEFINED;
  for (int i = 0; active && i < n; i++) {
    struct request *r = requests_at(all, i);
    if (r && request_is_done(r)) {
      look(r, status_at(statuses, *count));
      indices[(*count)++] = i;
    }
  }
  return MPI_SUCCESS;
}
#endif
