// SPDX-License-Identifier: BSD-3-Clause
// Ranges as functions that fill in what there is room for.
#ifndef PEMS_RANGE_HPP
#define PEMS_RANGE_HPP

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <ranges>
#include <span>
#include <type_traits>
#include <utility>

#include <pems/kernel.hpp>

namespace pems {

// A function for graph::generate and tfp::edges that copies what a range has.
// The range is moved or copied into it, except for an lvalue, which is referred
// to.
template <std::ranges::input_range R> auto from_range(R &&range) {
  using T = std::ranges::range_value_t<R>;
  using held =
      std::conditional_t<std::is_lvalue_reference_v<R>,
                         std::reference_wrapper<std::remove_reference_t<R>>, R>;
  using iterator = std::ranges::iterator_t<std::remove_reference_t<R>>;
  return [from = held(std::forward<R>(range)),
          at = std::optional<iterator>()](std::span<T> room) mutable {
    std::remove_reference_t<R> &r = from;
    std::size_t n = 0;
    if (!at) {
      at.emplace(std::ranges::begin(r));
    }
    for (; n < room.size() && *at != std::ranges::end(r); ++*at) {
      const T x = **at;
      detail::copy(&room[n++], &x);
    }
    return n;
  };
}

namespace detail {

// The same for a std::function, which must be copied, while a range may only
// move.
template <std::ranges::input_range R> auto shared_fill(R &&range) {
  using T = std::ranges::range_value_t<R>;
  auto fill = from_range(std::forward<R>(range));
  return [f = std::make_shared<decltype(fill)>(std::move(fill))](
             std::span<T> room) { return (*f)(room); };
}

} // namespace detail
} // namespace pems

#endif
