// SPDX-License-Identifier: BSD-3-Clause
// Time-forward processing: <pems/tfp.h> for C++20.
//
//   struct length { std::uint64_t to, length; };       // a message
//   struct edge { std::uint64_t from, to, weight; };
//
//   pems::tfp<length, edge, std::uint64_t> longest({.nodes = n});
//   longest.edges(sorter_of_edges);                     // any input range
//   longest.take([](std::uint64_t first, std::span<const std::uint64_t> r)
//   {...}); longest.run([](auto &node) {
//     for (const length &m : node.messages()) ...;
//     node.result() = ...;
//     node.send({edge.to, ...});
//   });
//
// Messages and edges begin with the number of a node, a std::uint64_t. An
// exception of a function ends the run, and run throws it again.
#ifndef PEMS_TFP_HPP
#define PEMS_TFP_HPP

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <ranges>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include <pems/disk.hpp>
#include <pems/error.hpp>
#include <pems/kernel.hpp>
#include <pems/range.hpp>
#include <pems/tfp.h>

namespace pems {

// As struct pems_tfp_options; what is 0 or empty has a default.
struct tfp_options {
  std::uint64_t nodes = 0;
  pems_tfp_mode mode = PEMS_TFP_SEQUENTIAL;
  std::uint64_t memory = 0; // bytes
  int threads = 0;
  class disks *disks = nullptr; // must outlive the run; else `scratch`
  pems::scratch scratch{};
  std::size_t block = 0;
  std::uint64_t seed = 0;
  std::string kernel{};
};

// Edge or Result: void if there are none.
template <record Message, class Edge = void, class Result = void> class tfp {
  static constexpr bool has_edges = !std::is_void_v<Edge>;
  static constexpr bool has_results = !std::is_void_v<Result>;
  template <class T>
  using or_byte = std::conditional_t<std::is_void_v<T>, std::byte, T>;

public:
  using message_type = Message;
  using edge_type = or_byte<Edge>;
  using result_type = or_byte<Result>;
  static_assert(record<edge_type> && record<result_type>);

  // What the visit of a node may use, until it returns.
  class visit {
  public:
    visit(pems_tfp_visit *v, pems_error *e) : visit_(v), error_(e) {
    }
    std::uint64_t node() const noexcept {
      return visit_->node;
    }
    int thread() const noexcept {
      return visit_->thread;
    }
    // In any order.
    std::span<const Message> messages() const noexcept {
      return {static_cast<const Message *>(visit_->messages), visit_->received};
    }
    std::span<const edge_type> edges() const noexcept
      requires has_edges
    {
      return {static_cast<const edge_type *>(visit_->edges), visit_->degree};
    }
    // All 0 before.
    result_type &result() const noexcept
      requires has_results
    {
      return *static_cast<result_type *>(visit_->result);
    }
    void send(std::span<const Message> m) {
      if (const int code = pems_tfp_send(visit_, m.data(), m.size(), error_)) {
        throw error(code, error_->text);
      }
    }
    void send(const Message &m) {
      send(std::span<const Message>(&m, 1));
    }

  private:
    pems_tfp_visit *visit_;
    pems_error *error_;
  };

  using edges_function = std::function<std::size_t(std::span<edge_type>)>;
  using layer_function = std::function<std::uint64_t(std::uint64_t)>;
  using take_function =
      std::function<void(std::uint64_t, std::span<const result_type>)>;

  explicit tfp(tfp_options options) : options_(std::move(options)) {
  }

  // f fills in the next edges, in the order of the nodes where they begin, and
  // returns how many; 0: the end.
  tfp &edges(edges_function f)
    requires has_edges
  {
    edges_ = std::move(f);
    return *this;
  }
  // The edges of a range: an lvalue must remain there.
  template <std::ranges::input_range R>
    requires has_edges && std::same_as<std::ranges::range_value_t<R>, edge_type>
  tfp &edges(R &&range) {
    return edges(edges_function(detail::shared_fill(std::forward<R>(range))));
  }
  // f(first) returns the first node after the layer that begins with `first`.
  tfp &layers(layer_function f) {
    layer_ = std::move(f);
    return *this;
  }
  // f(first, results) gets the results of all nodes, in order.
  tfp &take(take_function f)
    requires has_results
  {
    take_ = std::move(f);
    return *this;
  }

  // Visits all nodes by f(visit &), by several threads at once in
  // PEMS_TFP_BULK.
  template <std::invocable<visit &> F> pems_tfp_counts run(F &&f) {
    running<std::remove_reference_t<F>> r{*this, f, {}};
    const detail::scratch_options scratch(options_.scratch);
    pems_tfp_options c{};
    describe(c, scratch);
    c.visit = &running<std::remove_reference_t<F>>::visit_node;
    c.arg = &r;
    c.take = has_results ? &running<std::remove_reference_t<F>>::take : nullptr;
    if (edges_) {
      c.edges = &running<std::remove_reference_t<F>>::edges;
      c.edges_arg = &r;
    }
    if (layer_) {
      c.layer = &running<std::remove_reference_t<F>>::layer;
      c.layer_arg = &r;
    }
    pems_tfp_counts counts{};
    r.failure.call([&](pems_error *e) { return pems_tfp_run(&c, &counts, e); });
    return counts;
  }

  // Minimum memory in bytes; 0: the options are invalid.
  std::uint64_t least_memory() const {
    const detail::scratch_options scratch(options_.scratch);
    pems_tfp_options c{};
    describe(c, scratch);
    c.visit = [](void *, pems_tfp_visit *, pems_error *) { return 0; };
    if (has_results) {
      c.take = [](void *, std::uint64_t, const void *, std::size_t,
                  pems_error *) { return 0; };
    }
    if (layer_) {
      c.layer = [](void *, std::uint64_t, std::uint64_t *, pems_error *) {
        return 0;
      };
    }
    if (edges_) {
      c.edges = [](void *, void *, std::size_t, std::size_t *, pems_error *) {
        return 0;
      };
    }
    return pems_tfp_least_memory(&c);
  }

private:
  // The callbacks of a run.
  template <class F> struct running {
    tfp &of;
    F &function;
    detail::caught failure;

    static int visit_node(void *arg, pems_tfp_visit *v, pems_error *e) {
      running *const r = static_cast<running *>(arg);
      return r->failure.guard(e, [&] {
        visit at(v, e);
        std::invoke(r->function, at);
      });
    }
    static int take(void *arg, std::uint64_t first, const void *results,
                    std::size_t n, pems_error *e) {
      running *const r = static_cast<running *>(arg);
      return r->failure.guard(e, [&] {
        if (r->of.take_) {
          r->of.take_(first, {static_cast<const result_type *>(results), n});
        }
      });
    }
    static int edges(void *arg, void *edges, std::size_t room, std::size_t *n,
                     pems_error *e) {
      running *const r = static_cast<running *>(arg);
      return r->failure.guard(e, [&] {
        *n = r->of.edges_({static_cast<edge_type *>(edges), room});
      });
    }
    static int layer(void *arg, std::uint64_t first, std::uint64_t *next,
                     pems_error *e) {
      running *const r = static_cast<running *>(arg);
      return r->failure.guard(e, [&] { *next = r->of.layer_(first); });
    }
  };

  void describe(pems_tfp_options &c,
                const detail::scratch_options &scratch) const {
    detail::c_options(c, options_, scratch);
    c.mode = options_.mode;
    c.nodes = options_.nodes;
    c.message = sizeof(Message);
    c.result = has_results ? sizeof(result_type) : 0;
    c.edge = has_edges && edges_ ? sizeof(edge_type) : 0;
  }

  tfp_options options_;
  edges_function edges_;
  layer_function layer_;
  take_function take_;
};

} // namespace pems

#endif
