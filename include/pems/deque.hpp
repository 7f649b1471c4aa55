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

// First in, first out.
template <record T> class queue {
public:
  using value_type = T;
  using size_type = std::uint64_t;

  explicit queue(const container_options &o = {}) : records_(o) {
  }
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
  // Until the next use of the queue. Not of an empty one, as pop.
  const T &front() const {
    return records_.get(0);
  }
  T back() const {
    return records_.get(size() - 1);
  }
  void pop() noexcept {
    records_.pop_front();
  }
  container_counts counts() const noexcept {
    return records_.counts();
  }

private:
  detail::paged<T> records_;
};

// Last in, first out.
template <record T> class stack {
public:
  using value_type = T;
  using size_type = std::uint64_t;

  explicit stack(const container_options &o = {}) : records_(o) {
  }
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
  // Until the next use of the stack. Not of an empty one, as pop.
  const T &top() const {
    return records_.get(size() - 1);
  }
  void pop() noexcept {
    records_.pop_back();
  }
  container_counts counts() const noexcept {
    return records_.counts();
  }

private:
  detail::paged<T> records_;
};

} // namespace pems

#endif
