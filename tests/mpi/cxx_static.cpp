// C++ programs: static constructors that allocate, thread_local, templates'
// and inline functions' statics, containers across collectives, exceptions.
#define OMPI_SKIP_MPICXX 1 // the C interface only
#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

int failures, rank, size;

void check(bool good, const char *what) {
  if (!good) {
    failures++;
    std::printf("rank %d: FAIL: %s\n", rank, what);
  }
}

struct Registry {
  std::vector<int> *numbers = new std::vector<int>(1000, 3);
  char *block = static_cast<char *>(std::malloc(5000));
  std::map<std::string, int> names{{"one", 1}, {"a rather long name", 2}};
  ~Registry() {
    std::free(block);
    delete numbers;
  }
};

Registry registry;
std::string greeting = "a string that is too long to be stored in place";
thread_local int per_thread = 5;
thread_local std::vector<int> thread_vector(10, 1);

inline int &inline_counter() {
  static int count = 0;
  return count;
}

template <class T> struct Box {
  static inline T value = T(17);
  static T &local() {
    static T t = T(3);
    return t;
  }
};

void statics() {
  check(registry.numbers->size() == 1000 && registry.names["one"] == 1,
        "constructor");
  registry.names["rank"] = rank;
  registry.numbers->push_back(rank);
  greeting += std::to_string(rank);
  per_thread += rank;
  thread_vector.push_back(rank);
  inline_counter() += rank + 1;
  Box<int>::value += rank;
  Box<double>::local() += rank;
  MPI_Barrier(MPI_COMM_WORLD);
  check(registry.names["rank"] == rank && registry.numbers->back() == rank,
        "registry of another rank");
  check(per_thread == 5 + rank && thread_vector.back() == rank,
        "thread_local of another rank");
  check(inline_counter() == rank + 1, "inline function's static");
  check(Box<int>::value == 17 + rank && Box<double>::local() == 3 + rank,
        "template's static");
  check(greeting.substr(greeting.size() - std::to_string(rank).size()) ==
            std::to_string(rank),
        "string of another rank");
}

void containers() {
  std::vector<long> mine, all(static_cast<std::size_t>(size));
  std::map<int, std::string> tree;
  for (int i = 0; i < 2000; i++) {
    mine.push_back(i * (rank + 1));
    tree[i * 7919 % 2003] = std::string(static_cast<std::size_t>(i % 50), 'x');
    if (i % 400 == 0)
      MPI_Barrier(MPI_COMM_WORLD);
  }
  long sum = std::accumulate(mine.begin(), mine.end(), 0L);
  MPI_Allgather(&sum, 1, MPI_LONG, all.data(), 1, MPI_LONG, MPI_COMM_WORLD);
  for (int i = 0; i < size; i++)
    check(all[static_cast<std::size_t>(i)] == 1999000L * (i + 1), "sums");
  check(tree.size() == 2000 && tree[0] == "", "map");
}

void thrower(int depth) {
  std::string local(100, 'y');
  if (depth == 0)
    throw std::runtime_error("from rank " + std::to_string(rank));
  thrower(depth - 1);
}

void exceptions() {
  for (int i = 0; i < 20; i++) {
    try {
      MPI_Barrier(MPI_COMM_WORLD);
      thrower(i);
      check(false, "nothing was thrown");
    } catch (const std::exception &e) {
      MPI_Barrier(MPI_COMM_WORLD);
      check(e.what() == "from rank " + std::to_string(rank), "what()");
    }
  }
  try {
    std::vector<char> huge;
    huge.resize(std::size_t(1) << 50);
    check(false, "1 PiB was allocated");
  } catch (const std::bad_alloc &) {
  }
}

} // namespace

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  std::setvbuf(stdout, nullptr, _IOLBF, 1024);
  statics();
  containers();
  exceptions();
  auto shared = std::make_shared<std::vector<int>>(100, rank);
  MPI_Bcast(shared->data(), 100, MPI_INT, size - 1, MPI_COMM_WORLD);
  check((*shared)[99] == size - 1, "shared_ptr");
  std::printf("rank %d: failures: %d\n", rank, failures);
  MPI_Finalize();
  return failures ? 1 : 0;
}
