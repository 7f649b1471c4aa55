// STXXL's priority queues under the workloads of tests/bench/pqueue.c, driven
// as STXXL's own benchmark of them drives them:
//
//   pqueue_stxxl QUEUE WORKLOAD COUNT MEMORY DIR [NAME=VALUE ...]
//
// QUEUE is ppq (parallel_priority_queue), spq (priority_queue; how much of it
// is parallel is decided when this is compiled) or sorter. MEMORY has to be
// QUEUE_MIB MiB for spq, whose sizes are fixed at compile time. Names: size (8
// or 24), bulk (640000), push=bulk (plain), pop=bulk (one), rewrite (0.5),
// order=down (up), io, seed. Items are checked as in tests/bench/pqueue.c.
#include <omp.h>
#include <sys/resource.h>

#include <algorithm>
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ostream>
#include <string>
#include <vector>

#include <stxxl/bits/containers/parallel_priority_queue.h>
#include <stxxl/bits/containers/priority_queue.h>
#include <stxxl/io>
#include <stxxl/mng>
#include <stxxl/sorter>
#include <stxxl/timer>

#ifndef QUEUE_MIB
#define QUEUE_MIB 256
#endif

namespace {

struct job {
  std::string queue, workload, io = "linuxaio";
  std::uint64_t n, memory, bulk = 640000, seed = 0;
  double rewrite = 0.5;
  int size = 8;
  bool bulk_push = true, bulk_pop = true, down = true;
};

template <int Words> struct item {
  std::uint64_t word[Words];
  item() = default;
  explicit item(std::uint64_t key) {
    for (int i = 0; i < Words; i++) {
      word[i] = key + static_cast<std::uint64_t>(i);
    }
  }
  friend std::ostream &operator<<(std::ostream &out, const item &it) {
    return out << it.word[0];
  }
};

template <typename T> struct less {
  bool operator()(const T &a, const T &b) const {
    return a.word[0] < b.word[0];
  }
  T min_value() const {
    return T(0);
  }
  T max_value() const {
    return T(UINT64_MAX);
  }
};

template <typename T> struct greater {
  bool operator()(const T &a, const T &b) const {
    return a.word[0] > b.word[0];
  }
  // What is never before another.
  T min_value() const {
    return T(UINT64_MAX);
  }
};

struct alignas(64) generator {
  std::uint64_t state, sum = 0, count = 0;
  std::uint64_t operator()() {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
  }
};

// What came out.
template <typename T> struct tally {
  std::uint64_t count = 0, sum = 0, last = 0;
  bool wrong = false;
  void look(const T &t) {
    wrong |= t.word[0] < last;
    last = t.word[0];
    sum += last;
    count++;
    for (std::size_t i = 1; i < sizeof(t) / 8; i++) {
      wrong |= t.word[i] != last + i;
    }
  }
};

// --- the containers: the same operations for each ---

template <typename T> struct ppq_container {
  stxxl::parallel_priority_queue<T, greater<T>> q;
  explicit ppq_container(const job &j)
      : q(greater<T>(), j.memory, 2.0, 14, omp_get_max_threads(), 1 << 20, 0) {
  }
  static constexpr bool threads = true, limits = true;
  void push(const T &t) {
    q.push(t);
  }
  void bulk_begin(std::uint64_t n) {
    q.bulk_push_begin(n);
  }
  void bulk_push(const T &t, int thread) {
    q.bulk_push(t, static_cast<unsigned>(thread));
  }
  void bulk_end() {
    q.bulk_push_end();
  }
  void filled() {
  }
  void bulk_pop(std::vector<T> &v, std::size_t max) {
    q.bulk_pop(v, max);
  }
  T pop() {
    const T t = q.top();
    q.pop();
    return t;
  }
  void limit_begin(const T &limit, std::uint64_t n) {
    q.limit_begin(limit, n);
  }
  void limit_end() {
    q.limit_end();
  }
  const T &limit_top() {
    return q.limit_top();
  }
  void limit_pop() {
    q.limit_pop();
  }
  void limit_push(const T &t) {
    q.limit_push(t, 0);
  }
  bool empty() const {
    return q.empty();
  }
};

// Bulks and limits of what has only single operations.
template <typename T, typename C> struct single_operations {
  static constexpr bool threads = false;
  C *self() {
    return static_cast<C *>(this);
  }
  void bulk_begin(std::uint64_t) {
  }
  void bulk_push(const T &t, int) {
    self()->push(t);
  }
  void bulk_end() {
  }
  void bulk_pop(std::vector<T> &v, std::size_t max) {
    v.clear();
    v.reserve(max);
    while (max-- > 0 && !self()->empty()) {
      v.push_back(self()->pop());
    }
  }
  void limit_begin(const T &, std::uint64_t) {
  }
  void limit_end() {
  }
  const T &limit_top() {
    return self()->q.top();
  }
  void limit_pop() {
    self()->q.pop();
  }
  void limit_push(const T &t) {
    self()->push(t);
  }
};

#if STXXL_PARALLEL && STXXL_PARALLEL_PQ_MULTIWAY_MERGE_INTERNAL
const char *const spq_name = "spqp";
#else
const char *const spq_name = "spqs";
#endif
constexpr std::uint64_t queue_bytes = std::uint64_t{QUEUE_MIB} << 20;

template <typename T>
struct spq_container : single_operations<T, spq_container<T>> {
  typename stxxl::PRIORITY_QUEUE_GENERATOR<T, greater<T>, queue_bytes / 2,
                                           (1 << 20)>::result q;
  explicit spq_container(const job &) : q(queue_bytes / 4, queue_bytes / 4) {
  }
  void push(const T &t) {
    q.push(t);
  }
  void filled() {
  }
  T pop() {
    const T t = q.top();
    q.pop();
    return t;
  }
  bool empty() const {
    return q.empty();
  }
};

template <typename T>
struct sorter_container : single_operations<T, sorter_container<T>> {
  stxxl::sorter<T, less<T>> q;
  explicit sorter_container(const job &j) : q(less<T>(), j.memory) {
  }
  void push(const T &t) {
    q.push(t);
  }
  void filled() {
    q.sort();
  }
  T pop() {
    const T t = *q;
    ++q;
    return t;
  }
  const T &limit_top() {
    return *q;
  }
  void limit_pop() {
    ++q;
  }
  bool empty() const {
    return q.empty();
  }
};

// --- the workloads ---

template <typename T, typename C> struct run {
  const job &j;
  C c;
  std::vector<generator> random;
  tally<T> popped;
  std::uint64_t first = 0, moved = 0;
  double push_seconds = 0, pop_seconds = 0, seconds = 0;
  stxxl::stats_data at_start, io;
  enum { KEYS_RANDOM, KEYS_UP, KEYS_DOWN } keys = KEYS_UP;

  explicit run(const job &of)
      : j(of), c(of), random(static_cast<std::size_t>(omp_get_max_threads())) {
    for (std::size_t i = 0; i < random.size(); i++) {
      random[i].state = UINT64_C(0x9e3779b97f4a7c15) * (j.seed + i + 1);
    }
  }

  std::uint64_t key(generator &g, std::uint64_t i) const {
    const std::uint64_t k = keys == KEYS_RANDOM ? g()
                            : keys == KEYS_UP   ? i
                                                : j.n - 1 - i;
    g.sum += k;
    g.count++;
    return k;
  }

  void push_in_bulk(std::uint64_t n, std::uint64_t estimate) {
    c.bulk_begin(estimate);
#pragma omp parallel if (C::threads)
    {
      const int thread = C::threads ? omp_get_thread_num() : 0;
      generator g = random[static_cast<std::size_t>(thread)];
#pragma omp for schedule(static)
      for (std::uint64_t i = 0; i < n; i++) {
        c.bulk_push(T(key(g, first + i)), thread);
      }
      random[static_cast<std::size_t>(thread)] = g;
    }
    c.bulk_end();
    first += n;
  }

  void push(std::uint64_t n, std::uint64_t estimate) {
    if (j.bulk_push && C::threads) {
      push_in_bulk(n, estimate);
      return;
    }
    generator g = random[0];
    for (std::uint64_t i = 0; i < n; i++) {
      c.push(T(key(g, first + i)));
    }
    random[0] = g;
    first += n;
  }

  void pop_all() {
    std::vector<T> work;
    const double begin = stxxl::timestamp();
    while (!c.empty()) {
      if (!j.bulk_pop) {
        popped.look(c.pop());
        continue;
      }
      c.bulk_pop(work, j.bulk);
      for (const T &t : work) {
        popped.look(t);
      }
    }
    pop_seconds = stxxl::timestamp() - begin;
  }

  void start() {
    at_start = stxxl::stats_data(*stxxl::stats::get_instance());
  }
  void stop() {
    io = stxxl::stats_data(*stxxl::stats::get_instance()) - at_start;
  }

  void push_pop() {
    keys = j.workload == "push-rand-pop" ? KEYS_RANDOM
           : j.down                      ? KEYS_DOWN
                                         : KEYS_UP;
    start();
    const double begin = stxxl::timestamp();
    for (std::uint64_t n; first < j.n;) {
      n = std::min(j.bulk, j.n - first);
      push(n, n);
    }
    c.filled();
    push_seconds = stxxl::timestamp() - begin;
    pop_all();
    seconds = push_seconds + pop_seconds;
    stop();
    moved = 2 * j.n;
  }

  void bulk_cycle(std::vector<T> &work, std::uint64_t n) {
    c.bulk_pop(work, n);
    for (const T &t : work) {
      popped.wrong |= t.word[0] != popped.count;
      popped.look(t);
    }
    push(work.size(), n);
  }

  void limit_cycle(std::uint64_t n) {
    const T limit(popped.count + n);
    generator &g = random[0];
    c.limit_begin(limit, n);
    while (c.limit_top().word[0] < limit.word[0]) {
      popped.look(c.limit_top());
      c.limit_pop();
      c.limit_push(T(key(g, first++)));
    }
    c.limit_end();
    popped.wrong |= popped.count != limit.word[0];
  }

  void rewrite() {
    const std::uint64_t whole =
        static_cast<std::uint64_t>(static_cast<double>(j.n) * j.rewrite);
    generator sizes;
    std::vector<T> work;
    sizes.state = 88172645463325252;
    double begin = stxxl::timestamp();
    push(j.n, j.n / 2);
    push_seconds = stxxl::timestamp() - begin;
    start();
    begin = stxxl::timestamp();
    for (std::uint64_t done = 0, n; done < whole; done += n) {
      n = j.workload == "asc-rbulk-rewrite" ? (sizes() >> 11) % j.bulk : j.bulk;
      n = std::min(n, j.n);
      if (j.workload == "limit-rewrite") {
        limit_cycle(n);
      } else {
        bulk_cycle(work, n);
      }
    }
    seconds = stxxl::timestamp() - begin;
    stop();
    moved = 2 * popped.count;
    pop_all();
  }

  bool right() const {
    std::uint64_t sum = 0, count = 0;
    for (const generator &g : random) {
      sum += g.sum;
      count += g.count;
    }
    return !popped.wrong && popped.sum == sum && popped.count == count;
  }

  int print() const {
    rusage u;
    getrusage(RUSAGE_SELF, &u);
    const bool ok = right();
    std::printf(
        "RESULT bench=pqueue queue=stxxl-%s workload=%s records=%" PRIu64
        " size=%zu memory=%" PRIu64 " threads=%d bulk=%" PRIu64
        " push=%s pop=%s order=%s moved=%" PRIu64
        " push_seconds=%.3f pop_seconds=%.3f seconds=%.3f mib_per_second=%.1f "
        "cpu_seconds=%.3f peak_rss_mib=%ld read=%" PRIu64 " written=%" PRIu64
        " read_wait=%.3f write_wait=%.3f right=%d\n",
        j.queue == "spq" ? spq_name : j.queue.c_str(), j.workload.c_str(), j.n,
        sizeof(T), j.memory, omp_get_max_threads(), j.bulk,
        j.bulk_push ? "bulk" : "plain", j.bulk_pop ? "bulk" : "one",
        j.down ? "down" : "up", moved, push_seconds, pop_seconds, seconds,
        static_cast<double>(moved * sizeof(T)) / seconds / (1 << 20),
        static_cast<double>(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
            static_cast<double>(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6,
        u.ru_maxrss >> 10, static_cast<std::uint64_t>(io.get_read_volume()),
        static_cast<std::uint64_t>(io.get_written_volume()),
        io.get_wait_read_time(), io.get_wait_write_time(), ok);
    return ok ? EXIT_SUCCESS : EXIT_FAILURE;
  }
};

template <typename T, typename C> int measure(const job &j) {
  run<T, C> *const r = new run<T, C>(j); // large ones
  if (j.workload == "push-rand-pop" || j.workload == "push-asc-pop") {
    r->push_pop();
  } else {
    r->rewrite();
  }
  const int status = r->print();
  delete r;
  return status;
}

template <typename T> int choose(const job &j) {
  if (j.queue == "ppq") {
    return measure<T, ppq_container<T>>(j);
  }
  return j.queue == "sorter" ? measure<T, sorter_container<T>>(j)
                             : measure<T, spq_container<T>>(j);
}

bool set(job &j, const std::string &name, const std::string &value) {
  const std::uint64_t n = std::strtoull(value.c_str(), nullptr, 0);
  if (name == "size") {
    j.size = static_cast<int>(n);
  } else if (name == "bulk") {
    j.bulk = n;
  } else if (name == "seed") {
    j.seed = n;
  } else if (name == "rewrite") {
    j.rewrite = std::strtod(value.c_str(), nullptr);
  } else if (name == "push") {
    j.bulk_push = value == "bulk";
  } else if (name == "pop") {
    j.bulk_pop = value == "bulk";
  } else if (name == "order") {
    j.down = value != "up";
  } else if (name == "io") {
    j.io = value;
  } else {
    return false;
  }
  return true;
}

} // namespace

int main(int argc, char **argv) {
  job j;
  bool good = argc >= 6;
  for (int i = 6; i < argc; i++) {
    const char *const equals = std::strchr(argv[i], '=');
    good &=
        equals &&
        set(j, std::string(argv[i], static_cast<std::size_t>(equals - argv[i])),
            equals + 1);
  }
  if (!good || (j.size != 8 && j.size != 24)) {
    std::fprintf(stderr, "usage: pqueue_stxxl ppq|spq|sorter WORKLOAD COUNT "
                         "MEMORY DIR [NAME=VALUE ...]\n");
    return 2;
  }
  j.queue = argv[1];
  j.workload = argv[2];
  j.n = std::strtoull(argv[3], nullptr, 0);
  j.memory = std::strtoull(argv[4], nullptr, 0);
  if (j.queue == "spq" && j.memory != queue_bytes) {
    std::fprintf(stderr, "pqueue_stxxl: compiled for %d MiB\n", QUEUE_MIB);
    return 2;
  }
  omp_set_max_active_levels(8); // the parallel queue needs them nested
  stxxl::disk_config disk(std::string(argv[5]) + "/stxxl.disk", 0, j.io);
  disk.autogrow = true;
  disk.delete_on_exit = true;
  disk.direct = stxxl::disk_config::DIRECT_ON;
  stxxl::config::get_instance()->add_disk(disk);
  return j.size == 8 ? choose<item<1>>(j) : choose<item<3>>(j);
}
