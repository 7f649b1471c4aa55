// SPDX-License-Identifier: BSD-3-Clause
// <pems/pqueue.hpp>: events in the order of their time, of which each makes
// another one.
#include <cstdint>
#include <cstdio>

#include <pems/pqueue.hpp>

struct event {
  std::uint32_t time;
  std::uint32_t what;
};

int main() {
  pems::pqueue<event, std::less<>, pems::key<&event::time>> q(
      {.memory = 32 << 20});
  q.push({5, 1});
  q.push({3, 2});
  for (int i = 0; i < 4; i++) {
    const event e = q.top();
    q.pop();
    std::printf("%d: %d\n", static_cast<int>(e.time), static_cast<int>(e.what));
    q.push({e.time + 3 * e.what, e.what});
  }
  return 0;
}
