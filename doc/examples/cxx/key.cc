// SPDX-License-Identifier: BSD-3-Clause
// <pems/key.hpp>: records in the order of two of their members.
#include <array>
#include <cstdint>
#include <cstdio>

#include <pems/key.hpp>
#include <pems/sorter.hpp>

struct person {
  std::uint16_t year, month;
  std::array<char, 12> name;
};

int main() {
  std::array<person, 3> p{
      {{1980, 7, {"Ada"}}, {1975, 9, {"Bo"}}, {1980, 2, {"Cy"}}}};
  pems::sort<person>(p, std::greater<>(),
                     pems::key<&person::year, &person::month>());
  for (const person &x : p) {
    std::printf("%d-%d %s\n", x.year, x.month, x.name.data());
  }
  return 0;
}
