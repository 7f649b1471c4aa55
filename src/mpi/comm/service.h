/* The names under which programs publish ports: MPI_Publish_name. Kept by
   process 0 for the whole job, until they are taken back. */
#ifndef PEMS_MPI_COMM_SERVICE_H
#define PEMS_MPI_COMM_SERVICE_H

/* Before am_start. */
void service_start(void);

#endif
