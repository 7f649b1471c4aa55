// <pems/stream.hpp>: graphs of all kinds of nodes against the standard library.
#include <algorithm>
#include <cerrno>
#include <concepts>
#include <cstdio>
#include <optional>
#include <ranges>
#include <span>
#include <stdexcept>
#include <string>
#include <unistd.h>
#include <utility>
#include <vector>

#include <pems/stream.hpp>

#include "check.hpp"

namespace {

using number = std::uint64_t;

struct pair {
  number left, right;
};
struct edge {
  std::uint32_t from, to;
  number weight;
};

static_assert(std::movable<pems::graph> && !std::copyable<pems::graph>);
static_assert(std::input_iterator<pems::pulled<edge>::iterator>);
static_assert(std::ranges::input_range<pems::pulled<edge>>);
template <class A, class B>
concept connects = requires(A a, B b) { a | b; };
static_assert(connects<pems::node<void, edge>, pems::node<edge, void>>);
static_assert(!connects<pems::node<void, edge>, pems::node<pair, void>>);
static_assert(!connects<pems::node<edge, void>, pems::node<edge, void>>);
static_assert(connects<pems::node<void, edge>,
                       pems::node<pems::types<pair, edge>, void>>);

const pems::graph_options small{.memory = 6 << 20, .threads = 2};

std::vector<number> numbers(std::size_t n) {
  std::vector<number> v;
  for (number state = 7; v.size() < n;) {
    v.push_back(random_number(state) % 1000000);
  }
  return v;
}

// More than fit in memory: from memory, mapped, filtered, sorted, to a file.
void chain() {
  const std::vector<number> in = numbers(2000000);
  std::vector<number> want, got;
  number seen = 0;
  const std::string path = "chain.out";
  for (const number x : in) {
    if (x % 3 == 0) {
      want.push_back(x * 2 + 1);
    }
  }
  std::ranges::sort(want, std::greater<>());
  {
    pems::graph g(small);
    const auto sort = g.sorter<number>({}, std::greater<>());
    const auto out =
        g.source(std::span(in)) |
        g.filter<number>([](number x) { return x % 3 == 0; }) |
        g.map<number>([](number x) { return x * 2 + 1; }, "odd") | sort |
        g.tap<number>([&](std::span<const number> s) { seen += s.size(); }) |
        g.sink<number>(path);
    pems::graph moved = std::move(g);
    moved.run(out);
    check(seen == want.size() && sort.counts().passes >= 1);
    check(moved.dot().find("odd") != std::string::npos);
  }
  pems::graph g(small);
  g.run(g.source<number>(path) | g.async_pull<number>() | g.sink(got));
  check(got == want);
  check(std::remove(path.c_str()) == 0);
}

// Several members as the key, compared; optional; a range of any kind.
void orders() {
  const std::vector<number> in = numbers(100000);
  std::vector<edge> want, got;
  for (const number x : in) {
    want.push_back({static_cast<std::uint32_t>(x % 100),
                    static_cast<std::uint32_t>(x % 7), x});
  }
  pems::graph g(small);
  g.run(g.range(in) | g.filter<number>([](number x) -> std::optional<edge> {
    return edge{static_cast<std::uint32_t>(x % 100),
                static_cast<std::uint32_t>(x % 7), x};
  }) |
        g.sorter<edge>({.stable = true}, std::less<>(),
                       pems::key<&edge::from, &edge::to>()) |
        g.for_each<edge>([&](const edge &e) { got.push_back(e); }));
  std::ranges::stable_sort(want, [](const edge &a, const edge &b) {
    return std::tie(a.from, a.to) < std::tie(b.from, b.to);
  });
  check(std::ranges::equal(got, want, [](const edge &a, const edge &b) {
    return a.from == b.from && a.to == b.to && a.weight == b.weight;
  }));
}

// A branch and a join; a merge of two inputs by a scan.
void joins() {
  const std::vector<number> in = numbers(50000);
  std::vector<pair> zipped;
  std::vector<number> a = numbers(3000), b = numbers(5000), got, want;
  {
    pems::graph g(small);
    const auto copy = g.copy<number>(2);
    const auto zip = g.zip<pair, number, number>();
    const auto buffer = g.push_pull<number>();
    (void)(g.source(std::span(in)) | copy);
    (void)(copy | zip);
    pems::push(copy, buffer);
    (void)(buffer | g.map<number>([](number x) { return x + 1; }) | zip);
    g.run(zip | g.sink(zipped));
  }
  check(zipped.size() == in.size());
  for (std::size_t i = 0; i < in.size(); i++) {
    check(zipped[i].left == in[i] && zipped[i].right == in[i] + 1);
  }
  std::ranges::sort(a);
  std::ranges::sort(b);
  std::ranges::merge(a, b, std::back_inserter(want));
  pems::graph g(small);
  const auto merge = g.scan<pems::types<number, number>, number>(
      [](auto &x, auto &y, auto &out) {
        while (!out.full() && (!x.empty() || !y.empty())) {
          auto &from =
              y.empty() || (!x.empty() && x.front() <= y.front()) ? x : y;
          const bool was_last = from.records().size() == 1;
          out.push(from.front());
          from.use();
          if (was_last) {
            break; // there may be more of it
          }
        }
      });
  (void)(g.source(std::span<const number>(a)) | merge);
  (void)(g.source(std::span<const number>(b)) | merge);
  g.run(merge | g.sink(got));
  check(got == want);
}

void by_hand() {
  std::vector<number> in = numbers(300000), got;
  pems::graph g(small);
  const auto first = g.hand_source<number>();
  const auto last = g.hand_sink<number>();
  (void)(pems::push(first, g.sorter<number>()) | last);
  g.run(last);
  first.push(in.front());
  first.push(std::span<const number>(in).subspan(1));
  first.finish();
  pems::pulled<number> all(last);
  for (const number x : all) {
    got.push_back(x);
  }
  std::ranges::sort(in);
  check(got == in);
}

void failures() {
  const std::vector<number> in = numbers(1000);
  std::vector<number> got;
  {
    pems::graph g(small);
    const auto out = g.source(std::span(in)) |
                     g.map<number>([](number x) -> number {
                       return x > 5 ? throw std::domain_error("too many") : x;
                     }) |
                     g.sink(got);
    bool thrown = false;
    try {
      g.run(out);
    } catch (const std::domain_error &e) {
      thrown = std::string_view(e.what()) == "too many";
    }
    check(thrown);
  }
  check_throws(ENOENT, "not there", [] {
    pems::graph g(small);
    g.run(g.source<number>("not there") | g.sink<number>("nothing"));
  });
  check_throws(EINVAL, "", [&] {
    pems::graph g(small);
    const auto lost = g.map<number>([](number x) { return x; });
    g.run(lost | g.sink(got));
  });
  check_throws(ENOMEM, "", [&] {
    pems::graph g({.memory = 4096});
    g.run(g.source(std::span(in)) | g.sorter<number>() | g.sink(got));
  });
  check(access("nothing", F_OK) != 0);
}

} // namespace

int main() {
  chain();
  orders();
  joins();
  by_hand();
  failures();
  std::puts("right");
}
