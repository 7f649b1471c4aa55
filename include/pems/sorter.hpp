// SPDX-License-Identifier: BSD-3-Clause
// Sorting more records than fit in memory: <pems/sort.h> for C++20.
//
//   pems::sorter<std::uint64_t> s({.memory = 512 << 20});
//   for (...) s.push(x);
//   for (std::uint64_t x : s) ...;            // an input range, in order
//
//   struct edge { std::uint32_t from, to; float weight; };
//   auto e = pems::make_sorter<edge>(pems::key<&edge::from, &edge::to>());
//
// <pems/key.hpp> says which orders are sorted by key and which are compared.
// Functions throw pems::error, and leave the sorter good for nothing but its
// destructor. One thread at a time may use a sorter.
#ifndef PEMS_SORTER_HPP
#define PEMS_SORTER_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <memory>
#include <ranges>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <pems/disk.hpp>
#include <pems/error.hpp>
#include <pems/key.hpp>
#include <pems/sort.h>

namespace pems {

// As struct pems_sort_options; what is 0 or empty has a default.
struct sort_options {
  std::uint64_t memory = 0;       // bytes
  std::uint64_t merge_memory = 0; // bytes while merging
  int threads = 0;
  int merge_threads = 0;
  bool stable = false;
  class disks *disks = nullptr; // must outlive the sorter; else `scratch`
  pems::scratch scratch{};
  std::size_t block = 0;   // bytes
  std::uint64_t count = 0; // expected records
  pems_runs runs = PEMS_RUNS_HALF;
  std::string kernel{};
  std::uint64_t seed = 0;
  // Called with bytes done and to do. Must not throw.
  std::function<void(std::uint64_t, std::uint64_t)> progress{};
  // Set to other than 0, by `progress` for instance, it ends the sort: what
  // runs throws ECANCELED, and nothing has changed.
  const volatile int *stop = nullptr;
};

namespace detail {

// The C struct, which lives as long as this does.
class c_sort_options {
public:
  c_sort_options(const sort_options &o, const pems_record &record)
      : scratch_(o.scratch), progress_(o.progress) {
    c_options(options_, o, scratch_);
    options_.record = record;
    options_.merge_memory = o.merge_memory;
    options_.merge_threads = o.merge_threads;
    options_.count = o.count;
    options_.runs = o.runs;
    options_.stop = o.stop;
    kernel_ = o.kernel;
    options_.kernel = c_text(kernel_);
    if (progress_) {
      options_.progress = [](void *arg, std::uint64_t done,
                             std::uint64_t todo) {
        static_cast<c_sort_options *>(arg)->progress_(done, todo);
      };
      options_.progress_arg = this;
    }
  }
  c_sort_options(const c_sort_options &) = delete;
  c_sort_options &operator=(const c_sort_options &) = delete;

  const pems_sort_options &get() const {
    return options_;
  }

private:
  scratch_options scratch_;
  std::function<void(std::uint64_t, std::uint64_t)> progress_;
  std::string kernel_;
  pems_sort_options options_{};
};

} // namespace detail

template <record T, class Less = std::less<>, class Key = std::identity>
class sorter {
  using order_type = detail::ordering<T, Less, Key>;

public:
  using value_type = T;
  class iterator;

  explicit sorter(const sort_options &options = {}, Less less = {},
                  Key key = {})
    requires(detail::has_default_key<Key>)
      : sorter(options, std::move(less), std::move(key), 0) {
  }
  sorter(const sort_options &options, Less less, Key key)
    requires(!detail::has_default_key<Key>)
      : sorter(options, std::move(less), std::move(key), 0) {
  }

  sorter(sorter &&o) noexcept
      : state_(std::move(o.state_)), at_(std::exchange(o.at_, nullptr)),
        end_(std::exchange(o.end_, nullptr)),
        space_(std::exchange(o.space_, nullptr)),
        phase_(std::exchange(o.phase_, phase::drained)) {
  }
  sorter &operator=(sorter &&o) noexcept {
    sorter moved(std::move(o));
    swap(moved);
    return *this;
  }
  void swap(sorter &o) noexcept {
    std::swap(state_, o.state_);
    std::swap(at_, o.at_);
    std::swap(end_, o.end_);
    std::swap(space_, o.space_);
    std::swap(phase_, o.phase_);
  }

  // How records are sorted: "word", "pointer", "compiled", ...
  const char *kernel() const {
    return counts().kernel;
  }

  // --- input ---

  void push(const T &record) {
    if (at_ == end_) [[unlikely]] {
      next_space();
    }
    detail::copy(at_, &record);
    if (order_type::may_pack && state_->order.packed()) {
      state_->order.encode(at_);
    }
    ++at_;
  }
  void push_back(const T &record) {
    push(record);
  }

  void push(std::span<const T> records) {
    while (!records.empty()) {
      if (at_ == end_) {
        next_space();
      }
      const std::size_t n =
          std::min(records.size(), static_cast<std::size_t>(end_ - at_));
      std::memcpy(static_cast<void *>(at_), records.data(), n * sizeof(T));
      encode(at_, n);
      at_ += n;
      records = records.subspan(n);
    }
  }

  template <std::ranges::input_range R>
    requires std::convertible_to<std::ranges::range_reference_t<R>, T>
  void push_range(R &&range) {
    if constexpr (std::ranges::contiguous_range<R> &&
                  std::ranges::sized_range<R> &&
                  std::same_as<std::ranges::range_value_t<R>, T>) {
      push(std::span<const T>(std::ranges::data(range),
                              std::ranges::size(range)));
    } else {
      for (auto &&x : range) {
        push(static_cast<T>(x));
      }
    }
  }

  // Space for at least one record, to be filled from the beginning; then commit
  // says how many have been.
  std::span<T> space() {
    if (at_ == end_) {
      next_space();
    }
    return {at_, end_};
  }
  void commit(std::size_t n) {
    encode(at_, n);
    at_ += n;
  }

  // Ends the input; begin and pull do so, too.
  void finish() {
    if (phase_ != phase::filling) {
      return;
    }
    hand_over();
    phase_ = phase::draining;
    detail::call([&](pems_error *e) { return pems_sorter_finish(get(), e); });
  }

  // --- output: in order ---

  // The next records, until the next call; none at the end.
  std::span<const T> pull() {
    if (at_ == end_ || phase_ == phase::filling) {
      refill();
    }
    return {std::exchange(at_, end_), end_};
  }

  // Copies the next records; fewer than there is room for only at the end. They
  // may go to where they were pushed from: a sort that `stop` ends, ends
  // before.
  std::size_t pull(std::span<T> out) {
    finish();
    const std::size_t begun =
        std::min(out.size(), static_cast<std::size_t>(end_ - at_));
    if (begun > 0) {
      std::memcpy(static_cast<void *>(out.data()), at_, begun * sizeof(T));
      at_ += begun;
    }
    return begun + pull_rest(out.subspan(begun));
  }

  // One by one, as streams of STXXL and TPIE are read.
  bool empty() {
    if (at_ == end_ || phase_ == phase::filling) {
      refill();
    }
    return at_ == end_;
  }
  const T &operator*() const noexcept {
    return *at_;
  }
  sorter &operator++() {
    if (++at_ == end_) [[unlikely]] {
      refill();
    }
    return *this;
  }

  iterator begin() {
    (void)empty();
    return iterator(this);
  }
  std::default_sentinel_t end() const noexcept {
    return {};
  }

  pems_sort_counts counts() const noexcept {
    pems_sort_counts c;
    pems_sorter_counts(get(), &c);
    return c;
  }
  pems_sorter *get() const noexcept {
    return state_->sorter.get();
  }

private:
  enum class phase { filling, draining, drained };
  struct free {
    void operator()(pems_sorter *s) const noexcept {
      pems_sorter_free(s);
    }
  };
  // What the library has pointers to: it does not move.
  struct state {
    state(const sort_options &o, Less less, Key key)
        : order(std::move(less), std::move(key)),
          options(o, order.describe(o.stable)) {
    }
    order_type order;
    detail::c_sort_options options;
    std::unique_ptr<pems_sorter, free> sorter;
    std::vector<T> decoded; // records in the user's form, if packed
  };

  sorter(const sort_options &options, Less less, Key key, int)
      : state_(
            std::make_unique<state>(options, std::move(less), std::move(key))) {
    pems_sorter *made = nullptr;
    detail::call([&](pems_error *e) {
      return pems_sorter_new(&made, &state_->options.get(), e);
    });
    state_->sorter.reset(made);
  }

  void encode(T *records, std::size_t n) {
    if constexpr (order_type::may_pack) {
      if (state_->order.packed()) {
        for (std::size_t i = 0; i < n; i++) {
          state_->order.encode(records + i);
        }
      }
    }
  }

  void hand_over() {
    if (at_ != space_) {
      const std::size_t n = static_cast<std::size_t>(at_ - space_);
      detail::call(
          [&](pems_error *e) { return pems_sorter_filled(get(), n, e); });
    }
    at_ = end_ = space_ = nullptr;
  }

  void next_space() {
    void *space = nullptr;
    std::size_t n = 0;
    if (phase_ != phase::filling) {
      detail::fail(EINVAL, "sorter: push: the input has ended already: use "
                           "another sorter");
    }
    hand_over();
    detail::call(
        [&](pems_error *e) { return pems_sorter_space(get(), &space, &n, e); });
    at_ = space_ = static_cast<T *>(space);
    end_ = at_ + n;
  }

  void refill() {
    const void *records = nullptr;
    std::size_t n = 0;
    finish();
    if (phase_ == phase::drained) {
      return;
    }
    detail::call([&](pems_error *e) {
      return pems_sorter_pull(get(), &records, &n, e);
    });
    // Only read from now on.
    at_ = static_cast<T *>(const_cast<void *>(records));
    if constexpr (order_type::may_pack) {
      if (state_->order.packed() && n > 0) {
        n = decode(at_, n);
        at_ = state_->decoded.data();
      }
    }
    end_ = at_ + n;
    if (n == 0) {
      at_ = end_ = nullptr;
      phase_ = phase::drained;
    }
  }

  std::size_t pull_rest(std::span<T> out) {
    std::size_t n = out.size();
    detail::call([&](pems_error *e) {
      return pems_sorter_pull_into(get(), out.data(), sizeof(T), &n, e);
    });
    if constexpr (order_type::may_pack) {
      for (std::size_t i = 0; i < n && state_->order.packed(); i++) {
        state_->order.decode(&out[i]);
      }
    }
    return n;
  }

  // As many as stay in a cache; the others are given back.
  std::size_t decode(const T *records, std::size_t n) {
    std::vector<T> &to = state_->decoded;
    to.resize(std::max<std::size_t>(1, (std::size_t{128} << 10) / sizeof(T)));
    const std::size_t some = std::min(n, to.size());
    if (some < n) {
      pems_sorter_back(get(), n - some);
    }
    for (std::size_t i = 0; i < some; i++) {
      detail::copy(&to[i], records + i);
      state_->order.decode(&to[i]);
    }
    return some;
  }

  std::unique_ptr<state> state_;
  T *at_ = nullptr, *end_ = nullptr; // of the space, or of what was pulled
  T *space_ = nullptr;
  phase phase_ = phase::filling;
};

// An input iterator: all of one sorter are at the same place.
template <record T, class Less, class Key>
class sorter<T, Less, Key>::iterator {
public:
  using iterator_concept = std::input_iterator_tag;
  using value_type = T;
  using difference_type = std::ptrdiff_t;

  iterator() = default;
  const T &operator*() const noexcept {
    return *sorter_->at_;
  }
  const T *operator->() const noexcept {
    return sorter_->at_;
  }
  iterator &operator++() {
    ++*sorter_;
    return *this;
  }
  void operator++(int) {
    ++*this;
  }
  friend bool operator==(const iterator &i, std::default_sentinel_t) noexcept {
    return i.is_end();
  }

private:
  friend sorter;
  bool is_end() const noexcept {
    return sorter_->at_ == sorter_->end_;
  }
  explicit iterator(sorter *s) : sorter_(s) {
  }
  sorter *sorter_ = nullptr;
};

// A sorter by Key, which is deduced: &record::member, pems::key<...>(), a
// std::tuple of pointers to members, or any function of a record.
template <record T, class Key = std::identity, class Less = std::less<>>
sorter<T, Less, Key> make_sorter(Key key = {}, const sort_options &options = {},
                                 Less less = {}) {
  return sorter<T, Less, Key>(options, std::move(less), std::move(key));
}

// Sorts a file of records of T into another, which may be the same one: see
// pems_sort_file.
template <record T, class Less = std::less<>, class Key = std::identity>
pems_sort_counts sort_file(const std::string &from, const std::string &to,
                           const sort_options &options = {}, Less less = {},
                           Key key = {}) {
  using order_type = detail::ordering<T, Less, Key>;
  const order_type order(std::move(less), std::move(key));
  pems_sort_counts counts{};
  if constexpr (order_type::may_pack) {
    if (order.packed()) {
      // Files hold records in the user's form: compared, then.
      return sort_file<T>(from, to, options, std::cref(order));
    }
  }
  const detail::c_sort_options o(options, order.describe(options.stable));
  detail::call([&](pems_error *e) {
    return pems_sort_file(from.c_str(), to.c_str(), &o.get(), &counts, e);
  });
  return counts;
}

// Sorts records in memory in the calling thread: see pems_sort_array.
template <record T, class Less = std::less<>, class Key = std::identity>
void sort(std::span<T> records, Less less = {}, Key key = {},
          bool stable = false) {
  const detail::ordering<T, Less, Key> order(std::move(less), std::move(key));
  const bool packed = order.packed();
  if (packed) {
    std::ranges::for_each(records, [&](T &r) { order.encode(&r); });
  }
  const pems_record r = order.describe(stable);
  const std::size_t bytes = pems_sort_array_work(records.size(), &r);
  if (bytes == SIZE_MAX) {
    detail::fail(EINVAL, "sort: too many records for one array: use a sorter");
  }
  const std::unique_ptr<std::byte[]> work(bytes ? new std::byte[bytes]
                                                : nullptr);
  detail::call([&](pems_error *e) {
    return pems_sort_array(records.data(), records.size(), &r, work.get(), e);
  });
  if (packed) {
    std::ranges::for_each(records, [&](T &x) { order.decode(&x); });
  }
}

} // namespace pems

#endif
