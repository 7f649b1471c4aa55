/* Communicators and topologies where memory is short. */
#include "../check_shortage.h"
#include "check_main.h"
#include "mpi/object/derivations.h"
#include "mpi_abi/functions.h"

static MPI_Comm parent, made;
static MPI_Group group;
static int key;

static int copy(MPI_Comm comm, int keyval, void *extra, void *in, void *out,
                int *flag) {
  (void)comm, (void)keyval, (void)extra;
  *(void **)out = in;
  *flag = 1;
  return MPI_SUCCESS;
}

static int delete(MPI_Comm comm, int keyval, void *value, void *extra) {
  (void)comm, (void)keyval, (void)value, (void)extra;
  return MPI_SUCCESS;
}

/* The parent is a grid that has an attribute. */
static void start(void) {
  static const int dims[] = {2, 2}, periods[] = {0, 1}, ranks[] = {0, 2};
  shortage_begin();
  ck_assert_int_eq(
      pems_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &parent),
      MPI_SUCCESS);
  pems_Comm_create_keyval(copy, delete, &key, NULL);
  pems_Comm_set_attr(parent, key, &key);
  group = group_handle(group_incl(shortage_rank.world->group, ranks, 2));
}

static void end(void) {
  pems_Group_free(&group);
  pems_Comm_free(&parent);
  pems_Comm_free_keyval(&key);
  shortage_end();
}

static void free_made(void) {
  ck_assert_int_eq(pems_Comm_free(&made), MPI_SUCCESS);
}

static void forget_derivations(void) {
  struct comm *comm = comm_of(parent);
  derivations_free(comm->derivations);
  comm->derivations = NULL;
}

static int dup(void) {
  return pems_Comm_dup(parent, &made);
}

static int create(void) {
  return pems_Comm_create(parent, group, &made);
}

static int create_group(void) {
  return pems_Comm_create_group(parent, group, 7, &made);
}

#if defined PEMS_MPI_HAS_Comm_create_from_group
static int create_from_group(void) {
  return pems_Comm_create_from_group(group, "tag", MPI_INFO_NULL,
                                     MPI_ERRORS_RETURN, &made);
}

static void forget_world_derivations(void) {
  struct comm *comm = shortage_rank.world;
  derivations_free(comm->derivations);
  comm->derivations = NULL;
}
#endif

static int cart(void) {
  static const int dims[] = {3, 1}, periods[] = {1, 0};
  return pems_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &made);
}

static int cart_sub(void) {
  return pems_Cart_sub(parent, (const int[]){1, 0}, &made);
}

static int graph(void) {
  static const int index[] = {1, 2}, edges[] = {1, 0};
  return pems_Graph_create(MPI_COMM_WORLD, 2, index, edges, 0, &made);
}

static int dist_graph(void) {
  static const int from[] = {1, 2}, to[] = {3}, weights[] = {5, 6};
  return pems_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, from, weights, 1,
                                         to, weights, MPI_INFO_NULL, 0, &made);
}

START_TEST(communicators_are_made_or_not) {
  static int (*const calls[])(void) = {dup,      create, cart,
                                       cart_sub, graph,  dist_graph};
  for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
    shortage_everywhere(&(struct shortage_trial){calls[i], free_made, NULL});
  }
  shortage_everywhere(
      &(struct shortage_trial){create_group, free_made, forget_derivations});
#if defined PEMS_MPI_HAS_Comm_create_from_group
  shortage_everywhere(&(struct shortage_trial){create_from_group, free_made,
                                               forget_world_derivations});
#endif
}
END_TEST

static void calls_again(int (*call)(void)) {
  struct comm *const comm = shortage_rank.world;
  const uint64_t before = comm->collectives;
  memory_but(0);
  ck_assert_int_eq(call(), MPI_ERR_NO_MEM);
  ck_assert_uint_eq(comm->collectives, before);
  ck_assert_int_eq(call(), MPI_SUCCESS);
  ck_assert_uint_eq(comm->collectives, before + 1);
  free_made();
}

START_TEST(a_rank_that_calls_again_joins_the_others) {
  calls_again(cart);
  calls_again(graph);
  calls_again(dist_graph);
}
END_TEST

static void nothing(void) {
}

static int dims(void) {
  int sides[2] = {0};
  const int code = pems_Dims_create(12, 2, sides);
  ck_assert_int_eq(sides[0] * sides[1], code ? 0 : 12);
  return code;
}

START_TEST(dimensions_are_found_or_not) {
  shortage_everywhere(&(struct shortage_trial){dims, nothing, NULL});
}
END_TEST

static int compare(void) {
  static const int turned[] = {2, 0};
  struct group *g = group_incl(shortage_rank.world->group, turned, 2);
  MPI_Group handle = g ? group_handle(g) : MPI_GROUP_NULL;
  MPI_Comm other = MPI_COMM_NULL;
  int result,
      code = g ? pems_Comm_create(parent, handle, &other) : MPI_ERR_NO_MEM;
  if (!code) {
    code = create();
  }
  if (!code) {
    code = pems_Comm_compare(made, other, &result);
    ck_assert(code || result == MPI_SIMILAR);
    free_made();
  }
  if (other != MPI_COMM_NULL) {
    pems_Comm_free(&other);
  }
  group_release(g);
  return code;
}

START_TEST(communicators_are_compared_or_not) {
  shortage_everywhere(&(struct shortage_trial){compare, nothing, NULL});
}
END_TEST

int main(void) {
  Suite *const suite = suite_create("shortage of memory for communicators");
  TCase *const t = tcase_create("all");
  tcase_add_checked_fixture(t, start, end);
  tcase_add_test(t, communicators_are_made_or_not);
  tcase_add_test(t, a_rank_that_calls_again_joins_the_others);
  tcase_add_test(t, dimensions_are_found_or_not);
  tcase_add_test(t, communicators_are_compared_or_not);
  suite_add_tcase(suite, t);
  return check_run(suite);
}
