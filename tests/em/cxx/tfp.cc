// <pems/tfp.hpp>: longest paths and sums in random graphs, in all modes,
// against arrays in memory.
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <stdexcept>
#include <vector>

#include <pems/sorter.hpp>
#include <pems/tfp.hpp>

#include "check.hpp"

namespace {

struct length {
  std::uint64_t to, length;
};
struct edge {
  std::uint64_t from, to, weight;
};
using longest = pems::tfp<length, edge, std::uint64_t>;

constexpr std::uint64_t nodes = 60000, layer = 500;

std::vector<edge> edges() {
  std::vector<edge> e;
  std::uint64_t state = 3;
  for (std::uint64_t i = 0; i < 5 * nodes; i++) {
    const std::uint64_t x = random_number(state), from = x % (nodes - layer);
    const std::uint64_t first = (from / layer + 1) * layer;
    e.push_back({from, first + (x >> 32) % (nodes - first), x >> 50});
  }
  return e;
}

std::vector<std::uint64_t> in_memory(std::vector<edge> e) {
  std::vector<std::uint64_t> far(nodes);
  std::ranges::sort(e, {}, &edge::from);
  for (const edge &x : e) {
    far[x.to] = std::max(far[x.to], far[x.from] + x.weight);
  }
  return far;
}

void paths(pems_tfp_mode mode) {
  const std::vector<edge> e = edges();
  const std::vector<std::uint64_t> want = in_memory(e);
  std::vector<std::uint64_t> got;
  longest run({.nodes = nodes, .mode = mode, .memory = 24 << 20, .threads = 2});
  pems::sorter<edge, std::less<>, pems::key<&edge::from>> sorter(
      {.memory = 4 << 20, .threads = 1});
  sorter.push_range(e);
  run.edges(sorter).take(
      [&](std::uint64_t first, std::span<const std::uint64_t> r) {
        check(first == got.size());
        got.insert(got.end(), r.begin(), r.end());
      });
  run.layers([](std::uint64_t first) { return first + layer; });
  check(run.least_memory() > 0);
  const pems_tfp_counts counts = run.run([](longest::visit &v) {
    for (const length &m : v.messages()) {
      check(m.to == v.node());
      v.result() = std::max(v.result(), m.length);
    }
    for (const edge &x : v.edges()) {
      v.send({x.to, v.result() + x.weight});
    }
  });
  check(got == want && counts.nodes == nodes && counts.edges == e.size() &&
        counts.messages == e.size());
}

void failures() {
  using plain = pems::tfp<length>;
  plain run({.nodes = 10, .memory = 16 << 20});
  bool thrown = false;
  try {
    run.run([](plain::visit &v) {
      if (v.node() == 5) {
        throw std::out_of_range("five");
      }
    });
  } catch (const std::out_of_range &) {
    thrown = true;
  }
  check(thrown);
  check_throws(EINVAL, "", [&] {
    run.run([](plain::visit &v) { v.send({v.node(), 1}); });
  });
  check_throws(ENOMEM, "", [] {
    plain({.nodes = 10, .memory = 4096}).run([](plain::visit &) {});
  });
  std::uint64_t sum = 0;
  run.run([&](plain::visit &v) {
    for (const length &m : v.messages()) {
      sum += m.length;
    }
    if (v.node() < 9) {
      v.send({9, v.node()});
    }
  });
  check(sum == 36);
}

} // namespace

int main() {
  paths(PEMS_TFP_SEQUENTIAL);
  paths(PEMS_TFP_LIMIT);
  paths(PEMS_TFP_BULK);
  failures();
  std::puts("right");
}
