/* Inter-communicators: made, asked, duplicated, split, merged; messages and
   collectives on them. */
#include "test.h"

#include <stdbool.h>

enum { MOST = 64 };

/* By number of the side: the own group's and the other's first rank of the
   world, and how many there are. Side 0 has the even ranks when `mixed`, else
   the lower part. */
struct sides {
  int mixed, side, n[2];
};

static struct sides sides_of(bool mixed) {
  struct sides s = {.mixed = mixed};
  s.n[0] = mixed ? (size + 1) / 2 : (size + 2) / 3;
  s.n[1] = size - s.n[0];
  s.side = mixed ? rank % 2 : rank >= s.n[0];
  return s;
}

static int world_of(const struct sides *s, int side, int r) {
  return s->mixed ? 2 * r + side : r + (side ? s->n[0] : 0);
}

static MPI_Comm make(const struct sides *s, int local_leader, MPI_Comm peers) {
  MPI_Comm local, inter;
  int remote = world_of(s, !s->side, s->side ? local_leader : 0);
  MPI_Comm_split(MPI_COMM_WORLD, s->side, 0, &local);
  /* Side 0's leader is local_leader, side 1's its first. */
  int leader = s->side ? 0 : local_leader;
  MPI_Intercomm_create(local, leader, peers, remote, 11, &inter);
  MPI_Comm_free(&local);
  return inter;
}

static void check(MPI_Comm inter, const struct sides *s) {
  int flag, me, n, remote, theirs[MOST], members[MOST];
  MPI_Group g, all;
  MPI_Comm_test_inter(inter, &flag);
  MPI_Comm_rank(inter, &me);
  MPI_Comm_size(inter, &n);
  MPI_Comm_remote_size(inter, &remote);
  if (!flag || n != s->n[s->side] || remote != s->n[!s->side] ||
      world_of(s, s->side, me) != rank) {
    fail("inter: flag %d, rank %d of %d, %d others", flag, me, n, remote);
  }
  MPI_Comm_remote_group(inter, &g);
  MPI_Comm_group(MPI_COMM_WORLD, &all);
  for (int i = 0; i < remote; i++) {
    theirs[i] = i;
  }
  MPI_Group_translate_ranks(g, remote, theirs, all, members);
  for (int i = 0; i < remote; i++) {
    if (members[i] != world_of(s, !s->side, i)) {
      fail("the other group: rank %d is %d", i, members[i]);
    }
  }
  MPI_Group_free(&g);
  MPI_Group_free(&all);
}

/* Everybody to everybody on the other side, of different sizes. */
static void talk(MPI_Comm inter, int tag) {
  int me, remote;
  MPI_Comm_rank(inter, &me);
  MPI_Comm_remote_size(inter, &remote);
  MPI_Request requests[2 * MOST];
  static int out[MOST][40], in[MOST][40];
  int count = 0;
  for (int i = 0; i < remote; i++) {
    for (int j = 0; j < 40; j++) {
      out[i][j] = 10000 * rank + 100 * i + j;
    }
    MPI_Irecv(in[i], 40, MPI_INT, i, tag, inter, &requests[count++]);
    MPI_Isend(out[i], 1 + i % 40, MPI_INT, i, tag, inter, &requests[count++]);
  }
  MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
  for (int i = 0; i < remote; i++) {
    mix_number((uint64_t)in[i][0]);
    if (in[i][0] % 10000 != 100 * me) {
      fail("message from %d of the others: %d", i, in[i][0]);
    }
  }
  MPI_Status status;
  int token = me;
  if (me == 0 && remote > 0) {
    MPI_Send(&token, 1, MPI_INT, remote - 1, tag + 1, inter);
  }
  int mine, last;
  MPI_Comm_size(inter, &mine);
  last = me == mine - 1;
  if (last) {
    MPI_Recv(&token, 1, MPI_INT, MPI_ANY_SOURCE, tag + 1, inter, &status);
    if (status.MPI_SOURCE != 0 || token != 0) {
      fail("from any: source %d, %d", status.MPI_SOURCE, token);
    }
  }
}

/* Each side gets what the other one gives. */
static void collectives(MPI_Comm inter, const struct sides *s) {
  int n = s->n[s->side], remote = s->n[!s->side], me, sum, all[MOST];
  int theirs = 0, x = 100 + s->side;
  MPI_Comm_rank(inter, &me);
  for (int i = 0; i < remote; i++) {
    theirs += world_of(s, !s->side, i);
  }
  MPI_Barrier(inter);
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, inter);
  if (sum != theirs) {
    fail("allreduce between groups: %d, not %d", sum, theirs);
  }
  MPI_Allgather(&rank, 1, MPI_INT, all, 1, MPI_INT, inter);
  for (int i = 0; i < remote; i++) {
    if (all[i] != world_of(s, !s->side, i)) {
      fail("allgather between groups: %d", all[i]);
    }
  }
  /* From the last of side 0 to side 1. */
  int root = s->side             ? remote - 1
             : me == s->n[0] - 1 ? MPI_ROOT
                                 : MPI_PROC_NULL;
  MPI_Bcast(&x, 1, MPI_INT, root, inter);
  if (x != 100) {
    fail("broadcast between groups: %d", x);
  }
  mix_number((uint64_t)(n + sum));
}

/* Which side is first where both say the same is each MPI's own matter; all
   members know the same. */
static int first_side(const struct sides *s, int high0, bool high1,
                      int member) {
  if (high0 != high1) {
    return high0 != 0;
  }
  return s->mixed ? member % 2 : member >= s->n[0];
}

static void merge(MPI_Comm inter, const struct sides *s, int high0,
                  bool high1) {
  MPI_Comm all;
  int me, n, members[MOST], at = 0;
  MPI_Intercomm_merge(inter, s->side ? high1 : high0, &all);
  MPI_Comm_rank(all, &me);
  MPI_Comm_size(all, &n);
  MPI_Allgather(&rank, 1, MPI_INT, members, 1, MPI_INT, all);
  const int first = first_side(s, high0, high1, members[0]);
  for (int side = 0; side < 2; side++) {
    for (int i = 0; i < s->n[side ^ first]; i++, at++) {
      if (members[at] != world_of(s, side ^ first, i)) {
        fail("merge %d %d: rank %d is %d", high0, high1, at, members[at]);
      }
    }
  }
  if (n != size || members[me] != rank) {
    fail("merge: rank %d of %d", me, n);
  }
  if (high0 != high1) {
    mix(members, (size_t)n * sizeof(*members));
  }
  MPI_Comm_free(&all);
}

static void duplicate(MPI_Comm inter, const struct sides *s) {
  MPI_Comm dup, again;
  int result;
  MPI_Comm_dup(inter, &dup);
  MPI_Comm_compare(inter, dup, &result);
  if (result != MPI_CONGRUENT) {
    fail("a duplicate compares %d", result);
  }
  MPI_Comm_dup(dup, &again);
  MPI_Comm_free(&dup);
  check(again, s);
  talk(again, 20);
  collectives(again, s);
  MPI_Comm_free(&again);
}

/* The ranks with the same remainder on both sides. */
static void split(MPI_Comm inter, const struct sides *s) {
  MPI_Comm part;
  int me, n, remote, color, wanted = 0;
  MPI_Comm_rank(inter, &me);
  MPI_Comm_remote_size(inter, &remote);
  color = me % 2;
  for (int i = 0; i < remote; i++) {
    wanted += i % 2 == color;
  }
  MPI_Comm_split(inter, color, -me, &part);
  if ((part == MPI_COMM_NULL) != (wanted == 0)) {
    fail("split: %d others", wanted);
  }
  if (part == MPI_COMM_NULL) {
    return;
  }
  MPI_Comm_remote_size(part, &n);
  if (n != wanted) {
    fail("split: %d others, not %d", n, wanted);
  }
  /* Turned round by the keys: the others' last comes first. */
  int got = -1, last = remote - 1;
  while (last % 2 != color) {
    last--;
  }
  MPI_Sendrecv(&rank, 1, MPI_INT, 0, 3, &got, 1, MPI_INT, MPI_PROC_NULL, 3,
               part, MPI_STATUS_IGNORE);
  MPI_Comm_rank(part, &me);
  if (me == 0) {
    for (int i = 0; i < n; i++) {
      MPI_Recv(&got, 1, MPI_INT, i, 3, part, MPI_STATUS_IGNORE);
      if (i == 0 && got != world_of(s, !s->side, last)) {
        fail("split: the others' first is %d", got);
      }
      mix_number((uint64_t)got);
    }
  }
  MPI_Comm_free(&part);
}

/* Without the last rank of each side, where there are more. */
static void create(MPI_Comm inter, const struct sides *s) {
  MPI_Group all, part;
  MPI_Comm made;
  int n, remote, me, here = s->n[s->side], there = s->n[!s->side];
  int left = here > 1 ? here - 1 : here;
  int range[1][3] = {{0, left - 1, 1}};
  MPI_Comm_rank(inter, &me);
  MPI_Comm_group(inter, &all);
  MPI_Group_range_incl(all, 1, range, &part);
  MPI_Comm_create(inter, part, &made);
  if ((made == MPI_COMM_NULL) != (me >= left)) {
    fail("create: who is in");
  }
  if (made != MPI_COMM_NULL) {
    MPI_Comm_size(made, &n);
    MPI_Comm_remote_size(made, &remote);
    if (n != left || remote != (there > 1 ? there - 1 : there)) {
      fail("create: %d and %d", n, remote);
    }
    talk(made, 40);
    MPI_Comm_free(&made);
  }
  MPI_Group_free(&all);
  MPI_Group_free(&part);
}

static void pairs(bool mixed) {
  struct sides s = sides_of(mixed);
  MPI_Comm peers;
  MPI_Comm_dup(MPI_COMM_WORLD, &peers);
  for (int leader = 0; leader < s.n[0]; leader += 2) {
    MPI_Comm inter = make(&s, leader, leader ? peers : MPI_COMM_WORLD);
    check(inter, &s);
    talk(inter, 10);
    collectives(inter, &s);
    merge(inter, &s, 0, true);
    merge(inter, &s, 1, false);
    merge(inter, &s, 0, false);
    merge(inter, &s, 1, true);
    duplicate(inter, &s);
    split(inter, &s);
    create(inter, &s);
    MPI_Comm_free(&inter);
  }
  MPI_Comm_free(&peers);
  report(mixed ? "even and odd" : "low and high");
}

static void class_of(int code, const char *what) {
  int class;
  MPI_Error_class(code, &class);
  printf("rank %d: %s: class %d\n", rank, what, class);
}

static void errors(void) {
  MPI_Comm made;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  class_of(MPI_Intercomm_create(MPI_COMM_NULL, 0, MPI_COMM_WORLD, 0, 1, &made),
           "null");
  class_of(MPI_Intercomm_create(MPI_COMM_SELF, 1, MPI_COMM_WORLD, 0, 1, &made),
           "no such leader");
  class_of(MPI_Intercomm_create(MPI_COMM_SELF, 0, MPI_COMM_NULL, 0, 1, &made),
           "no peers");
  class_of(
      MPI_Intercomm_create(MPI_COMM_SELF, 0, MPI_COMM_WORLD, size, 1, &made),
      "no such peer");
  class_of(MPI_Intercomm_merge(MPI_COMM_WORLD, 0, &made), "merge no inter");
}

int main(int argc, char **argv) {
  begin(&argc, &argv);
  if (size > 1) {
    pairs(false);
    pairs(true);
  }
  if (ERRORS_COMPARE) {
    errors();
  }
  return end();
}
