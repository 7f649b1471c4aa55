// What the C++ faces cost beside the C functions, and what they save:
//
//   cxx METHOD COUNT MEMORY DIR
//
// COUNT random records of 16 bytes are pushed one by one and taken out one by
// one, in MEMORY bytes, with scratch space in DIR. METHOD:
//
//   c-key, cxx-key          a sorter by a key, an uint64_t
//   c-queue, cxx-queue      a priority queue by the same key
//   c-compare, cxx-compare  a sorter by a comparison that no key stands for
//   stxxl-serial, ...       STXXL's sorter by that one, if compiled with
//                           -DWITH_STXXL
//
// Prints one RESULT line; what came out is verified. See tests/bench/cxx.sh.
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <string>

#include <sys/resource.h>
#include <time.h>

#include <pems/pqueue.hpp>
#include <pems/sorter.hpp>

#ifdef WITH_STXXL
#include <stxxl/sorter>
#endif

namespace {

struct item {
  std::uint32_t group, rank;
  std::uint64_t key;
};

struct job {
  std::string method;
  std::uint64_t count, memory;
  std::string dir;
};

[[noreturn]] void give_up(const pems_error &e) {
  std::fprintf(stderr, "cxx: %s\n", e.text);
  std::exit(1);
}

double seconds_of(clockid_t clock) {
  timespec t;
  clock_gettime(clock, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) / 1e9;
}

item random_item(std::uint64_t &state) {
  std::uint64_t x = state += UINT64_C(0x9e3779b97f4a7c15);
  x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
  x ^= x >> 31;
  return {static_cast<std::uint32_t>(x >> 48),
          static_cast<std::uint32_t>(x >> 12), x};
}

// --- orders ---

// The largest group first, in it by the distance of ranks from the middle.
struct opaque {
  static std::uint32_t distance(const item &x) {
    constexpr std::uint32_t middle = UINT32_C(1) << 31;
    return x.rank < middle ? middle - x.rank : x.rank - middle;
  }
  bool operator()(const item &a, const item &b) const {
    return a.group != b.group ? a.group > b.group : distance(a) < distance(b);
  }
  // For STXXL.
  static item min_value() {
    return {UINT32_MAX, UINT32_C(1) << 31, 0};
  }
  static item max_value() {
    return {0, 0, 0};
  }
};

int opaque_c(const void *x, const void *y, void *) {
  const item &a = *static_cast<const item *>(x),
             &b = *static_cast<const item *>(y);
  return opaque()(b, a) - opaque()(a, b);
}

struct by_key {
  bool operator()(const item &a, const item &b) const {
    return a.key < b.key;
  }
};

constexpr pems_record key_record = {
    .size = sizeof(item), .key = PEMS_KEY_U64, .key_offset = 8};
constexpr pems_record compare_record = {.size = sizeof(item),
                                        .compare = opaque_c};

// What came out, in which order, and how it compares with what went in.
template <class Less> struct verdict {
  std::uint64_t state = 1, pushed = 0, popped = 0, n = 0;
  item last{};
  bool sorted = true;

  item next() {
    const item x = random_item(state);
    pushed += x.key;
    return x;
  }
  void take(const item &x) {
    sorted &= n++ == 0 || !Less()(x, last);
    popped += x.key;
    last = x;
  }
  bool right(const job &j) const {
    return sorted && pushed == popped && n == j.count;
  }
};

// --- sorters ---

template <class Less> bool sort_c(const job &j, const pems_record &record) {
  pems_sort_options o{};
  const char *const path = j.dir.c_str();
  pems_sorter *sorter = nullptr;
  pems_error e{};
  verdict<Less> v;
  o.record = record;
  o.memory = j.memory;
  o.scratch.path = &path;
  o.scratch.count = 1;
  if (pems_sorter_new(&sorter, &o, &e)) {
    give_up(e);
  }
  for (std::uint64_t left = j.count; left > 0;) {
    void *space = nullptr;
    std::size_t n = 0;
    if (pems_sorter_space(sorter, &space, &n, &e)) {
      give_up(e);
    }
    n = n < left ? n : static_cast<std::size_t>(left);
    for (std::size_t i = 0; i < n; i++) {
      static_cast<item *>(space)[i] = v.next();
    }
    left -= n;
    if (pems_sorter_filled(sorter, n, &e)) {
      give_up(e);
    }
  }
  if (pems_sorter_finish(sorter, &e)) {
    give_up(e);
  }
  for (std::size_t n = 1; n > 0;) {
    const void *records = nullptr;
    if (pems_sorter_pull(sorter, &records, &n, &e)) {
      give_up(e);
    }
    for (std::size_t i = 0; i < n; i++) {
      v.take(static_cast<const item *>(records)[i]);
    }
  }
  pems_sorter_free(sorter);
  return v.right(j);
}

template <class Less, class Sorter> bool sort_cxx(const job &j, Sorter sorter) {
  verdict<Less> v;
  for (std::uint64_t i = 0; i < j.count; i++) {
    sorter.push(v.next());
  }
  for (const item &x : sorter) {
    v.take(x);
  }
  return v.right(j);
}

// --- queues ---

bool queue_c(const job &j) {
  pems_pqueue_options o{};
  const char *const path = j.dir.c_str();
  pems_pqueue *queue = nullptr;
  pems_error e{};
  verdict<by_key> v;
  o.record = key_record;
  o.memory = j.memory;
  o.scratch.path = &path;
  o.scratch.count = 1;
  if (pems_pqueue_new(&queue, &o, &e)) {
    give_up(e);
  }
  for (std::uint64_t i = 0; i < j.count; i++) {
    const item x = v.next();
    if (pems_pqueue_push(queue, &x, 1, &e)) {
      give_up(e);
    }
  }
  while (!pems_pqueue_empty(queue)) {
    const void *const top = pems_pqueue_top(queue, &e);
    if (!top) {
      give_up(e);
    }
    v.take(*static_cast<const item *>(top));
    if (pems_pqueue_pop(queue, nullptr, &e)) {
      give_up(e);
    }
  }
  pems_pqueue_free(queue);
  return v.right(j);
}

bool queue_cxx(const job &j) {
  pems::pqueue<item, std::less<>, pems::key<&item::key>> queue(
      {.memory = j.memory, .scratch = {.path = {j.dir}}});
  verdict<by_key> v;
  for (std::uint64_t i = 0; i < j.count; i++) {
    queue.push(v.next());
  }
  for (; !queue.empty(); queue.pop()) {
    v.take(queue.top());
  }
  return v.right(j);
}

// --- STXXL ---

bool sort_stxxl(const job &j) {
#ifdef WITH_STXXL
  stxxl::disk_config disk(j.dir + "/stxxl.disk", 0, "linuxaio");
  disk.autogrow = true;
  disk.delete_on_exit = true;
  disk.direct = stxxl::disk_config::DIRECT_ON;
  stxxl::config::get_instance()->add_disk(disk);
  stxxl::sorter<item, opaque, 2 << 20> sorter(opaque(), j.memory);
  verdict<opaque> v;
  for (std::uint64_t i = 0; i < j.count; i++) {
    sorter.push(v.next());
  }
  sorter.sort();
  for (; !sorter.empty(); ++sorter) {
    v.take(*sorter);
  }
  return v.right(j);
#else
  (void)j;
  std::fprintf(stderr, "cxx: compiled without STXXL\n");
  std::exit(2);
#endif
}

bool run(const job &j) {
  const pems::sort_options o = {.memory = j.memory,
                                .scratch = {.path = {j.dir}}};
  if (j.method == "c-key") {
    return sort_c<by_key>(j, key_record);
  }
  if (j.method == "cxx-key") {
    return sort_cxx<by_key>(
        j, pems::sorter<item, std::less<>, pems::key<&item::key>>(o));
  }
  if (j.method == "c-compare") {
    return sort_c<opaque>(j, compare_record);
  }
  if (j.method == "cxx-compare") {
    return sort_cxx<opaque>(j, pems::sorter<item, opaque>(o));
  }
  if (j.method == "c-queue") {
    return queue_c(j);
  }
  if (j.method == "cxx-queue") {
    return queue_cxx(j);
  }
  if (j.method.starts_with("stxxl")) {
    return sort_stxxl(j);
  }
  std::fprintf(stderr, "cxx: %s: no such method\n", j.method.c_str());
  std::exit(2);
}

} // namespace

int main(int argc, char **argv) {
  if (argc != 5) {
    std::fprintf(stderr, "usage: cxx METHOD COUNT MEMORY DIR\n");
    return 2;
  }
  const job j = {argv[1], std::strtoull(argv[2], nullptr, 10),
                 std::strtoull(argv[3], nullptr, 10), argv[4]};
  const double begin = seconds_of(CLOCK_MONOTONIC);
  const bool right = run(j);
  std::printf("RESULT bench=cxx method=%s records=%" PRIu64 " memory=%" PRIu64
              " seconds=%.3f cpu_seconds=%.3f right=%d\n",
              j.method.c_str(), j.count, j.memory,
              seconds_of(CLOCK_MONOTONIC) - begin,
              seconds_of(CLOCK_PROCESS_CPUTIME_ID), right);
  return right ? EXIT_SUCCESS : EXIT_FAILURE;
}
