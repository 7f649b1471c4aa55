/* pthread_key_create and pthread_key_delete, interposed. A process has 1024
   keys, and a rank of Python takes seven. A thread belongs to one VP, so VPs
   can use the same keys: a real key may be one key of each VP, with a
   destructor of its own. Keys of libraries that all ranks share are the
   process's. */
#define _GNU_SOURCE
#include "interpose/keys.h"

#include "base/failure.h"
#include "base/self.h"
#include "checkpoint/blocks.h"
#include "interpose/malloc.h"
#include "os/lock.h"
#include "os/native.h"
#include "vp/vp.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))
#define CALLER __builtin_return_address(0)

typedef void destroy(void *value);
typedef int create(pthread_key_t *key, destroy *destructor);

enum {
  SHARED = 512,
  /* Those of jobs with checkpoints are as high as keys can be, so that no
     library of another process has them. */
  FIXED = PTHREAD_KEYS_MAX - SHARED
};

/* A key of a VP. */
struct key {
  struct key *next;
  const struct vp *vp;
  destroy *destructor;
  bool deleted; /* its threads may have values yet: it is not used again */
};

static struct {
  struct lock lock;
  int n;
  bool fixed; /* there will be no more, and number i is FIXED + i */
  struct {
    pthread_key_t real; /* without a destructor */
    struct key *first;  /* of each VP that uses it */
  } shared[SHARED];
  /* Real keys that no two VPs share, and who made them. */
  struct own {
    struct own *next;
    const struct vp *vp;
    pthread_key_t key;
  } *own;
} keys = {.lock = LOCK_INITIALIZER(LOCK_KEYS)};

static int really_create(pthread_key_t *key, destroy *destructor) {
  static create *real;
  if (!real) {
    real = (create *)dlsym(RTLD_NEXT, "pthread_key_create");
  }
  return real(key, destructor);
}

static int really_delete(pthread_key_t key) {
  static int (*real)(pthread_key_t);
  if (!real) {
    real = (int (*)(pthread_key_t))dlsym(RTLD_NEXT, "pthread_key_delete");
  }
  return real(key);
}

static struct key *find_locked(int i, const struct vp *vp) {
  struct key *k = keys.shared[i].first;
  while (k && k->vp != vp) {
    k = k->next;
  }
  return k;
}

/* The C library gives the lowest that nobody has. */
static void fix_locked(void) {
  pthread_key_t lower[PTHREAD_KEYS_MAX], key;
  int n = 0;
  while (keys.n < SHARED && n < PTHREAD_KEYS_MAX &&
         really_create(&key, NULL) == 0) {
    if (key == (pthread_key_t)(FIXED + keys.n)) {
      keys.shared[keys.n++].real = key;
    } else {
      lower[n++] = key;
    }
  }
  while (n > 0) {
    (void)really_delete(lower[--n]);
  }
  keys.fixed = true;
}

/* One that the VP does not use yet, or -1. */
static int find_free_locked(const struct vp *vp) {
  if ((vp_superstep || vp_restart) && !keys.fixed) {
    fix_locked();
  }
  for (int i = 0; i < keys.n; i++) {
    if (!find_locked(i, vp)) {
      return i;
    }
  }
  if (keys.n < SHARED && !keys.fixed &&
      really_create(&keys.shared[keys.n].real, NULL) == 0) {
    return keys.n++;
  }
  return -1;
}

/* The C library clears values by the number of the key, also those without a
   destructor: its own comes first. */
static pthread_key_t end_key;
static destroy destroy_values;

static void make_end_key(void) {
  (void)really_create(&end_key, destroy_values);
}

static void prepare(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, make_end_key);
}

/* Where the C library keeps the thread's values of such keys is not the
   program's. */
static void make_room(pthread_key_t key) {
  self_enter();
  pthread_setspecific(key, &keys);
  pthread_setspecific(key, NULL);
  self_leave();
}

static void add_locked(int i, struct key *k) {
  k->next = keys.shared[i].first;
  keys.shared[i].first = k;
}

/* 0, ENOMEM, or EAGAIN: there is none left. */
static int create_shared(const struct vp *vp, pthread_key_t *key,
                         destroy *destructor) {
  struct key *k = native_alloc(sizeof(*k));
  if (!k) {
    return ENOMEM;
  }
  prepare();
  lock_take(&keys.lock);
  const int i = find_free_locked(vp);
  if (i >= 0) {
    *k = (struct key){NULL, vp, destructor, false};
    add_locked(i, k);
    *key = keys.shared[i].real;
  }
  lock_give(&keys.lock);
  if (i < 0) {
    native_free(k);
    return EAGAIN;
  }
  make_room(*key);
  return 0;
}

/* When a program's main returns, destructors do not run in a process; the
   thread of a VP ends instead, and they would. */
static int create_own(const struct vp *vp, pthread_key_t *key,
                      destroy *destructor) {
  struct own *own = native_alloc(sizeof(*own));
  const int error = own ? really_create(key, destructor) : ENOMEM;
  if (error) {
    native_free(own);
    return error;
  }
  lock_take(&keys.lock);
  *own = (struct own){keys.own, vp, *key};
  keys.own = own;
  lock_give(&keys.lock);
  return 0;
}

EXPORT int pthread_key_create(pthread_key_t *key, destroy *destructor) {
  if (self_native()) {
    return really_create(key, destructor);
  }
  if (malloc_is_program(CALLER) || malloc_is_pems(CALLER)) {
    const int error = create_shared(self.vp, key, destructor);
    if (error != EAGAIN) {
      return error;
    }
  }
  return destructor ? create_own(self.vp, key, destructor)
                    : really_create(key, destructor);
}

static void remove_locked(int i, const struct vp *vp) {
  struct key **at = &keys.shared[i].first;
  while (*at && (*at)->vp != vp) {
    at = &(*at)->next;
  }
  struct key *k = *at;
  if (k) {
    *at = k->next;
    native_free(k);
  }
}

/* Which of the shared keys it is, if it is the VP's; or -1. */
static int find_shared_locked(const struct vp *vp, pthread_key_t key) {
  for (int i = 0; i < keys.n; i++) {
    if (keys.shared[i].real == key) {
      return find_locked(i, vp) ? i : -1;
    }
  }
  return -1;
}

static void forget_own_locked(pthread_key_t key) {
  struct own **at = &keys.own;
  while (*at && (*at)->key != key) {
    at = &(*at)->next;
  }
  struct own *own = *at;
  if (own) {
    *at = own->next;
    native_free(own);
  }
}

/* A key is NULL in all threads when it is made: another thread's value could
   not be changed. */
static bool delete_shared(const struct vp *vp, pthread_key_t key) {
  lock_take(&keys.lock);
  const int i = find_shared_locked(vp, key);
  if (i >= 0 && vp->helpers) {
    find_locked(i, vp)->deleted = true;
  } else if (i >= 0) {
    pthread_setspecific(key, NULL);
    remove_locked(i, vp);
  } else {
    forget_own_locked(key);
  }
  lock_give(&keys.lock);
  return i >= 0;
}

EXPORT int pthread_key_delete(pthread_key_t key) {
  return !self_native() && delete_shared(self.vp, key) ? 0 : really_delete(key);
}

/* --- threads --------------------------------------------------------------
 */

static destroy *destructor_of(int i, const struct vp *vp, pthread_key_t *key) {
  lock_take(&keys.lock);
  const struct key *k = i < keys.n ? find_locked(i, vp) : NULL;
  destroy *const destructor = k && !k->deleted ? k->destructor : NULL;
  *key = i < keys.n ? keys.shared[i].real : 0;
  lock_give(&keys.lock);
  return destructor;
}

/* They may give each other values. */
static void destroy_values(void *arg) {
  const struct vp *vp = arg;
  bool again = true;
  for (int n = 0; again && n < PTHREAD_DESTRUCTOR_ITERATIONS; n++) {
    again = false;
    for (int i = 0; i < SHARED; i++) {
      pthread_key_t key;
      destroy *const destructor = destructor_of(i, vp, &key);
      void *const value = destructor ? pthread_getspecific(key) : NULL;
      if (value) {
        pthread_setspecific(key, NULL);
        destructor(value);
        again = true;
      }
    }
  }
}

void keys_begin_thread(struct vp *vp) {
  prepare();
  pthread_setspecific(end_key, vp);
}

bool keys_has_shared(const struct vp *vp) {
  bool has = false;
  lock_take(&keys.lock);
  for (const struct own *own = keys.own; own; own = own->next) {
    has |= own->vp == vp;
  }
  lock_give(&keys.lock);
  return has;
}

void keys_forget(const struct vp *vp) {
  prepare();
  pthread_setspecific(end_key, NULL);
  lock_take(&keys.lock);
  for (int i = 0; i < keys.n; i++) {
    remove_locked(i, vp);
  }
  for (const struct own *own = keys.own; own; own = own->next) {
    if (own->vp == vp) {
      pthread_setspecific(own->key, NULL);
    }
  }
  lock_give(&keys.lock);
}

/* --- in checkpoints -------------------------------------------------------
 */

struct keys_saved {
  uint64_t n;
  struct key_saved {
    uint64_t index; /* among the shared ones */
    destroy *destructor;
    void *value;
  } item[SHARED];
};

static void take_locked(const struct vp *vp, struct keys_saved *s) {
  for (int i = 0; i < keys.n; i++) {
    const struct key *const k = find_locked(i, vp);
    if (k && !k->deleted) {
      s->item[s->n++] = (struct key_saved){
          (uint64_t)i, k->destructor, pthread_getspecific(keys.shared[i].real)};
    }
  }
}

int keys_save(const struct vp *vp, struct checkpoint_out *o,
              struct pems_error *error) {
  struct keys_saved *const s = native_zalloc(1, sizeof(*s));
  if (!s) {
    return failure(error, ENOMEM, "checkpoint: out of memory");
  }
  lock_take(&keys.lock);
  take_locked(vp, s);
  lock_give(&keys.lock);
  const size_t n = offsetof(struct keys_saved, item) + s->n * sizeof(*s->item);
  const int code = checkpoint_put(o, CHECKPOINT_KEYS, 0, s, n, error);
  native_free(s);
  return code;
}

/* Returns an errno value: EEXIST if something else has that key here. */
static int give(const struct vp *vp, const struct key_saved *from) {
  struct key *const k = native_alloc(sizeof(*k));
  if (!k) {
    return ENOMEM;
  }
  lock_take(&keys.lock);
  if (!keys.fixed) {
    fix_locked();
  }
  const bool there = from->index < (uint64_t)keys.n;
  if (there) {
    *k = (struct key){NULL, vp, from->destructor, false};
    add_locked((int)from->index, k);
  }
  lock_give(&keys.lock);
  if (!there) {
    native_free(k);
    return EEXIST;
  }
  make_room(keys.shared[from->index].real);
  return pthread_setspecific(keys.shared[from->index].real, from->value);
}

int keys_load(const struct vp *vp, struct checkpoint_in *in,
              struct pems_error *error) {
  void *bytes;
  size_t size;
  int code = checkpoint_take(in, CHECKPOINT_KEYS, &bytes, &size, error);
  if (code) {
    return code;
  }
  const struct keys_saved *const s = bytes;
  const size_t head = offsetof(struct keys_saved, item);
  bool good = size >= head && s->n == (size - head) / sizeof(*s->item);
  prepare();
  for (uint64_t i = 0; good && !code && i < s->n; i++) {
    code = give(vp, &s->item[i]);
  }
  native_free(bytes);
  return good && !code ? 0
                       : failure(error, good ? code : EILSEQ,
                                 "restart: rank %d: keys of threads' data: %s",
                                 vp->rank, strerror(good ? code : EILSEQ));
}
