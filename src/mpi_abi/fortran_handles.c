/* The numbers that Fortran has for handles (requests: request.c). Predefined
   handles keep those of the real library. */
#include "mpi_abi/fortran_handles.h"

#include "mpi_abi/fortran.h"
#include "mpi_abi/functions.h"
#include "mpi_abi/handle.h"
#include "mpi_below/real.h"

#include <stddef.h>

/* The number of a pems object; -1 for what is none. */
static int number_of(void *object, enum handle_kind kind) {
  return handle_is(object, kind) ? handle_c2f(object) : -1;
}

MPI_Fint pems_Comm_c2f(MPI_Comm comm) {
  return comm == MPI_COMM_WORLD || comm == MPI_COMM_SELF ||
                 comm == MPI_COMM_NULL
             ? real.Comm_c2f(comm)
             : number_of(ABI_OBJECT(comm), HANDLE_COMM);
}

MPI_Comm pems_Comm_f2c(MPI_Fint number) {
  const MPI_Comm comm = real.Comm_f2c(number);
  /* The real library has communicators of its own that are none of a rank's. */
  return comm == MPI_COMM_WORLD || comm == MPI_COMM_SELF ||
                 comm == MPI_COMM_NULL
             ? comm
             : ABI_HANDLE(MPI_Comm, handle_f2c(HANDLE_COMM, number));
}

MPI_Fint pems_Group_c2f(MPI_Group group) {
  return group == MPI_GROUP_EMPTY || group == MPI_GROUP_NULL
             ? real.Group_c2f(group)
             : number_of(ABI_OBJECT(group), HANDLE_GROUP);
}

MPI_Group pems_Group_f2c(MPI_Fint number) {
  const MPI_Group group = real.Group_f2c(number);
  return group == MPI_GROUP_EMPTY || group == MPI_GROUP_NULL
             ? group
             : ABI_HANDLE(MPI_Group, handle_f2c(HANDLE_GROUP, number));
}

MPI_Fint pems_Message_c2f(MPI_Message message) {
  return message == MPI_MESSAGE_NULL || message == MPI_MESSAGE_NO_PROC
             ? real.Message_c2f(message)
             : number_of(ABI_OBJECT(message), HANDLE_MESSAGE);
}

MPI_Message pems_Message_f2c(MPI_Fint number) {
  const MPI_Message message = real.Message_f2c(number);
  return message == MPI_MESSAGE_NULL || message == MPI_MESSAGE_NO_PROC
             ? message
             : ABI_HANDLE(MPI_Message, handle_f2c(HANDLE_MESSAGE, number));
}

MPI_Fint pems_Win_c2f(MPI_Win win) {
  return win == MPI_WIN_NULL ? real.Win_c2f(win)
                             : number_of(ABI_OBJECT(win), HANDLE_WIN);
}

MPI_Win pems_Win_f2c(MPI_Fint number) {
  return number == real.Win_c2f(MPI_WIN_NULL)
             ? MPI_WIN_NULL
             : ABI_HANDLE(MPI_Win, handle_f2c(HANDLE_WIN, number));
}

MPI_Fint pems_File_c2f(MPI_File file) {
  return file == MPI_FILE_NULL ? real.File_c2f(file)
                               : number_of(ABI_OBJECT(file), HANDLE_FILE);
}

MPI_File pems_File_f2c(MPI_Fint number) {
  return number == real.File_c2f(MPI_FILE_NULL)
             ? MPI_FILE_NULL
             : ABI_HANDLE(MPI_File, handle_f2c(HANDLE_FILE, number));
}

MPI_Fint fortran_number(const void *handle) {
  if (handle == MPI_COMM_WORLD || handle == MPI_COMM_SELF) {
    return real.Comm_c2f((MPI_Comm)handle);
  }
  /* MPI_FILE_NULL and MPI_WIN_NULL are 0. */
  return handle_is(handle, HANDLE_COMM) || handle_is(handle, HANDLE_WIN) ||
                 handle_is(handle, HANDLE_FILE)
             ? handle_c2f((struct handle *)handle)
             : 0;
}
