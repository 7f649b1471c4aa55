/* Damaged graphs of every format: cut short, bits turned over, numbers replaced
   by large ones, bytes put in. Whatever that makes of a file, it is refused in
   one line, or a graph whose rows and edges are in order. FUZZ_CASES files of
   each format and kind (more with PEMS_TEST_LONG), from FUZZ_SEED on. With
   --enable-asan reading beside memory ends the process: make check-fuzz. */
#include "graph_check.h"

enum { CASES = 60, CASES_LONG = 2000, FILE_MOST = 4096, MEMORY = 32 << 20 };

/* A good file of each, and what is beside it. */
static const struct format {
  const char *name;
  int both;           /* written from an undirected graph */
  const char *beside; /* also damaged; or NULL */
} formats[] = {
    {"a.gr", 0, "a.co"},  {"a.mtx", 0, NULL},         {"a.txt", 0, NULL},
    {"a.csr", 0, NULL},   {"a.e", 0, "a.properties"}, {"b.e", 0, "b.v"},
    {"a.graph", 1, NULL}, {"a.galois", 0, NULL},      {"a.sg", 0, NULL},
    {"a.wsg", 0, NULL},
};
enum { FORMATS = sizeof(formats) / sizeof(*formats) };

static uint64_t state;

static uint64_t below(uint64_t n) {
  state = generate_mix(state);
  return state % n;
}

static uint64_t number_of(const char *variable, uint64_t other) {
  const char *const text = getenv(variable);
  return text ? strtoull(text, NULL, 10) : other;
}

/* --- damage --- */

struct bytes {
  unsigned char at[FILE_MOST + 16];
  size_t n;
};

static void cut(struct bytes *b) {
  b->n = below(b->n + 1);
}

static void turn_bits(struct bytes *b) {
  for (uint64_t i = below(4) + 1; i > 0 && b->n > 0; i--) {
    b->at[below(b->n)] ^= (unsigned char)(1 << below(8));
  }
}

/* A number that is large, or large in other sizes than 8 bytes. */
static void replace(struct bytes *b) {
  static const uint64_t numbers[] = {0,          1,          INT32_MAX,
                                     1u << 31,   UINT32_MAX, 1ull << 32,
                                     1ull << 61, INT64_MAX,  UINT64_MAX};
  const uint64_t number = numbers[below(sizeof(numbers) / sizeof(*numbers))];
  const size_t size = below(2) ? 8 : 4;
  if (b->n >= size) {
    memcpy(b->at + below(b->n - size + 1), &number, size);
  }
}

static void put_digits(struct bytes *b) {
  static const char *const words[] = {
      "9", "18446744073709551615", "-1", " ", "\n", "1e308", "nan", "0x1p9999"};
  const char *const word = words[below(8)];
  const size_t n = strlen(word), at = below(b->n + 1);
  if (b->n + n <= FILE_MOST) {
    memmove(b->at + at + n, b->at + at, b->n - at);
    memcpy(b->at + at, word, n);
    b->n += n;
  }
}

static void (*const damages[])(struct bytes *) = {cut, turn_bits, replace,
                                                  put_digits};
enum { DAMAGES = 4 };

/* --- what is read --- */

static void check_graph(const struct digraph *g, const char *what) {
  ck_assert_msg(g->nodes > 0 && g->first[0] == 0 &&
                    g->first[g->nodes] == g->edges,
                "%s: rows", what);
  for (uint64_t v = 0; v < g->nodes; v++) {
    ck_assert_msg(g->first[v] <= g->first[v + 1], "%s: row", what);
  }
  for (uint64_t i = 0; i < g->edges; i++) {
    ck_assert_msg(g->edge[i].to < g->nodes, "%s: edge", what);
  }
}

static void check_read(const char *name, const char *what) {
  const struct digraph_read_options o = {.budget = {.memory = MEMORY},
                                         .both = below(2) && name[2] != 'c'};
  struct pems_error error = {0};
  struct digraph g;
  const int code = digraph_read(&g, path_of(name), &o, &error);
  if (code) {
    ck_assert_msg(error.code == code && *error.text &&
                      !strchr(error.text, '\n') && strstr(error.text, ": "),
                  "%s: no line: \"%s\"", what, error.text);
    ck_assert_msg(!g.memory[0] && !g.map, "%s: something is left", what);
  } else {
    check_graph(&g, what);
    digraph_free(&g);
  }
}

static void make_good(const struct format *f) {
  struct pems_error e;
  struct digraph g;
  const struct generate_road road = {.nodes = 20, .seed = 5};
  ck_assert_int_eq(generate_road(&g, &road, &e), 0);
  if (!f->both) { /* one edge less, so that it is directed */
    g.edges = g.first[g.nodes] - 1;
    ((uint64_t *)g.memory[0])[g.nodes]--;
  }
  ck_assert_msg(digraph_write(&g, path_of(f->name), DIGRAPH_BY_NAME, &e) == 0,
                "%s", e.text);
  digraph_free(&g);
}

static struct bytes load(const char *name) {
  struct bytes b;
  char *const all = get(name, &b.n);
  ck_assert_uint_le(b.n, FILE_MOST);
  memcpy(b.at, all, b.n);
  free(all);
  return b;
}

/* Damages one file in many ways, and reads the graph each time. */
static void fuzz(const struct format *f, const char *damaged, int kind) {
  const struct bytes good = load(damaged);
  const uint64_t few = getenv("PEMS_TEST_LONG") ? CASES_LONG : CASES;
  const uint64_t first = number_of("FUZZ_SEED", 1);
  const uint64_t cases = number_of("FUZZ_CASES", few);
  for (uint64_t seed = first; seed < first + cases; seed++) {
    struct bytes bad = good;
    char what[80];
    state = generate_mix(seed * DAMAGES + (uint64_t)kind);
    snprintf(what, sizeof(what), "FUZZ_SEED=%llu %s %d",
             (unsigned long long)seed, damaged, kind);
    damages[kind](&bad);
    if (below(4) == 0) {
      damages[below(DAMAGES)](&bad);
    }
    put_bytes(damaged, bad.at, bad.n);
    check_read(f->name, what);
  }
  put_bytes(damaged, good.at, good.n);
}

/* _i: the format, and how it is damaged. */
START_TEST(damaged_files) {
  const struct format *const f = &formats[_i / DAMAGES];
  make_good(f);
  check_read(f->name, "undamaged");
  fuzz(f, f->name, _i % DAMAGES);
  if (f->beside) {
    fuzz(f, f->beside, _i % DAMAGES);
  }
}
END_TEST

int main(void) {
  Suite *const s = suite_create("digraph_fuzz");
  TCase *const t = tcase_create("digraph_fuzz");
  tcase_set_timeout(t, 3600);
  tcase_add_checked_fixture(t, directory_begin, directory_end);
  tcase_add_loop_test(t, damaged_files, 0, FORMATS * DAMAGES);
  suite_add_tcase(s, t);
  return run_suite(s);
}
