// SPDX-License-Identifier: BSD-3-Clause
// <pems/map.hpp>: the squares from 50 to 100.
#include <cstdio>

#include <pems/map.hpp>

int main() {
  pems::map<int, int> squares({.memory = 256 << 10});
  for (int i = 0; i < 1000; i++) {
    squares.insert(i * i, i);
  }
  for (auto it = squares.lower_bound(50); it != squares.upper_bound(100);
       ++it) {
    std::printf("%d = %d^2\n", (*it).first, (*it).second);
  }
  return 0;
}
