// thread_local objects: constructed when a thread uses them first, destroyed
// when it ends, in the opposite order; with memory of their own and large ones.
#include <mpi.h>

#include <array>
#include <cstdio>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

static int rank, ranks;

class noted {
public:
  explicit noted(const char *what) : name(what), values(1000, 1) {
    std::printf("rank %d: %s begins\n", rank, name.c_str());
  }
  noted(const noted &) = delete;
  ~noted() {
    std::printf("rank %d: %s ends with %ld\n", rank, name.c_str(), sum());
  }
  void add(int n) {
    values.insert(values.end(), 500, n);
  }
  long sum() const {
    return std::accumulate(values.begin(), values.end(), 0L);
  }

private:
  std::string name;
  std::vector<int> values;
};

static thread_local noted first("first");
static thread_local noted second("second");

// Objects that are large themselves.
struct grid {
  std::array<int, 100000> cell;
  grid() {
    cell.fill(rank + 1);
  }
  ~grid() {
    std::printf("rank %d: grid ends with %d and %d\n", rank, cell[0],
                cell[99999]);
  }
};
static thread_local grid cells;

template <typename T> struct counter {
  static thread_local int n;
};
template <typename T> thread_local int counter<T>::n = 3;

inline thread_local std::string shared_name = "name";

static int of_function() {
  static thread_local noted local("of function");
  static thread_local int calls;
  local.add(++calls);
  return calls;
}

static void use(int by) {
  first.add(by);
  second.add(2 * by);
  cells.cell[99999] += by;
  counter<int>::n += by;
  counter<long>::n -= by;
  shared_name += static_cast<char>('a' + by % 26);
  std::printf("rank %d: %ld %ld %d %d %d %s %d\n", rank, first.sum(),
              second.sum(), cells.cell[99999], counter<int>::n,
              counter<long>::n, shared_name.c_str(), of_function());
}

static void exchange() {
  const int next = (rank + 1) % ranks, last = (rank + ranks - 1) % ranks;
  MPI_Sendrecv_replace(cells.cell.data(), 50000, MPI_INT, next, 0, last, 0,
                       MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  std::printf("rank %d: has %d\n", rank, cells.cell[49999]);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int i = 0; i < 3; i++) {
    use(rank + i);
    MPI_Barrier(MPI_COMM_WORLD);
    exchange();
  }
  std::thread([] { use(50); }).join();
  use(7);
  try {
    throw std::string("thrown");
  } catch (const std::string &text) {
    std::printf("rank %d: %s\n", rank, text.c_str());
  }
  MPI_Finalize();
  return 0;
}
