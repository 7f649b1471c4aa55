// SPDX-License-Identifier: BSD-3-Clause
// Graphs of nodes that pass records on, with sorters between them:
// <pems/stream.h> for C++20.
//
//   pems::graph g({.memory = 512 << 20});
//   auto out = g.source<edge>("edges") |
//              g.map<edge>([](const edge &e) { return turned(e); }) |
//              g.sorter<edge>({}, std::less<>(), pems::key<&edge::from>()) |
//              g.sink<edge>("sorted");
//   g.run(out);
//
// a | b is a pull edge, pems::push(a, b) a push edge; that the types at both
// ends are the same is checked when the program is compiled. Nodes are handles:
// they are copied freely, and valid as long as their graph. Functions given to
// nodes are kept by the graph and may throw: this ends the run, and run throws
// it again. Functions of the library that are not here take graph::get() and
// node::get().
#ifndef PEMS_STREAM_HPP
#define PEMS_STREAM_HPP

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <ranges>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <pems/disk.hpp>
#include <pems/error.hpp>
#include <pems/kernel.hpp>
#include <pems/key.hpp>
#include <pems/range.hpp>
#include <pems/sorter.hpp>
#include <pems/stream.h>

namespace pems {

// As struct pems_graph_options; what is 0 has a default.
struct graph_options {
  std::uint64_t memory = 0; // bytes
  int threads = 0;
  class disks *disks = nullptr; // must outlive the graph; else `scratch`
  pems::scratch scratch{};
  std::size_t batch = 0; // bytes
};

// The records of nodes with several inputs or outputs. types<> is none.
template <class... T> struct types {};

// The records of one input of a scan, during one call.
template <record T> class scan_in {
public:
  explicit scan_in(pems_in &in) : in_(&in) {
  }
  std::span<const T> records() const noexcept {
    return {static_cast<const T *>(in_->records) + in_->used,
            in_->count - in_->used};
  }
  bool empty() const noexcept {
    return in_->count == in_->used;
  }
  const T &front() const noexcept {
    return records().front();
  }
  // The first n have been consumed.
  void use(std::size_t n = 1) noexcept {
    in_->used += n;
  }

private:
  pems_in *in_;
};

// The room of one output of a scan, during one call.
template <record T> class scan_out {
public:
  explicit scan_out(pems_out &out) : out_(&out) {
  }
  std::span<T> room() const noexcept {
    return {static_cast<T *>(out_->records) + out_->made,
            out_->room - out_->made};
  }
  bool full() const noexcept {
    return out_->room == out_->made;
  }
  // The first n of the room have been filled in.
  void make(std::size_t n) noexcept {
    out_->made += n;
  }
  // There must be room.
  void push(const T &record) noexcept {
    detail::copy(room().data(), &record);
    out_->made++;
  }

private:
  pems_out *out_;
};

namespace detail {

// What a node's inputs or outputs are, as types<...>.
template <class T> struct list_of {
  using type = types<T>;
};
template <> struct list_of<void> {
  using type = types<>;
};
template <class... T> struct list_of<types<T...>> {
  using type = types<T...>;
};
template <class T> using list = typename list_of<T>::type;

template <class U, class... T> constexpr bool is_one_of(types<U>, types<T...>) {
  return (std::is_same_v<U, T> || ...);
}
template <class... T, class U> constexpr bool meet(types<T...>, U) {
  return (is_one_of(types<T>(), U()) || ...);
}
// Whether some output of Out may be connected to some input of In.
template <class Out, class In>
concept connected = meet(list<Out>(), list<In>());

template <class T> struct optional_of {
  static constexpr bool is = false;
};
template <class T> struct optional_of<std::optional<T>> {
  static constexpr bool is = true;
  using type = T;
};

// What callbacks need, as long as the graph.
struct kept {
  kept() = default;
  kept(const kept &) = delete;
  kept &operator=(const kept &) = delete;
  virtual ~kept() = default;
};

struct graph_state {
  caught failure;
  std::vector<std::unique_ptr<kept>> kept_;
};

template <class F> struct callback : kept {
  callback(graph_state &s, F &&f) : failure(s.failure), function(std::move(f)) {
  }
  caught &failure;
  F function;
};

} // namespace detail

// A node whose inputs are In and outputs Out: a record, pems::types<...>, or
// void.
template <class In, class Out> class node {
public:
  using input_type = In;
  using output_type = Out;

  node(pems_node *n, detail::graph_state *state) : node_(n), state_(state) {
  }
  pems_node *get() const noexcept {
    return node_;
  }
  struct pems_node_counts counts() const noexcept {
    struct pems_node_counts c {};
    pems_node_counts(node_, &c);
    return c;
  }

protected:
  template <class F> void call(F &&f) const {
    state_->failure.call(std::forward<F>(f));
  }

private:
  pems_node *node_;
  detail::graph_state *state_;
};

// A source whose records the program pushes: see pems_node_push.
template <record T> class hand_input : public node<void, T> {
public:
  using node<void, T>::node;

  void push(std::span<const T> records) const {
    if (!records.empty()) {
      give(records);
    }
  }
  void push(const T &r) const {
    give(std::span<const T>(&r, 1));
  }
  // Ends the input.
  void finish() const {
    give(std::span<const T>());
  }

private:
  void give(std::span<const T> r) const {
    this->call([&](pems_error *e) {
      return pems_node_push(this->get(), r.data(), r.size(), e);
    });
  }
};

// A sink whose records the program pulls: see pems_node_pull.
template <record T> class hand_output : public node<T, void> {
public:
  using node<T, void>::node;

  // The next records, until the next call; none at the end.
  std::span<const T> pull() const {
    const void *records = nullptr;
    std::size_t n = 0;
    this->call([&](pems_error *e) {
      return pems_node_pull(this->get(), &records, &n, e);
    });
    return {static_cast<const T *>(records), n};
  }
};

// The records of a hand sink as an input range.
template <record T> class pulled {
public:
  class iterator {
  public:
    using iterator_concept = std::input_iterator_tag;
    using value_type = T;
    using difference_type = std::ptrdiff_t;
    iterator() = default;
    const T &operator*() const noexcept {
      return from_->now_.front();
    }
    const T *operator->() const noexcept {
      return from_->now_.data();
    }
    iterator &operator++() {
      from_->now_ = from_->now_.subspan(1);
      from_->fill();
      return *this;
    }
    void operator++(int) {
      ++*this;
    }
    friend bool operator==(const iterator &i,
                           std::default_sentinel_t) noexcept {
      return i.at_end();
    }

  private:
    friend pulled;
    explicit iterator(pulled *from) : from_(from) {
    }
    bool at_end() const noexcept {
      return from_->now_.empty();
    }
    pulled *from_ = nullptr;
  };

  explicit pulled(hand_output<T> n) : node_(n) {
  }
  iterator begin() {
    fill();
    return iterator(this);
  }
  std::default_sentinel_t end() const noexcept {
    return {};
  }

private:
  friend iterator;
  void fill() {
    if (now_.empty() && !ended_) {
      now_ = node_.pull();
      ended_ = now_.empty();
    }
  }
  hand_output<T> node_;
  std::span<const T> now_;
  bool ended_ = false;
};

// --- edges: see pems_edge_pull ---

template <class A, class T, class U, class B>
  requires detail::connected<T, U>
node<U, B> pull(node<A, T> from, node<U, B> to) {
  pems_edge_pull(from.get(), to.get());
  return to;
}
template <class A, class T, class U, class B>
  requires detail::connected<T, U>
node<U, B> push(node<A, T> from, node<U, B> to) {
  pems_edge_push(from.get(), to.get());
  return to;
}
template <class A, class T, class U, class B>
  requires detail::connected<T, U>
node<U, B> operator|(node<A, T> from, node<U, B> to) {
  return pull(from, to);
}
template <class A, class B, class C, class D>
void start(node<A, B> starter, node<C, D> to) {
  pems_edge_start(starter.get(), to.get());
}

class graph {
public:
  explicit graph(const graph_options &o = {})
      : state_(std::make_unique<detail::graph_state>()) {
    const detail::scratch_options scratch(o.scratch);
    pems_graph_options c{};
    detail::c_options(c, o, scratch);
    c.batch = o.batch;
    // Read when the graph starts: what it points to must last as long.
    paths_ = o.scratch.path;
    io_ = o.scratch.io;
    for (const std::string &p : paths_) {
      path_.push_back(p.c_str());
    }
    c.scratch.path = path_.empty() ? nullptr : path_.data();
    c.scratch.io = detail::c_text(io_);
    graph_.reset(pems_graph_new(&c));
    if (!graph_) {
      detail::fail(ENOMEM, "graph: no memory for it: free some");
    }
  }

  // Runs the graph: see pems_graph_start.
  template <class In, class Out> void run(node<In, Out> primary_sink) {
    state_->failure.call([&](pems_error *e) {
      return pems_graph_start(get(), primary_sink.get(), e);
    });
  }
  // Only checks it and divides memory and threads.
  template <class In, class Out> void check(node<In, Out> primary_sink) {
    state_->failure.call([&](pems_error *e) {
      return pems_graph_check(get(), primary_sink.get(), e);
    });
  }
  // The graph in the language of Graphviz.
  std::string dot() const {
    char *text = nullptr;
    std::size_t n = 0;
    std::FILE *const file = open_memstream(&text, &n);
    const int failed = file ? pems_graph_dot(get(), file) : ENOMEM;
    const bool closed = file && std::fclose(file) == 0;
    const std::unique_ptr<char, decltype(&std::free)> hold(text, &std::free);
    if (failed || !closed) {
      detail::fail(failed ? failed : ENOMEM, "graph: dot: no memory for it");
    }
    return std::string(text, n);
  }

  // --- sources ---

  // The records of a file.
  template <record T>
  node<void, T> source(const std::string &path, const char *name = nullptr) {
    return make<void, T>(
        pems_node_file_source(get(), name, path.c_str(), sizeof(T)));
  }
  // Records in memory, which must remain there.
  template <record T>
  node<void, T> source(std::span<const T> records, const char *name = nullptr) {
    return make<void, T>(pems_node_memory_source(get(), name, records.data(),
                                                 records.size(), sizeof(T)));
  }
  // f(std::span<T>) fills in some records from the beginning and returns how
  // many; 0: the end.
  template <record T, class F>
    requires std::is_invocable_r_v<std::size_t, F &, std::span<T>>
  node<void, T> generate(F f, const char *name = nullptr) {
    using held = detail::callback<F>;
    const auto call = [](void *arg, void *records, std::size_t room,
                         std::size_t *n, pems_error *e) {
      held *const h = static_cast<held *>(arg);
      return h->failure.guard(e, [&] {
        *n = h->function(std::span<T>(static_cast<T *>(records), room));
      });
    };
    return make<void, T>(pems_node_generator(
        get(), name, call, keep<held>(std::move(f)), sizeof(T)));
  }
  // What an input range has: an lvalue must remain there.
  template <std::ranges::input_range R>
  auto range(R &&r, const char *name = nullptr) {
    return generate<std::ranges::range_value_t<R>>(
        from_range(std::forward<R>(r)), name);
  }
  template <record T> hand_input<T> hand_source(const char *name = nullptr) {
    return {pems_node_hand_source(get(), name, sizeof(T)), state_.get()};
  }

  // --- sinks ---

  template <record T>
  node<T, void> sink(const std::string &path, const char *name = nullptr) {
    return make<T, void>(pems_node_file_sink(get(), name, path.c_str()));
  }
  // Appends to a vector, which must remain there.
  template <record T>
  node<T, void> sink(std::vector<T> &to, const char *name = nullptr) {
    return for_batches<T>(
        [&to](std::span<const T> r) {
          to.insert(to.end(), r.begin(), r.end());
        },
        name);
  }
  // f(const T &) for each record, or f(std::span<const T>) for each batch.
  template <record T, class F>
    requires std::invocable<F &, const T &>
  node<T, void> for_each(F f, const char *name = nullptr) {
    return for_batches<T>(
        [f = std::move(f)](std::span<const T> some) mutable {
          for (const T &r : some) {
            f(r);
          }
        },
        name);
  }
  template <record T, class F>
    requires std::invocable<F &, std::span<const T>>
  node<T, void> for_batches(F f, const char *name = nullptr) {
    using held = detail::callback<F>;
    return make<T, void>(pems_node_callback_sink(
        get(), name, &look<T, held>, keep<held>(std::move(f)), sizeof(T)));
  }
  // pems::pulled makes a range of it.
  template <record T> hand_output<T> hand_sink(const char *name = nullptr) {
    return {pems_node_hand_sink(get(), name), state_.get()};
  }

  // --- one input, one output ---

  // Passes records on and shows f(std::span<const T>) what passes.
  template <record T, class F>
    requires std::invocable<F &, std::span<const T>>
  node<T, T> tap(F f, const char *name = nullptr) {
    using held = detail::callback<F>;
    return make<T, T>(pems_node_tap(get(), name, &look<T, held>,
                                    keep<held>(std::move(f)), sizeof(T)));
  }

  // A record for each record: what f(const In &) returns.
  template <record In, std::invocable<const In &> F>
    requires record<std::decay_t<std::invoke_result_t<F &, const In &>>>
  auto map(F f, const char *name = nullptr) {
    using Out = std::decay_t<std::invoke_result_t<F &, const In &>>;
    using held = detail::callback<F>;
    const auto call = [](void *arg, const void *in, void *out, std::size_t n,
                         pems_error *e) {
      held *const h = static_cast<held *>(arg);
      const In *const from = static_cast<const In *>(in);
      Out *const to = static_cast<Out *>(out);
      return h->failure.guard(e, [&] {
        for (std::size_t i = 0; i < n; i++) {
          const Out x = h->function(from[i]);
          detail::copy(to + i, &x);
        }
      });
    };
    return make<In, Out>(pems_node_map(
        get(), name, call, keep<held>(std::move(f)), sizeof(In), sizeof(Out)));
  }

  // The records for which f(const In &) is true; or, if it returns a
  // std::optional, what is in that.
  template <record In, std::invocable<const In &> F>
  auto filter(F f, const char *name = nullptr) {
    using result = std::decay_t<std::invoke_result_t<F &, const In &>>;
    using held = detail::callback<F>;
    if constexpr (detail::optional_of<result>::is) {
      using Out = typename detail::optional_of<result>::type;
      return make<In, Out>(pems_node_filter(get(), name, &choose<In, Out, held>,
                                            keep<held>(std::move(f)),
                                            sizeof(In), sizeof(Out)));
    } else {
      static_assert(std::convertible_to<result, bool>);
      return make<In, In>(pems_node_filter(get(), name, &choose<In, In, held>,
                                           keep<held>(std::move(f)), sizeof(In),
                                           sizeof(In)));
    }
  }

  // --- any inputs and outputs ---

  // f(scan_in<In> &..., scan_out<Out> &...), called again and again: must
  // consume or make at least one record, or return false, which ends it. An
  // input that is empty has ended.
  template <class In, class Out, class F>
  node<In, Out> scan(F f, const char *name = nullptr) {
    return scan_of(std::move(f), name, detail::list<In>(), detail::list<Out>(),
                   node<In, Out>(nullptr, nullptr));
  }

  // Each record goes to each of the outputs.
  template <record T> node<T, T> copy(int outputs, const char *name = nullptr) {
    return make<T, T>(pems_node_copy(get(), name, outputs));
  }
  // The i-th records of all inputs, side by side: Out has their size.
  template <record Out, record... In>
  node<types<In...>, Out> zip(const char *name = nullptr) {
    static_assert(sizeof(Out) == (sizeof(In) + ...),
                  "a zipped record is its inputs side by side, unpadded");
    return make<types<In...>, Out>(
        pems_node_zip(get(), name, static_cast<int>(sizeof...(In))));
  }

  // --- sorters ---

  // Orders of several members are compared here (<pems/sorter.hpp> packs them).
  template <record T, class Less = std::less<>, class Key = std::identity>
  node<T, T> sorter(const sort_options &o = {}, Less less = {}, Key key = {},
                    const char *name = nullptr) {
    using order_type = detail::ordering<T, Less, Key>;
    using plain = detail::ordering<T, compared<order_type>, std::identity>;
    auto made = std::make_unique<order<T, order_type, plain>>(
        std::move(less), std::move(key), o);
    const pems_sort_options &c = made->options->get();
    state_->kept_.push_back(std::move(made));
    return make<T, T>(pems_node_sorter(get(), name, &c));
  }

  // --- threads: see <pems/stream.h>; `buffer` in bytes ---

  template <record T>
  node<T, T> async_pull(std::size_t buffer = 0, const char *name = nullptr) {
    return make<T, T>(pems_node_async_pull(get(), name, buffer));
  }
  template <record T>
  node<T, T> async_push(std::size_t buffer = 0, const char *name = nullptr) {
    return make<T, T>(pems_node_async_push(get(), name, buffer));
  }
  template <record T>
  node<T, T> push_pull(std::size_t buffer = 0, const char *name = nullptr) {
    return make<T, T>(pems_node_push_pull(get(), name, buffer));
  }
  template <record T>
  node<T, T> distribute(int outputs, std::size_t chunk = 0,
                        const char *name = nullptr) {
    return make<T, T>(pems_node_distribute(get(), name, outputs, chunk));
  }
  template <record T>
  node<T, T> collect(int inputs, std::size_t chunk = 0,
                     const char *name = nullptr) {
    return make<T, T>(pems_node_collect(get(), name, inputs, chunk));
  }
  template <record T> node<T, T> connect(const char *name = nullptr) {
    return make<T, T>(pems_node_connect(get(), name));
  }

  pems_graph *get() const noexcept {
    return graph_.get();
  }

private:
  struct free {
    void operator()(pems_graph *g) const noexcept {
      pems_graph_free(g);
    }
  };
  // An order that is compared, however it could be packed.
  template <class Order> struct compared {
    const Order *order;
    template <class T> bool operator()(const T &a, const T &b) const noexcept {
      return (*order)(a, b);
    }
  };
  template <class T, class Order, class Plain> struct order : detail::kept {
    template <class Less, class Key>
    order(Less less, Key key, const sort_options &o)
        : of(std::move(less), std::move(key)), plain({&of}, std::identity()) {
      options.emplace(o, of.packed() ? plain.describe(o.stable)
                                     : of.describe(o.stable));
    }
    Order of;
    Plain plain;
    std::optional<detail::c_sort_options> options;
  };

  template <class Held, class F> Held *keep(F &&f) {
    auto h = std::make_unique<Held>(*state_, std::forward<F>(f));
    Held *const raw = h.get();
    state_->kept_.push_back(std::move(h));
    return raw;
  }
  template <class In, class Out> node<In, Out> make(pems_node *n) {
    return {n, state_.get()};
  }

  template <class T, class Held>
  static int look(void *arg, const void *records, std::size_t n,
                  pems_error *e) {
    Held *const h = static_cast<Held *>(arg);
    return h->failure.guard(e, [&] {
      h->function(std::span<const T>(static_cast<const T *>(records), n));
    });
  }

  template <class In, class Out, class Held>
  static int choose(void *arg, const void *in, std::size_t n, void *out,
                    std::size_t *made, pems_error *e) {
    Held *const h = static_cast<Held *>(arg);
    const In *const from = static_cast<const In *>(in);
    Out *to = static_cast<Out *>(out);
    *made = 0;
    return h->failure.guard(e, [&] {
      for (std::size_t i = 0; i < n; i++) {
        const auto chosen = h->function(from[i]);
        if (chosen) {
          if constexpr (std::is_same_v<decltype(chosen),
                                       const std::optional<Out>>) {
            detail::copy(to++, &*chosen);
          } else {
            detail::copy(to++, from + i);
          }
        }
      }
      *made = static_cast<std::size_t>(to - static_cast<Out *>(out));
    });
  }

  template <class F, class In, class Out, record... I, record... O>
  node<In, Out> scan_of(F f, const char *name, types<I...>, types<O...>,
                        node<In, Out>) {
    using held = detail::callback<F>;
    const auto call = [](void *arg, pems_in *in, pems_out *out, pems_error *e) {
      held *const h = static_cast<held *>(arg);
      bool more = true;
      const int failed = h->failure.guard(e, [&] {
        more = scan_once(h->function, in, out, std::index_sequence_for<I...>(),
                         std::index_sequence_for<O...>(), types<I...>(),
                         types<O...>());
      });
      return failed ? failed : more ? 0 : PEMS_SCAN_END;
    };
    const pems_port inputs[] = {pems_port{sizeof(I), nullptr, 0}...,
                                pems_port{}};
    const pems_port outputs[] = {pems_port{sizeof(O), nullptr, 0}...,
                                 pems_port{}};
    pems_scan s{};
    s.in = inputs;
    s.inputs = sizeof...(I);
    s.out = outputs;
    s.outputs = sizeof...(O);
    s.fn = call;
    s.arg = keep<held>(std::move(f));
    return make<In, Out>(pems_node_scan(get(), name, &s));
  }

  template <class F, std::size_t... A, std::size_t... B, class... I, class... O>
  static bool scan_once(F &f, pems_in *in, pems_out *out,
                        std::index_sequence<A...>, std::index_sequence<B...>,
                        types<I...>, types<O...>) {
    std::tuple<scan_in<I>...> ins{scan_in<I>(in[A])...};
    std::tuple<scan_out<O>...> outs{scan_out<O>(out[B])...};
    if constexpr (std::is_void_v<decltype(f(std::get<A>(ins)...,
                                            std::get<B>(outs)...))>) {
      f(std::get<A>(ins)..., std::get<B>(outs)...);
      return true;
    } else {
      return f(std::get<A>(ins)..., std::get<B>(outs)...);
    }
  }

  std::unique_ptr<detail::graph_state> state_;
  std::vector<std::string> paths_;
  std::vector<const char *> path_;
  std::string io_;
  std::unique_ptr<pems_graph, free> graph_; // freed first: its threads end
};

} // namespace pems

#endif
