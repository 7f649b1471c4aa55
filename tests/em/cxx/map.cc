// <pems/map.hpp> against std::map, in few pages of memory: random changes,
// ranges in both directions, building from what is sorted; and what happens
// when the disk fails, whenever that is.
#include <algorithm>
#include <array>
#include <cerrno>
#include <concepts>
#include <cstdio>
#include <functional>
#include <iterator>
#include <map>
#include <ranges>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <pems/key.hpp>
#include <pems/map.hpp>
#include <pems/sorter.hpp>

#include "check.hpp"

namespace {

using number = std::uint64_t;
using wide = std::array<number, 100>; // four of them fill a page of 4 KiB
using odd = std::array<std::uint8_t, 3>;

using numbers = pems::map<number, number>;
static_assert(std::movable<numbers> && !std::copyable<numbers>);
static_assert(std::bidirectional_iterator<numbers::iterator>);
static_assert(std::ranges::bidirectional_range<const numbers>);

// 32 pages.
const pems::container_options small{.memory = 128 << 10, .block = 4096};

void set(number x, number &to) {
  to = x;
}
void set(number x, wide &to) {
  to.fill(x);
}
void set(number x, odd &to) {
  to = {static_cast<std::uint8_t>(x >> 16), static_cast<std::uint8_t>(x >> 8),
        static_cast<std::uint8_t>(x)};
}
template <class T> T made(number x) {
  T t;
  set(x, t);
  return t;
}

template <class Map, class Want> void same(const Map &m, const Want &want) {
  check(m.size() == want.size());
  auto it = m.begin();
  for (const auto &[k, v] : want) {
    check(it != m.end());
    const auto r = *it++;
    check(r.first == k && r.second == v);
  }
  check(it == m.end());
  for (auto w = want.rbegin(); w != want.rend(); ++w) {
    check((*--it).first == w->first);
  }
  check(it == m.begin());
}

// Keys below `range`; the map grows, shrinks, and grows again.
template <class Key, class T, class Less>
void random_changes(number seed, number rounds, number range) {
  pems::map<Key, T, Less> m(small);
  std::map<Key, T, Less> want;
  number state = seed;
  for (number i = 0; i < rounds; i++) {
    const number x = random_number(state), which = x % 8;
    const bool shrinks = i / (rounds / 5) % 2 == 1;
    const Key k = made<Key>((x >> 20) % range);
    const T v = made<T>(x >> 8);
    if (which < (shrinks ? 1 : 4)) {
      check(m.insert(k, v) == want.insert({k, v}).second);
    } else if (which < 5) {
      check(m.erase(k) == want.erase(k));
    } else if (which == 5) {
      check(m.insert_or_assign(k, v) == want.insert_or_assign(k, v).second);
    } else if (which == 6) {
      const auto w = want.find(k);
      const auto found = m.get(k);
      check(found.has_value() == (w != want.end()));
      check(!found || *found == w->second);
      check((m.find(k) != m.end()) == found.has_value());
    } else {
      const auto w = want.lower_bound(k);
      const auto it = m.lower_bound(k);
      check((it == m.end()) == (w == want.end()));
      check(w == want.end() || (*it).first == w->first);
      const auto above = want.upper_bound(k);
      const auto there = m.upper_bound(k);
      check(above == want.end() ? there == m.end()
                                : (*there).first == above->first);
      check(above == want.begin() ||
            (*std::prev(there)).first == std::prev(above)->first);
    }
    if (i % (rounds / 10) == 0) {
      same(m, want);
    }
  }
  same(m, want);
  check(m.counts().memory <= small.memory);
  while (!want.empty()) {
    const Key k = want.begin()->first;
    check(m.erase(k) == 1 && m.erase(k) == 0);
    want.erase(k);
  }
  same(m, want);
  check(m.insert(made<Key>(1), made<T>(1)) && m.size() == 1);
}

// Ascending keys fill all leaves, descending ones half of them.
void orders() {
  const number n = few(50000);
  numbers up(small), down(small);
  for (number i = 0; i < n; i++) {
    check(up.insert(i, i * i) && down.insert(n - i, i));
  }
  for (number i = 0; i < n; i += 77) {
    check(up.at(i) == i * i && down.at(n - i) == i);
  }
  check(!up.contains(n));
  const auto [from, to] = up.equal_range(7);
  check(std::next(from) == to && (*from).second == 49);
  try {
    up.at(n);
    check(false);
  } catch (const std::out_of_range &) {
  }
  numbers moved = std::move(up);
  check(moved.size() == n && moved.at(9) == 81);
  up = std::move(moved);
  check(up.size() == n);
}

void built() {
  using record = std::pair<number, number>;
  constexpr number n = 300000;
  pems::sorter<record, std::less<>, pems::key<&record::first>> s(
      {.memory = 2 << 20, .threads = 2});
  std::map<number, number> want;
  number state = 3;
  for (number i = 0; i < n; i++) {
    const number x = random_number(state);
    s.push({x, i});
    want[x] = i;
  }
  numbers m(small);
  m.build(s);
  same(m, want);
  check(m.counts().ahead > 0);
  // What is built takes changes.
  for (number i = 0; i < few(50000); i++) {
    const number x = random_number(state);
    const auto w = want.lower_bound(x);
    if (w != want.end() && i % 2) {
      const number k = w->first;
      check(m.erase(k) == 1 && want.erase(k) == 1);
    } else {
      check(m.insert(x, x));
      want[x] = x;
    }
  }
  same(m, want);

  const std::vector<record> wrong = {{1, 1}, {2, 2}, {2, 3}};
  check_throws(EINVAL, "begin with an empty", [&] { m.build(wrong); });
  numbers empty(small);
  check_throws(EINVAL, "ascending order", [&] { empty.build(wrong); });
  check(empty.empty() && empty.begin() == empty.end());
  empty.build(std::span(wrong).first(2));
  check(empty.size() == 2 && empty.at(2) == 2);
  // One whose records were all erased again.
  std::vector<record> all;
  for (number i = 0; i < 20000; i++) {
    all.emplace_back(i, i);
  }
  numbers again(small);
  for (int round = 0; round < 3; round++) {
    again.build(all);
    for (const record &r : all) {
      check(again.erase(r.first) == 1);
    }
    check(again.empty() && again.begin() == again.end());
  }
  again.build(std::span<const record>());
  check(again.empty());
}

void options() {
  check_throws(EINVAL, "too small for the records", [] {
    pems::map<number, std::array<number, 400>> m(
        {.memory = 128 << 10, .block = 4096});
  });
  check_throws(ENOMEM, "or more, or a smaller block",
               [] { numbers m({.memory = 16 << 10, .block = 4096}); });
}

// A request of the disk fails, or there is no room for a page, once: the map
// is as it was, and what was to be done succeeds when it is tried again.
// Returns whether it came so far.
bool fails_once(const std::string &fault) {
  pems::container_options o = small;
  o.scratch.io = "fault:unix," + fault;
  pems::map<number, wide> m(o);
  std::map<number, wide> want;
  number state = 5, failed = 0;
  const auto again = [&](auto &&f) {
    try {
      return f();
    } catch (const pems::error &e) {
      check(e.code().value() == EIO || e.code().value() == ENOSPC);
      check(m.size() == want.size());
      failed++;
      return f();
    }
  };
  for (int i = 0; i < 3000; i++) {
    const number x = random_number(state), k = (x >> 20) % 1000;
    const wide v = made<wide>(x);
    if (i < 1500 ? x % 8 == 0 : x % 4 != 0) {
      check(again([&] { return m.erase(k); }) == want.erase(k));
    } else if (x % 2) {
      check(again([&] { return m.insert(k, v); }) ==
            want.insert({k, v}).second);
    } else {
      check(again([&] { return m.get(k).has_value(); }) == want.contains(k));
    }
  }
  check(failed <= 1);
  if (failed) {
    same(m, want);
  }
  return failed > 0;
}

void faults() {
  int failed = 0, tried = 0;
  const int part = std::getenv("PEMS_TEST_LONG") ? 4 : 2;
  for (const char *const kind : {"read", "write", "grant"}) {
    for (int n = 1; n < 600; n += n / part + 1) {
      tried++;
      const char *const error = *kind == 'g' ? "ENOSPC" : "EIO";
      failed +=
          fails_once(std::string(kind) + "=" + std::to_string(n) + ":" + error);
    }
  }
  check(failed > tried / 2);
}

} // namespace

int main() {
  random_changes<number, number, std::less<>>(1, few(50000), 1 << 14);
  random_changes<number, wide, std::greater<>>(2, few(20000), 3000);
  random_changes<wide, odd, std::less<>>(3, few(20000), 2500);
  random_changes<odd, odd, std::less<>>(4, few(25000), 1 << 13);
  orders();
  built();
  options();
  faults();
  std::puts("right");
}
