#include "mpi_abi/handle.h"

#include "base/need.h"
#include "os/lock.h"
#include "os/native.h"

#include <pthread.h>
#include <stddef.h>

/* Numbers are ABI_FREE_FORTRAN + places in a table; free places are linked by
 * it. */
static struct {
  struct lock lock;
  struct handle **at;
  int n, room;
  int *next_free;
  int first_free; /* or -1 */
} table = {.lock = LOCK_INITIALIZER(LOCK_HANDLES), .first_free = -1};

static void grow(void) {
  const int room = table.room ? 2 * table.room : 256;
  struct handle **at = need_zalloc(room, sizeof(*at), "handles of Fortran");
  int *next = need_zalloc(room, sizeof(*next), "handles of Fortran");
  for (int i = 0; i < table.n; i++) {
    at[i] = table.at[i];
    next[i] = table.next_free[i];
  }
  native_free(table.at);
  native_free(table.next_free);
  table.at = at;
  table.next_free = next;
  table.room = room;
}

int handle_c2f(struct handle *h) {
  lock_take(&table.lock);
  if (!h->fortran) {
    int i = table.first_free;
    if (i >= 0) {
      table.first_free = table.next_free[i];
    } else {
      if (table.n == table.room) {
        grow();
      }
      i = table.n++;
    }
    table.at[i] = h;
    h->fortran = ABI_FREE_FORTRAN + i;
  }
  const int number = h->fortran;
  lock_give(&table.lock);
  return number;
}

struct handle *handle_f2c(enum handle_kind kind, int number) {
  struct handle *h = NULL;
  lock_take(&table.lock);
  if (number >= ABI_FREE_FORTRAN && number - ABI_FREE_FORTRAN < table.n) {
    h = table.at[number - ABI_FREE_FORTRAN];
  }
  lock_give(&table.lock);
  return handle_is(h, kind) ? h : NULL;
}

void handle_end(struct handle *h) {
  h->kind = HANDLE_NONE;
  if (!h->fortran) {
    return;
  }
  lock_take(&table.lock);
  const int i = h->fortran - ABI_FREE_FORTRAN;
  table.at[i] = NULL;
  table.next_free[i] = table.first_free;
  table.first_free = i;
  h->fortran = 0;
  lock_give(&table.lock);
}
