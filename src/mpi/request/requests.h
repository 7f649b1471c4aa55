/* Several requests at once: asking for them, and waiting. */
#ifndef PEMS_MPI_REQUEST_REQUESTS_H
#define PEMS_MPI_REQUEST_REQUESTS_H

#include "mpi/request/request.h"

/* What calls that wait and ask look at: n handles of the program's, or n
   requests of pems's own; the other is NULL. Those that are null, inactive or
   foreign are skipped. */
struct requests {
  const MPI_Request *handles;
  struct request *const *own;
  int n;
};
static inline struct requests requests_of(const MPI_Request *handles, int n) {
  return (struct requests){handles, NULL, n};
}

/* The request at a place, or NULL: there is nothing to wait for. */
struct request *requests_at(struct requests all, int i);
/* How many there are to wait for, and how many of them are done. */
int requests_count(struct requests all, int *done);
/* The place of the first that is done, or -1. */
int requests_first_done(struct requests all);
/* Waits until all are done; false if the call is to be left. */
bool requests_await_all(struct requests all, const char *function);
/* Waits until one is done: its place, or MPI_UNDEFINED if there is none, or
   VP_LEFT. */
int requests_await_any(struct requests all, const char *function);

/* Waits until it is done, finishes it, and frees it; for calls that block.
   Returns its error; `result` may be NULL. Or VP_LEFT: it is kept. */
int request_complete(struct request *r, struct request_result *result);
/* Waits for all n at once, then as above each; NULL entries are skipped. The
   first error. */
int request_complete_all(struct request **r, int n);

/* Finishes those of the calling VP that are no more than results then
   (request_class.past). Waits for collective ones, of which others have yet to
   begin their part: false if no rank can go on meanwhile. */
bool requests_settle(struct rank *rank);

#endif
