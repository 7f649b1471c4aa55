#include "cgm/exchange.h"

#include <stdlib.h>
#include <string.h>

#include "cgm/fault.h"

uint64_t pems_cgm_line_up(const struct pems_cgm *machine, const uint64_t *n,
                          uint64_t *at) {
  uint64_t sum = 0;
  for (int r = 0; r < machine->size; r++) {
    at[r] = sum;
    sum += n[r];
  }
  return sum;
}

/* --- numbers --- */

int pems_cgm_exchange_words(struct pems_cgm *machine) {
  const size_t v = (size_t)machine->size;
  machine->counts.supersteps++;
  machine->counts.bytes += (v - 1) * 2 * sizeof(uint64_t);
  return MPI_Alltoall(machine->words, 2, MPI_UINT64_T, machine->words + 2 * v,
                      2, MPI_UINT64_T, machine->comm);
}

/* Adds what rank r told about its list, and remembers the first fault. */
struct told {
  uint64_t total;
  int error, rank;
};

static uint64_t hear(struct told *told, int r, uint64_t word) {
  const int error = pems_cgm_told_fault(word);
  const uint64_t n = pems_cgm_told_number(word);
  told->total += n;
  if (error != MPI_SUCCESS && told->error == MPI_SUCCESS) {
    told->error = error;
    told->rank = r;
  }
  return n;
}

static int heard(struct pems_cgm *m, const struct told *told) {
  m->plan.total = told->total;
  return told->error == MPI_SUCCESS
             ? MPI_SUCCESS
             : pems_cgm_fail_all(m, told->rank, told->error);
}

int pems_cgm_exchange_counts(struct pems_cgm *machine, uint64_t n) {
  const struct pems_cgm_plan *const plan = &machine->plan;
  const int v = machine->size;
  const uint64_t *const in = machine->words + 2 * v;
  struct told told = {0, MPI_SUCCESS, 0};
  for (int r = 0; r < v; r++) {
    machine->words[2 * r] = plan->send[r];
    machine->words[2 * r + 1] = pems_cgm_tell(machine, n);
  }
  const int error = pems_cgm_exchange_words(machine);
  if (error != MPI_SUCCESS) {
    return error;
  }
  for (int r = 0; r < v; r++) {
    plan->receive[r] = in[2 * r];
    hear(&told, r, in[2 * r + 1]);
  }
  pems_cgm_line_up(machine, plan->send, plan->send_at);
  pems_cgm_line_up(machine, plan->receive, plan->receive_at);
  return heard(machine, &told);
}

int pems_cgm_exchange_lengths(struct pems_cgm *machine, uint64_t n) {
  const int v = machine->size;
  struct told told = {0, MPI_SUCCESS, 0};
  machine->words[0] = pems_cgm_tell(machine, n);
  machine->counts.supersteps++;
  machine->counts.bytes += ((size_t)v - 1) * sizeof(uint64_t);
  const int error =
      MPI_Allgather(machine->words, 1, MPI_UINT64_T, machine->plan.receive, 1,
                    MPI_UINT64_T, machine->comm);
  if (error != MPI_SUCCESS) {
    return error;
  }
  for (int r = 0; r < v; r++) {
    machine->plan.receive[r] = hear(&told, r, machine->plan.receive[r]);
  }
  return heard(machine, &told);
}

/* --- types --- */

int pems_cgm_element(size_t size, MPI_Datatype *type) {
  int error = MPI_Type_contiguous((int)size, MPI_BYTE, type);
  if (error == MPI_SUCCESS) {
    error = MPI_Type_commit(type);
  }
  return error;
}

/* Numbers in types are ints, too: many elements are pieces of 2^30. */
int pems_cgm_type(const struct pems_cgm *machine, size_t size, uint64_t at,
                  uint64_t n, MPI_Datatype *type) {
  const uint64_t most = UINT64_C(1) << 30;
  const uint64_t length = machine->most < most ? machine->most : most;
  const int counts[2] = {(int)(n / length), (int)(n % length)};
  const MPI_Aint places[2] = {
      (MPI_Aint)(at * size),
      (MPI_Aint)((at + n / length * length) * size),
  };
  MPI_Datatype types[2];
  int error = pems_cgm_element(size, &types[1]);
  if (error != MPI_SUCCESS) {
    return error;
  }
  error = MPI_Type_contiguous((int)length, types[1], &types[0]);
  if (error == MPI_SUCCESS) {
    error = MPI_Type_create_struct(2, counts, places, types, type);
    MPI_Type_free(&types[0]);
  }
  MPI_Type_free(&types[1]);
  return error == MPI_SUCCESS ? MPI_Type_commit(type) : error;
}

int pems_cgm_message(const struct pems_cgm *machine, size_t bytes,
                     MPI_Datatype *type) {
  return bytes <= PEMS_CGM_MOST ? pems_cgm_element(bytes, type)
                                : pems_cgm_type(machine, 1, 0, bytes, type);
}

/* --- data --- */

int *pems_cgm_ints(const struct pems_cgm *machine, const uint64_t *numbers,
                   int which) {
  int *const ints = machine->ints + which * machine->size;
  for (int r = 0; r < machine->size; r++) {
    ints[r] = (int)numbers[r];
  }
  return ints;
}

static int exchange_few(struct pems_cgm *m, size_t size, const void *from,
                        void *to) {
  const struct pems_cgm_plan *const p = &m->plan;
  MPI_Datatype type;
  int error = pems_cgm_element(size, &type);
  if (error != MPI_SUCCESS) {
    return error;
  }
  error = MPI_Alltoallv(from, pems_cgm_ints(m, p->send, 0),
                        pems_cgm_ints(m, p->send_at, 1), type, to,
                        pems_cgm_ints(m, p->receive, 2),
                        pems_cgm_ints(m, p->receive_at, 3), type, m->comm);
  MPI_Type_free(&type);
  return error;
}

/* Types for all ranks; counts become 1, or 0 where there is nothing. */
static int make_types(const struct pems_cgm *m, size_t size, const uint64_t *n,
                      const uint64_t *at, int *counts, MPI_Datatype *types) {
  int error = MPI_SUCCESS;
  for (int r = 0; r < m->size; r++) {
    types[r] = MPI_BYTE;
    counts[r] = 0;
    if (n[r] == 0 || error != MPI_SUCCESS) {
      continue;
    }
    error = pems_cgm_type(m, size, at[r], n[r], &types[r]);
    if (error == MPI_SUCCESS) {
      counts[r] = 1;
    } else {
      types[r] = MPI_BYTE;
    }
  }
  return error;
}

static void free_types(const struct pems_cgm *m, MPI_Datatype *types) {
  for (int i = 0; i < 2 * m->size; i++) {
    if (types[i] != MPI_BYTE) {
      MPI_Type_free(&types[i]);
    }
  }
}

/* Where displacements are too large for an int they are part of types. */
static int exchange_many(struct pems_cgm *m, size_t size, const void *from,
                         void *to) {
  const struct pems_cgm_plan *const p = &m->plan;
  const int v = m->size;
  MPI_Datatype *const types = malloc(2 * (size_t)v * sizeof(MPI_Datatype));
  int *const send = m->ints, *const receive = m->ints + v;
  int *const zeros = m->ints + 2 * v;
  if (types == NULL) {
    return pems_cgm_fail(m, MPI_ERR_NO_MEM,
                         "rank %d has no memory for %d types: use more ranks",
                         m->rank, 2 * v);
  }
  memset(zeros, 0, (size_t)v * sizeof(int));
  int error = make_types(m, size, p->send, p->send_at, send, types);
  const int more =
      make_types(m, size, p->receive, p->receive_at, receive, types + v);
  error = error == MPI_SUCCESS ? more : error;
  if (error == MPI_SUCCESS) {
    error = MPI_Alltoallw(from, send, zeros, types, to, receive, zeros,
                          types + v, m->comm);
  }
  free_types(m, types);
  free(types);
  return error;
}

int pems_cgm_exchange(struct pems_cgm *machine, size_t size, const void *from,
                      void *to) {
  machine->counts.supersteps++;
  for (int r = 0; r < machine->size; r++) {
    if (r != machine->rank) {
      machine->counts.bytes += machine->plan.send[r] * size;
    }
  }
  return machine->plan.total <= machine->most
             ? exchange_few(machine, size, from, to)
             : exchange_many(machine, size, from, to);
}
