// Disks that fail or are full, below each of the C++ headers: an exception with
// the system's error, or the right result; never a crash, a hang, or a wrong
// one.
#include <cerrno>
#include <cstdio>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include <sys/resource.h>

#include <pems/deque.hpp>
#include <pems/map.hpp>
#include <pems/pqueue.hpp>
#include <pems/sched.hpp>
#include <pems/sorter.hpp>
#include <pems/stream.hpp>
#include <pems/tfp.hpp>
#include <pems/vector.hpp>

#include "check.hpp"

namespace {

using number = std::uint64_t;

// Records of each: more than fit into the memory.
constexpr number many = 400000;

number made(number i) {
  number state = i;
  return random_number(state);
}

void sorter(const pems::scratch &where) {
  pems::sorter<number> s(
      {.memory = 1 << 20, .threads = 2, .scratch = where, .block = 16 << 10});
  for (number i = 0; i < many; i++) {
    s.push(made(i));
  }
  number n = 0, last = 0;
  for (const number x : s) {
    check(n == 0 || last <= x);
    last = x;
    n++;
  }
  check(n == many);
}

void pqueue(const pems::scratch &where) {
  pems::pqueue<number> q({.memory = 8 << 20, .threads = 2, .scratch = where});
  std::vector<number> some(50000);
  constexpr number bulks = 60;
  for (number i = 0; i < bulks; i++) {
    for (number &x : some) {
      x = made(i * some.size() + static_cast<number>(&x - some.data()));
    }
    q.push(std::span<const number>(some));
  }
  number last = 0;
  for (number n = 0; n < bulks * some.size(); n++, q.pop()) {
    const number x = q.top();
    check(n == 0 || last <= x);
    last = x;
  }
  check(q.empty());
}

void stream(const pems::scratch &where) {
  std::vector<number> in(3 * many);
  std::iota(in.begin(), in.end(), number{0});
  number n = 0, last = 0;
  pems::graph g({.memory = 6 << 20, .threads = 2, .scratch = where});
  g.run(g.source(std::span<const number>(in)) |
        g.map<number>([](number i) { return made(i); }) | g.sorter<number>() |
        g.for_each<number>([&](number x) {
          check(n == 0 || last <= x);
          last = x;
          n++;
        }));
  check(n == in.size());
}

struct message {
  number to, value;
};

void tfp(const pems::scratch &where) {
  constexpr number nodes = 100000, each = 16;
  using run_of = pems::tfp<message>;
  run_of run(
      {.nodes = nodes, .memory = 16 << 20, .threads = 2, .scratch = where});
  number sum = 0, sent = 0;
  run.run([&](run_of::visit &v) {
    for (const message &m : v.messages()) {
      check(m.to == v.node());
      sum += m.value;
    }
    for (number i = 1; i <= each; i++) {
      const number to = v.node() + 1 + made(v.node() * each + i) % nodes;
      if (to < nodes) {
        v.send({to, i});
        sent += i;
      }
    }
  });
  check(sum == sent);
}

void sched(const pems::scratch &where) {
  constexpr number tasks = 1200000;
  number seen = 0, sum = 0;
  pems::sched<number> s(
      {.kind = "pmod", .threads = 1, .memory = 16 << 20, .scratch = where});
  for (number i = 0; i < tasks; i++) {
    s.push(made(i) % 1000, i);
  }
  s.run([&](pems::sched<number>::handle &, number task, number) {
    seen++;
    sum += task;
  });
  check(seen == tasks && sum == tasks * (tasks - 1) / 2);
}

template <class Vector> void fill(Vector &v) {
  for (number i = 0; i < many; i++) {
    v.push_back(made(i));
  }
}

void vector(const pems::scratch &where) {
  pems::vector<number> v({.memory = 64 << 10, .scratch = where, .block = 4096});
  fill(v);
  for (number i = 0; i < many; i += 97) {
    v.set(i, i);
  }
  for (number i = 0; i < many; i++) {
    check(std::as_const(v)[i] == (i % 97 ? made(i) : i));
  }
}

void deque(const pems::scratch &where) {
  pems::deque<number> d({.memory = 64 << 10, .scratch = where, .block = 4096});
  fill(d);
  for (number i = 0; i < many; i++) {
    check(d.front() == made(i));
    d.pop_front();
  }
  check(d.empty());
}

void queue(const pems::scratch &where) {
  pems::queue<number> q({.memory = 64 << 10, .scratch = where, .block = 4096});
  for (number i = 0; i < many; i++) {
    q.push(made(i));
  }
  for (number i = 0; i < many; i++) {
    check(q.front() == made(i));
    q.pop();
  }
}

void stack(const pems::scratch &where) {
  pems::stack<number> s({.memory = 64 << 10, .scratch = where, .block = 4096});
  for (number i = 0; i < many; i++) {
    s.push(made(i));
  }
  for (number i = many; i-- > 0;) {
    check(s.top() == made(i));
    s.pop();
  }
}

// Whether it failed: with that error then.
bool fails(void (*run)(const pems::scratch &), const std::string &io,
           int code) {
  try {
    run({.io = io});
  } catch (const pems::error &e) {
    if (e.code().value() != code || !*e.what()) {
      std::fprintf(stderr, "%s: threw %d: %s\n", io.c_str(), e.code().value(),
                   e.what());
      std::exit(1);
    }
    return true;
  }
  return false;
}

// The first request of each kind fails for sure, later ones if there are as
// many.
void all(const char *name, void (*run)(const pems::scratch &)) {
  int failed = 0;
  check(!fails(run, "fault:unix", 0));
  for (const char *const kind : {"write", "read"}) {
    for (const int n : {1, 2, 7, 23}) {
      const std::string io =
          "fault:unix," + std::string(kind) + "=" + std::to_string(n) + ":";
      const bool it = fails(run, io + std::to_string(EIO), EIO);
      if (n == 1 && !it) {
        std::fprintf(stderr, "%s: the first %s failed unnoticed\n", name, kind);
        std::exit(1);
      }
      failed += it;
    }
  }
  for (const char *const bytes : {"1", "500000"}) {
    const bool it = fails(run,
                          std::string("fault:unix,after=") + bytes + ":" +
                              std::to_string(ENOSPC),
                          ENOSPC);
    check(it);
    failed += it;
  }
  std::printf("%s: %d of 10 failed\n", name, failed);
}

// --- a full disk: what holds after it ---

// Disks for a container have so many bytes.
template <class F> void with_room(rlim_t bytes, F &&run) {
  rlimit before{};
  check(getrlimit(RLIMIT_FSIZE, &before) == 0);
  rlimit less = before;
  less.rlim_cur = bytes;
  check(setrlimit(RLIMIT_FSIZE, &less) == 0);
  run();
  check(setrlimit(RLIMIT_FSIZE, &before) == 0);
}

// Adds records until there is no room; says how many there are then.
template <class F> number until_full(F &&add) {
  for (number n = 0;; n++) {
    try {
      add(n);
    } catch (const pems::error &e) {
      check(e.code().value() == ENOSPC);
      return n;
    }
  }
}

const pems::container_options little{.memory = 256 << 10, .block = 4096};

void full_vector() {
  pems::vector<number> v(little);
  const number n = until_full([&](number i) { v.push_back(made(i)); });
  check(v.size() == n);
  for (number i = 0; i < n; i += 100) {
    check(v.get(i) == made(i));
    v.set(i, i);
  }
  check_throws(ENOSPC, "no room", [&] { v.resize(2 * n); });
  check(v.size() == n);
  v.resize(n / 2);
  for (number i = 0; i < n / 2; i++) {
    check(v.get(i) == (i % 100 ? made(i) : i));
  }
  for (number i = n / 2; i < n; i++) {
    v.push_back(i);
  }
  check(v.get(n - 1) == n - 1);
}

void full_deque() {
  pems::deque<number> d(little);
  const number n = until_full([&](number i) { d.push_back(i); });
  check_throws(ENOSPC, "no room", [&] {
    for (;;) {
      d.push_front(7);
    }
  });
  while (d.front() == 7) {
    d.pop_front();
  }
  for (number i = 0; i < n; i++) {
    check(d.front() == i);
    d.pop_front();
  }
  check(d.empty());
}

void full_map() {
  pems::map<number, number> m(little);
  const number n = until_full([&](number i) { m.insert(made(i), i); });
  check(m.size() == n);
  for (number i = 0; i < n; i++) {
    check(m.at(made(i)) == i);
  }
  for (number i = 0; i < n; i += 2) {
    check(m.erase(made(i)) == 1);
  }
  for (number i = 0; i < n; i++) {
    check(m.contains(made(i)) == (i % 2 == 1));
  }
}

// What has fewer pages than fit in memory needs no disk.
void no_room_is_needed() {
  pems::vector<number> v(little);
  v.resize(63 * 4096 / sizeof(number));
  v.set(1000, 5);
  check(v.get(1000) == 5 && v.get(1001) == 0);
  v.clear();
  v.resize(60 * 4096 / sizeof(number));
}

// A queue and a sorter tell their first error again and again.
void full_pqueue() {
  pems::pqueue<number> q({.memory = 8 << 20, .threads = 2});
  const number n = until_full([&](number i) { q.push(made(i)); });
  check(q.size() >= n);
  check_throws(ENOSPC, "no room", [&] { q.push(1); });
  check_throws(ENOSPC, "no room", [&] { q.pop(); });
}

void full_sorter() {
  pems::sorter<number> s({.memory = 1 << 20, .threads = 2, .block = 16 << 10});
  until_full([&](number i) { s.push(made(i)); });
  check_throws(ENOSPC, "no room", [&] { s.finish(); });
  check_throws(ENOSPC, "no room", [&] { s.pull(); });
}

void full_stream() {
  const pems::scratch here{};
  check_throws(ENOSPC, "no room", [&] { stream(here); });
}

void full() {
  with_room(1 << 20, full_vector);
  with_room(1 << 20, full_deque);
  with_room(512 << 10, full_map); // twice its memory
  with_room(4096, no_room_is_needed);
  with_room(4 << 20, full_pqueue);
  with_room(1 << 20, full_sorter);
  with_room(1 << 20, full_stream);
}

} // namespace

int main() {
  full();
  all("sorter", sorter);
  all("pqueue", pqueue);
  all("stream", stream);
  all("tfp", tfp);
  all("sched", sched);
  all("vector", vector);
  all("deque", deque);
  all("queue", queue);
  all("stack", stack);
  std::puts("right");
}
