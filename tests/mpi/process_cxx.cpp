// What each rank of a C++ program has for itself: std::cout without stdio's
// buffer, the global locale, thread_local objects and their destructors,
// exceptions in flight across collectives, static containers, threads.
#define OMPI_SKIP_MPICXX 1 // the C interface only
#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <future>
#include <iostream>
#include <locale>
#include <mutex>
#include <numeric>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

namespace {

int failures, rank, size;

void check(bool good, const char *what) {
  if (!good) {
    failures++;
    std::cout << "rank " << rank << ": FAIL: " << what << "\n";
  }
}

void barrier() {
  MPI_Barrier(MPI_COMM_WORLD);
}

std::vector<std::string> words{"static", "containers",
                               "of strings that are long"};
std::unordered_map<std::string, std::vector<int>> table;
std::set<int> numbers;
std::function<int(int)> function = [](int n) { return n + 1; };

// Says at the end of the program what it holds.
struct Witness {
  const char *name;
  std::vector<std::string> kept;
  explicit Witness(const char *n) : name(n), kept(100, "a string of the heap") {
  }
  ~Witness() {
    std::size_t sum = 0;
    for (const std::string &s : kept)
      sum += s.size();
    std::printf("rank %d: %s: %zu of %zu\n", rank, name, sum, kept.size());
  }
};

Witness of_process("static object");
thread_local Witness of_thread("thread_local object");

void output() {
  for (int i = 0; i < 20; i++) {
    std::cout << "rank " << rank;
    if (i % 4 == 0)
      barrier();
    std::cout << ": line " << i << "\n";
  }
}

struct Separator : std::numpunct<char> {
  char separator;
  explicit Separator(char s) : separator(s) {
  }
  char do_thousands_sep() const override {
    return separator;
  }
  std::string do_grouping() const override {
    return "\3";
  }
};

// The global locale of a rank is its own, as are the streams that use it.
void locales() {
  const char separator = rank % 2 ? '.' : '_';
  const std::string expected =
      std::string("1") + separator + "000" + separator + "00";
  for (int i = 0; i < 3; i++) {
    const std::locale before = std::locale::global(
        std::locale(std::locale::classic(), new Separator(separator)));
    barrier();
    std::ostringstream out;
    out << 1000000 + rank;
    check(out.str() == expected + std::to_string(rank), "global locale");
    barrier();
    std::locale::global(std::locale::classic());
  }
  std::ostringstream imbued;
  imbued.imbue(std::locale(std::locale::classic(), new Separator(separator)));
  barrier();
  imbued << 1000000 + rank;
  check(imbued.str() == expected + std::to_string(rank), "imbued locale");
}

void containers() {
  for (int i = 0; i < 3000; i++) {
    table[std::to_string(i * 7 % 500)].push_back(rank + i);
    numbers.insert(i * 7919 % 3001);
    if (i % 1000 == 0)
      barrier();
  }
  words.push_back(std::to_string(rank));
  const int add = rank;
  function = [add](int n) { return n + add; };
  of_process.kept.resize(100 + static_cast<std::size_t>(rank), "more");
  of_thread.kept.resize(200 + static_cast<std::size_t>(rank), "others");
  barrier();
  check(table.size() == 500 && table["7"].front() == rank + 1, "table");
  check(numbers.size() == 3000 && *numbers.begin() == 0, "set");
  check(words.size() == 4 && words[3] == std::to_string(rank), "words");
  check(function(5) == 5 + rank, "function");
}

// A collective while the stack is unwound.
struct Unwound {
  ~Unwound() {
    barrier();
    check(std::uncaught_exceptions() == 1, "uncaught_exceptions");
  }
};

void exceptions() {
  std::exception_ptr kept;
  for (int i = 0; i < 10; i++) {
    try {
      try {
        const Unwound unwound;
        throw std::runtime_error("rank " + std::to_string(rank));
      } catch (const std::exception &) {
        barrier();
        std::throw_with_nested(std::logic_error("step " + std::to_string(i)));
      }
    } catch (const std::logic_error &e) {
      barrier();
      check(e.what() == "step " + std::to_string(i), "the outer exception");
      try {
        std::rethrow_if_nested(e);
        check(false, "nothing was nested");
      } catch (const std::runtime_error &inner) {
        barrier();
        check(inner.what() == "rank " + std::to_string(rank), "the inner one");
        kept = std::current_exception();
      }
    }
  }
  barrier();
  try {
    std::rethrow_exception(kept);
  } catch (const std::exception &e) {
    check(e.what() == "rank " + std::to_string(rank), "a kept exception");
  }
}

std::mutex lock;
std::once_flag once;

void threads() {
  std::vector<std::thread> all;
  std::vector<long> sums;
  int calls = 0;
  for (int t = 0; t < 3; t++)
    all.emplace_back([&, t] {
      std::vector<long> own(20000);
      std::iota(own.begin(), own.end(), t + rank);
      std::call_once(once, [&] { calls++; });
      const std::lock_guard<std::mutex> guard(lock);
      sums.push_back(std::accumulate(own.begin(), own.end(), 0L));
    });
  for (std::thread &t : all)
    t.join();
  auto later = std::async(std::launch::async, [] {
    of_thread.name = "thread_local object of a thread";
    return std::string(1000, 'x');
  });
  check(later.get().size() == 1000, "async");
  barrier();
  check(calls == 1, "call_once");
  check(std::accumulate(sums.begin(), sums.end(), 0L) ==
            3 * 199990000L + 20000L * (3 + 3 * rank),
        "sums of threads");
}

} // namespace

int main(int argc, char **argv) {
  std::ios_base::sync_with_stdio(false);
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  output();
  containers();
  exceptions();
  threads();
  locales();
  std::cout << "rank " << rank << ": failures: " << failures << "\n";
  MPI_Finalize();
  return failures ? 1 : 0;
}
