/* What a rank sends in a collective call is, in another process, what it was:
   counts, displacements and types of each peer. */
#include "mpi/transfer/coll_side_kept.h"

#include <check.h>

#include "../check_byte.h"
#include "../check_kept.h"
#include "../check_shortage.h"
#include "check_main.h"

static struct coll_side side, again;

static void save(struct checkpoint_writer *to) {
  coll_side_kept_save(&side, to);
}

static void load(struct checkpoint_reader *from) {
  coll_side_kept_load(&again, from);
}

static void begin(void) {
  handles_fix(4);
  byte_only();
  shortage_begin();
  (void)shortage_end; /* what is left ends with the process of the test */
}

/* Is there the same for each peer, in memory of its own? */
static void compare(void) {
  struct layout_span was, is;
  ck_assert_int_eq(again.shape, side.shape);
  ck_assert_int_eq(again.n, side.n);
  for (int peer = 0; peer < 4; peer++) {
    const bool any = coll_side_span(&side, peer, &was);
    ck_assert_int_eq(coll_side_span(&again, peer, &is), any);
    if (any) {
      ck_assert_ptr_eq(is.base, was.base);
      ck_assert_uint_eq(is.count, was.count);
      ck_assert_int_eq(is.layout->extent, was.layout->extent);
    }
  }
  ck_assert(!side.counts.item || again.counts.item != side.counts.item);
}

static void there_and_back(struct coll_side s) {
  side = s;
  kept_save(save, NULL);
  kept_load(load);
  compare();
  coll_side_release(&side);
  coll_side_release(&again);
}

static char base[64];

START_TEST(of_one_buffer_and_of_none) {
  begin();
  there_and_back(coll_side_none(shortage_rank.world));
  there_and_back(
      coll_side_make(shortage_rank.world, SIDE_BLOCKS, base, 3, MPI_BYTE));
  there_and_back(coll_side_rooted(shortage_rank.world, base, 9, MPI_BYTE, 2));
}
END_TEST

START_TEST(of_counts_of_either_size_and_of_types) {
  static const int counts[] = {1, 0, 3, 2}, places[] = {8, 0, 16, 40};
  static const int64_t large[] = {2, 1, 0, 3}, at[] = {0, 30, 0, 7};
  const MPI_Datatype types[] = {MPI_BYTE, MPI_BYTE, MPI_BYTE, MPI_BYTE};
  begin();
  there_and_back(coll_side_vector(shortage_rank.world, base, counts_of(counts),
                                  counts_of(places), MPI_BYTE, NULL));
  there_and_back(coll_side_vector(shortage_rank.world, base,
                                  counts_large(large), counts_large(at),
                                  MPI_BYTE, NULL));
  there_and_back(coll_side_vector(shortage_rank.world, base, counts_of(counts),
                                  counts_of(places), MPI_DATATYPE_NULL, types));
}
END_TEST

int main(void) {
  return check_main("coll_side_kept",
                    (const TTest *[]){of_one_buffer_and_of_none,
                                      of_counts_of_either_size_and_of_types,
                                      NULL});
}
