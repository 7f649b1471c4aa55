// Sorts the keys of apps/psrs.c with STXXL, to compare:
//
//   psrs_stxxl METHOD N MEMORY DISK_FILE [IO]
//
// METHOD is sort (stxxl::sort of a vector), ksort (stxxl::ksort of a vector) or
// sorter (stxxl::sorter: the sorted keys stream by and are not stored). MEMORY
// is the budget in bytes; the vector's own cache comes out of it. IO is one of
// STXXL's file types (linuxaio).
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <string>

#include <stxxl/io>
#include <stxxl/ksort>
#include <stxxl/mng>
#include <stxxl/sort>
#include <stxxl/sorter>
#include <stxxl/timer>
#include <stxxl/vector>

#include "../../apps/keys.h"

namespace {

constexpr unsigned block_size = 2 << 20;
constexpr unsigned page_blocks = 2;
constexpr unsigned cache_pages = 2;
constexpr std::uint64_t vector_cache =
    std::uint64_t{block_size} * page_blocks * cache_pages;

using key_vector = stxxl::VECTOR_GENERATOR<std::uint32_t, page_blocks,
                                           cache_pages, block_size>::result;

struct ascending {
  bool operator()(std::uint32_t a, std::uint32_t b) const {
    return a < b;
  }
  static std::uint32_t min_value() {
    return std::numeric_limits<std::uint32_t>::min();
  }
  static std::uint32_t max_value() {
    return std::numeric_limits<std::uint32_t>::max();
  }
};

struct key_itself {
  using key_type = std::uint32_t;
  key_type operator()(std::uint32_t key) const {
    return key;
  }
  static std::uint32_t min_value() {
    return ascending::min_value();
  }
  static std::uint32_t max_value() {
    return ascending::max_value();
  }
};

struct task {
  key_source source;
  std::uint64_t memory;
};

// What was seen of the keys, and when each phase ended, in seconds.
struct outcome {
  checksum before = {0, 0, 0};
  checksum after = {0, 0, 0};
  bool sorted = true;
  double start = 0, generated = 0, arranged = 0, verified = 0;
};

// Takes the keys one by one as they come out of the sort.
class checker {
public:
  explicit checker(outcome &out) : out(out) {
  }
  void operator()(std::uint32_t key) {
    out.sorted &= last <= key;
    last = key;
    checksum_add(&out.after, key);
  }

private:
  outcome &out;
  std::uint32_t last = 0;
};

template <typename Sink>
void generate(const task &t, outcome &out, Sink &&sink) {
  for (std::uint64_t i = 0; i < t.source.n; i++) {
    const std::uint32_t key = key_at(&t.source, i);
    checksum_add(&out.before, key);
    sink(key);
  }
}

// Generates into a vector, sorts it by `sort(vector, memory)` and verifies.
template <typename Sort> outcome sort_vector(const task &t, Sort &&sort) {
  outcome out;
  out.start = stxxl::timestamp();
  key_vector keys(t.source.n);
  {
    key_vector::bufwriter_type writer(keys);
    generate(t, out, [&](std::uint32_t key) { writer << key; });
  }
  keys.flush();
  out.generated = stxxl::timestamp();
  sort(keys, t.memory - vector_cache);
  out.arranged = stxxl::timestamp();
  checker check(out);
  for (key_vector::bufreader_type reader(keys); !reader.empty(); ++reader) {
    check(*reader);
  }
  out.verified = stxxl::timestamp();
  return out;
}

outcome use_sort(const task &t) {
  return sort_vector(t, [](key_vector &keys, std::uint64_t memory) {
    stxxl::sort(keys.begin(), keys.end(), ascending(), memory);
  });
}

outcome use_ksort(const task &t) {
  return sort_vector(t, [](key_vector &keys, std::uint64_t memory) {
    stxxl::ksort(keys.begin(), keys.end(), key_itself(), memory);
  });
}

outcome use_sorter(const task &t) {
  outcome out;
  out.start = stxxl::timestamp();
  stxxl::sorter<std::uint32_t, ascending, block_size> sorter(ascending(),
                                                             t.memory);
  generate(t, out, [&](std::uint32_t key) { sorter.push(key); });
  out.generated = stxxl::timestamp();
  sorter.sort();
  out.arranged = stxxl::timestamp();
  checker check(out);
  for (; !sorter.empty(); ++sorter) {
    check(*sorter);
  }
  out.verified = stxxl::timestamp();
  return out;
}

bool print(const char *method, const task &t, const outcome &out,
           const stxxl::stats_data &io) {
  const bool count_ok = out.after.count == t.source.n;
  const bool checksum_ok = checksum_equal(&out.before, &out.after);
  std::printf(
      "RESULT app=psrs_stxxl method=%s elements=%" PRIu64
      " seconds=%.6f generate_seconds=%.6f sort_seconds=%.6f "
      "verify_seconds=%.6f bytes_read=%" PRIu64 " bytes_written=%" PRIu64
      " sorted=%d count_ok=%d checksum_ok=%d\n",
      method, t.source.n, out.verified - out.start, out.generated - out.start,
      out.arranged - out.generated, out.verified - out.arranged,
      static_cast<std::uint64_t>(io.get_read_volume()),
      static_cast<std::uint64_t>(io.get_written_volume()), out.sorted, count_ok,
      checksum_ok);
  return out.sorted && count_ok && checksum_ok;
}

} // namespace

int main(int argc, char **argv) {
  if (argc < 5) {
    std::fprintf(stderr, "usage: psrs_stxxl sort|ksort|sorter N MEMORY "
                         "DISK_FILE [IO]\n");
    return 2;
  }
  const std::string method = argv[1];
  task t;
  t.source =
      key_source_make(KEYS_RANDOM, std::strtoull(argv[2], nullptr, 10), 1);
  t.memory = std::strtoull(argv[3], nullptr, 10);

  // Grows as needed, is opened with O_DIRECT and removed at the end.
  stxxl::disk_config disk(argv[4], 0, argc > 5 ? argv[5] : "linuxaio");
  disk.autogrow = true;
  disk.delete_on_exit = true;
  disk.direct = stxxl::disk_config::DIRECT_ON;
  stxxl::config::get_instance()->add_disk(disk);

  const stxxl::stats_data at_start(*stxxl::stats::get_instance());
  outcome out;
  if (method == "sort") {
    out = use_sort(t);
  } else if (method == "ksort") {
    out = use_ksort(t);
  } else {
    out = use_sorter(t);
  }
  const stxxl::stats_data io =
      stxxl::stats_data(*stxxl::stats::get_instance()) - at_start;
  return print(method.c_str(), t, out, io) ? EXIT_SUCCESS : EXIT_FAILURE;
}
