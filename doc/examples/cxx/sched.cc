// SPDX-License-Identifier: BSD-3-Clause
// <pems/sched.hpp>: the least cost of reaching a number from 1 by adding 1, for
// 3, and doubling, for 5.
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <vector>

#include <pems/sched.hpp>

int main() {
  constexpr std::uint64_t n = 1000000;
  std::vector<std::atomic<std::uint64_t>> cost(n);
  for (auto &c : cost) {
    c = UINT64_MAX;
  }
  const auto reach = [&](auto &to, std::uint64_t number, std::uint64_t c) {
    for (std::uint64_t old = number < n ? cost[number].load() : 0; c < old;) {
      if (cost[number].compare_exchange_weak(old, c)) {
        to.push(c, number);
        break;
      }
    }
  };
  pems::sched<std::uint64_t> s;
  reach(s, 1, 0);
  s.run([&](auto &handle, std::uint64_t number, std::uint64_t c) {
    const bool is_least = c <= cost[number];
    if (is_least) {
      reach(handle, number + 1, c + 3);
      reach(handle, number * 2, c + 5);
    }
    return is_least;
  });
  std::printf("%d\n", static_cast<int>(cost[n - 1]));
  return 0;
}
