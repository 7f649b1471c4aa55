// SPDX-License-Identifier: BSD-3-Clause
// <pems/range.hpp>: any input range as a source of a graph.
#include <cstdio>
#include <list>

#include <pems/range.hpp>
#include <pems/stream.hpp>

int main() {
  const std::list<int> numbers{4, 1, 3};
  pems::graph g({.memory = 8 << 20});
  g.run(g.generate<int>(pems::from_range(numbers)) | g.sorter<int>() |
        g.for_each<int>([](int x) { std::printf("%d\n", x); }));
  return 0;
}
