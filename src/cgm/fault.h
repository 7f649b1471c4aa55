/* Errors: found by one rank, told to all with the next exchange, and reported
   through the communicator's error handler. */
#ifndef PEMS_CGM_FAULT_H
#define PEMS_CGM_FAULT_H

#include "cgm/machine.h"

#define PEMS_CGM_PRINTF __attribute__((format(printf, 3, 4)))

/* Notes what is wrong with this rank's arguments, data or memory: an error
   class, and "function: what: value: what to do". The first one counts. The
   caller goes on, with nothing to send, to the next exchange of the operation
   that agrees (exchange.h, pems_cgm_agree), where all ranks learn of it. */
PEMS_CGM_PRINTF void pems_cgm_found(struct pems_cgm *machine, int error,
                                    const char *format, ...);

/* The same for what all ranks find alike, or what cannot be told any more:
   calls the error handler, returns the class. */
PEMS_CGM_PRINTF int pems_cgm_fail(struct pems_cgm *machine, int error,
                                  const char *format, ...);

/* Calls the error handler with what this rank has found just now, and cannot
   tell the others. */
int pems_cgm_fail_here(struct pems_cgm *machine);

/* A word that is sent to others: a number below 2^56 and the fault. */
uint64_t pems_cgm_tell(const struct pems_cgm *machine, uint64_t n);
uint64_t pems_cgm_told_number(uint64_t word);
int pems_cgm_told_fault(uint64_t word);

/* Collective, where all know that `rank` is the first with a fault: its text
   goes to all, then they call their error handlers. Returns the error. */
int pems_cgm_fail_all(struct pems_cgm *machine, int rank, int error);

/* A superstep of its own that returns MPI_SUCCESS if no rank has a fault, else
   as pems_cgm_fail_all. */
int pems_cgm_agree(struct pems_cgm *machine);

/* Checks what all ranks know alike: the size of the elements; and notes a list
   without memory as found. */
int pems_cgm_check(struct pems_cgm *machine, const struct pems_cgm_list *list,
                   const char *function);

#endif
