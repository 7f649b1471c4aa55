#include "cgm/fault.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { FAULT_BITS = 8 };

static void note(struct pems_cgm *m, int error, const char *format,
                 va_list args) {
  if (m->fault != MPI_SUCCESS) {
    return;
  }
  m->fault = error;
  vsnprintf(m->text, sizeof(m->text), format, args);
}

void pems_cgm_found(struct pems_cgm *machine, int error, const char *format,
                    ...) {
  va_list args;
  va_start(args, format);
  note(machine, error, format, args);
  va_end(args);
}

/* A code of that class, with the text: error handlers print it. */
static int with_text(const struct pems_cgm *m, int error) {
  int code;
  if (MPI_Add_error_code(error, &code) != MPI_SUCCESS ||
      MPI_Add_error_string(code, m->text) != MPI_SUCCESS) {
    return error;
  }
  return code;
}

int pems_cgm_fail_here(struct pems_cgm *machine) {
  const int error = machine->fault;
  machine->fault = MPI_SUCCESS;
  MPI_Comm_call_errhandler(machine->comm, with_text(machine, error));
  return error;
}

int pems_cgm_fail(struct pems_cgm *machine, int error, const char *format,
                  ...) {
  va_list args;
  machine->fault = MPI_SUCCESS; /* this one is what ends the operation */
  va_start(args, format);
  note(machine, error, format, args);
  va_end(args);
  return pems_cgm_fail_here(machine);
}

uint64_t pems_cgm_tell(const struct pems_cgm *machine, uint64_t n) {
  return n << FAULT_BITS | (uint64_t)machine->fault;
}

uint64_t pems_cgm_told_number(uint64_t word) {
  return word >> FAULT_BITS;
}

int pems_cgm_told_fault(uint64_t word) {
  return (int)(word & ((1 << FAULT_BITS) - 1));
}

int pems_cgm_fail_all(struct pems_cgm *machine, int rank, int error) {
  machine->counts.supersteps++;
  const int failed =
      MPI_Bcast(machine->text, PEMS_CGM_TEXT, MPI_CHAR, rank, machine->comm);
  if (failed != MPI_SUCCESS) {
    return failed;
  }
  machine->fault = error;
  return pems_cgm_fail_here(machine);
}

int pems_cgm_agree(struct pems_cgm *machine) {
  struct {
    int error, rank;
  } mine = {machine->fault != MPI_SUCCESS, machine->rank}, first;
  machine->counts.supersteps++;
  machine->counts.bytes += sizeof(mine);
  const int failed =
      MPI_Allreduce(&mine, &first, 1, MPI_2INT, MPI_MAXLOC, machine->comm);
  if (failed != MPI_SUCCESS || !first.error) {
    return failed;
  }
  /* The class is that of the first rank, as its text is. */
  int error = machine->fault;
  const int bcast = MPI_Bcast(&error, 1, MPI_INT, first.rank, machine->comm);
  if (bcast != MPI_SUCCESS) {
    return bcast;
  }
  return pems_cgm_fail_all(machine, first.rank, error);
}

int pems_cgm_check(struct pems_cgm *machine, const struct pems_cgm_list *list,
                   const char *function) {
  if (list->size == 0 || list->size > INT_MAX) {
    return pems_cgm_fail(machine, MPI_ERR_ARG,
                         "%s: elements of %zu bytes: give 1 to %d", function,
                         list->size, INT_MAX);
  }
  if (list->n > 0 && list->at == NULL) {
    pems_cgm_found(machine, MPI_ERR_ARG,
                   "%s: a list of %llu elements at no address: set `at`",
                   function, (unsigned long long)list->n);
  }
  return MPI_SUCCESS;
}
