// <pems/pqueue.hpp> against std::priority_queue.
#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <concepts>
#include <functional>
#include <queue>
#include <span>
#include <thread>
#include <vector>

#include <pems/pqueue.hpp>

#include "check.hpp"

namespace {

struct event {
  std::uint32_t time;
  std::int32_t place;
  double what;
};

using packed_queue =
    pems::pqueue<event, std::less<>, pems::key<&event::time, &event::place>>;
using numbers = pems::pqueue<std::uint64_t, std::greater<>>;
static_assert(std::movable<numbers> && !std::copy_constructible<numbers>);
static_assert(std::movable<packed_queue>);

const pems::pqueue_options small{.memory = 8 << 20, .threads = 2};

bool before(const event &a, const event &b) {
  return a.time != b.time ? a.time < b.time : a.place < b.place;
}

event make(std::uint64_t &state) {
  const std::uint64_t x = random_number(state);
  return {static_cast<std::uint32_t>(x % 5000),
          static_cast<std::int32_t>(x >> 40) - 1000,
          static_cast<double>(x % 777)};
}

template <class Queue> void compare(Queue q, std::string_view kernel) {
  std::priority_queue<event, std::vector<event>,
                      std::function<bool(const event &, const event &)>>
      want([](const event &a, const event &b) { return before(b, a); });
  std::uint64_t state = 1;
  check(q.counts().kernel == kernel && q.empty());
  check_throws(ENOENT, "empty", [&] { q.top(); });
  check_throws(ENOENT, "", [&] { q.pop(); });
  for (int i = 0; i < 3000; i++) {
    std::vector<event> some;
    for (std::uint64_t n = random_number(state) % 9; n > 0; n--) {
      some.push_back(make(state));
      want.push(some.back());
    }
    if (i % 2) {
      q.push(std::span<const event>(some));
    } else {
      for (const event &e : some) {
        q.push(e);
      }
    }
    for (int j = 0; j < 3 && !want.empty(); j++, want.pop(), q.pop()) {
      const event &e = q.top();
      check(e.time == want.top().time && e.place == want.top().place);
    }
  }
  // In bulk, of as many as do not fit in memory.
  {
    typename Queue::bulk bulk(q);
    std::vector<std::thread> threads;
    std::vector<event> some[2];
    for (int t = 0; t < 2; t++) {
      for (int i = 0; i < 300000; i++) {
        some[t].push_back(make(state));
        want.push(some[t].back());
      }
      threads.emplace_back([&, t] { bulk.push(t, some[t]); });
    }
    for (std::thread &t : threads) {
      t.join();
    }
    bulk.end();
  }
  check(q.size() == want.size());
  std::vector<event> out(1000);
  bool more = false;
  const event end{700, 0, 0};
  for (std::size_t n; (n = q.pop(std::span(out), end, &more)) > 0;) {
    for (std::size_t i = 0; i < n; i++, want.pop()) {
      check(out[i].time == want.top().time &&
            out[i].place == want.top().place && before(out[i], end));
    }
  }
  check(!more && !before(want.top(), end));
  {
    typename Queue::limit limit(q, {800, 0, 0});
    std::size_t popped = 0;
    for (const event *e; (e = limit.top()); popped++, want.pop()) {
      check(e->time == want.top().time && e->place == want.top().place);
      limit.pop();
    }
    check(popped > 0 && !before(want.top(), {800, 0, 0}));
  }
}

// Zeros are equal, whatever their sign: none is before another.
template <class Less> void zeros(double before) {
  pems::pqueue<double, Less> q(small);
  for (int i = 0; i < 300000; i++) {
    q.push(i % 3 == 0 ? 0.0 : i % 3 == 1 ? -0.0 : before);
  }
  for (const double end : {0.0, -0.0}) {
    std::vector<double> out(300000);
    bool more = true;
    const std::size_t n = q.pop(std::span(out), end, &more);
    check(n == (end == 0 && !std::signbit(end) ? 100000 : 0) && !more);
    typename pems::pqueue<double, Less>::limit limit(q, end);
    check(!limit.top());
    limit.push(-end);
  }
  check(q.size() == 200002);
}

void all() {
  zeros<std::less<>>(-1);
  zeros<std::greater<>>(1);
  compare(packed_queue(small), "word");
  compare(pems::pqueue<event, decltype(&before)>(small, &before), "compiled");
  numbers q(small);
  for (std::uint64_t i = 0; i < 1000; i++) {
    q.push(i * 7 % 1000);
  }
  numbers moved = std::move(q);
  for (std::uint64_t i = 1000; i-- > 0; moved.pop()) {
    check(moved.top() == i);
  }
  numbers::limit limit(moved, 50);
  check(!limit.top());
  check_throws(EINVAL, "before the limit", [&] { limit.push(60); });
  check_throws(ENOMEM, "give", [] { numbers tiny({.memory = 4096}); });
}

} // namespace

int main() {
  all();
  std::puts("right");
}
