/* Whom a request waits for. */
#include "mpi/request/partner.h"

#include "check_main.h"
#include "context/residency/awaited.h"

enum { MEMBERS = 4 };

/* Ranks 4 to 6 live here, and the members of the communicator are 9, 6, 4 and
   5: their contexts are the third, the first and the second. */
static struct context contexts_here[3] = {
    {.index = 0}, {.index = 1}, {.index = 2}};
static struct vp vps_here[3];
static int world[MEMBERS] = {9, 6, 4, 5};
static struct team team = {.size = MEMBERS, .world = world};
static struct comm comm = {.team = &team, .peer = 2};

static struct request_reason reason;

static void tell(const struct request *r, struct request_reason *why) {
  (void)r;
  *why = reason;
}

static const struct request_class told = {.name = "test", .tell = tell},
                                  untold = {.name = "test"};

static void prepare(void) {
  for (int i = 0; i < 3; i++) {
    vps_here[i].context = &contexts_here[i];
  }
  vps.item = vps_here;
  vps.n = 3;
  vps.first_rank = 4;
  vps.plan.v = 12;
}

static struct request made(int peer, int tag) {
  reason = (struct request_reason){
      .what = "for a message", .peer = peer, .tag = tag};
  return (struct request){.class = &told, .comm = &comm};
}

START_TEST(members_are_named_by_their_contexts) {
  ck_assert_int_eq(partner_at(&comm, 0), AWAITED_ELSEWHERE);
  ck_assert_int_eq(partner_at(&comm, 1), 2);
  ck_assert_int_eq(partner_at(&comm, 2), 0);
  ck_assert_int_eq(partner_at(&comm, 3), 1);
  ck_assert_int_eq(partner_at(&comm, PEER_ANY), AWAITED_ANY);
}
END_TEST

START_TEST(a_request_tells_whom_it_waits_for) {
  struct request r = made(3, 0);
  ck_assert_int_eq(partner_of(&r), 1);
  r = made(PEER_ANY, 0);
  ck_assert_int_eq(partner_of(&r), AWAITED_ANY);
  r = made(PEER_NONE, 0);
  ck_assert_int_eq(partner_of(&r), AWAITED_UNKNOWN);
  r = made(3, 0);
  reason.coll = (const struct coll *)&reason; /* not looked at */
  ck_assert_int_eq(partner_of(&r), AWAITED_UNKNOWN);
  r.class = &untold;
  ck_assert_int_eq(partner_of(&r), AWAITED_UNKNOWN);
  r = made(3, 0);
  r.comm = NULL;
  ck_assert_int_eq(partner_of(&r), AWAITED_UNKNOWN);
}
END_TEST

START_TEST(others_are_told_apart_by_distance_and_tag) {
  struct request r = made(3, 0);
  const uint64_t next = partner_apart(&r);
  r = made(1, 0);
  const uint64_t last = partner_apart(&r);
  r = made(3, 1);
  ck_assert_uint_ne(next, last);
  ck_assert_uint_ne(next, partner_apart(&r));
  comm.peer = 0;
  r = made(1, 0);
  ck_assert_uint_eq(partner_apart(&r), next);
  comm.peer = 2;
  ck_assert_uint_eq(partner_apart(NULL), 0);
  r.class = &untold;
  ck_assert_uint_eq(partner_apart(&r), 0);
}
END_TEST

int main(void) {
  const TTest *const tests[] = {
      members_are_named_by_their_contexts, a_request_tells_whom_it_waits_for,
      others_are_told_apart_by_distance_and_tag, NULL};
  prepare();
  return check_main("partner", tests);
}
