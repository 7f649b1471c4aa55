// SPDX-License-Identifier: BSD-3-Clause
// A priority queue of more records than fit in memory: <pems/pqueue.h> for
// C++20.
//
//   pems::pqueue<event, std::less<>, pems::key<&event::time>> q({.memory = 1 <<
//   30}); q.push(e); while (!q.empty()) { event e = q.top(); q.pop(); ... }
//
// The first record in the order comes first: with std::less<> the least one, as
// in STXXL with its comparator turned round, and unlike std::priority_queue.
// The order of equal ones is undefined. Functions throw pems::error. Only a
// bulk's push may be called by several threads at once.
#ifndef PEMS_PQUEUE_HPP
#define PEMS_PQUEUE_HPP

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <pems/disk.hpp>
#include <pems/error.hpp>
#include <pems/key.hpp>
#include <pems/pqueue.h>

namespace pems {

// As struct pems_pqueue_options; what is 0 or empty has a default.
struct pqueue_options {
  std::uint64_t memory = 0; // bytes
  int threads = 0;
  class disks *disks = nullptr; // must outlive the queue; else `scratch`
  pems::scratch scratch{};
  std::size_t block = 0;
  std::size_t heap = 0;
  std::size_t extract_buffer = 0;
  std::size_t read_memory = 0;
  std::uint64_t seed = 0;
  std::string kernel{};
};

template <record T, class Less = std::less<>, class Key = std::identity>
class pqueue {
  using order_type = detail::ordering<T, Less, Key>;

public:
  using value_type = T;
  using size_type = std::uint64_t;
  class bulk;
  class limit;

  explicit pqueue(const pqueue_options &options = {}, Less less = {},
                  Key key = {})
    requires(detail::has_default_key<Key>)
      : pqueue(options, std::move(less), std::move(key), 0) {
  }
  pqueue(const pqueue_options &options, Less less, Key key)
    requires(!detail::has_default_key<Key>)
      : pqueue(options, std::move(less), std::move(key), 0) {
  }
  pqueue(pqueue &&o) noexcept
      : state_(std::move(o.state_)), top_(std::exchange(o.top_, nullptr)) {
  }
  pqueue &operator=(pqueue &&o) noexcept {
    state_ = std::move(o.state_);
    top_ = std::exchange(o.top_, nullptr);
    return *this;
  }

  size_type size() const noexcept {
    return pems_pqueue_size(get());
  }
  bool empty() const noexcept {
    return pems_pqueue_empty(get());
  }

  void push(const T &record) {
    top_ = nullptr;
    push_to(&record, 1, [&](const T *r, std::size_t n, pems_error *e) {
      return pems_pqueue_push(get(), r, n, e);
    });
  }
  void push(std::span<const T> records) {
    top_ = nullptr;
    push_to(records.data(), records.size(),
            [&](const T *r, std::size_t n, pems_error *e) {
              return pems_pqueue_push(get(), r, n, e);
            });
  }

  // The first record, until the next call of another function. The queue must
  // not be empty.
  const T &top() {
    if (!top_) {
      detail::no_error e;
      top_ = shown(pems_pqueue_top(get(), &e), e);
    }
    return *top_;
  }
  // ENOENT if the queue is empty, which does no harm.
  void pop() {
    top_ = nullptr;
    detail::call(
        [&](pems_error *e) { return pems_pqueue_pop(get(), nullptr, e); });
  }

  // Removes the first records, fewer than there is room for only if the queue
  // is empty then, and returns how many.
  std::size_t pop(std::span<T> out) {
    std::size_t n = 0;
    top_ = nullptr;
    detail::call([&](pems_error *e) {
      return pems_pqueue_bulk_pop(get(), out.data(), out.size(), &n, e);
    });
    decode(out.first(n));
    return n;
  }
  // The same, of records before `end`; *more: there are others.
  std::size_t pop(std::span<T> out, const T &end, bool *more = nullptr) {
    std::size_t n = 0;
    int left = 0;
    T bound = end;
    encode(&bound, 1);
    top_ = nullptr;
    detail::call([&](pems_error *e) {
      return pems_pqueue_bulk_pop_limit(get(), &bound, out.data(), out.size(),
                                        &n, &left, e);
    });
    decode(out.first(n));
    if (more) {
      *more = left;
    }
    return n;
  }

  struct pems_pqueue_counts counts() const noexcept {
    struct pems_pqueue_counts c;
    ::pems_pqueue_counts(get(), &c);
    return c;
  }
  pems_pqueue *get() const noexcept {
    return state_->queue.get();
  }

private:
  struct free {
    void operator()(pems_pqueue *q) const noexcept {
      pems_pqueue_free(q);
    }
  };
  // What the library has pointers to: it does not move.
  struct state {
    state(const pqueue_options &o, Less less, Key key)
        : order(std::move(less), std::move(key)), scratch(o.scratch) {
    }
    order_type order;
    detail::scratch_options scratch;
    std::unique_ptr<pems_pqueue, free> queue;
    detail::place<T, 1> first; // in the user's form, if packed
  };

  pqueue(const pqueue_options &o, Less less, Key key, int)
      : state_(std::make_unique<state>(o, std::move(less), std::move(key))) {
    pems_pqueue_options c{};
    pems_pqueue *made = nullptr;
    detail::c_options(c, o, state_->scratch);
    c.record = state_->order.describe(false);
    c.heap = o.heap;
    c.extract_buffer = o.extract_buffer;
    c.read_memory = o.read_memory;
    detail::call([&](pems_error *e) { return pems_pqueue_new(&made, &c, e); });
    state_->queue.reset(made);
  }

  void encode(T *records, std::size_t n) const {
    if constexpr (order_type::may_pack) {
      for (std::size_t i = 0; state_->order.packed() && i < n; i++) {
        state_->order.encode(records + i);
      }
    }
  }
  void decode(std::span<T> records) const {
    if constexpr (order_type::may_pack) {
      if (state_->order.packed()) {
        for (T &r : records) {
          state_->order.decode(&r);
        }
      }
    }
  }

  // Pushes by f, in the library's form.
  template <class F> void push_to(const T *r, std::size_t n, F &&f) const {
    if constexpr (order_type::may_pack) {
      constexpr std::size_t some = sizeof(T) > 1024 ? 4 : 4096 / sizeof(T);
      if (state_->order.packed()) {
        detail::place<T, some> piece;
        for (std::size_t m; n > 0; r += m, n -= m) {
          m = n < some ? n : some;
          std::memcpy(piece.bytes, static_cast<const void *>(r), m * sizeof(T));
          encode(piece.get(), m);
          detail::call([&](pems_error *e) { return f(piece.get(), m, e); });
        }
        return;
      }
    }
    detail::call([&](pems_error *e) { return f(r, n, e); });
  }

  // What pems_pqueue_top returned, in the user's form.
  const T *shown(const void *record, const pems_error &e) const {
    if (!record) {
      if (e.code) {
        throw error(e);
      }
      detail::fail(ENOENT, "pqueue: top: empty: ask empty() first");
    }
    if constexpr (order_type::may_pack) {
      if (state_->order.packed()) {
        T *const first = state_->first.get();
        detail::copy(first, static_cast<const T *>(record));
        state_->order.decode(first);
        return first;
      }
    }
    return static_cast<const T *>(record);
  }

  std::unique_ptr<state> state_;
  const T *top_ = nullptr;
};

// A bulk push: many threads at once, each with a number of its own below the
// queue's threads. It ends with `end`, or without errors with the destructor.
template <record T, class Less, class Key> class pqueue<T, Less, Key>::bulk {
public:
  explicit bulk(pqueue &q, std::uint64_t estimate = 0) : queue_(&q) {
    q.top_ = nullptr;
    detail::call([&](pems_error *e) {
      return pems_pqueue_bulk_push_begin(q.get(), estimate, e);
    });
  }
  bulk(const bulk &) = delete;
  bulk &operator=(const bulk &) = delete;
  ~bulk() {
    if (queue_) {
      pems_pqueue_bulk_push_end(queue_->get(), nullptr);
    }
  }

  void push(int thread, std::span<const T> records) {
    queue_->push_to(records.data(), records.size(),
                    [&](const T *r, std::size_t n, pems_error *e) {
                      return pems_pqueue_bulk_push(queue_->get(), thread, r, n,
                                                   e);
                    });
  }
  void push(int thread, const T &record) {
    push(thread, std::span<const T>(&record, 1));
  }
  void end() {
    pqueue *const q = std::exchange(queue_, nullptr);
    detail::call(
        [&](pems_error *e) { return pems_pqueue_bulk_push_end(q->get(), e); });
  }

private:
  pqueue *queue_;
};

// Records before a limit are popped while others, which are not, are pushed.
template <record T, class Less, class Key> class pqueue<T, Less, Key>::limit {
public:
  limit(pqueue &q, const T &end, std::uint64_t estimate = 0) : queue_(&q) {
    T bound = end;
    q.top_ = nullptr;
    q.encode(&bound, 1);
    detail::call([&](pems_error *e) {
      return pems_pqueue_limit_begin(q.get(), &bound, estimate, e);
    });
  }
  limit(const limit &) = delete;
  limit &operator=(const limit &) = delete;
  ~limit() {
    if (queue_) {
      pems_pqueue_limit_end(queue_->get(), nullptr);
    }
  }

  // The first record before the limit, or NULL.
  const T *top() {
    detail::no_error e;
    const void *const r = pems_pqueue_limit_top(queue_->get(), &e);
    return r || e.code ? queue_->shown(r, e) : nullptr;
  }
  void pop() {
    detail::call([&](pems_error *e) {
      return pems_pqueue_limit_pop(queue_->get(), nullptr, e);
    });
  }
  void push(const T &record) {
    queue_->push_to(&record, 1, [&](const T *r, std::size_t n, pems_error *e) {
      return pems_pqueue_limit_push(queue_->get(), r, n, e);
    });
  }
  void end() {
    pqueue *const q = std::exchange(queue_, nullptr);
    detail::call(
        [&](pems_error *e) { return pems_pqueue_limit_end(q->get(), e); });
  }

private:
  pqueue *queue_;
};

} // namespace pems

#endif
