/* Where contexts lie: exhaustively for small shapes, byte by byte. */
#define _GNU_SOURCE
#include "disk/contexts/placement.h"

#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "check_main.h"

#define BLOCK ((uint64_t)4096)
enum { DISKS_MAX = 4 };

static struct placement *p;

static void drop(void) {
  placement_free(p);
  p = NULL;
}

/* Every block of every context has a place of its own inside a file, and spots
   reach just as far as blocks follow each other. */
static void check_placement(const struct placement_shape *s) {
  const uint64_t blocks = s->context_size / BLOCK;
  char *taken[DISKS_MAX];
  uint64_t used = 0, size = 0;
  for (int i = 0; i < s->disks; i++) {
    size += placement_bytes(p, i);
    ck_assert_uint_eq(placement_bytes(p, i) % BLOCK, 0);
    taken[i] = calloc(placement_bytes(p, i) / BLOCK + 1, 1);
  }
  ck_assert_uint_eq(size, s->context_size * (uint64_t)s->n);
  for (int c = 0; c < s->n; c++) {
    const int home = placement_home(p, c);
    for (uint64_t b = 0; b < blocks; b++) {
      const struct placement_spot at = placement_find(p, c, b * BLOCK);
      ck_assert_int_ge(at.disk, 0);
      ck_assert_int_lt(at.disk, s->disks);
      ck_assert(home == -1 || home == at.disk);
      ck_assert_uint_le(at.at + BLOCK, placement_bytes(p, at.disk));
      ck_assert_uint_ge(at.n, BLOCK);
      ck_assert_uint_le(at.n, (blocks - b) * BLOCK);
      char *const t = &taken[at.disk][at.at / BLOCK];
      ck_assert_int_eq(*t, 0);
      *t = 1;
      used++;
      if (at.n > BLOCK) {
        const struct placement_spot next =
            placement_find(p, c, (b + 1) * BLOCK);
        ck_assert_int_eq(next.disk, at.disk);
        ck_assert_uint_eq(next.at, at.at + BLOCK);
        ck_assert_uint_eq(next.n, at.n - BLOCK);
      }
    }
  }
  ck_assert_uint_eq(used * BLOCK, size);
  for (int i = 0; i < s->disks; i++) {
    free(taken[i]);
  }
}

START_TEST(even_placements) {
  for (int disks = 1; disks <= DISKS_MAX; disks++) {
    for (int n = 0; n <= 9; n++) {
      for (uint64_t blocks = 1; blocks <= 11; blocks++) {
        for (uint64_t stripe = 0; stripe <= 12; stripe++) {
          const struct placement_shape s = {n, blocks * BLOCK, stripe * BLOCK,
                                            disks};
          ck_assert_int_eq(placement_even(&p, &s), 0);
          check_placement(&s);
          for (int i = 0; i < disks; i++) {
            ck_assert_uint_eq(placement_bytes(p, i),
                              placement_even_bytes(&s, i));
          }
          for (int c = 0; c < n; c++) {
            ck_assert_int_eq(placement_find(p, c, 0).disk, c % disks);
          }
          for (int c = 0; c < n && (stripe == 0 || stripe >= blocks); c++) {
            ck_assert_int_eq(placement_home(p, c), c % disks);
          }
          drop();
        }
      }
    }
  }
}
END_TEST

/* Random shapes and rooms: the placement fits whenever one is made, and one is
   made whenever whole pieces fit. */
START_TEST(weighted_placements) {
  unsigned seed = 1;
  int made = 0, refused = 0;
  for (int round = 0; round < 4000; round++) {
    const int disks = 1 + rand_r(&seed) % DISKS_MAX;
    const uint64_t blocks = 1 + (uint64_t)(rand_r(&seed) % 12);
    const uint64_t stripe = (uint64_t)(rand_r(&seed) % 5);
    const struct placement_shape s = {1 + rand_r(&seed) % 12, blocks * BLOCK,
                                      stripe * BLOCK, disks};
    const uint64_t piece = stripe && stripe < blocks ? stripe : blocks;
    const uint64_t pieces = (blocks + piece - 1) / piece * (uint64_t)s.n;
    uint64_t room[DISKS_MAX], whole = 0, got[DISKS_MAX] = {0};
    int device[DISKS_MAX];
    for (int i = 0; i < disks; i++) {
      device[i] = i && rand_r(&seed) % 3 == 0 ? device[i - 1] : i;
      room[i] = device[i] == i ? (uint64_t)(rand_r(&seed) % 80) * BLOCK
                               : room[device[i]];
      whole += device[i] == i ? room[i] / BLOCK / piece : 0;
    }
    const int error = placement_weighted(&p, &s, room, device);
    ck_assert_int_eq(error, whole >= pieces ? 0 : ENOSPC);
    refused += error != 0;
    if (error) {
      continue;
    }
    made++;
    check_placement(&s);
    for (int i = 0; i < disks; i++) {
      got[device[i]] += placement_bytes(p, i);
    }
    for (int i = 0; i < disks; i++) {
      ck_assert(device[i] != i || got[i] <= room[i]);
    }
    drop();
  }
  ck_assert_int_gt(made, 500);
  ck_assert_int_gt(refused, 500);
}
END_TEST

START_TEST(shares_are_proportional) {
  const struct placement_shape s = {40, 10 * BLOCK, 0, 3};
  const uint64_t room[] = {100 * BLOCK, 200 * BLOCK, 100 * BLOCK};
  const int device[] = {0, 1, 2};
  ck_assert_int_eq(placement_weighted(&p, &s, room, device), 0);
  ck_assert_uint_eq(placement_bytes(p, 0), 100 * BLOCK);
  ck_assert_uint_eq(placement_bytes(p, 1), 200 * BLOCK);
  ck_assert_uint_eq(placement_bytes(p, 2), 100 * BLOCK);
  /* Spread, not one disk after the other. */
  int same = 0;
  for (int c = 1; c < 40; c++) {
    same += placement_home(p, c) == placement_home(p, c - 1);
  }
  ck_assert_int_le(same, 2);
}
END_TEST

/* Too many pieces for an exact pattern. */
START_TEST(many_stripes_keep_the_proportion) {
  const struct placement_shape s = {64, 4096 * BLOCK, BLOCK, 2};
  const uint64_t all = 64 * 4096 * BLOCK;
  const uint64_t room[] = {all / 4 + all / 100, all};
  const int device[] = {0, 1};
  ck_assert_int_eq(placement_weighted(&p, &s, room, device), 0);
  check_placement(&s);
  ck_assert_uint_le(placement_bytes(p, 0), room[0]);
  ck_assert_uint_gt(placement_bytes(p, 0), all / 5);
  ck_assert_int_eq(placement_home(p, 0), -1);
  drop();
  const uint64_t none[] = {all / 4, all / 2};
  ck_assert_int_eq(placement_weighted(&p, &s, none, device), ENOSPC);
}
END_TEST

START_TEST(too_large_is_enospc) {
  const struct placement_shape s = {3, UINT64_MAX - BLOCK + 1, 0, 2};
  const uint64_t room[] = {UINT64_MAX, UINT64_MAX};
  const int device[] = {0, 1};
  ck_assert_int_eq(placement_even(&p, &s), ENOSPC);
  ck_assert_int_eq(placement_weighted(&p, &s, room, device), ENOSPC);
  ck_assert_uint_eq(placement_even_bytes(&s, 0), UINT64_MAX);
}
END_TEST

START_TEST(most_is_what_fits) {
  const int device[] = {0, 1, 1};
  const uint64_t room[] = {100 * BLOCK, 30 * BLOCK, 30 * BLOCK};
  ck_assert_uint_eq(placement_most(1, 0, 3, room, device), 100 * BLOCK);
  ck_assert_uint_eq(placement_most(2, 0, 3, room, device), 100 * BLOCK);
  ck_assert_uint_eq(placement_most(3, 0, 3, room, device), 99 * BLOCK);
  ck_assert_uint_eq(placement_most(4, 0, 3, room, device), 120 * BLOCK);
  ck_assert_uint_eq(placement_most(13, 0, 3, room, device), 130 * BLOCK);
  ck_assert_uint_eq(placement_most(131, 0, 3, room, device), 0);
  ck_assert_uint_eq(placement_most(7, 2 * BLOCK, 3, room, device), 126 * BLOCK);
  /* And so much does fit, no more. */
  for (int n = 1; n < 40; n++) {
    const uint64_t size = placement_most(n, 0, 3, room, device) / (uint64_t)n;
    const struct placement_shape s = {n, size, 0, 3};
    const struct placement_shape more = {n, size + BLOCK, 0, 3};
    ck_assert_int_eq(placement_weighted(&p, &s, room, device), 0);
    drop();
    ck_assert_int_eq(placement_weighted(&p, &more, room, device), ENOSPC);
  }
}
END_TEST

int main(void) {
  Suite *const s = suite_create("placement");
  TCase *const t = tcase_create("placement");
  tcase_set_timeout(t, 60);
  tcase_add_checked_fixture(t, NULL, drop);
  tcase_add_test(t, even_placements);
  tcase_add_test(t, weighted_placements);
  tcase_add_test(t, shares_are_proportional);
  tcase_add_test(t, many_stripes_keep_the_proportion);
  tcase_add_test(t, too_large_is_enospc);
  tcase_add_test(t, most_is_what_fits);
  suite_add_tcase(s, t);
  return check_run(s);
}
