#include "cgm/graph/lookup.h"

#include <string.h>

/* A key, and which of the rank's it is. */
struct asked {
  uint64_t key;
  uint64_t index;
};

/* The same with the rank that asks. */
struct asker {
  uint64_t key;
  uint64_t index;
  uint64_t rank;
};

/* What an asker gets: this, and a value behind it. */
struct answer {
  uint64_t index;
  uint64_t rank;
};

struct lookup {
  struct pems_cgm *machine;
  uint64_t total;
  const struct pems_cgm_list *values;
};

static int owner_of_key(void *arg, const void *key) {
  const struct lookup *const w = arg;
  return pems_cgm_owner(w->machine, w->total, *(const uint64_t *)key);
}

static void tell_value(void *arg, const void *key, void *reply) {
  const struct lookup *const w = arg;
  const uint64_t i =
      *(const uint64_t *)key - pems_cgm_first_own(w->machine, w->total);
  memcpy(reply, (const char *)w->values->at + i * w->values->size,
         w->values->size);
}

static int route(struct lookup *w, const struct pems_cgm_list *keys,
                 struct pems_cgm_list *found) {
  const struct pems_cgm_routing routing = {owner_of_key, tell_value, w};
  *found = (struct pems_cgm_list){.size = w->values->size};
  return pems_cgm_route(w->machine, keys, &routing, found);
}

/* The different keys of a list that is sorted by the uint64_t that its elements
   begin with. */
static int list_keys(struct lookup *w, const struct pems_cgm_list *list,
                     struct pems_cgm_list *keys) {
  const char *const at = list->at;
  uint64_t n = 0, last = PEMS_CGM_NONE;
  const int error = pems_cgm_new(w->machine, keys, list->n, sizeof(uint64_t));
  uint64_t *const key = keys->at;
  for (uint64_t i = 0; !error && i < list->n; i++) {
    uint64_t this;
    memcpy(&this, at + i * list->size, sizeof(this));
    if (this != last) {
      key[n++] = last = this;
    }
  }
  return error ? error : pems_cgm_resize(w->machine, keys, n, sizeof(uint64_t));
}

/* --- by way of a sort over all ranks --- */

static int list_askers(struct lookup *w, struct pems_cgm_list *keys,
                       struct pems_cgm_list *askers) {
  const uint64_t *const key = keys->at;
  const int error =
      pems_cgm_new(w->machine, askers, keys->n, sizeof(struct asker));
  struct asker *const at = askers->at;
  for (uint64_t i = 0; !error && i < keys->n; i++) {
    at[i] = (struct asker){key[i], i, (uint64_t)w->machine->rank};
  }
  pems_cgm_list_free(keys);
  return error;
}

static int owner_of_answer(void *arg, const void *answer) {
  (void)arg;
  return (int)((const struct answer *)answer)->rank;
}

/* Values of the different keys become answers to all askers, by key. */
static int list_answers(struct lookup *w, struct pems_cgm_list *askers,
                        struct pems_cgm_list *found,
                        struct pems_cgm_list *answers) {
  const size_t size = w->values->size;
  const struct asker *const asker = askers->at;
  const char *value = found->at;
  const int error = pems_cgm_new(w->machine, answers, askers->n,
                                 sizeof(struct answer) + size);
  char *at = answers->at;
  for (uint64_t i = 0; !error && i < askers->n; i++) {
    const struct answer answer = {asker[i].index, asker[i].rank};
    value += i > 0 && asker[i].key != asker[i - 1].key ? size : 0;
    memcpy(at, &answer, sizeof(answer));
    memcpy(at + sizeof(answer), value, size);
    at += answers->size;
  }
  pems_cgm_list_free(askers);
  pems_cgm_list_free(found);
  return error;
}

/* found has as many elements as there are answers. */
static int take_answers(struct lookup *w, struct pems_cgm_list *answers,
                        struct pems_cgm_list *found) {
  const size_t size = w->values->size;
  const int error = pems_cgm_new(w->machine, found, answers->n, size);
  const char *at = answers->at;
  for (uint64_t i = 0; !error && i < answers->n; i++) {
    struct answer answer;
    memcpy(&answer, at, sizeof(answer));
    memcpy((char *)found->at + answer.index * size, at + sizeof(answer), size);
    at += answers->size;
  }
  pems_cgm_list_free(answers);
  return error;
}

static int route_sorted(struct lookup *w, struct pems_cgm_list *keys,
                        struct pems_cgm_list *found) {
  const struct pems_record by_key = {.size = sizeof(struct asker),
                                     .key = PEMS_KEY_U64};
  struct pems_cgm_list askers = {0}, once = {0}, answers = {0};
  int error = list_askers(w, keys, &askers);
  if (!error) {
    error = pems_cgm_sort(w->machine, &askers, &by_key);
  }
  if (!error) {
    error = list_keys(w, &askers, &once);
  }
  if (!error) {
    error = route(w, &once, found);
  }
  pems_cgm_list_free(&once);
  if (!error) {
    error = list_answers(w, &askers, found, &answers);
  }
  if (!error) {
    error = pems_cgm_send(w->machine, &answers, owner_of_answer, NULL);
  }
  if (!error) {
    error = take_answers(w, &answers, found);
  }
  pems_cgm_list_free(&askers);
  pems_cgm_list_free(&answers);
  return error;
}

/* --- each rank's keys once --- */

/* *skewed: a rank would be asked for much more than an even share. */
static int find_skew(struct lookup *w, const struct pems_cgm_list *keys,
                     int *skewed) {
  const uint64_t v = (uint64_t)w->machine->size;
  const uint64_t *const key = keys->at;
  uint64_t sum = 0, most = 0;
  struct pems_cgm_list list;
  int error = pems_cgm_new(w->machine, &list, v, sizeof(uint64_t));
  if (error) {
    return error;
  }
  uint64_t *const counts = list.at;
  for (uint64_t i = 0; i < keys->n; i++) {
    counts[owner_of_key(w, &key[i])]++;
  }
  error = pems_cgm_sum(w->machine, counts, v);
  for (uint64_t r = 0; r < v; r++) {
    sum += counts[r];
    most = counts[r] > most ? counts[r] : most;
  }
  pems_cgm_list_free(&list);
  *skewed = most > w->total / v + 2 * (sum / v) + v;
  return error;
}

static int ask_once(struct lookup *w, struct pems_cgm_list *keys,
                    struct pems_cgm_list *found) {
  int skewed = 0;
  int error = find_skew(w, keys, &skewed);
  if (!error) {
    error = skewed ? route_sorted(w, keys, found) : route(w, keys, found);
  }
  return error;
}

static int sort_keys(struct lookup *w, struct pems_cgm_list *keys,
                     struct pems_cgm_list *asked) {
  const struct pems_record by_key = {.size = sizeof(struct asked),
                                     .key = PEMS_KEY_U64};
  const uint64_t *const key = keys->at;
  const int error =
      pems_cgm_new(w->machine, asked, keys->n, sizeof(struct asked));
  struct asked *const at = asked->at;
  for (uint64_t i = 0; !error && i < keys->n; i++) {
    at[i] = (struct asked){key[i], i};
  }
  pems_cgm_list_free(keys);
  return error ? error : pems_cgm_local_sort(w->machine, asked, &by_key);
}

/* Values of the different keys go to all that want them. */
static int spread(struct lookup *w, const struct pems_cgm_list *asked,
                  const struct pems_cgm_list *once,
                  struct pems_cgm_list *found) {
  const size_t size = w->values->size;
  const struct asked *const at = asked->at;
  const char *value = once->at;
  const int error = pems_cgm_new(w->machine, found, asked->n, size);
  for (uint64_t i = 0; !error && i < asked->n; i++) {
    value += i > 0 && at[i].key != at[i - 1].key ? size : 0;
    memcpy((char *)found->at + at[i].index * size, value, size);
  }
  return error;
}

int pems_cgm_lookup(struct pems_cgm *machine, uint64_t total,
                    const struct pems_cgm_list *values,
                    struct pems_cgm_list *keys, struct pems_cgm_list *found) {
  struct lookup w = {machine, total, values};
  struct pems_cgm_list asked = {0}, once = {0}, values_once = {0};
  int error = sort_keys(&w, keys, &asked);
  if (!error) {
    error = list_keys(&w, &asked, &once);
  }
  if (!error) {
    error = ask_once(&w, &once, &values_once);
  }
  pems_cgm_list_free(&once);
  if (!error) {
    error = spread(&w, &asked, &values_once, found);
  }
  pems_cgm_list_free(&asked);
  pems_cgm_list_free(&values_once);
  return error;
}
