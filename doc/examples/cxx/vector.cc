// SPDX-License-Identifier: BSD-3-Clause
// <pems/vector.hpp>: the sieve of Eratosthenes in 64 KiB of memory.
#include <cstdio>

#include <pems/vector.hpp>

int main() {
  pems::vector<char> composite({.memory = 64 << 10, .block = 4096});
  int primes = 0;
  composite.resize(200000);
  for (std::uint64_t i = 2; i < composite.size(); i++) {
    if (composite.get(i)) {
      continue;
    }
    primes++;
    for (std::uint64_t j = i * i; j < composite.size(); j += i) {
      composite[j] = 1;
    }
  }
  std::printf("%d\n", primes);
  return 0;
}
