/* Transposing: each rank turns its own part, then sends each other rank a block
   in which columns are rows, and puts those that come beside each other. */
#include <string.h>

#include "cgm/exchange.h"
#include "cgm/fault.h"
#include "cgm/memory.h"
#include "cgm/relation.h"

enum { TILE = 16 }; /* elements: a square of them stays in the cache */

static void turn_tile(const struct pems_cgm_list *from, uint64_t rows,
                      uint64_t columns, uint64_t row, uint64_t column,
                      struct pems_cgm_list *to) {
  const uint64_t row_end = row + TILE < rows ? row + TILE : rows;
  const uint64_t end = column + TILE < columns ? column + TILE : columns;
  for (uint64_t j = column; j < end; j++) {
    for (uint64_t i = row; i < row_end; i++) {
      memcpy(pems_cgm_at(to, j * rows + i), pems_cgm_at(from, i * columns + j),
             from->size);
    }
  }
}

static void turn(const struct pems_cgm_list *from, uint64_t rows,
                 uint64_t columns, struct pems_cgm_list *to) {
  for (uint64_t i = 0; i < rows; i += TILE) {
    for (uint64_t j = 0; j < columns; j += TILE) {
      turn_tile(from, rows, columns, i, j, to);
    }
  }
}

/* The list becomes the transpose of this rank's rows: then the columns of each
   other rank are beside each other. */
static int turn_rows(struct pems_cgm *m, struct pems_cgm_list *list,
                     uint64_t rows, uint64_t columns) {
  struct pems_cgm_list turned = {.size = list->size};
  if (pems_cgm_allocate(m, &turned, list->n) != 0) {
    return -1;
  }
  turn(list, rows, columns, &turned);
  pems_cgm_list_free(list);
  *list = turned;
  return 0;
}

static void make_plan(struct pems_cgm *m, uint64_t rows, uint64_t columns) {
  const struct pems_cgm_plan *const plan = &m->plan;
  const uint64_t my_rows = pems_cgm_share(m, rows);
  const uint64_t my_columns = pems_cgm_share(m, columns);
  for (int r = 0; r < m->size; r++) {
    plan->send[r] = my_rows * (pems_cgm_first(m, columns, r + 1) -
                               pems_cgm_first(m, columns, r));
    plan->receive[r] = my_columns * (pems_cgm_first(m, rows, r + 1) -
                                     pems_cgm_first(m, rows, r));
  }
  pems_cgm_line_up(m, plan->send, plan->send_at);
  pems_cgm_line_up(m, plan->receive, plan->receive_at);
}

/* From blocks, each of one rank's rows, whole rows of the result. */
static int put_together(struct pems_cgm *m, struct pems_cgm_list *list,
                        uint64_t rows, uint64_t columns) {
  struct pems_cgm_list result = {.size = list->size};
  if (pems_cgm_allocate(m, &result, list->n) != 0) {
    return -1;
  }
  for (int r = 0; r < m->size; r++) {
    const uint64_t first = pems_cgm_first(m, rows, r);
    const uint64_t n = pems_cgm_first(m, rows, r + 1) - first;
    for (uint64_t j = 0; j < columns && n > 0; j++) {
      memcpy(pems_cgm_at(&result, j * rows + first),
             pems_cgm_at(list, m->plan.receive_at[r] + j * n), n * list->size);
    }
  }
  pems_cgm_list_free(list);
  *list = result;
  return 0;
}

int pems_cgm_transpose(struct pems_cgm *machine, struct pems_cgm_list *matrix,
                       uint64_t rows, uint64_t columns) {
  const uint64_t my_rows = pems_cgm_share(machine, rows);
  int error = pems_cgm_check(machine, matrix, "pems_cgm_transpose");
  if (error != MPI_SUCCESS) {
    return error;
  }
  if (matrix->n != my_rows * columns) {
    pems_cgm_found(machine, MPI_ERR_ARG,
                   "pems_cgm_transpose: %llu elements on rank %d: give %llu "
                   "rows of %llu",
                   (unsigned long long)matrix->n, machine->rank,
                   (unsigned long long)my_rows, (unsigned long long)columns);
  } else if (machine->fault == MPI_SUCCESS) {
    turn_rows(machine, matrix, my_rows, columns);
  }
  make_plan(machine, rows, columns);
  error = pems_cgm_exchange_counts(machine, matrix->n);
  if (error == MPI_SUCCESS) {
    error = pems_cgm_relate(machine, matrix);
  }
  if (error != MPI_SUCCESS) {
    return error;
  }
  return put_together(machine, matrix, rows,
                      pems_cgm_share(machine, columns)) == 0
             ? MPI_SUCCESS
             : pems_cgm_fail_here(machine);
}
