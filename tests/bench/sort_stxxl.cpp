// Sorts random records with STXXL, as sort.c does with pems:
//
//   sort_stxxl METHOD TYPE COUNT MEMORY DIR [IO]
//
// METHOD is sort or ksort (of a vector, in place) or sorter (pushed from one
// vector, pulled into another). The records are in a file before the clock
// starts, and sorted in a file when it stops. IO: a file type of STXXL
// (linuxaio).
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <string>

#include <sys/resource.h>

#include <stxxl/io>
#include <stxxl/ksort>
#include <stxxl/mng>
#include <stxxl/sort>
#include <stxxl/sorter>
#include <stxxl/timer>
#include <stxxl/vector>

namespace {

constexpr unsigned block_size = 2 << 20;
constexpr unsigned page_blocks = 2;
constexpr unsigned cache_pages = 2;
constexpr std::uint64_t vector_cache =
    std::uint64_t{block_size} * page_blocks * cache_pages;

struct job {
  std::string method, type;
  std::uint64_t count, memory;
};

std::uint64_t next_random(std::uint64_t &state) {
  std::uint64_t x = state += UINT64_C(0x9e3779b97f4a7c15);
  x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
  return x ^ x >> 31;
}

struct pair16 {
  std::uint64_t key, value;
};

struct record100 {
  unsigned char key[10], rest[90];
};

// How each type is ordered, its extremes, and its key for ksort.
template <typename T> struct order {
  using key_type = T;
  bool operator()(const T &a, const T &b) const {
    return a < b;
  }
  key_type operator()(const T &a) const {
    return a;
  }
  T min_value() const {
    return std::numeric_limits<T>::min();
  }
  T max_value() const {
    return std::numeric_limits<T>::max();
  }
};

template <> struct order<pair16> {
  using key_type = std::uint64_t;
  bool operator()(const pair16 &a, const pair16 &b) const {
    return a.key < b.key;
  }
  key_type operator()(const pair16 &a) const {
    return a.key;
  }
  pair16 min_value() const {
    return {0, 0};
  }
  pair16 max_value() const {
    return {UINT64_MAX, UINT64_MAX};
  }
};

template <> struct order<record100> {
  bool operator()(const record100 &a, const record100 &b) const {
    return std::memcmp(a.key, b.key, sizeof(a.key)) < 0;
  }
  record100 min_value() const {
    return extreme(0);
  }
  record100 max_value() const {
    return extreme(255);
  }

private:
  static record100 extreme(int byte) {
    record100 r;
    std::memset(&r, byte, sizeof(r));
    return r;
  }
};

template <typename T> T random_record(std::uint64_t &state) {
  T t;
  for (std::size_t i = 0; i < sizeof(t); i += 8) {
    const std::uint64_t x = next_random(state);
    std::memcpy(reinterpret_cast<char *>(&t) + i, &x,
                sizeof(t) - i < 8 ? sizeof(t) - i : 8);
  }
  return t;
}

template <typename T> std::uint64_t digest(const T &t) {
  std::uint64_t sum = 0, word = 0;
  for (std::size_t i = 0; i < sizeof(t); i += 8) {
    std::memcpy(&word, reinterpret_cast<const char *>(&t) + i,
                sizeof(t) - i < 8 ? sizeof(t) - i : 8);
    sum = (sum ^ word) * UINT64_C(0xe7037ed1a0b428db);
  }
  return sum;
}

template <typename T>
using vector_of = typename stxxl::VECTOR_GENERATOR<T, page_blocks, cache_pages,
                                                   block_size>::result;

template <typename T> void sort_vector(vector_of<T> &v, std::uint64_t memory) {
  stxxl::sort(v.begin(), v.end(), order<T>(), memory);
}

template <typename T> void ksort_vector(vector_of<T> &v, std::uint64_t memory) {
  stxxl::ksort(v.begin(), v.end(), order<T>(), memory);
}

// Keys of ksort are numbers.
template <>
void ksort_vector<record100>(vector_of<record100> &, std::uint64_t) {
  std::printf("RESULT bench=sort method=stxxl-ksort skipped=key\n");
  std::exit(0);
}

template <typename T>
void stream(vector_of<T> &from, vector_of<T> &to, std::uint64_t memory) {
  stxxl::sorter<T, order<T>, block_size> sorter(order<T>(), memory);
  for (typename vector_of<T>::bufreader_type r(from); !r.empty(); ++r) {
    sorter.push(*r);
  }
  sorter.sort();
  typename vector_of<T>::bufwriter_type w(to);
  for (; !sorter.empty(); ++sorter) {
    w << *sorter;
  }
}

template <typename T> int run(const job &j) {
  std::uint64_t state = 1, before = 0, after = 0;
  vector_of<T> from(j.count), to(j.method == "sorter" ? j.count : 0);
  {
    typename vector_of<T>::bufwriter_type w(from);
    for (std::uint64_t i = 0; i < j.count; i++) {
      const T t = random_record<T>(state);
      before += digest(t);
      w << t;
    }
  }
  from.flush();
  const stxxl::stats_data at_start(*stxxl::stats::get_instance());
  const double begin = stxxl::timestamp();
  if (j.method == "sort") {
    sort_vector<T>(from, j.memory - vector_cache);
  } else if (j.method == "ksort") {
    ksort_vector<T>(from, j.memory - vector_cache);
  } else {
    stream<T>(from, to, j.memory - 2 * vector_cache);
  }
  from.flush();
  to.flush();
  const double seconds = stxxl::timestamp() - begin;
  const stxxl::stats_data io =
      stxxl::stats_data(*stxxl::stats::get_instance()) - at_start;
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  bool sorted = true, first = true;
  T last{};
  for (typename vector_of<T>::bufreader_type r(j.method == "sorter" ? to
                                                                    : from);
       !r.empty(); ++r) {
    sorted &= first || !order<T>()(*r, last);
    first = false;
    last = *r;
    after += digest(last);
  }
  std::printf("RESULT bench=sort method=stxxl-%s type=%s records=%" PRIu64
              " memory=%" PRIu64 " seconds=%.3f bytes_read=%" PRIu64
              " bytes_written=%" PRIu64 " read_wait=%.3f write_wait=%.3f "
              "peak_rss_mib=%ld right=%d\n",
              j.method.c_str(), j.type.c_str(), j.count, j.memory, seconds,
              static_cast<std::uint64_t>(io.get_read_volume()),
              static_cast<std::uint64_t>(io.get_written_volume()),
              io.get_wait_read_time(), io.get_wait_write_time(),
              usage.ru_maxrss >> 10, sorted && before == after);
  return sorted && before == after ? EXIT_SUCCESS : EXIT_FAILURE;
}

} // namespace

int main(int argc, char **argv) {
  if (argc < 6) {
    std::fprintf(stderr, "usage: sort_stxxl sort|ksort|sorter "
                         "u32|u64|pair|record COUNT MEMORY DIR [IO]\n");
    return 2;
  }
  const job j = {argv[1], argv[2], std::strtoull(argv[3], nullptr, 10),
                 std::strtoull(argv[4], nullptr, 10)};
  stxxl::disk_config disk(std::string(argv[5]) + "/stxxl.disk", 0,
                          argc > 6 ? argv[6] : "linuxaio");
  disk.autogrow = true;
  disk.delete_on_exit = true;
  disk.direct = stxxl::disk_config::DIRECT_ON;
  stxxl::config::get_instance()->add_disk(disk);
  return j.type == "u32"    ? run<std::uint32_t>(j)
         : j.type == "u64"  ? run<std::uint64_t>(j)
         : j.type == "pair" ? run<pair16>(j)
                            : run<record100>(j);
}
