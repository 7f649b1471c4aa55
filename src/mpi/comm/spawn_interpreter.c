/* What pems's program for an interpreter says of itself before that begins: by
   which file it is known, and which library its ranks are made of. Then
   MPI_Comm_spawn of that file starts the program that runs already. The strings
   are of the rank's arguments. No header: only that program calls it. */
#include "base/self.h"
#include "mpi/object/rank.h"

__attribute__((visibility("default"))) void
pems_api_interpreter(const char *file, const char *library);

void pems_api_interpreter(const char *file, const char *library) {
  if (!self_native()) {
    rank_me()->interpreter = file;
    rank_me()->library = library;
  }
}
