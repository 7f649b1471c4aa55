#include "wrappers/graph/pems_graph_job_generate.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "digraph/generate.h"

enum kind { ROAD = 1, RMAT = 2, UNIFORM = 4 };

/* All options of all kinds. */
struct options {
  double nodes, degree, arcs, scale, factor, least, most, undirected, permute,
      seed;
};

static const struct key {
  const char *name;
  int kinds; /* that have it */
  size_t at; /* in struct options */
  double least, most;
  int real; /* else a whole number */
} keys[] = {
#define KEY(name, kinds, least, most, real)                                    \
  { #name, kinds, offsetof(struct options, name), least, most, real }
    KEY(nodes, ROAD | UNIFORM, 1, UINT32_MAX, 0),
    KEY(degree, ROAD, 2.1, 3.9, 1),
    KEY(arcs, UNIFORM, 1, 0x1p40, 0),
    KEY(scale, RMAT, 1, 31, 0),
    KEY(factor, RMAT, 1, 1 << 20, 0),
    KEY(least, RMAT | UNIFORM, 0, UINT32_MAX, 0),
    KEY(most, RMAT | UNIFORM, 1, UINT32_MAX, 0),
    KEY(undirected, RMAT | UNIFORM, 0, 1, 0),
    KEY(permute, RMAT, 0, 1, 0),
    KEY(seed, ROAD | RMAT | UNIFORM, 0, 0x1p53, 0),
#undef KEY
};

static const struct key *find_key(const char *text, size_t length, int kind) {
  for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
    if (strlen(keys[i].name) == length &&
        memcmp(keys[i].name, text, length) == 0 && keys[i].kinds & kind) {
      return &keys[i];
    }
  }
  return NULL;
}

/* Reads KEY=VALUE, which ends at a comma or with the text; returns that end, or
   NULL if something is wrong. */
static const char *read_key(struct options *o, const char *text, int kind,
                            struct pems_error *error) {
  const size_t length = strcspn(text, "=,");
  const struct key *const key = find_key(text, length, kind);
  char *end = NULL;
  if (!key || text[length] != '=') {
    digraph_failure(error, EINVAL,
                    "generate: %s: there is no such option: see --help", text);
    return NULL;
  }
  const double value = strtod(text + length + 1, &end);
  if (end == text + length + 1 || (*end && *end != ',') ||
      !(value >= key->least && value <= key->most) ||
      (!key->real && value != (double)(uint64_t)value)) {
    digraph_failure(error, EINVAL, "generate: %s: give %s from %g to %g", text,
                    key->real ? "a number" : "a whole number", key->least,
                    key->most);
    return NULL;
  }
  *(double *)((char *)o + key->at) = value;
  return end;
}

static int read_kind(const char *spec, size_t length) {
  static const char *const names[] = {"road", "rmat", "uniform"};
  for (int i = 0; i < 3; i++) {
    if (strlen(names[i]) == length && memcmp(names[i], spec, length) == 0) {
      return 1 << i;
    }
  }
  return 0;
}

static int make(struct digraph *g, int kind, const struct options *o,
                struct pems_error *error) {
  const struct generate_weights weights = {(uint32_t)o->least,
                                           (uint32_t)o->most};
  const struct generate_road road = {.nodes = (uint64_t)o->nodes,
                                     .degree = o->degree,
                                     .seed = (uint64_t)o->seed};
  const struct generate_rmat rmat = {.scale = (int)o->scale,
                                     .factor = (uint64_t)o->factor,
                                     .weights = weights,
                                     .permute = o->permute > 0,
                                     .both = o->undirected > 0,
                                     .seed = (uint64_t)o->seed};
  const struct generate_uniform uniform = {.nodes = (uint64_t)o->nodes,
                                           .arcs = (uint64_t)o->arcs,
                                           .weights = weights,
                                           .both = o->undirected > 0,
                                           .seed = (uint64_t)o->seed};
  return kind == ROAD   ? generate_road(g, &road, error)
         : kind == RMAT ? generate_rmat(g, &rmat, error)
                        : generate_uniform(g, &uniform, error);
}

int job_generate(struct digraph *g, const char *spec,
                 struct pems_error *error) {
  const size_t length = strcspn(spec, ":");
  const int kind = read_kind(spec, length);
  struct options o = {.seed = 1};
  if (!kind) {
    return digraph_failure(error, EINVAL,
                           "generate: %s: give road, rmat or uniform, and "
                           "options after a colon",
                           spec);
  }
  for (const char *at = spec + length; *at;) {
    at = read_key(&o, at + 1, kind, error);
    if (!at) {
      return EINVAL;
    }
  }
  return make(g, kind, &o, error);
}
