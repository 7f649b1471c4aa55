/* Groups: every operation on random ones against sets of numbers, and the
   classes of errors. */
#include "numbers.h"
#include "test.h"

enum { MOST = 64, ROUNDS = 40 };

/* What a group should hold: ranks of MPI_COMM_WORLD, in order. */
struct model {
  int n, at[MOST];
};

static uint64_t state = 17;
static MPI_Group world;

static int place(const struct model *m, int member) {
  for (int i = 0; i < m->n; i++) {
    if (m->at[i] == member) {
      return i;
    }
  }
  return MPI_UNDEFINED;
}

static struct model random_model(void) {
  struct model m = {0};
  int left[MOST], n = size;
  for (int i = 0; i < size; i++) {
    left[i] = i;
  }
  for (int want = (int)pick(&state, (unsigned)size + 1); want > 0; want--) {
    int i = (int)pick(&state, (unsigned)n);
    m.at[m.n++] = left[i];
    left[i] = left[--n];
  }
  return m;
}

static void expect(MPI_Group g, const struct model *m, const char *what) {
  int n, mine, in[MOST], out[MOST];
  MPI_Group_size(g, &n);
  MPI_Group_rank(g, &mine);
  if (n != m->n) {
    fail("%s: %d members, not %d", what, n, m->n);
  }
  if (mine != place(m, rank)) {
    fail("%s: rank %d, not %d", what, mine, place(m, rank));
  }
  if ((n == 0) != (g == MPI_GROUP_EMPTY)) {
    fail("%s: empty groups are MPI_GROUP_EMPTY", what);
  }
  for (int i = 0; i < n && i < MOST; i++) {
    in[i] = i;
  }
  MPI_Group_translate_ranks(g, n, in, world, out);
  for (int i = 0; i < n && i < m->n; i++) {
    if (out[i] != m->at[i]) {
      fail("%s: member %d is %d, not %d", what, i, out[i], m->at[i]);
    }
  }
  mix_number((uint64_t)n);
  mix(out, (size_t)n * sizeof(*out));
}

/* Open MPI does not count how often it gives MPI_GROUP_EMPTY. */
static void drop(MPI_Group *g) {
  if (*g == MPI_GROUP_EMPTY) {
    return;
  }
  MPI_Group_free(g);
  if (*g != MPI_GROUP_NULL) {
    fail("a freed group is not MPI_GROUP_NULL");
  }
}

static MPI_Group make(const struct model *m) {
  MPI_Group g;
  MPI_Group_incl(world, m->n, m->at, &g);
  expect(g, m, "incl");
  return g;
}

static void operate(const struct model *a, const struct model *b) {
  struct model all = *a, both = {0}, rest = {0};
  MPI_Group x = make(a), y = make(b), g;
  for (int i = 0; i < b->n; i++) {
    if (place(a, b->at[i]) == MPI_UNDEFINED) {
      all.at[all.n++] = b->at[i];
    }
  }
  for (int i = 0; i < a->n; i++) {
    if (place(b, a->at[i]) == MPI_UNDEFINED) {
      rest.at[rest.n++] = a->at[i];
    } else {
      both.at[both.n++] = a->at[i];
    }
  }
  MPI_Group_union(x, y, &g);
  expect(g, &all, "union");
  drop(&g);
  MPI_Group_intersection(x, y, &g);
  expect(g, &both, "intersection");
  drop(&g);
  MPI_Group_difference(x, y, &g);
  expect(g, &rest, "difference");
  drop(&g);
  drop(&x);
  drop(&y);
}

static void translate(const struct model *a, const struct model *b) {
  MPI_Group x = make(a), y = make(b);
  int in[MOST], out[MOST];
  for (int i = 0; i < a->n; i++) {
    in[i] = i % 5 == 4 ? MPI_PROC_NULL : i;
  }
  MPI_Group_translate_ranks(x, a->n, in, y, out);
  for (int i = 0; i < a->n && b->n; i++) {
    int wanted = i % 5 == 4 ? MPI_PROC_NULL : place(b, a->at[i]);
    if (out[i] != wanted) {
      fail("translate: %d, not %d", out[i], wanted);
    }
  }
  mix(out, (size_t)a->n * sizeof(*out));
  drop(&x);
  drop(&y);
}

static void compare(const struct model *a, const struct model *b) {
  struct model turned = *a;
  MPI_Group x = make(a), y = make(b), same = make(a), z;
  int result;
  for (int i = 0; i < a->n; i++) {
    turned.at[i] = a->at[a->n - 1 - i];
  }
  z = make(&turned);
  MPI_Group_compare(x, same, &result);
  if (result != MPI_IDENT) {
    fail("compare: equal groups are %d", result);
  }
  MPI_Group_compare(x, z, &result);
  if (result != (a->n < 2 ? MPI_IDENT : MPI_SIMILAR)) {
    fail("compare: turned around %d", result);
  }
  MPI_Group_compare(x, y, &result);
  mix_number((uint64_t)result);
  drop(&x);
  drop(&y);
  drop(&z);
  drop(&same);
}

static void exclude(const struct model *out) {
  struct model m = {0};
  MPI_Group g;
  for (int i = 0; i < size; i++) {
    if (place(out, i) == MPI_UNDEFINED) {
      m.at[m.n++] = i;
    }
  }
  MPI_Group_excl(world, out->n, out->at, &g);
  expect(g, &m, "excl");
  drop(&g);
}

static void ranges(void) {
  struct model in = {0}, out = {0};
  MPI_Group g;
  int r[3][3] = {{size - 1, size / 2 + 1, -2}, {0, size / 2, 3}};
  int n = size / 2 + 1 <= size - 1 ? 2 : 1;
  if (n == 1) {
    memcpy(r[0], r[1], sizeof(r[0]));
  }
  for (int i = 0; i < n; i++) {
    for (int at = r[i][0]; r[i][2] > 0 ? at <= r[i][1] : at >= r[i][1];
         at += r[i][2]) {
      in.at[in.n++] = at;
    }
  }
  for (int i = 0; i < size; i++) {
    if (place(&in, i) == MPI_UNDEFINED) {
      out.at[out.n++] = i;
    }
  }
  MPI_Group_range_incl(world, n, r, &g);
  expect(g, &in, "range_incl");
  drop(&g);
  MPI_Group_range_excl(world, n, r, &g);
  expect(g, &out, "range_excl");
  drop(&g);
  MPI_Group_range_incl(world, 0, r, &g);
  drop(&g);
}

static void class_of(int code, const char *what) {
  int class;
  MPI_Error_class(code, &class);
  if (rank == 0) {
    printf("%s: class %d\n", what, class);
  }
}

static void errors(void) {
  MPI_Group g;
  int out[2], n, result, bad[2] = {0, size}, r[1][3] = {{0, 0, 0}},
                         twice[2][3] = {{0, 0, 1}, {0, 0, 1}};
  int back[1][3] = {{0, size > 1, -1}}, beyond[1][3] = {{0, -1, 1}};
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  class_of(MPI_Group_size(MPI_GROUP_NULL, &n), "size null");
  class_of(MPI_Group_size(world, NULL), "size to nowhere");
  class_of(MPI_Group_rank(MPI_GROUP_NULL, &n), "rank null");
  class_of(MPI_Group_rank(world, NULL), "rank to nowhere");
  class_of(MPI_Group_translate_ranks(MPI_GROUP_NULL, 1, bad, world, out),
           "translate null");
  class_of(MPI_Group_translate_ranks(world, -1, bad, world, out),
           "translate -1");
  class_of(MPI_Group_compare(world, MPI_GROUP_NULL, &result), "compare null");
  class_of(MPI_Group_compare(world, world, NULL), "compare to nowhere");
  class_of(MPI_Group_union(world, MPI_GROUP_NULL, &g), "union null");
  class_of(MPI_Group_intersection(world, world, NULL), "intersection nowhere");
  class_of(MPI_Group_difference(MPI_GROUP_NULL, world, &g), "difference null");
  class_of(MPI_Group_incl(world, 2, bad, &g), "incl out of range");
  class_of(MPI_Group_incl(world, size + 1, bad, &g), "incl too many");
  class_of(MPI_Group_incl(world, 1, NULL, &g), "incl nothing");
  class_of(MPI_Group_excl(world, size + 1, bad, &g), "excl too many");
  class_of(MPI_Group_excl(world, 1, bad + 1, &g), "excl out of range");
  class_of(MPI_Group_range_incl(world, 1, r, &g), "range stride 0");
  class_of(MPI_Group_range_incl(world, 2, twice, &g), "range twice");
  class_of(MPI_Group_range_excl(world, 1, beyond, &g), "range beyond");
  if (size > 1) {
    class_of(MPI_Group_range_incl(world, 1, back, &g), "range backwards");
  }
  g = MPI_GROUP_NULL;
  class_of(MPI_Group_free(&g), "free null");
  class_of(MPI_Group_free(NULL), "free nothing");
  class_of(MPI_Comm_group(MPI_COMM_NULL, &g), "group of null");
  class_of(MPI_Comm_group(MPI_COMM_WORLD, NULL), "group to nowhere");
  class_of(MPI_Comm_remote_group(MPI_COMM_WORLD, &g), "no remote group");
}

static void fortran(void) {
  struct model m = random_model();
  MPI_Group g = make(&m);
  if (MPI_Group_f2c(MPI_Group_c2f(g)) != g ||
      MPI_Group_c2f(g) != MPI_Group_c2f(g)) {
    fail("Fortran's number of a group");
  }
  if (MPI_Group_f2c(MPI_Group_c2f(MPI_GROUP_NULL)) != MPI_GROUP_NULL ||
      MPI_Group_f2c(MPI_Group_c2f(MPI_GROUP_EMPTY)) != MPI_GROUP_EMPTY) {
    fail("Fortran's number of a constant");
  }
  drop(&g);
}

/* Memory of groups that are freed is used again. */
static void many(void) {
  for (int i = 0; i < 20000; i++) {
    MPI_Group g, h;
    int zero = 0;
    MPI_Comm_group(MPI_COMM_WORLD, &g);
    MPI_Group_incl(g, 1, &zero, &h);
    MPI_Group_free(&g);
    MPI_Group_free(&h);
  }
}

int main(int argc, char **argv) {
  begin(&argc, &argv);
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  for (int i = 0; i < ROUNDS; i++) {
    struct model a = random_model(), b = random_model();
    operate(&a, &b);
    translate(&a, &b);
    compare(&a, &b);
    exclude(&a);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  report("operations");
  ranges();
  fortran();
  report("ranges");
  many();
  if (ERRORS_COMPARE) {
    errors();
  }
  MPI_Group_free(&world);
  return end();
}
