/* What --pems-check finds at the end: what ranks made and have not freed,
   messages that nobody has received. */
#ifndef PEMS_MPI_VERIFY_CHECK_LEAKS_H
#define PEMS_MPI_VERIFY_CHECK_LEAKS_H

#include <stdbool.h>

/* Before am_start. */
void leftover_prepare(void);

/* By a rank that calls MPI_Finalize: before and after the others do. */
void leftover_objects(void);
void leftover_messages(void);

/* When all VPs have ended: hands what was found to the first process; and,
   after am_stop, there: reports it. True if there was anything. */
void leftover_send(void);
bool leftover_report(void);

#endif
