// Disks that fail or are full, below each of the C++ headers: an exception with
// the system's error, or the right result; never a crash, a hang, or a wrong
// one.
#include <cerrno>
#include <cstdio>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include <pems/deque.hpp>
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

} // namespace

int main() {
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
