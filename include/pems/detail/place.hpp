// SPDX-License-Identifier: BSD-3-Clause
// Records as bytes: copies, and space for some; and what loops without branches
// need.
#ifndef PEMS_DETAIL_PLACE_HPP
#define PEMS_DETAIL_PLACE_HPP

#include <cstddef>
#include <cstdint>

namespace pems::detail {

template <class T> inline void copy(T *to, const T *from) noexcept {
  __builtin_memcpy(static_cast<void *>(to), static_cast<const void *>(from),
                   sizeof(T));
}

// N records on the stack, not constructed.
template <class T, std::size_t N> struct place {
  alignas(T) unsigned char bytes[N * sizeof(T)];
  T *get() noexcept {
    return reinterpret_cast<T *>(bytes);
  }
};

// 0 or 1, as a number. Compilers may not look behind it: they would turn a
// comparison of several steps whose result chooses between two records into
// branches, of which every second one is mispredicted.
inline std::size_t number_of(bool is_true) noexcept {
  std::size_t n = is_true;
  __asm__("" : "+r"(n));
  return n;
}

// The second or the first, by a number of 0 or 1.
template <class T>
inline const T *choose(std::size_t second, const T *a, const T *b) noexcept {
  const std::uintptr_t x = reinterpret_cast<std::uintptr_t>(a);
  const std::uintptr_t y = reinterpret_cast<std::uintptr_t>(b);
  return reinterpret_cast<const T *>(x ^ ((x ^ y) & (0 - second)));
}

} // namespace pems::detail

#endif
