// <pems/sched.hpp>: shortest paths by all kinds of schedulers.
#include <atomic>
#include <cerrno>
#include <concepts>
#include <cstdio>
#include <stdexcept>
#include <vector>

#include <pems/sched.hpp>

#include "check.hpp"

namespace {

using scheduler = pems::sched<std::uint64_t>;
static_assert(std::movable<scheduler> && !std::copyable<scheduler>);

constexpr std::uint64_t most = 200000;

// The least cost of numbers by adding 1, for 3, and doubling, for 5.
std::vector<std::uint64_t> in_memory() {
  std::vector<std::uint64_t> cost(most);
  for (std::uint64_t i = 2; i < most; i++) {
    cost[i] = cost[i - 1] + 3;
    if (i % 2 == 0) {
      cost[i] = std::min(cost[i], cost[i / 2] + 5);
    }
  }
  return cost;
}

template <class Handle>
void reach(std::vector<std::atomic<std::uint64_t>> &cost, Handle &h,
           std::uint64_t to, std::uint64_t c) {
  if (to >= most) {
    return;
  }
  for (std::uint64_t old = cost[to]; c < old;) {
    if (cost[to].compare_exchange_weak(old, c)) {
      h.push(c, to);
      break;
    }
  }
}

void shortest(const std::string &kind, std::uint64_t memory) {
  const std::vector<std::uint64_t> want = in_memory();
  std::vector<std::atomic<std::uint64_t>> cost(most);
  for (auto &c : cost) {
    c = UINT64_MAX;
  }
  scheduler made({.kind = kind, .threads = 2, .memory = memory});
  scheduler s = std::move(made);
  check(s.kind() == kind && s.threads() == 2);
  cost[1] = 0;
  s.push(0, 1);
  std::atomic<std::uint64_t> announced = 0;
  s.run(
      [&](scheduler::handle &h, std::uint64_t n, std::uint64_t c) {
        if (c > cost[n]) {
          return false;
        }
        reach(cost, h, n + 1, c + 3);
        reach(cost, h, n * 2, c + 5);
        return true;
      },
      [&](std::uint64_t, int) { announced++; });
  check(s.finished() && s.counts().pushed == s.counts().popped);
  for (std::uint64_t i = 1; i < most; i++) {
    check(cost[i] == want[i]);
  }
}

void failures() {
  scheduler s({.threads = 2, .log = true});
  check_throws(EINVAL, "threads", [&] { s.at(2); });
  check_throws(EINVAL, "", [] { scheduler none({.kind = "none"}); });
  check_throws(EINVAL, "", [] { scheduler().rank_error(); });
  for (std::uint64_t i = 0; i < 1000; i++) {
    s.push(i, i);
  }
  bool thrown = false;
  try {
    s.run([](scheduler::handle &, std::uint64_t n, std::uint64_t) {
      if (n == 500) {
        throw std::domain_error("500");
      }
    });
  } catch (const std::domain_error &) {
    thrown = true;
  }
  check(thrown && s.finished());
  s.push(7, 70);
  const auto task = s.at(0).pop();
  check(task && task->first == 7 && task->second == 70);
  check(!s.at(0).pop());
  check(s.rank_error().pops == 1001);
}

} // namespace

int main() {
  for (const char *const *kind = pems_sched_kinds(); *kind; kind++) {
    shortest(*kind, 0);
  }
  shortest("pmod", 16 << 20);
  failures();
  std::puts("right");
}
