// What a forked child says to handles of its parent: EPERM, at once; and the
// parent goes on.
#include <array>
#include <cerrno>
#include <cstdio>

#include <sys/wait.h>
#include <unistd.h>

#include <pems/pqueue.hpp>
#include <pems/sched.h>
#include <pems/sorter.hpp>
#include <pems/stream.h>

#include "check.hpp"

namespace {

using number = std::uint64_t;

// More than the memory of a handle.
constexpr number many = 1500000;

template <class F> void refused(F &&call) {
  check_throws(EPERM, "was made before the fork", std::forward<F>(call));
}

// Of functions of C.
template <class F> void refused_in_c(F &&call) {
  pems_error error{};
  const int code = call(&error);
  check(code == EPERM && error.code == EPERM &&
        std::string_view(error.text).find("before the fork") !=
            std::string_view::npos);
}

template <class F> void in_child(F &&run) {
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    run();
    _exit(0);
  }
  int status = -1;
  check(waitpid(child, &status, 0) == child && status == 0);
}

void sorters() {
  pems::sorter<number> s({.memory = 4 << 20, .threads = 2});
  for (number i = 0; i < many; i++) {
    s.push(i * 7919 % many);
  }
  in_child([&] {
    refused([&] { s.finish(); });
    refused_in_c([&](pems_error *e) { return pems_sorter_finish(s.get(), e); });
    refused_in_c([&](pems_error *e) {
      std::array<number, 1> one{};
      return pems_sorter_push(s.get(), one.data(), 1, e);
    });
    pems_sorter_free(s.get());
  });
  s.finish();
  in_child([&] {
    refused([&] { (void)s.pull(); });
    number one = 0;
    refused([&] { s.pull({&one, 1}); });
    s = pems::sorter<number>({.memory = 4 << 20, .threads = 2}); // its own
    s.push(3);
    check(*s.begin() == 3);
  });
  number n = 0;
  for (const number x : s) {
    check(x == n++);
  }
  check(n == many);
}

void queues() {
  pems::pqueue<number> q({.memory = 8 << 20, .threads = 2});
  for (number i = 0; i < many; i++) {
    q.push(i * 7919 % many);
  }
  check(q.top() == 0);
  in_child([&] {
    refused([&] { q.push(1); });
    refused([&] { q.pop(); });
    refused([&] { (void)q.top(); });
    refused_in_c([&](pems_error *e) {
      number one;
      std::size_t n;
      return pems_pqueue_bulk_pop(q.get(), &one, 1, &n, e);
    });
    pems_pqueue_free(q.get());
  });
  for (number i = 0; i < many; i++, q.pop()) {
    check(q.top() == i);
  }
}

void disks() {
  const pems::disks d;
  pems_dealer dealer;
  pems_dealer_begin(&dealer, PEMS_DEAL_CYCLIC, 0);
  in_child([&] {
    pems_block block;
    refused_in_c([&](pems_error *e) {
      return pems_block_new(d.get(), &dealer, 4096, &block, e);
    });
    refused_in_c([&](pems_error *e) {
      return pems_block_reserve(d.get(), &dealer, 4096, &block, e);
    });
  });
  pems_block block;
  check(pems_block_reserve(d.get(), &dealer, 4096, &block, nullptr) == 0);
  pems_block_free(d.get(), block, 4096);
}

void graphs() {
  pems_graph *const g = pems_graph_new(nullptr);
  in_child([&] {
    refused_in_c(
        [&](pems_error *e) { return pems_graph_start(g, nullptr, e); });
    pems_graph_free(g);
  });
  pems_graph_free(g);
}

void schedulers() {
  pems_sched *s = nullptr;
  pems_sched_options o{};
  o.size = sizeof(o);
  o.task = sizeof(number);
  check(pems_sched_new(&s, "pmod", 2, &o, nullptr) == 0);
  const number task = 1;
  check(pems_sched_push(pems_sched_handle(s, 0), &task, 1) == 0);
  in_child([&] {
    number got;
    check(pems_sched_push(pems_sched_handle(s, 0), &task, 1) == EPERM);
    check(pems_sched_pop(pems_sched_handle(s, 0), &got, nullptr) == 0);
    check(pems_sched_finished(s) != 0);
    refused_in_c([&](pems_error *e) { return pems_sched_failure(s, e); });
    refused_in_c([&](pems_error *e) { return pems_sched_run(s, nullptr, e); });
    pems_sched_free(s);
  });
  number got = 0;
  check(pems_sched_pop(pems_sched_handle(s, 0), &got, nullptr) == 1 &&
        got == 1);
  pems_sched_free(s);
}

} // namespace

int main() {
  sorters();
  queues();
  disks();
  graphs();
  schedulers();
  std::puts("right");
}
