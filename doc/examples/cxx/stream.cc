// SPDX-License-Identifier: BSD-3-Clause
// <pems/stream.hpp>: a graph of nodes squares numbers and sorts the squares.
#include <cstdint>
#include <cstdio>
#include <vector>

#include <pems/stream.hpp>

int main() {
  const std::vector<std::int64_t> numbers{3, -7, 0, 2};
  std::vector<std::uint64_t> squares;
  pems::graph g({.memory = 8 << 20});
  const auto square = [](std::int64_t x) {
    return static_cast<std::uint64_t>(x * x);
  };
  g.run(g.range(numbers) | g.map<std::int64_t>(square) |
        g.sorter<std::uint64_t>() | g.sink(squares));
  for (const std::uint64_t x : squares) {
    std::printf("%d\n", static_cast<int>(x));
  }
  return 0;
}
