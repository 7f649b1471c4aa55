// SPDX-License-Identifier: BSD-3-Clause
// Loops that sort, merge and keep heaps of records of type T with a comparison
// that the compiler inlines: a struct pems_kernel for it (<pems/kernel.h>).
//
// Sorting in memory: branchless small sorts and bidirectional merges, a
// quicksort with branchless partitions where the order of equal records does
// not matter (as in L. Bergdoll and O. Peters, ipnsort and driftsort, 2024),
// else a merge sort. Merging: <pems/detail/merge.hpp>.
#ifndef PEMS_KERNEL_HPP
#define PEMS_KERNEL_HPP

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include <pems/detail/merge.hpp>
#include <pems/detail/place.hpp>
#include <pems/kernel.h>

namespace pems {

// Records are copied as bytes. Types of one's own that may be, although they
// are not trivially copyable, can specialise this.
template <class T>
inline constexpr bool is_record = std::is_trivially_copyable_v<T>;
template <class A, class B>
inline constexpr bool is_record<std::pair<A, B>> = is_record<A> && is_record<B>;

template <class T>
concept record = std::is_object_v<T> && !std::is_const_v<T> && is_record<T>;

namespace detail {

// All functions take `before`, a strict weak order of const T &, which must not
// throw.
template <class T> struct loops {
  static constexpr std::size_t small = 32; // records of a small sort
  static constexpr std::size_t ninther = 128;

  // --- small sorts, stable ---

  template <class Before>
  static void sort4(const T *v, T *to, Before &before) noexcept {
    const std::size_t c1 = number_of(before(v[1], v[0]));
    const std::size_t c2 = number_of(before(v[3], v[2]));
    const T *const a = v + c1, *const b = v + 1 - c1;
    const T *const c = v + 2 + c2, *const d = v + 3 - c2;
    const std::size_t c3 = number_of(before(*c, *a));
    const std::size_t c4 = number_of(before(*d, *b));
    const T *const least = c3 ? c : a, *const most = c4 ? b : d;
    const T *const x = c3 ? a : (c4 ? c : b), *const y = c4 ? d : (c3 ? b : c);
    const std::size_t c5 = number_of(before(*y, *x));
    copy(to, least);
    copy(to + 1, c5 ? y : x);
    copy(to + 2, c5 ? x : y);
    copy(to + 3, most);
  }

  // Merges v[0, n / 2) and v[n / 2, n) from both ends at once: two chains of
  // comparisons that do not wait for each other.
  template <class Before>
  static void merge_ends(const T *v, std::size_t n, T *to,
                         Before &before) noexcept {
    const std::size_t half = n / 2;
    const T *a = v, *b = v + half, *x = v + half - 1, *y = v + n - 1;
    T *down = to + n - 1;
    for (std::size_t i = 0; i < half; i++) {
      const std::size_t second = number_of(before(*b, *a));
      const std::size_t first = number_of(before(*y, *x));
      copy(to++, second ? b : a);
      a += 1 - second;
      b += second;
      copy(down--, first ? x : y);
      x -= first;
      y -= 1 - first;
    }
    if (n % 2 != 0) {
      copy(to, a <= x ? a : b);
    }
  }

  template <class Before>
  static void insert(T *v, std::size_t from, std::size_t n,
                     Before &before) noexcept {
    place<T, 1> item;
    for (std::size_t i = from; i < n; i++) {
      std::size_t to = i;
      copy(item.get(), v + i);
      for (; to > 0 && before(*item.get(), v[to - 1]); to--) {
        copy(v + to, v + to - 1);
      }
      copy(v + to, item.get());
    }
  }

  // A half of at most small / 2 records, from v to `to`, which has space for
  // them.
  template <class Before>
  static void sort_half(const T *v, std::size_t n, T *to, T *work,
                        Before &before) noexcept {
    std::size_t done = 0;
    if (n >= 8) {
      sort4(v, work, before);
      sort4(v + 4, work + 4, before);
      merge_ends(work, 8, to, before);
      done = 8;
    } else if (n >= 4) {
      sort4(v, to, before);
      done = 4;
    }
    for (std::size_t i = done; i < n; i++) {
      copy(to + i, v + i);
    }
    insert(to, done ? done : 1, n, before);
  }

  template <class Before>
  static void sort_small(T *v, std::size_t n, Before &before) noexcept {
    if (n < 8) {
      insert(v, 1, n, before);
      return;
    }
    place<T, small> halves;
    place<T, 8> work;
    const std::size_t half = n / 2;
    sort_half(v, half, halves.get(), work.get(), before);
    sort_half(v + half, n - half, halves.get() + half, work.get(), before);
    merge_ends(halves.get(), n, v, before);
  }

  // --- sorting, stably: `work` for n / 2 records ---

  template <class Before>
  static void merge_half(T *v, std::size_t half, std::size_t n, T *work,
                         Before &before) noexcept {
    if (!before(v[half], v[half - 1])) {
      return;
    }
    std::memcpy(static_cast<void *>(work), v, half * sizeof(T));
    const T *a = work, *const a_end = work + half, *b = v + half;
    const T *const b_end = v + n;
    while (a < a_end && b < b_end) {
      const std::size_t second = number_of(before(*b, *a));
      copy(v++, choose(second, a, b));
      a += 1 - second;
      b += second;
    }
    std::memcpy(static_cast<void *>(v), a,
                static_cast<std::size_t>(a_end - a) * sizeof(T));
  }

  template <class Before>
  static void sort_stable(T *v, std::size_t n, T *work,
                          Before &before) noexcept {
    if (n <= small) {
      sort_small(v, n, before);
      return;
    }
    const std::size_t half = n / 2;
    sort_stable(v, half, work, before);
    sort_stable(v + half, n - half, work, before);
    merge_half(v, half, n, work, before);
  }

  // --- sorting in place ---

  template <class Before>
  static const T *median(const T *a, const T *b, const T *c,
                         Before &before) noexcept {
    const bool ab = before(*a, *b), ac = before(*a, *c);
    if (ab != ac) {
      return a;
    }
    return before(*b, *c) != ab ? c : b;
  }

  template <class Before>
  static const T *pivot(const T *a, const T *b, const T *c, std::size_t n,
                        Before &before) noexcept {
    if (n >= ninther / 8) {
      const std::size_t m = n / 8;
      a = pivot(a, a + m * 4, a + m * 7, m, before);
      b = pivot(b, b + m * 4, b + m * 7, m, before);
      c = pivot(c, c + m * 4, c + m * 7, m, before);
    }
    return median(a, b, c, before);
  }

  // Moves the records for which `first` holds to the beginning; returns how
  // many. No branch depends on the records: one is held out, and each other one
  // moves twice.
  template <class First>
  static std::size_t partition(T *v, std::size_t n, First &&first) noexcept {
    place<T, 1> held;
    std::size_t left = 0;
    T *gap = v;
    copy(held.get(), v);
    for (T *at = v + 1; at < v + n; at++) {
      const std::size_t is_first = number_of(first(*at));
      copy(gap, v + left);
      copy(v + left, at);
      gap = at;
      left += is_first;
    }
    const bool is_first = first(*held.get());
    copy(gap, v + left);
    copy(v + left, held.get());
    return left + is_first;
  }

  template <class Before>
  static void sink(T *v, std::size_t i, std::size_t n,
                   Before &before) noexcept {
    place<T, 1> item;
    copy(item.get(), v + i);
    for (std::size_t child; (child = 2 * i + 1) < n; i = child) {
      if (child + 1 < n && before(v[child], v[child + 1])) {
        child++;
      }
      if (!before(*item.get(), v[child])) {
        break;
      }
      copy(v + i, v + child);
    }
    copy(v + i, item.get());
  }

  template <class Before>
  static void heap_sort(T *v, std::size_t n, Before &before) noexcept {
    place<T, 1> item;
    for (std::size_t i = n / 2; i-- > 0;) {
      sink(v, i, n, before);
    }
    for (std::size_t i = n; i-- > 1;) {
      copy(item.get(), v);
      copy(v, v + i);
      copy(v + i, item.get());
      sink(v, 0, i, before);
    }
  }

  // `least`: a record before which none of these is, or NULL. `depth`:
  // partitions until the input must be one that was made to take long.
  template <class Before>
  static void quick(T *v, std::size_t n, const T *least, int depth,
                    Before &before) noexcept {
    place<T, 1> at;
    place<T, 1> left_of; // of what follows: v moves
    while (n > small) {
      if (depth-- == 0) {
        heap_sort(v, n, before);
        return;
      }
      const std::size_t m = n / 8;
      const T *const found = pivot(v, v + m * 4, v + m * 7, m, before);
      copy(at.get(), found);
      const T &p = *at.get();
      // Equal to what is before all of these: equal ones need no sorting.
      if (least && !before(*least, p)) {
        const std::size_t equal =
            partition(v, n, [&](const T &x) { return !before(p, x); });
        v += equal;
        n -= equal;
        least = nullptr;
        continue;
      }
      // The pivot lies first, and then between the two sides.
      copy(const_cast<T *>(found), v);
      const std::size_t left =
          partition(v + 1, n - 1, [&](const T &x) { return before(x, p); });
      copy(v, v + left);
      copy(v + left, at.get());
      quick(v, left, least, depth, before);
      copy(left_of.get(), at.get());
      least = left_of.get();
      v += left + 1;
      n -= left + 1;
    }
    sort_small(v, n, before);
  }

  template <class Before>
  static bool in_order(const T *v, std::size_t n, Before &before) noexcept {
    for (std::size_t i = 1; i < n; i++) {
      if (before(v[i], v[i - 1])) {
        return false;
      }
    }
    return true;
  }

  // `work` for n / 2 records if stable, else none.
  template <class Before>
  static void sort(T *v, std::size_t n, bool stable, T *work,
                   Before &before) noexcept {
    if (n < 2 || in_order(v, n, before)) {
      return;
    }
    if (stable) {
      sort_stable(v, n, work, before);
    } else {
      quick(v, n, nullptr, 2 * std::bit_width(n), before);
    }
  }
};

// --- heaps: of four children to a node ---

template <class T, class Before> struct heap {
  static std::size_t least(const T *v, std::size_t begin, std::size_t end,
                           Before &before) noexcept {
    std::size_t best = begin;
    for (std::size_t i = begin + 1; i < end; i++) {
      best = before(v[i], v[best]) ? i : best;
    }
    return best;
  }

  static void rise(T *v, std::size_t hole, std::size_t top, const T &item,
                   Before &before) noexcept {
    while (hole > top) {
      const std::size_t parent = (hole - 1) / 4;
      if (!before(item, v[parent])) {
        break;
      }
      copy(v + hole, v + parent);
      hole = parent;
    }
    copy(v + hole, &item);
  }

  // Lets the least children rise into a hole; returns the leaf where it ends.
  static std::size_t sink(T *v, std::size_t hole, std::size_t n,
                          Before &before) noexcept {
    for (std::size_t child; (child = 4 * hole + 1) < n;) {
      const std::size_t end = child + 4 < n ? child + 4 : n;
      const std::size_t best = least(v, child, end, before);
      copy(v + hole, v + best);
      hole = best;
    }
    return hole;
  }

  static void grow(T *v, std::size_t old, std::size_t n,
                   Before &before) noexcept {
    place<T, 1> item;
    if (n - old <= old) {
      for (std::size_t i = old; i < n; i++) {
        copy(item.get(), v + i);
        rise(v, i, 0, *item.get(), before);
      }
      return;
    }
    for (std::size_t i = n > 1 ? (n - 2) / 4 + 1 : 0; i-- > 0;) {
      copy(item.get(), v + i);
      rise(v, sink(v, i, n, before), i, *item.get(), before);
    }
  }

  static void pop(T *v, std::size_t n, Before &before) noexcept {
    if (n > 1) {
      rise(v, sink(v, 0, n - 1, before), 0, v[n - 1], before);
    }
  }
};

// --- the table ---

// `Order` has bool operator()(const T &, const T &) const noexcept; the
// record's context points to one.
template <class T, class Order> struct kernel {
  // Larger records are sorted by their numbers.
  static constexpr bool indexed = sizeof(T) > 64;

  // The order of numbers of records.
  struct by_number {
    const T *base;
    const Order &order;
    bool operator()(std::uint32_t a, std::uint32_t b) const noexcept {
      return order(base[a], base[b]);
    }
  };

  static std::size_t sort_work(std::size_t n, int stable) {
    if (indexed) {
      return n / 2 * sizeof(std::uint32_t);
    }
    return stable ? n / 2 * sizeof(T) : 0;
  }

  static void sort(void *records, std::uint32_t *index, std::size_t n,
                   int stable, void *work, void *context) {
    const Order &order = *static_cast<const Order *>(context);
    T *const v = static_cast<T *>(records);
    if constexpr (indexed) {
      const by_number before{v, order};
      for (std::size_t i = 0; i < n; i++) {
        index[i] = static_cast<std::uint32_t>(i);
      }
      // Fewer comparisons, each of which may wait for memory.
      loops<std::uint32_t>::sort(index, n, true,
                                 static_cast<std::uint32_t *>(work), before);
    } else {
      loops<T>::sort(v, n, stable != 0, static_cast<T *>(work), order);
    }
  }

  template <bool Stable>
  static void merge_all(const pems_kernel_piece *piece, int pieces,
                        std::size_t count, T *out, void *work,
                        const Order &order) {
    player *const room = static_cast<player *>(work);
    if (piece[0].base) {
      tree_merger<T, Stable, true, const Order> m(piece, pieces, room, order);
      m.take(count, out);
    } else if (pieces == 1) {
      std::memcpy(static_cast<void *>(out), piece[0].at, count * sizeof(T));
    } else if (pieces == 2) {
      merge_two<T>(piece, count, out, order);
    } else {
      pair_merger<T, Stable, const Order> m(piece, pieces, room, order);
      m.take(count, out);
    }
  }

  static void merge(const pems_kernel_piece *piece, int pieces,
                    std::size_t count, int stable, void *out, void *work,
                    void *context) {
    const Order &order = *static_cast<const Order *>(context);
    if (count > 0) {
      (stable ? merge_all<true> : merge_all<false>)(piece, pieces, count,
                                                    static_cast<T *>(out), work,
                                                    order);
    }
  }

  static void heap_grow(void *records, std::size_t old, std::size_t n,
                        void *context) {
    heap<T, const Order>::grow(static_cast<T *>(records), old, n,
                               *static_cast<const Order *>(context));
  }

  static void heap_pop(void *records, std::size_t n, void *context) {
    heap<T, const Order>::pop(static_cast<T *>(records), n,
                              *static_cast<const Order *>(context));
  }

  static std::size_t heap_least(const void *records, std::size_t n,
                                void *context) {
    return heap<T, const Order>::least(static_cast<const T *>(records), 0, n,
                                       *static_cast<const Order *>(context));
  }

  static int compare(const void *a, const void *b, void *context) {
    const Order &order = *static_cast<const Order *>(context);
    const T &x = *static_cast<const T *>(a), &y = *static_cast<const T *>(b);
    return order(y, x) - order(x, y);
  }

  static constexpr pems_kernel table{
      sizeof(pems_kernel), sizeof(T), indexed,    &sort_work, &sort, &merge,
      &heap_grow,          &heap_pop, &heap_least};
};

} // namespace detail
} // namespace pems

#endif
