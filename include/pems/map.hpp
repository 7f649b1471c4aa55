// SPDX-License-Identifier: BSD-3-Clause
// A map from keys to values of more records than fit in memory: a B+ tree.
//
//   pems::map<std::uint64_t, edge> m({.memory = 256 << 20});
//   m.insert(key, e);
//   if (const auto e = m.get(key)) ...;
//   for (auto it = m.lower_bound(a); it != m.end(); ++it) ... (*it).second;
//   m.build(sorter);   // of an empty map: much faster than one by one
//
// Iterators give records by value, and are good until something is inserted or
// erased; pages are read ahead where they go up. A page is a node: what is
// looked up at random costs one read of the disk as long as the inner nodes fit
// in memory, which have 16 KiB each by default. One thread at a time, readers
// included. Functions throw pems::error and have no effect then (build leaves
// the map empty).
#ifndef PEMS_MAP_HPP
#define PEMS_MAP_HPP

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <ranges>
#include <stdexcept>
#include <utility>
#include <vector>

#include <pems/detail/tree.hpp>
#include <pems/kernel.hpp>

namespace pems {

template <record Key, record T, class Less = std::less<Key>> class map {
  using tree = detail::tree<Key, T, Less>;

public:
  using key_type = Key;
  using mapped_type = T;
  using value_type = std::pair<Key, T>;
  using size_type = std::uint64_t;
  using key_compare = Less;
  class const_iterator;
  using iterator = const_iterator;

  explicit map(const container_options &o = {}, Less less = {})
      : tree_(o, std::move(less)) {
  }

  size_type size() const noexcept {
    return tree_.size();
  }
  [[nodiscard]] bool empty() const noexcept {
    return size() == 0;
  }
  container_counts counts() const noexcept {
    return tree_.counts();
  }

  // True if the key was not there; else nothing is changed.
  bool insert(const Key &k, const T &v) {
    return tree_.insert(k, v, false);
  }
  // True if the key was not there; else its value is replaced.
  bool insert_or_assign(const Key &k, const T &v) {
    return tree_.insert(k, v, true);
  }
  // How many were erased: 0 or 1.
  size_type erase(const Key &k) {
    return tree_.erase(k);
  }

  // Of an empty map: all records of an input range, in ascending order of keys,
  // no key twice; else EINVAL, and the map stays empty.
  template <std::ranges::input_range R>
    requires std::convertible_to<std::ranges::range_reference_t<R>, value_type>
  void build(R &&records) {
    typename tree::builder b(tree_);
    for (auto &&r : records) {
      const value_type record(std::forward<decltype(r)>(r));
      b.add(record.first, record.second);
    }
    b.finish();
  }

  bool contains(const Key &k) const {
    return get(k).has_value();
  }
  std::optional<T> get(const Key &k) const {
    return tree_.get(k);
  }
  // std::out_of_range where there is none.
  T at(const Key &k) const {
    const std::optional<T> v = get(k);
    if (!v) {
      throw std::out_of_range("pems::map::at: no such key");
    }
    return *v;
  }

  const_iterator begin() const {
    return {this, tree_.first()};
  }
  const_iterator end() const noexcept {
    return {this, {}};
  }
  const_iterator find(const Key &k) const {
    return {this, tree_.find(k)};
  }
  // The first record whose key is not less than k; is greater than k.
  const_iterator lower_bound(const Key &k) const {
    return {this, tree_.bound(k, false)};
  }
  const_iterator upper_bound(const Key &k) const {
    return {this, tree_.bound(k, true)};
  }
  std::pair<const_iterator, const_iterator> equal_range(const Key &k) const {
    return {lower_bound(k), upper_bound(k)};
  }

private:
  tree tree_;
};

template <record Key, record T, class Less>
class map<Key, T, Less>::const_iterator {
public:
  using value_type = std::pair<Key, T>;
  using reference = value_type;
  using pointer = void;
  using difference_type = std::ptrdiff_t;
  using iterator_concept = std::bidirectional_iterator_tag;
  using iterator_category = std::bidirectional_iterator_tag;

  const_iterator() = default;
  value_type operator*() const {
    return of_->tree_.record_at(at_);
  }
  const_iterator &operator++() {
    at_ = of_->tree_.after(at_);
    return *this;
  }
  const_iterator &operator--() {
    at_ = of_->tree_.before(at_);
    return *this;
  }
  const_iterator operator++(int) {
    const const_iterator old = *this;
    ++*this;
    return old;
  }
  const_iterator operator--(int) {
    const const_iterator old = *this;
    --*this;
    return old;
  }
  friend bool operator==(const const_iterator &a,
                         const const_iterator &b) noexcept {
    return a.at_ == b.at_;
  }

private:
  friend class map;
  const_iterator(const map *of, typename tree::position at) noexcept
      : of_(of), at_(at) {
  }
  const map *of_ = nullptr;
  typename tree::position at_{};
};

} // namespace pems

#endif
