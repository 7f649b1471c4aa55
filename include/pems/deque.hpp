// SPDX-License-Identifier: BSD-3-Clause
// A deque, a queue and a stack of more records than fit in memory.
//
//   pems::queue<task> q({.memory = 16 << 20});
//   q.push(t); while (!q.empty()) { t = q.front(); q.pop(); ... }
//
// A deque is a pems::vector that grows and shrinks at the front, too; what
// <pems/vector.hpp> says of references, iterators and errors holds here, except
// that changes at the front move iterators. A queue moves nearly each
// page to disk and back once, a stack only what was pushed and popped far
// enough.
#ifndef PEMS_DEQUE_HPP
#define PEMS_DEQUE_HPP

#include <ranges>
#include <span>

#include <pems/detail/paged.hpp>

namespace pems {

template <record T> class deque : public detail::sequence<T, deque<T>> {
public:
  explicit deque(const container_options &o = {})
      : detail::sequence<T, deque<T>>(o) {
  }
  void push_front(const T &r) {
    this->records_.push_front(r);
  }
  // Not of an empty one.
  void pop_front() noexcept {
    this->records_.pop_front();
  }
};

namespace detail {

// What a queue and a stack have in common.
template <record T> class line {
public:
  using value_type = T;
  using size_type = std::uint64_t;

  size_type size() const noexcept {
    return records_.size();
  }
  [[nodiscard]] bool empty() const noexcept {
    return size() == 0;
  }
  void push(const T &r) {
    records_.push_back(r);
  }
  void push(std::span<const T> r) {
    records_.append(r);
  }
  container_counts counts() const noexcept {
    return records_.counts();
  }

protected:
  explicit line(const container_options &o) : records_(o) {
  }
  paged<T> records_;
};

} // namespace detail

// First in, first out.
template <record T> class queue : public detail::line<T> {
public:
  explicit queue(const container_options &o = {}) : detail::line<T>(o) {
  }
  // Until the next use of the queue. Not of an empty one, as pop.
  const T &front() const {
    return this->records_.get(0);
  }
  T back() const {
    return this->records_.get(this->size() - 1);
  }
  void pop() noexcept {
    this->records_.pop_front();
  }
};

// Last in, first out.
template <record T> class stack : public detail::line<T> {
public:
  explicit stack(const container_options &o = {}) : detail::line<T>(o) {
  }
  // Until the next use of the stack. Not of an empty one, as pop.
  const T &top() const {
    return this->records_.get(this->size() - 1);
  }
  void pop() noexcept {
    this->records_.pop_back();
  }
};

} // namespace pems

#endif
