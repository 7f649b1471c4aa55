/* Supersteps: who has how much, then the data, by one call of MPI each.

   The arguments are in machine->plan; all ranks' faults (fault.h) are told with
   the numbers, and then all ranks return the error. */
#ifndef PEMS_CGM_EXCHANGE_H
#define PEMS_CGM_EXCHANGE_H

#include "cgm/machine.h"

/* From plan.send, of a list of n elements: plan.receive, plan.total, and both
   displacements, one after another by rank. */
int pems_cgm_exchange_counts(struct pems_cgm *machine, uint64_t n);
/* plan.receive becomes all ranks' n; plan.total. */
int pems_cgm_exchange_lengths(struct pems_cgm *machine, uint64_t n);
/* Two words for each rank, at machine->words, go there; behind them, from
   machine->words + 2 v on, are those of each rank. Agrees on nothing. */
int pems_cgm_exchange_words(struct pems_cgm *machine);
/* The elements, as plan says, whose total counts for all ranks alike. */
int pems_cgm_exchange(struct pems_cgm *machine, size_t size, const void *from,
                      void *to);

/* plan.send_at or plan.receive_at from their numbers; returns the sum. */
uint64_t pems_cgm_line_up(const struct pems_cgm *machine, const uint64_t *n,
                          uint64_t *at);

/* The v numbers as ints, which they fit, in one of the machine's arrays for
   arguments of MPI, 0 to 3. */
int *pems_cgm_ints(const struct pems_cgm *machine, const uint64_t *numbers,
                   int which);

/* A type of n elements of `size` bytes from element `at` on, however many there
   are; to be freed. n > 0. */
int pems_cgm_type(const struct pems_cgm *machine, size_t size, uint64_t at,
                  uint64_t n, MPI_Datatype *type);
/* A type of one element, to be freed. */
int pems_cgm_element(size_t size, MPI_Datatype *type);
/* A type of a message of that many bytes, which may be more than one element
   can have; to be freed. */
int pems_cgm_message(const struct pems_cgm *machine, size_t bytes,
                     MPI_Datatype *type);

#endif
