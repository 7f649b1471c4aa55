/* Exceptions that unwind deep stacks, of which parts were on disk. */
#include <cstdio>
#include <mpi.h>
#include <stdexcept>
#include <string>

static int ranks;
static long alive;

namespace {
struct guard {
  char pad[3000];
  guard() {
    alive++;
    pad[0] = 1;
  }
  ~guard() {
    alive -= pad[0];
  }
};
} // namespace

static int sum(int n) {
  int all = 0;
  MPI_Allreduce(&n, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  return all;
}

static int fall(int depth, int end) {
  const guard g;
  if (depth % 300 == 0 && sum(1) != ranks) {
    throw std::logic_error("sum");
  }
  if (depth == end) {
    throw std::runtime_error("from " + std::to_string(depth));
  }
  return fall(depth + 1, end) + g.pad[0];
}

int main(int argc, char **argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int i = 1; i < 5; i++) {
    try {
      fall(1, 500 * i);
    } catch (const std::exception &e) {
      const int left = sum(static_cast<int>(alive));
      if (rank == 0) {
        std::printf("%s: %d objects left\n", e.what(), left);
      }
    }
  }
  MPI_Finalize();
}
