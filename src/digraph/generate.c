#include "digraph/generate.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>

/* A number below n, which is at most 2^32, of the upper half of `random`. */
static uint32_t below(uint64_t random, uint64_t n) {
  return (uint32_t)((random >> 32) * n >> 32);
}

uint32_t generate_weight(const struct generate_weights *w, uint64_t random) {
  return w->least + below(random, (uint64_t)w->most - w->least + 1);
}

uint32_t generate_weight_between(const struct generate_weights *w,
                                 uint64_t seed, uint32_t a, uint32_t b) {
  const uint64_t low = a < b ? a : b, high = a < b ? b : a;
  return w->most == 0 ? 1
                      : generate_weight(w, generate_mix(generate_mix(seed) +
                                                        (low << 32 | high)));
}

static int check_weights(struct generate_weights *w, struct pems_error *error) {
  if (w->least == 0 && w->most == 0) {
    *w = (struct generate_weights){1, 100};
  }
  if (w->least <= w->most) {
    return 0;
  }
  return digraph_failure(error, EINVAL,
                         "there are no such weights: %" PRIu32 ":%" PRIu32
                         ": give the least one first",
                         w->least, w->most);
}

/* --- power law --- */

enum { ROUNDS = 4 };

struct rmat {
  struct generate_rmat o;
  uint64_t seed;
  uint64_t key[ROUNDS]; /* of the permutation */
  uint32_t limit[3]; /* of 16 bits: below the first one it is a quarter, ... */
};

/* A bijection on numbers of as many bits as the scale. */
static uint32_t permuted(const struct rmat *r, uint32_t v) {
  const uint64_t mask = (UINT64_C(1) << r->o.scale) - 1;
  const int half = (r->o.scale + 1) / 2;
  uint64_t x = v;
  for (int i = 0; i < ROUNDS; i++) {
    x = (x * (r->key[i] | 1) + (r->key[i] >> 32)) & mask; /* odd: invertible */
    x ^= x >> half;
  }
  return (uint32_t)x;
}

static struct digraph_arc rmat_at(void *arg, uint64_t i) {
  const struct rmat *const r = arg;
  const int scale = r->o.scale;
  uint64_t state = generate_mix(r->seed + i);
  uint64_t bits = state;
  uint32_t from = 0, to = 0;
  for (int level = 0; level < scale; level++) {
    const uint32_t x = bits & 0xffff;
    const uint32_t down = x >= r->limit[1];
    const uint32_t right =
        (x >= r->limit[0]) ^ down ^ (uint32_t)(x >= r->limit[2]);
    from = from << 1 | down;
    to = to << 1 | right;
    bits >>= 16;
    if (level % 4 == 3) {
      bits = state = generate_mix(state);
    }
  }
  if (r->o.permute) {
    from = permuted(r, from);
    to = permuted(r, to);
  }
  return (struct digraph_arc){
      from, to, generate_weight(&r->o.weights, generate_mix(~state))};
}

static int check_rmat(struct generate_rmat *o, struct pems_error *error) {
  if (o->a == 0 && o->b == 0 && o->c == 0) {
    o->a = .57, o->b = o->c = .19;
  }
  o->scale = o->scale ? o->scale : 20;
  o->factor = o->factor ? o->factor : 16;
  if (o->scale < 1 || o->scale > 31) {
    return digraph_failure(error, EINVAL,
                           "there is no such graph: scale %d: give 1 to 31",
                           o->scale);
  }
  if (o->factor >> 32) {
    return digraph_failure(error, EINVAL,
                           "too many arcs per node: %" PRIu64 ": give less",
                           o->factor);
  }
  if (!(o->a >= 0 && o->b >= 0 && o->c >= 0 && o->a + o->b + o->c <= 1)) {
    return digraph_failure(error, EINVAL,
                           "there are no such quarters: %g, %g, %g: give three "
                           "numbers from 0 whose sum is at most 1",
                           o->a, o->b, o->c);
  }
  return check_weights(&o->weights, error);
}

int generate_rmat(struct digraph *g, const struct generate_rmat *o,
                  struct pems_error *error) {
  struct rmat r = {.o = *o, .seed = generate_mix(o->seed ^ 0x4a7)};
  const int code = check_rmat(&r.o, error);
  if (code) {
    return code;
  }
  for (uint64_t i = 0; i < ROUNDS; i++) {
    r.key[i] = generate_mix(r.seed + i);
  }
  const double sums[3] = {r.o.a, r.o.a + r.o.b, r.o.a + r.o.b + r.o.c};
  for (int i = 0; i < 3; i++) {
    r.limit[i] = (uint32_t)lround(sums[i] * 0x10000);
  }
  return digraph_arcs_build(g, "rmat", UINT64_C(1) << r.o.scale,
                            r.o.factor << r.o.scale, rmat_at, &r, r.o.both,
                            &r.o.budget, error);
}

/* --- uniform --- */

struct uniform {
  struct generate_uniform o;
  uint64_t seed;
};

static struct digraph_arc uniform_at(void *arg, uint64_t i) {
  const struct uniform *const u = arg;
  const uint64_t random = generate_mix(u->seed + i);
  const uint64_t second = generate_mix(random);
  struct digraph_arc arc = {
      .from = below(random, u->o.nodes),
      .to = below(second, u->o.nodes - 1),
      .weight = generate_weight(&u->o.weights, generate_mix(second)),
  };
  arc.to += arc.to >= arc.from;
  return arc;
}

int generate_uniform(struct digraph *g, const struct generate_uniform *o,
                     struct pems_error *error) {
  struct uniform u = {.o = *o, .seed = generate_mix(o->seed ^ 0xe4d05)};
  u.o.nodes = o->nodes ? o->nodes : 1 << 20;
  u.o.arcs = o->arcs ? o->arcs : 4 * u.o.nodes;
  if (u.o.nodes < 2 || u.o.nodes > UINT32_MAX || u.o.arcs >> 40) {
    return digraph_failure(error, EINVAL,
                           "there is no such graph: %" PRIu64 " nodes, %" PRIu64
                           " arcs: give 2 to 2^32-1 nodes, less than 2^40 arcs",
                           u.o.nodes, u.o.arcs);
  }
  const int code = check_weights(&u.o.weights, error);
  if (code) {
    return code;
  }
  return digraph_arcs_build(g, "uniform", u.o.nodes, u.o.arcs, uniform_at, &u,
                            u.o.both, &u.o.budget, error);
}
