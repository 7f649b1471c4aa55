// SPDX-License-Identifier: BSD-3-Clause
// A sequence of records in pages, which grows and shrinks at both ends: what
// <pems/vector.hpp> and <pems/deque.hpp> share.
#ifndef PEMS_DETAIL_PAGED_HPP
#define PEMS_DETAIL_PAGED_HPP

#include <algorithm>
#include <cerrno>
#include <compare>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <iterator>
#include <memory>
#include <ranges>
#include <span>
#include <type_traits>
#include <utility>

#include <pems/detail/pager.hpp>
#include <pems/kernel.hpp>

namespace pems::detail {

template <record T> class paged {
  using page = pager::page;

public:
  explicit paged(const container_options &o)
      : pager_(std::make_unique<pager>(o, std::size_t{1} << 20,
                                       pager::least_frames)),
        per_(pager_->bytes() / sizeof(T)) {
    if (per_ == 0) {
      fail(EINVAL,
           "container: block: smaller than a record: give a larger one");
    }
  }
  paged(paged &&o) noexcept
      : pager_(std::move(o.pager_)), pages_(std::move(o.pages_)), per_(o.per_),
        first_(std::exchange(o.first_, 0)), size_(std::exchange(o.size_, 0)),
        near_(std::exchange(o.near_, window())) {
  }
  paged &operator=(paged &&o) noexcept {
    pager_ = std::move(o.pager_); // frees what is held, too
    pages_ = std::move(o.pages_);
    per_ = o.per_;
    first_ = std::exchange(o.first_, 0);
    size_ = std::exchange(o.size_, 0);
    near_ = std::exchange(o.near_, window());
    return *this;
  }

  std::uint64_t size() const noexcept {
    return size_;
  }
  container_counts counts() const noexcept {
    return pager_->counts();
  }

  // Record i, until the next call of any function.
  const T &get(std::uint64_t i) const {
    return *at(i, false);
  }
  T &change(std::uint64_t i) {
    return *at(i, true);
  }

  // The records from i on that lie beside it, at most n, until the next call.
  std::span<T> piece(std::uint64_t i, std::uint64_t n, bool change) const {
    T *const p = at(i, change);
    return {p, static_cast<std::size_t>(std::min(n, near_.end - (first_ + i)))};
  }
  void copy_out(std::uint64_t i, std::span<T> to) const {
    for (std::size_t done = 0; done < to.size();) {
      const auto p = piece(i + done, to.size() - done, false);
      std::memcpy(static_cast<void *>(to.data() + done), p.data(),
                  p.size_bytes());
      done += p.size();
    }
  }
  void copy_in(std::uint64_t i, std::span<const T> from) {
    for (std::size_t done = 0; done < from.size();) {
      const auto p = piece(i + done, from.size() - done, true);
      std::memcpy(static_cast<void *>(p.data()), from.data() + done,
                  p.size_bytes());
      done += p.size();
    }
  }

  void push_back(const T &r) {
    const T x = r; // which may lie in a page that is written now
    add_room(size_ + 1);
    T *const p = at(size_, true);
    size_++;
    copy(p, &x);
  }
  void append(std::span<const T> r) {
    for (std::size_t n; !r.empty(); r = r.subspan(n)) {
      add_room(size_ + 1);
      n = static_cast<std::size_t>(
          std::min<std::uint64_t>(r.size(), capacity() - size_));
      copy_in(size_, r.first(n));
      size_ += n;
    }
  }
  void push_front(const T &r) {
    const T x = r;
    const bool is_new = first_ == 0;
    if (is_new) {
      prepend_page();
    }
    first_--;
    try {
      copy(at(0, true), &x);
    } catch (...) {
      first_++;
      if (is_new) {
        drop_front();
      }
      throw;
    }
    size_++;
  }
  void pop_back() noexcept {
    size_--;
    shrink();
  }
  void pop_front() noexcept {
    first_++;
    size_--;
    if (first_ == per_) {
      drop_front();
    }
    shrink();
  }
  // New records are all 0.
  void resize(std::uint64_t n) {
    try {
      add_room(n);
    } catch (...) {
      shrink();
      throw;
    }
    while (size_ < n) {
      const auto p = piece(size_, n - size_, true);
      std::memset(static_cast<void *>(p.data()), 0, p.size_bytes());
      size_ += p.size();
    }
    size_ = n;
    shrink();
  }

private:
  // The page that was used last, which is held: positions [begin, end).
  struct window {
    std::uint64_t begin = 0, end = 0;
    T *data = nullptr;
    page held = pager::none;
    bool may_change = false;
  };

  std::uint64_t capacity() const noexcept {
    return pages_.size() * per_ - first_;
  }

  T *at(std::uint64_t i, bool change) const {
    const std::uint64_t position = first_ + i;
    if (position - near_.begin >= near_.end - near_.begin ||
        (change && !near_.may_change)) [[unlikely]] {
      move_to(position / per_, change);
    }
    return near_.data + (position - near_.begin);
  }

  void move_to(std::uint64_t index, bool change) const {
    const page p = pages_[static_cast<std::size_t>(index)];
    const std::uint64_t before = near_.end ? near_.begin / per_ : index;
    std::byte *const bytes = pager_->hold(p, change);
    const bool was_same = near_.held == p;
    leave();
    near_ = {index * per_, (index + 1) * per_, reinterpret_cast<T *>(bytes), p,
             change};
    if (!was_same && (index == before + 1 || index + 1 == before)) {
      read_ahead(index, index > before);
    }
  }
  void read_ahead(std::uint64_t index, bool is_up) const noexcept {
    for (std::uint64_t i = 1; i <= pager_->most_ahead(); i++) {
      const std::uint64_t next = is_up ? index + i : index - i;
      if (next >= pages_.size()) {
        break;
      }
      pager_->ahead(pages_[static_cast<std::size_t>(next)]);
    }
  }
  void leave() const noexcept {
    if (near_.held != pager::none) {
      pager_->release(near_.held);
      near_ = window();
    }
  }

  void add_room(std::uint64_t n) {
    while (capacity() < n) {
      pages_.push_back(pager::none);
      try {
        pages_.back() = pager_->make();
      } catch (...) {
        pages_.pop_back();
        throw;
      }
    }
  }
  void prepend_page() {
    leave(); // positions change
    pages_.push_front(pager::none);
    try {
      pages_.front() = pager_->make();
    } catch (...) {
      pages_.pop_front();
      throw;
    }
    first_ = per_;
  }
  void drop_front() noexcept {
    leave();
    pager_->drop(pages_.front());
    pages_.pop_front();
    first_ -= per_;
    read_ahead(UINT64_MAX, true); // from the new front on
  }
  // One empty page is kept, so that a stack does not move back and forth.
  void shrink() noexcept {
    const std::uint64_t used = (first_ + size_ + per_ - 1) / per_;
    while (pages_.size() > used + 1) {
      if (near_.held == pages_.back()) {
        leave();
      }
      pager_->drop(pages_.back());
      pages_.pop_back();
      read_ahead(pages_.size() - 1, false);
    }
  }

  std::unique_ptr<pager> pager_;
  std::deque<page> pages_;
  std::uint64_t per_; // records of a page
  std::uint64_t first_ = 0, size_ = 0;
  mutable window near_;
};

// What stands for a record of C: it is read by conversion, written by
// assignment.
template <class C> class paged_reference {
public:
  using T = typename C::value_type;
  paged_reference(C *of, std::uint64_t i) noexcept : of_(of), i_(i) {
  }
  paged_reference(const paged_reference &) = default;
  operator T() const {
    return std::as_const(*of_).get(i_);
  }
  const paged_reference &operator=(const T &r) const {
    of_->set(i_, r);
    return *this;
  }
  const paged_reference &operator=(const paged_reference &r) const {
    return *this = static_cast<T>(r);
  }
  friend void swap(const paged_reference &a, const paged_reference &b) {
    const T x = a;
    a = static_cast<T>(b);
    b = x;
  }
  friend bool operator==(const paged_reference &a, const T &b)
    requires std::equality_comparable<T>
  {
    return static_cast<T>(a) == b;
  }
  friend bool operator==(const paged_reference &a, const paged_reference &b)
    requires std::equality_comparable<T>
  {
    return static_cast<T>(a) == static_cast<T>(b);
  }
  // For members: the record, until the next use of the container.
  const T *operator->() const {
    return &std::as_const(*of_).get(i_);
  }

private:
  C *of_;
  std::uint64_t i_;
};

// A random-access iterator of C, or of const C: then records are returned by
// value.
template <class C> class paged_iterator {
  static constexpr bool is_const = std::is_const_v<C>;

public:
  using value_type = typename C::value_type;
  using difference_type = std::ptrdiff_t;
  using reference =
      std::conditional_t<is_const, value_type, paged_reference<C>>;
  using pointer = void;
  using iterator_concept = std::random_access_iterator_tag;
  using iterator_category = std::random_access_iterator_tag;

  paged_iterator() = default;
  paged_iterator(C *of, std::uint64_t i) noexcept : of_(of), i_(i) {
  }
  operator paged_iterator<const C>() const noexcept
    requires(!is_const)
  {
    return {of_, i_};
  }

  reference operator*() const {
    return at(i_);
  }
  reference operator[](difference_type n) const {
    return at(i_ + static_cast<std::uint64_t>(n));
  }
  paged_iterator &operator+=(difference_type n) noexcept {
    i_ += static_cast<std::uint64_t>(n);
    return *this;
  }
  paged_iterator &operator-=(difference_type n) noexcept {
    return *this += -n;
  }
  paged_iterator &operator++() noexcept {
    return *this += 1;
  }
  paged_iterator &operator--() noexcept {
    return *this += -1;
  }
  paged_iterator operator++(int) noexcept {
    const paged_iterator old = *this;
    ++*this;
    return old;
  }
  paged_iterator operator--(int) noexcept {
    const paged_iterator old = *this;
    --*this;
    return old;
  }
  friend paged_iterator operator+(paged_iterator a,
                                  difference_type n) noexcept {
    return a += n;
  }
  friend paged_iterator operator+(difference_type n,
                                  paged_iterator a) noexcept {
    return a += n;
  }
  friend paged_iterator operator-(paged_iterator a,
                                  difference_type n) noexcept {
    return a -= n;
  }
  friend difference_type operator-(const paged_iterator &a,
                                   const paged_iterator &b) noexcept {
    return static_cast<difference_type>(a.i_ - b.i_);
  }
  friend bool operator==(const paged_iterator &a,
                         const paged_iterator &b) noexcept {
    return a.i_ == b.i_;
  }
  friend std::strong_ordering operator<=>(const paged_iterator &a,
                                          const paged_iterator &b) noexcept {
    return a.i_ <=> b.i_;
  }
  friend value_type iter_move(const paged_iterator &a) {
    return *a;
  }
  friend void iter_swap(const paged_iterator &a, const paged_iterator &b) {
    const value_type x = *a;
    *a = static_cast<value_type>(*b);
    *b = x;
  }

private:
  reference at(std::uint64_t i) const {
    if constexpr (is_const) {
      return of_->get(i);
    } else {
      return reference(of_, i);
    }
  }
  C *of_ = nullptr;
  std::uint64_t i_ = 0;
};

// What vector and deque share, for users.
template <record T, class Self> class sequence {
public:
  using value_type = T;
  using size_type = std::uint64_t;
  using difference_type = std::ptrdiff_t;
  using reference = paged_reference<Self>;
  using const_reference = T;
  using iterator = paged_iterator<Self>;
  using const_iterator = paged_iterator<const Self>;

  explicit sequence(const container_options &o) : records_(o) {
  }

  size_type size() const noexcept {
    return records_.size();
  }
  [[nodiscard]] bool empty() const noexcept {
    return size() == 0;
  }
  container_counts counts() const noexcept {
    return records_.counts();
  }

  // i < size(), as for what follows: not checked.
  reference operator[](size_type i) {
    return reference(self(), i);
  }
  T operator[](size_type i) const {
    return records_.get(i);
  }
  // ERANGE.
  reference at(size_type i) {
    check(i);
    return reference(self(), i);
  }
  T at(size_type i) const {
    check(i);
    return records_.get(i);
  }
  T front() const {
    return records_.get(0);
  }
  T back() const {
    return records_.get(size() - 1);
  }
  // The record, until the next use of the container.
  const T &get(size_type i) const {
    return records_.get(i);
  }
  void set(size_type i, const T &r) {
    const T x = r;
    copy(&records_.change(i), &x);
  }

  // Many at once: from record i on.
  void read(size_type i, std::span<T> to) const {
    check(i, to.size());
    records_.copy_out(i, to);
  }
  void write(size_type i, std::span<const T> from) {
    check(i, from.size());
    records_.copy_in(i, from);
  }
  // Without a copy: the records from i on that lie in one page, until the next
  // use of the container.
  std::span<const T> view(size_type i) const {
    return records_.piece(i, size() - i, false);
  }
  std::span<T> edit(size_type i) {
    return records_.piece(i, size() - i, true);
  }

  void push_back(const T &r) {
    records_.push_back(r);
  }
  void append(std::span<const T> r) {
    records_.append(r);
  }
  template <std::ranges::input_range R>
    requires std::convertible_to<std::ranges::range_reference_t<R>, T>
  void append_range(R &&range) {
    for (auto &&x : range) {
      records_.push_back(static_cast<T>(x));
    }
  }
  // Not of an empty one.
  void pop_back() noexcept {
    records_.pop_back();
  }
  // New records are all 0.
  void resize(size_type n) {
    records_.resize(n);
  }
  void clear() noexcept {
    records_.resize(0);
  }

  iterator begin() noexcept {
    return {self(), 0};
  }
  iterator end() noexcept {
    return {self(), size()};
  }
  const_iterator begin() const noexcept {
    return {self(), 0};
  }
  const_iterator end() const noexcept {
    return {self(), size()};
  }
  const_iterator cbegin() const noexcept {
    return begin();
  }
  const_iterator cend() const noexcept {
    return end();
  }

protected:
  paged<T> records_;

private:
  Self *self() noexcept {
    return static_cast<Self *>(this);
  }
  const Self *self() const noexcept {
    return static_cast<const Self *>(this);
  }
  void check(size_type i, size_type n = 1) const {
    if (i > size() || n > size() - i) {
      fail(ERANGE, "container: index: behind the end: ask size() first");
    }
  }
};

} // namespace pems::detail

#endif
