// SPDX-License-Identifier: BSD-3-Clause
// <pems/tfp.hpp>: in how many ways a king walks from one corner of a chessboard
// to the other, only to the right, up, or both.
#include <cstdint>
#include <cstdio>

#include <pems/tfp.hpp>

struct ways {
  std::uint64_t to, number;
};
using board = pems::tfp<ways>;

int main() {
  std::uint64_t number = 0;
  board(pems::tfp_options{.nodes = 64, .memory = 16 << 20})
      .run([&](board::visit &v) {
        const std::uint64_t at = v.node(), x = at % 8, y = at / 8;
        number = at == 0;
        for (const ways &w : v.messages()) {
          number += w.number;
        }
        if (x < 7) {
          v.send({at + 1, number});
        }
        if (y < 7) {
          v.send({at + 8, number});
        }
        if (x < 7 && y < 7) {
          v.send({at + 9, number});
        }
      });
  std::printf("%d\n", static_cast<int>(number));
  return 0;
}
