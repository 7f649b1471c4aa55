#include "mpi/object/derivations.h"

#include "base/need.h"
#include "os/native.h"

struct derivations {
  int n, room; /* room: a power of 2 */
  struct derivation {
    uint64_t key, count; /* count 0: free */
  } *at;
};

static struct derivation *place_of(struct derivations *d, uint64_t key) {
  uint64_t i = key & (d->room - 1);
  while (d->at[i].count && d->at[i].key != key) {
    i = (i + 1) & (d->room - 1);
  }
  return &d->at[i];
}

static void make_room(struct derivations *d) {
  struct derivations old = *d;
  d->room = old.room ? 2 * old.room : 16;
  d->at = need_zalloc(d->room, sizeof(*d->at), "communicator");
  for (int i = 0; i < old.room; i++) {
    if (old.at[i].count) {
      *place_of(d, old.at[i].key) = old.at[i];
    }
  }
  native_free(old.at);
}

uint64_t derivations_count(struct derivations **of, uint64_t key) {
  if (!*of) {
    *of = need_zalloc(1, sizeof(**of), "communicator");
  }
  struct derivations *d = *of;
  if (2 * d->n >= d->room) {
    make_room(d);
  }
  struct derivation *at = place_of(d, key);
  if (!at->count) {
    at->key = key;
    d->n++;
  }
  return at->count++;
}

void derivations_free(struct derivations *d) {
  if (d) {
    native_free(d->at);
    native_free(d);
  }
}
