/* The numbers that Fortran has for handles, and MPI 5's MPI_X_toint and
   MPI_X_fromint, where C's are addresses. Predefined handles keep those of the
   real library. */
#include "mpi_abi/abi.h"
#include "mpi_abi/functions.h"
#include "mpi_abi/handle.h"
#include "mpi_below/real.h"

#include <stddef.h>

/* The number of a pems object; -1 for what is none. */
static int number_of(void *object, enum handle_kind kind) {
  return handle_is(object, kind) ? handle_c2f(object) : -1;
}

int ABI_TO_INT(pems_Comm)(MPI_Comm comm) {
  return comm == MPI_COMM_WORLD || comm == MPI_COMM_SELF ||
                 comm == MPI_COMM_NULL
             ? real.ABI_TO_INT(Comm)(comm)
             : number_of(ABI_OBJECT(comm), HANDLE_COMM);
}

MPI_Comm ABI_FROM_INT(pems_Comm)(int number) {
  const MPI_Comm comm = real.ABI_FROM_INT(Comm)(number);
  /* The real library has communicators of its own that are none of a rank's. */
  return comm == MPI_COMM_WORLD || comm == MPI_COMM_SELF ||
                 comm == MPI_COMM_NULL
             ? comm
             : ABI_HANDLE(MPI_Comm, handle_f2c(HANDLE_COMM, number));
}

int ABI_TO_INT(pems_Group)(MPI_Group group) {
  return group == MPI_GROUP_EMPTY || group == MPI_GROUP_NULL
             ? real.ABI_TO_INT(Group)(group)
             : number_of(ABI_OBJECT(group), HANDLE_GROUP);
}

MPI_Group ABI_FROM_INT(pems_Group)(int number) {
  const MPI_Group group = real.ABI_FROM_INT(Group)(number);
  return group == MPI_GROUP_EMPTY || group == MPI_GROUP_NULL
             ? group
             : ABI_HANDLE(MPI_Group, handle_f2c(HANDLE_GROUP, number));
}

int ABI_TO_INT(pems_Message)(MPI_Message message) {
  return message == MPI_MESSAGE_NULL || message == MPI_MESSAGE_NO_PROC
             ? real.ABI_TO_INT(Message)(message)
             : number_of(ABI_OBJECT(message), HANDLE_MESSAGE);
}

MPI_Message ABI_FROM_INT(pems_Message)(int number) {
  const MPI_Message message = real.ABI_FROM_INT(Message)(number);
  return message == MPI_MESSAGE_NULL || message == MPI_MESSAGE_NO_PROC
             ? message
             : ABI_HANDLE(MPI_Message, handle_f2c(HANDLE_MESSAGE, number));
}

int ABI_TO_INT(pems_Request)(MPI_Request request) {
  return handle_is(ABI_OBJECT(request), HANDLE_REQUEST)
             ? handle_c2f(ABI_OBJECT(request))
             : real.ABI_TO_INT(Request)(request);
}

MPI_Request ABI_FROM_INT(pems_Request)(int number) {
  struct handle *const h = handle_f2c(HANDLE_REQUEST, number);
  return h ? ABI_HANDLE(MPI_Request, h) : real.ABI_FROM_INT(Request)(number);
}

int ABI_TO_INT(pems_Win)(MPI_Win win) {
  return win == MPI_WIN_NULL ? real.ABI_TO_INT(Win)(win)
                             : number_of(ABI_OBJECT(win), HANDLE_WIN);
}

MPI_Win ABI_FROM_INT(pems_Win)(int number) {
  return number == real.ABI_TO_INT(Win)(MPI_WIN_NULL)
             ? MPI_WIN_NULL
             : ABI_HANDLE(MPI_Win, handle_f2c(HANDLE_WIN, number));
}

#if defined PEMS_MPI_HAS_Session_c2f || defined PEMS_MPI_HAS_Session_toint
int ABI_TO_INT(pems_Session)(MPI_Session session) {
  return session == MPI_SESSION_NULL
             ? real.ABI_TO_INT(Session)(session)
             : number_of(ABI_OBJECT(session), HANDLE_SESSION);
}

MPI_Session ABI_FROM_INT(pems_Session)(int number) {
  struct handle *const h = handle_f2c(HANDLE_SESSION, number);
  return h ? ABI_HANDLE(MPI_Session, h) : MPI_SESSION_NULL;
}
#endif
