/* For tests of checkpoints: what a rank has of C++: streams of files,
   thread_local objects with destructors, exceptions, some of them under way at
   a superstep. Rank 0 prints a line for each.

     kept_cxx STEPS DIR HOLD */
#include <cstdlib>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <map>
#include <memory>
#include <mpi.h>
#include <sstream>
#include <stdexcept>
#include <string>
#include <unistd.h>

static int rank;

struct last_words {
  std::string text = "nothing";
  ~last_words() {
    if (rank == 0) {
      std::cout << "at end: " << text << "\n";
    }
  }
};
static thread_local last_words words;

static std::string path(const char *dir, const char *name) {
  return std::string(dir) + "/" + name + "." + std::to_string(rank);
}

static long sum(long x) {
  long all;
  MPI_Allreduce(&x, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  return all;
}

/* The superstep comes while one exception is caught, and others are thrown and
   caught after it. */
static long step(int s, long x) {
  try {
    if (s % 2) {
      throw std::runtime_error("step " + std::to_string(s));
    }
    return sum(x);
  } catch (const std::exception &e) {
    const long all = sum(x + static_cast<long>(std::string(e.what()).size()));
    try {
      std::rethrow_exception(std::current_exception());
    } catch (const std::runtime_error &again) {
      return all + again.what()[5];
    }
  }
}

static void stop_before(int s, const char *hold) {
  const std::string name = std::string(hold) + "." + std::to_string(s);
  while (rank == 0 && access(name.c_str(), F_OK) == 0) {
    usleep(10000);
  }
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int steps = std::atoi(argv[1]);
  std::ofstream out(path(argv[2], "out"));
  std::ifstream in(std::string(argv[2]) + "/in");
  std::fstream both(path(argv[2], "both"),
                    std::ios::in | std::ios::out | std::ios::trunc);
  std::ostringstream text;
  std::map<int, std::unique_ptr<std::string>> past;
  out << std::setprecision(3) << std::fixed;
  std::cout << std::hex << std::showbase;
  for (int s = 0; s < steps; s++) {
    long x, y = 0;
    stop_before(s, argv[3]);
    in >> x;
    out << "step " << s << ": " << x / 7.0 << '\n';
    both.seekp(0, std::ios::end);
    both << x << '\n' << std::flush;
    both.seekg(s / 2 * 2);
    both >> y;
    text << s << ' ';
    words.text = text.str();
    past[s] = std::make_unique<std::string>(words.text);
    const long all =
        step(s, x + y + static_cast<long>(past[s / 2]->size() + out.tellp()));
    if (rank == 0) {
      std::cout << "step " << std::to_string(s) << ": " << all << '\n';
    }
  }
  MPI_Finalize();
  return 0;
}
