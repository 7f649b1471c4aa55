// SPDX-License-Identifier: BSD-3-Clause
// <pems/error.hpp>: what is thrown when something fails.
#include <cstdint>
#include <cstdio>

#include <pems/error.hpp>
#include <pems/sorter.hpp>

int main() {
  try {
    pems::sort_file<std::uint64_t>("not-there", "sorted");
  } catch (const pems::error &e) {
    std::printf("%s\n", e.code() == std::errc::no_such_file_or_directory
                            ? "no such file"
                            : e.what());
  }
  return 0;
}
