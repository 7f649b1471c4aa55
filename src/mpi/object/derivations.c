#include "mpi/object/derivations.h"

#include "os/native.h"

#include <errno.h>
#include <stdbool.h>

struct derivations {
  int n, room; /* room: a power of 2 */
  struct derivation {
    uint64_t key, next; /* next 0: free */
  } *at;
};

static struct derivation *place_of(struct derivations *d, uint64_t key) {
  uint64_t i = key & (d->room - 1);
  while (d->at[i].next && d->at[i].key != key) {
    i = (i + 1) & (d->room - 1);
  }
  return &d->at[i];
}

static bool make_room(struct derivations *d) {
  const struct derivations old = *d;
  const int room = old.room ? 2 * old.room : 16;
  struct derivation *at = native_zalloc(room, sizeof(*at));
  if (!at) {
    return false;
  }
  d->room = room;
  d->at = at;
  for (int i = 0; i < old.room; i++) {
    if (old.at[i].next) {
      *place_of(d, old.at[i].key) = old.at[i];
    }
  }
  native_free(old.at);
  return true;
}

uint64_t *derivations_next(struct derivations **of, uint64_t key) {
  if (!*of) {
    *of = native_zalloc(1, sizeof(**of));
  }
  struct derivations *d = *of;
  if (!d || (2 * d->n >= d->room && !make_room(d))) {
    return NULL;
  }
  struct derivation *at = place_of(d, key);
  if (!at->next) {
    *at = (struct derivation){key, 1};
    d->n++;
  }
  return &at->next;
}

void derivations_free(struct derivations *d) {
  if (d) {
    native_free(d->at);
    native_free(d);
  }
}

void derivations_save(const struct derivations *d, struct parcel *to) {
  parcel_put_number(to, d ? d->n : 0);
  for (int i = 0; d && i < d->room; i++) {
    if (d->at[i].next) {
      parcel_put(to, &d->at[i], sizeof(d->at[i]));
    }
  }
}

int derivations_load(struct derivations **d, struct parcel *from) {
  const int64_t n = parcel_number(from);
  for (int64_t i = 0; i < n; i++) {
    struct derivation one = {0, 0};
    parcel_get(from, &one, sizeof(one));
    uint64_t *const next = derivations_next(d, one.key);
    if (!next || from->failed) {
      return ENOMEM;
    }
    *next = one.next;
  }
  return 0;
}
