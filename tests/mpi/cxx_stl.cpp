// C++ in contexts: containers of every kind across supersteps, iostream,
// exceptions, thread_local, threads between calls, locales, smart pointers.
#define OMPI_SKIP_MPICXX 1 // the C interface only
#include <mpi.h>

#include <algorithm>
#include <any>
#include <deque>
#include <exception>
#include <functional>
#include <iomanip>
#include <iostream>
#include <list>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <typeinfo>
#include <unordered_map>
#include <variant>
#include <vector>

namespace {

int failures, rank, size;

void check(bool good, const char *what) {
  if (!good) {
    failures++;
    std::cout << "rank " << rank << ": FAIL: " << what << std::endl;
  }
}

struct Shape {
  virtual ~Shape() = default;
  virtual double area() const = 0;
};
struct Square : Shape {
  double side;
  explicit Square(double s) : side(s) {}
  double area() const override { return side * side; }
};
struct Circle : Shape {
  double r;
  explicit Circle(double radius) : r(radius) {}
  double area() const override { return 3 * r * r; }
};

template <class T> struct Counted {
  static int count;
  static inline std::vector<T> all{};
};
template <class T> int Counted<T>::count = 1;

inline int &inline_static() {
  static int value = 10;
  return value;
}

void containers() {
  std::vector<std::string> names;
  std::map<int, std::vector<double>> rows;
  std::unordered_map<std::string, int> counts;
  std::list<std::unique_ptr<Shape>> shapes;
  std::deque<int> queue;
  std::set<std::string> words;
  std::mt19937 random(rank);
  for (int i = 0; i < 2000; i++) {
    names.push_back("a name that needs memory of its own " + std::to_string(i));
    rows[i % 100].push_back(rank + i);
    counts["word" + std::to_string(random() % 50)]++;
    queue.push_front(i * rank);
    words.insert(names.back());
    if (i % 2)
      shapes.push_back(std::make_unique<Square>(rank));
    else
      shapes.push_back(std::make_unique<Circle>(rank));
    if (i % 500 == 0)
      MPI_Barrier(MPI_COMM_WORLD);
  }
  double area = 0;
  for (const auto &s : shapes)
    area += s->area();
  int total = 0;
  for (const auto &c : counts)
    total += c.second;
  check(area == 4000.0 * rank * rank, "virtual functions");
  check(total == 2000 && words.size() == 2000, "unordered_map, set");
  check(rows.at(99).size() == 20 && queue.back() == 0, "map, deque");
  std::sort(names.begin(), names.end(), std::greater<>());
  MPI_Barrier(MPI_COMM_WORLD);
  check(std::is_sorted(names.rbegin(), names.rend()), "sort");
  // A message straight from and into a container.
  const int next = (rank + 1) % size, last = (rank + size - 1) % size;
  std::vector<double> in(rows[1].size());
  MPI_Sendrecv(rows[1].data(), 20, MPI_DOUBLE, next, 1, in.data(), 20,
               MPI_DOUBLE, last, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  check(in[19] == last + 1901, "message");
}

void statics() {
  Counted<int>::count += rank;
  Counted<int>::all.assign(100, rank);
  inline_static() += rank;
  MPI_Barrier(MPI_COMM_WORLD);
  check(Counted<int>::count == 1 + rank, "static of a template");
  check(Counted<int>::all.at(99) == rank, "inline static");
  check(inline_static() == 10 + rank, "static of an inline function");
}

struct Failure : std::runtime_error {
  int who;
  explicit Failure(int w) : std::runtime_error("failure of a rank"), who(w) {}
};

void fail_below(int depth) {
  std::vector<int> unwound(100);
  if (depth == 0) {
    MPI_Barrier(MPI_COMM_WORLD);
    throw Failure(rank);
  }
  fail_below(depth - 1);
}

void exceptions() {
  std::exception_ptr kept;
  try {
    fail_below(5);
    check(false, "not thrown");
  } catch (const std::exception &e) {
    MPI_Barrier(MPI_COMM_WORLD); // others throw meanwhile
    check(dynamic_cast<const Failure &>(e).who == rank, "exception");
    kept = std::current_exception();
  }
  MPI_Barrier(MPI_COMM_WORLD);
  try {
    std::rethrow_exception(kept);
  } catch (Failure &f) {
    check(f.who == rank, "rethrown");
  }
  try {
    (void)std::vector<int>().at(rank);
  } catch (const std::out_of_range &) {
    kept = nullptr;
  }
  check(!kept, "exception of the library");
}

thread_local std::vector<int> local(10, 1);

void threads() {
  std::vector<int> sums(4);
  std::vector<std::thread> workers;
  for (int t = 0; t < 4; t++)
    workers.emplace_back([t, &sums] {
      local.push_back(t);
      sums[t] = rank + t + static_cast<int>(local.size());
    });
  for (auto &w : workers)
    w.join();
  MPI_Barrier(MPI_COMM_WORLD);
  for (int t = 0; t < 4; t++)
    check(sums[t] == rank + t + 11, "thread");
  check(local.size() == 10, "thread_local");
}

void streams() {
  std::ostringstream text;
  text << std::hex << std::showbase << 255 << ' ' << std::setprecision(3)
       << 3.14159;
  MPI_Barrier(MPI_COMM_WORLD);
  check(text.str() == "0xff 3.14", "ostringstream");
  std::istringstream in("12 words 3.5");
  int i;
  std::string s;
  double d;
  in >> i >> s >> d;
  check(i == 12 && s == "words" && d == 3.5, "istringstream");
  // State of cout is each rank's own.
  std::cout << std::setfill('*') << std::setw(rank + 4);
  MPI_Barrier(MPI_COMM_WORLD);
  std::cout << rank << std::setfill(' ') << '\n';
  std::variant<int, std::string> v = std::to_string(rank);
  std::any any = rank;
  MPI_Barrier(MPI_COMM_WORLD);
  check(std::get<std::string>(v) == std::to_string(rank), "variant");
  check(std::any_cast<int>(any) == rank, "any");
  check(typeid(*std::make_unique<Square>(1)) == typeid(Square), "typeid");
}

} // namespace

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  containers();
  statics();
  exceptions();
  threads();
  streams();
  std::cout << "rank " << rank << " of " << size << ": " << failures
            << " failures" << std::endl;
  MPI_Finalize();
  return failures != 0;
}
