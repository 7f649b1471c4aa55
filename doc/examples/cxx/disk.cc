// SPDX-License-Identifier: BSD-3-Clause
// <pems/disk.hpp>: two disks, which are in memory here, shared by two sorters.
#include <cstdint>
#include <cstdio>

#include <pems/disk.hpp>
#include <pems/sorter.hpp>

int main() {
  pems::disks disks(pems::scratch{.path = {"a", "b"}, .io = "mem"});
  pems::sorter<std::uint64_t> up({.memory = 8 << 20, .disks = &disks});
  pems::sorter<std::uint64_t, std::greater<>> down(
      {.memory = 8 << 20, .disks = &disks});
  for (std::uint64_t i = 0; i < 2000000; i++) {
    up.push(i * 7919 % 2000000);
    down.push(i);
  }
  std::printf("%d %s\n", disks.count(), disks.driver().c_str());
  std::printf("%d %d\n", static_cast<int>(up.pull()[1]),
              static_cast<int>(down.pull()[0]));
  return 0;
}
