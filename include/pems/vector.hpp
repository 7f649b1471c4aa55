// SPDX-License-Identifier: BSD-3-Clause
// A vector of more records than fit in memory.
//
//   pems::vector<edge> v({.memory = 256 << 20});
//   v.push_back(e);
//   v[i] = e;
//   for (const edge e : std::as_const(v)) ...;   // pages are read ahead
//
// References are proxies: v[i] is read by conversion to T and written by
// assignment; v[i]->member reads a member. Iterators are random-access ones of
// C++20, stay valid when the vector grows, and std::ranges::sort works (to sort
// out of core, push into a pems::sorter). One thread at a time, readers
// included. Functions throw pems::error and have no effect then; those that
// append or write several records may have done some of them.
#ifndef PEMS_VECTOR_HPP
#define PEMS_VECTOR_HPP

#include <ranges>

#include <pems/detail/paged.hpp>

namespace pems {

template <record T> class vector : public detail::sequence<T, vector<T>> {
public:
  explicit vector(const container_options &o = {})
      : detail::sequence<T, vector<T>>(o) {
  }
};

} // namespace pems

#endif
