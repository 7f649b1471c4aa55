// <pems/kernel.hpp>: merging sequences of every number and length, beside
// std::stable_sort, by the table that the library calls.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include <pems/kernel.hpp>

#include "check.hpp"

namespace {

// Keys are few, so that many are equal; `number` tells those apart.
template <std::size_t Bytes> struct item {
  std::uint16_t key;
  std::uint32_t number;
  char rest[Bytes - 8];
};

struct by_key {
  template <class T> bool operator()(const T &a, const T &b) const noexcept {
    return a.key < b.key;
  }
};

std::uint64_t state = 1;

unsigned below(unsigned n) {
  return n ? static_cast<unsigned>(random_number(state) % n) : 0;
}

// Sequences one after the other, those of a call of `merge`.
template <class T> struct sequences {
  std::vector<T> all;
  std::vector<std::uint32_t> index;
  std::vector<pems_kernel_piece> pieces;

  sequences(int count, unsigned most, unsigned keys, bool indexed) {
    std::vector<std::size_t> lengths;
    for (int i = 0; i < count; i++) {
      lengths.push_back(below(4) ? below(most + 1) : 0);
    }
    for (std::size_t n : lengths) {
      const std::size_t first = all.size();
      for (std::size_t i = 0; i < n; i++) {
        T x{};
        x.key = static_cast<std::uint16_t>(below(keys));
        all.push_back(x);
      }
      std::sort(all.begin() + static_cast<std::ptrdiff_t>(first), all.end(),
                by_key());
    }
    for (std::size_t i = 0; i < all.size(); i++) {
      all[i].number = static_cast<std::uint32_t>(i);
      index.push_back(static_cast<std::uint32_t>(i));
    }
    std::size_t at = 0;
    for (std::size_t n : lengths) {
      if (indexed) {
        pieces.push_back({index.data() + at, n, all.data()});
      } else {
        pieces.push_back({all.data() + at, n, nullptr});
      }
      at += n;
    }
  }
};

// Stable, all is as it must be; else keys are, and each record comes once.
template <class T>
void check_merge(int count, unsigned most, unsigned keys, bool stable,
                 bool indexed) {
  const sequences<T> s(count, most, keys, indexed);
  std::vector<T> right = s.all;
  std::stable_sort(right.begin(), right.end(), by_key());
  const std::size_t n =
      below(2) ? right.size() : below(static_cast<unsigned>(right.size()));
  std::vector<T> out(n + 1);
  std::vector<bool> seen(right.size());
  void *const work = std::aligned_alloc(
      64, (static_cast<std::size_t>(count) + 1) * PEMS_KERNEL_MERGE_WORK);
  by_key order;
  out[n].number = UINT32_MAX;
  pems::detail::kernel<T, by_key>::merge(s.pieces.data(), count, n, stable,
                                         out.data(), work, &order);
  std::free(work);
  check(out[n].number == UINT32_MAX);
  for (std::size_t i = 0; i < n; i++) {
    check(out[i].key == right[i].key);
    check(!stable || out[i].number == right[i].number);
    check(out[i].number < seen.size() && !seen[out[i].number]);
    seen[out[i].number] = true;
  }
}

// Around the numbers of sequences where they are merged in another way.
template <class T> void check_size() {
  for (int count : {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 150}) {
    for (unsigned most : {1u, 10u, 400u}) {
      for (unsigned keys : {1u, 5u, 60000u}) {
        check_merge<T>(count, most, keys, true, sizeof(T) > 64);
        check_merge<T>(count, most, keys, false, sizeof(T) > 64);
      }
    }
  }
}

} // namespace

int main() {
  check_size<item<12>>();
  check_size<item<16>>();
  check_size<item<24>>();
  check_size<item<64>>();
  check_size<item<100>>();
  std::puts("right");
  return 0;
}
