/* What --pems-check finds at the end: what ranks made and have not freed,
   messages that nobody has received. */
#ifndef PEMS_MPI_VERIFY_CHECK_LEAKS_H
#define PEMS_MPI_VERIFY_CHECK_LEAKS_H

#include <stdbool.h>

/* Before am_start. */
void check_leaks_prepare(void);

/* By a rank that calls MPI_Finalize: before and after the others do. */
void check_leaks_objects(void);
void check_leaks_messages(void);

/* When all VPs have ended: hands what was found to the first process; and,
   after am_stop, there: reports it. True if there was anything. */
void check_leaks_send(void);
bool check_leaks_report(void);

#endif
