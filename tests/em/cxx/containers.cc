// <pems/vector.hpp> and <pems/deque.hpp> against the standard containers, in
// few pages of memory; and what happens when the disk is full.
#include <algorithm>
#include <array>
#include <cerrno>
#include <concepts>
#include <csignal>
#include <cstdio>
#include <deque>
#include <iterator>
#include <numeric>
#include <ranges>
#include <sys/resource.h>
#include <vector>

#include <pems/deque.hpp>
#include <pems/vector.hpp>

#include "check.hpp"

namespace {

struct edge {
  std::uint32_t from, to;
  std::uint64_t weight;
  bool operator==(const edge &) const = default;
};
using record3 = std::array<std::uint8_t, 3>; // pages are not full of these

using numbers = pems::vector<std::uint64_t>;
static_assert(std::movable<numbers> && !std::copyable<numbers>);
static_assert(std::random_access_iterator<numbers::iterator>);
static_assert(std::random_access_iterator<numbers::const_iterator>);
static_assert(std::sortable<numbers::iterator>);
static_assert(std::convertible_to<numbers::iterator, numbers::const_iterator>);
static_assert(std::ranges::random_access_range<pems::deque<edge>>);
static_assert(std::ranges::sized_range<const numbers>);
static_assert(std::movable<pems::queue<edge>> &&
              std::movable<pems::stack<edge>>);

// 16 pages.
const pems::container_options small{.memory = 64 << 10, .block = 4096};

edge make(std::uint64_t &state) {
  const std::uint64_t x = random_number(state);
  return {static_cast<std::uint32_t>(x), static_cast<std::uint32_t>(x >> 32),
          x * 3};
}
void fill(std::uint64_t &state, edge &e) {
  e = make(state);
}
void fill(std::uint64_t &state, record3 &r) {
  const std::uint64_t x = random_number(state);
  r = {static_cast<std::uint8_t>(x), static_cast<std::uint8_t>(x >> 8),
       static_cast<std::uint8_t>(x >> 16)};
}

// Random operations at both ends and in the middle.
template <class T> void random_deque(std::uint64_t seed) {
  pems::deque<T> d(small);
  std::deque<T> want;
  std::uint64_t state = seed;
  std::vector<T> some;
  for (int i = 0; i < 60000; i++) {
    const std::uint64_t x = random_number(state);
    const bool shrinks = (i / 10000) % 2 == 1;
    T r;
    fill(state, r);
    switch (x % 8) {
    case 0:
    case 1:
      d.push_back(r);
      want.push_back(r);
      break;
    case 2:
      d.push_front(r);
      want.push_front(r);
      break;
    case 3:
      some.assign(x >> 40 & (shrinks ? 7 : 63), r);
      d.append(some);
      want.insert(want.end(), some.begin(), some.end());
      break;
    case 4:
      for (std::uint64_t n = shrinks ? x >> 32 & 31 : 1; n > 0 && !want.empty();
           n--) {
        if (x >> 20 & 1) {
          d.pop_back();
          want.pop_back();
        } else {
          d.pop_front();
          want.pop_front();
        }
      }
      break;
    case 5:
      if (!want.empty()) {
        const std::size_t at = (x >> 16) % want.size();
        d[at] = r;
        want[at] = r;
      }
      break;
    default:
      if (!want.empty()) {
        const std::size_t at = (x >> 16) % want.size();
        check(d[at] == want[at] && d.get(at) == want[at]);
        check(d.front() == want.front() && d.back() == want.back());
      }
    }
    check(d.size() == want.size());
  }
  check(d.counts().written > 0 && d.counts().memory <= small.memory);
  check(std::ranges::equal(std::as_const(d), want));
  pems::deque<T> moved = std::move(d);
  d = std::move(moved);
  std::vector<T> out(want.size() / 2);
  d.read(want.size() / 3, out);
  check(std::equal(out.begin(), out.end(),
                   want.begin() + static_cast<long>(want.size() / 3)));
  check_throws(ERANGE, "end", [&] { (void)d.at(want.size()); });
  check_throws(ERANGE, "end",
               [&] { d.read(1, std::span(out.data(), d.size())); });
  d.clear();
  check(d.empty());
}

void scans() {
  numbers v(small);
  std::vector<std::uint64_t> want(50000);
  std::iota(want.begin(), want.end(), 7);
  v.append_range(want);
  check(v.counts().read == 0);
  check(std::accumulate(v.cbegin(), v.cend(), std::uint64_t{0}) ==
        std::accumulate(want.begin(), want.end(), std::uint64_t{0}));
  // Nearly all pages were read before they were needed.
  check(v.counts().ahead * 10 > v.counts().read * 8);
  std::uint64_t state = 5;
  for (std::size_t i = want.size(); i > 1; i--) {
    const std::size_t j = random_number(state) % i;
    swap(v[i - 1], v[j]);
    std::swap(want[i - 1], want[j]);
  }
  check(std::ranges::equal(v, want));
  std::ranges::sort(v.begin() + 100, v.begin() + 9000);
  std::sort(want.begin() + 100, want.begin() + 9000);
  check(std::ranges::equal(std::as_const(v), want));
  v.resize(60000);
  want.resize(60000);
  for (std::size_t i = 0; i < v.size();) {
    for (std::uint64_t &x : v.edit(i)) {
      x += i;
      want[i] += i;
      i++;
      want[i - 1] = x;
    }
  }
  check(std::ranges::equal(v, want));
  v.resize(10);
  v.resize(1000);
  want.resize(10);
  want.resize(1000);
  check(std::ranges::equal(v, want) && v.view(5).size() == 507);
}

void ends() {
  pems::queue<edge> q(small);
  pems::stack<edge> s(small);
  std::deque<edge> in_q;
  std::vector<edge> in_s;
  std::uint64_t state = 9;
  for (int i = 0; i < 100000; i++) {
    const std::uint64_t x = random_number(state);
    const edge e = make(state);
    if (i < 60000 ? x % 4 != 0 : x % 4 == 0) {
      q.push(e);
      s.push(e);
      in_q.push_back(e);
      in_s.push_back(e);
    } else if (!in_q.empty()) {
      check(q.front() == in_q.front() && s.top() == in_s.back());
      q.pop();
      s.pop();
      in_q.pop_front();
      in_s.pop_back();
    }
    check(q.size() == in_q.size() && s.empty() == in_s.empty());
  }
  // Nearly each page of the queue moves once, or never.
  check(q.counts().read * 4 <= q.counts().written * 5 &&
        q.counts().written < 400);
}

void failures() {
  check_throws(ENOMEM, "65536",
               [] { numbers v({.memory = 4096, .block = 16384}); });
  check_throws(EINVAL, "4096", [] { numbers v({.block = 1000}); });
  check_throws(ENOENT, "",
               [] { numbers v({.scratch = {.path = {"/nowhere/at/all"}}}); });
  // A disk that is full: what is there remains, and the vector can go on in the
  // space that it frees.
  struct rlimit was, low;
  getrlimit(RLIMIT_FSIZE, &was);
  low = was;
  low.rlim_cur = 256 << 10;
  std::signal(SIGXFSZ, SIG_IGN);
  setrlimit(RLIMIT_FSIZE, &low);
  numbers v(small);
  std::uint64_t n = 0;
  int code = 0;
  try {
    for (; n < 1000000; n++) {
      v.push_back(n * n);
    }
  } catch (const pems::error &e) {
    code = e.code().value();
  }
  check(code == EFBIG || code == ENOSPC);
  check(v.size() == n && n >= (256 << 10) / 8);
  setrlimit(RLIMIT_FSIZE, &was);
  // Not quite as much as before: what was read again is in memory and on disk.
  v.resize(n / 2);
  n = n / 4 * 3;
  for (std::uint64_t i = v.size(); i < n; i++) {
    v.push_back(i * i);
  }
  for (std::uint64_t i = 0; i < n; i++) {
    check(std::as_const(v)[i] == i * i);
  }
}

} // namespace

int main() {
  random_deque<edge>(1);
  random_deque<record3>(2);
  scans();
  ends();
  failures();
  std::puts("right");
}
