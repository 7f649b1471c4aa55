// SPDX-License-Identifier: BSD-3-Clause
// <pems/sorter.hpp>: sorts the numbers of standard input, however many.
#include <cstdio>

#include <pems/sorter.hpp>

int main() {
  pems::sorter<double> s({.memory = 64 << 20});
  for (double x; std::scanf("%lf", &x) == 1;) {
    s.push(x);
  }
  for (const double x : s) {
    std::printf("%g\n", x);
  }
  return 0;
}
