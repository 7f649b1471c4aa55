/* Attributes that MPI_COMM_WORLD has from the beginning. */
#ifndef PEMS_MPI_OBJECT_ATTRIBUTE_WORLD_H
#define PEMS_MPI_OBJECT_ATTRIBUTE_WORLD_H

struct attributes;
struct comm;
struct rank;

/* At the rank's start: what MPI_COMM_WORLD has. */
void attribute_world_begin(struct rank *rank, int appnum);
/* Where `comm` has the attribute `keyval`, if it has it. Some MPIs have the
   predefined ones on all communicators, others on MPI_COMM_WORLD only. Brings
   MPI_LASTUSEDCODE up to date. */
struct attributes *attribute_world_home(struct comm *comm, int keyval);
/* MPI_Finalize begins: the attributes of MPI_COMM_SELF are deleted first. */
int attribute_world_finalize(void);

#endif
