// SPDX-License-Identifier: BSD-3-Clause
// Many small tasks by priority, on all cores: <pems/sched.h> for C++20.
//
//   pems::sched<std::uint64_t> s;                   // of node numbers, by pmod
//   s.push(0, source);
//   s.run([&](auto &handle, std::uint64_t node, std::uint64_t distance) {
//     ...; handle.push(distance + weight, neighbour);
//   });
//
// Smaller priorities come first, roughly. pems_sched_real and pems_sched_fixed
// make priorities of real numbers. Functions throw pems::error.
#ifndef PEMS_SCHED_HPP
#define PEMS_SCHED_HPP

#include <atomic>
#include <cerrno>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include <pems/disk.hpp>
#include <pems/error.hpp>
#include <pems/kernel.hpp>
#include <pems/sched.h>

namespace pems {

// As struct pems_sched_options; what is 0 or empty has a default.
struct sched_options {
  std::string kind{}; // of pems_sched_kinds; empty: pmod
  int threads = 0;
  std::uint64_t seed = 0;
  bool measure = false, log = false;
  int chunk = 0, domains = 0, delta = 0;
  double global_frequency = 0;
  int max_pops = 0, min_density = 0, min_queues = 0;
  std::uint64_t memory = 0;     // bytes for tasks; 0: no limit
  class disks *disks = nullptr; // must outlive the scheduler; else `scratch`
  pems::scratch scratch{};
  int queues = 0;
};

template <record Task>
  requires(sizeof(Task) <= PEMS_SCHED_TASK_MOST)
class sched {
public:
  // A thread's access: not for two threads at once.
  class handle {
  public:
    handle(struct pems_sched_handle *h, const pems_sched *of)
        : handle_(h), of_(of) {
    }
    void push(std::uint64_t priority, const Task &task) {
      if (const int code = pems_sched_push(handle_, &task, priority)) {
        fail(of_, code);
      }
    }
    // A task and its priority, if this thread has found one: see
    // pems_sched_pop.
    std::optional<std::pair<std::uint64_t, Task>> pop() {
      detail::place<Task, 1> task;
      std::uint64_t priority;
      if (!pems_sched_pop(handle_, task.bytes, &priority)) {
        return std::nullopt;
      }
      return std::pair<std::uint64_t, Task>(priority, *task.get());
    }
    int thread() const noexcept {
      return pems_sched_thread(handle_);
    }
    struct pems_sched_handle *get() const noexcept {
      return handle_;
    }

  private:
    struct pems_sched_handle *handle_;
    const pems_sched *of_;
  };

  explicit sched(const sched_options &o = {}) {
    const detail::scratch_options scratch(o.scratch);
    pems_sched_options c{};
    detail::c_options(c, o, scratch);
    c.task = sizeof(Task);
    c.measure = o.measure;
    c.log = o.log;
    c.chunk = o.chunk;
    c.domains = o.domains;
    c.delta = o.delta;
    c.global_frequency = o.global_frequency;
    c.max_pops = o.max_pops;
    c.min_density = o.min_density;
    c.min_queues = o.min_queues;
    c.queues = o.queues;
    pems_sched *made = nullptr;
    detail::call([&](pems_error *e) {
      return pems_sched_new(&made, detail::c_text(o.kind), o.threads, &c, e);
    });
    sched_.reset(made);
  }

  int threads() const noexcept {
    return pems_sched_threads(get());
  }
  const char *kind() const noexcept {
    return pems_sched_kind(get());
  }
  // 0 <= thread < threads(); throws EINVAL for another one.
  handle at(int thread) const {
    struct pems_sched_handle *const h = pems_sched_handle(get(), thread);
    if (!h) {
      detail::fail(EINVAL,
                   "sched: thread: no such one: give 0 to threads() - 1");
    }
    return handle(h, get());
  }
  // From outside a run.
  void push(std::uint64_t priority, const Task &task) {
    at(0).push(priority, task);
  }
  bool finished() const noexcept {
    return pems_sched_finished(get());
  }

  // Runs f(handle &, const Task &, priority) for all tasks and those that they
  // push, in all threads. f may return whether it was of use (bool or
  // pems_sched_work, for the counts only). If f throws, the tasks that are left
  // are dropped, and run throws it again.
  template <class F>
    requires std::invocable<F &, handle &, const Task &, std::uint64_t>
  void run(F &&f) {
    run(std::forward<F>(f), nothing());
  }
  // ahead(const Task &, step): see pems_sched_ahead_fn; must not throw.
  template <class F, class Ahead>
    requires std::invocable<F &, handle &, const Task &, std::uint64_t> &&
             std::invocable<Ahead &, const Task &, int>
  void run(F &&f, Ahead &&ahead) {
    using runner =
        running<std::remove_reference_t<F>, std::remove_reference_t<Ahead>>;
    runner r{get(), f, ahead, {}, {}};
    pems_sched_run_options c{};
    c.size = sizeof(c);
    c.run = &runner::run;
    c.ahead =
        std::is_same_v<std::decay_t<Ahead>, nothing> ? nullptr : &runner::soon;
    c.arg = &r;
    r.failure.call([&](pems_error *e) { return pems_sched_run(get(), &c, e); });
  }

  struct pems_sched_counts counts() const noexcept {
    struct pems_sched_counts c {};
    ::pems_sched_counts(get(), &c);
    return c;
  }
  struct pems_sched_rank_error rank_error() const {
    struct pems_sched_rank_error r {};
    detail::call(
        [&](pems_error *e) { return ::pems_sched_rank_error(get(), &r, e); });
    return r;
  }
  pems_sched *get() const noexcept {
    return sched_.get();
  }

private:
  struct free {
    void operator()(pems_sched *s) const noexcept {
      pems_sched_free(s);
    }
  };
  struct nothing {
    void operator()(const Task &, int) const noexcept {
    }
  };

  template <class F, class Ahead> struct running {
    pems_sched *of;
    F &function;
    Ahead &ahead;
    detail::caught failure;
    std::atomic<bool> failed;

    static pems_sched_work run(void *arg, struct pems_sched_handle *h,
                               const void *task, std::uint64_t priority) {
      running *const r = static_cast<running *>(arg);
      pems_sched_work work = PEMS_SCHED_GOOD;
      if (r->failed.load(std::memory_order_relaxed)) {
        return PEMS_SCHED_USELESS;
      }
      const int code = r->failure.guard(nullptr, [&] {
        handle at(h, r->of);
        const Task &t = *static_cast<const Task *>(task);
        using result =
            std::invoke_result_t<F &, handle &, const Task &, std::uint64_t>;
        if constexpr (std::is_same_v<result, pems_sched_work>) {
          work = std::invoke(r->function, at, t, priority);
        } else if constexpr (std::is_same_v<result, bool>) {
          work = std::invoke(r->function, at, t, priority) ? PEMS_SCHED_GOOD
                                                           : PEMS_SCHED_USELESS;
        } else {
          std::invoke(r->function, at, t, priority);
        }
      });
      if (code != 0) {
        r->failed.store(true, std::memory_order_relaxed);
      }
      return work;
    }
    static void soon(void *arg, const void *task, int step) {
      static_cast<running *>(arg)->ahead(*static_cast<const Task *>(task),
                                         step);
    }
  };

  [[noreturn]] static void fail(const pems_sched *s, int code) {
    pems_error e{};
    if (pems_sched_failure(s, &e) && e.code) {
      throw error(e);
    }
    detail::fail(code, "sched: push: no memory for a task: free some");
  }

  std::unique_ptr<pems_sched, free> sched_;
};

} // namespace pems

#endif
