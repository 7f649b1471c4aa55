// SPDX-License-Identifier: BSD-3-Clause
// <pems/kernel.hpp>: what a record is, and loops compiled for a comparison.
#include <cstdio>
#include <cstdlib>
#include <string>

#include <pems/kernel.hpp>
#include <pems/sorter.hpp>

static_assert(pems::record<double> && !pems::record<std::string>);

int main() {
  int v[] = {3, -7, 5, -1};
  const auto nearer = [](int a, int b) { return std::abs(a) < std::abs(b); };
  pems::sort<int>(v, nearer);
  for (const int x : v) {
    std::printf("%d\n", x);
  }
  return 0;
}
