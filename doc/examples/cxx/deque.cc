// SPDX-License-Identifier: BSD-3-Clause
// <pems/deque.hpp>: who of 100000 in a circle remains, if every third one goes.
#include <cstdio>

#include <pems/deque.hpp>

int main() {
  pems::queue<int> circle({.memory = 64 << 10, .block = 4096});
  for (int i = 1; i <= 100000; i++) {
    circle.push(i);
  }
  for (int step = 1; circle.size() > 1; step++) {
    const int first = circle.front();
    circle.pop();
    if (step % 3 != 0) {
      circle.push(first);
    }
  }
  std::printf("%d\n", circle.front());
  return 0;
}
