// <pems/sorter.hpp>: every way to name an order, against std::stable_sort.
#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <concepts>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <list>
#include <numeric>
#include <ranges>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include <pems/sorter.hpp>

#include "check.hpp"

namespace {

// The kernel of comparisons; which one of keys it is, is not what is tested
// here.
constexpr std::string_view compiled = "compiled";

constexpr std::uint64_t small_memory = 2 << 20;
constexpr std::size_t small_block = 16 << 10;

struct edge {
  std::uint32_t from;
  std::uint32_t to;
  float weight;
  std::uint32_t number;
};

struct mixed {
  std::int16_t a;
  std::uint16_t b;
  std::int32_t c;
  unsigned char text[10];
  bool flag;
  std::uint64_t d;
  double e;
  std::uint32_t number;
};

struct large {
  std::uint64_t key;
  std::uint32_t number;
  char rest[140];
};

enum class colour : std::int8_t { red = -5, green, blue };

using u64_sorter = pems::sorter<std::uint64_t>;
static_assert(std::ranges::input_range<u64_sorter>);
static_assert(std::input_iterator<u64_sorter::iterator>);
static_assert(std::sentinel_for<std::default_sentinel_t, u64_sorter::iterator>);
static_assert(
    std::same_as<std::ranges::range_value_t<u64_sorter>, std::uint64_t>);
static_assert(std::movable<u64_sorter>);
static_assert(!std::copy_constructible<u64_sorter>);
static_assert(std::output_iterator<std::back_insert_iterator<u64_sorter>,
                                   const std::uint64_t &>);
static_assert(pems::record<edge> && !pems::record<std::string>);
static_assert(pems::record<std::pair<int, long>>);

template <class T> T make(std::uint64_t &state, std::uint32_t i) {
  T t{};
  const std::uint64_t x = random_number(state);
  if constexpr (std::is_same_v<T, edge>) {
    t.from = x % 1000;
    t.to = static_cast<std::uint32_t>(x >> 40) % 50;
    t.weight = static_cast<float>(x % 77) - 30;
    t.number = i;
  } else if constexpr (std::is_same_v<T, mixed>) {
    t.a = static_cast<std::int16_t>(x);
    t.b = static_cast<std::uint16_t>(x >> 16);
    t.c = static_cast<std::int32_t>(x >> 32) % 100;
    std::memcpy(t.text, &x, 8);
    t.flag = x & 1;
    t.d = x >> 60;
    t.e = static_cast<double>(static_cast<std::int64_t>(x)) / 3;
    t.number = i;
  } else if constexpr (std::is_same_v<T, large>) {
    t.key = x % 5000;
    t.number = i;
  } else if constexpr (requires { t.first; }) {
    t.first = static_cast<decltype(t.first)>(x % 300);
    t.second = static_cast<decltype(t.second)>(x >> 32);
  } else if constexpr (requires { t[0]; }) {
    std::memcpy(t.data(), &x, std::min(sizeof(x), sizeof(T)));
  } else {
    t = static_cast<T>(static_cast<std::int64_t>(x));
    if constexpr (std::is_floating_point_v<T>) {
      t /= 7;
    }
  }
  return t;
}

template <class T> bool same(const T &a, const T &b) {
  return std::memcmp(&a, &b, sizeof(T)) == 0;
}

// Pushes n records in several ways, and compares what comes out with what
// `less` says; equal ones stay in order.
template <class T> using order_of = std::function<bool(const T &, const T &)>;

template <class T, class Sorter>
void check_sorter(Sorter s, std::string_view kernel, const order_of<T> &less,
                  std::uint32_t n, bool pull) {
  std::vector<T> want;
  std::uint64_t state = n;
  for (std::uint32_t i = 0; i < n; i++) {
    want.push_back(make<T>(state, i));
  }
  check((s.kernel() == compiled) == (kernel == compiled));
  const std::size_t third = n / 3;
  for (std::size_t i = 0; i < third; i++) {
    s.push(want[i]);
  }
  s.push(std::span<const T>(want).subspan(third, third));
  for (std::size_t i = 2 * third; i < n;) {
    const std::span<T> space = s.space();
    const std::size_t some = std::min(space.size(), n - i);
    std::copy_n(want.begin() + static_cast<std::ptrdiff_t>(i), some,
                space.begin());
    s.commit(some);
    i += some;
  }
  std::stable_sort(want.begin(), want.end(), less);
  std::size_t at = 0;
  if (pull) {
    for (std::span<const T> some; !(some = s.pull()).empty();) {
      for (const T &x : some) {
        check(at < n && same(x, want[at++]));
      }
    }
  } else {
    for (const T &x : s) {
      check(at < n && same(x, want[at++]));
    }
  }
  check(at == n && s.empty() && s.pull().empty());
  check(s.counts().records == n);
}

template <class T, class Key = std::identity, class Less = std::less<>>
void check_order(std::string_view kernel, const order_of<T> &reference,
                 Key key = {}, Less less = {}) {
  pems::sort_options o{.memory = small_memory, .threads = 2, .stable = true};
  o.block = small_block;
  // In memory, and by several runs that are merged.
  const auto many = static_cast<std::uint32_t>(3 * small_memory / sizeof(T));
  for (const std::uint32_t n : {0u, 1u, 999u, many}) {
    if (n != many || sizeof(T) > 8) {
      check_sorter<T>(pems::make_sorter<T>(key, o, less), kernel, reference, n,
                      n % 2 == 0);
    }
  }
}

template <class T, class Less = std::less<>> void check_number() {
  check_order<T, std::identity, Less>("word", Less());
}

void numbers() {
  using pems::detail::number_key;
  static_assert(number_key<bool>() == PEMS_KEY_U8);
  static_assert(number_key<char32_t>() == PEMS_KEY_U32);
  static_assert(number_key<long>() == PEMS_KEY_I64);
  static_assert(number_key<float>() == PEMS_KEY_REAL32);
  static_assert(number_key<long double>() == PEMS_KEY_NONE);
  static_assert(number_key<unsigned __int128>() == PEMS_KEY_U128);
  static_assert(number_key<std::string>() == PEMS_KEY_NONE);
  check_order<std::uint64_t, std::identity, std::greater<std::uint64_t>>(
      "word", std::greater<>());
  check_order<double>("word", std::less<>());
  check_order<colour>("word", std::less<>());
}

struct reading {
  double value;
  std::uint64_t n;
};

// Zeros of both signs are equal to std::less<>, and NaNs come last.
void stable_reals() {
  const double values[] = {0.0, 1.0, -0.0, std::nan(""), -1.0, -std::nan("")};
  pems::sorter<reading, std::less<>, pems::key<&reading::value>> s(
      {.memory = small_memory, .stable = true});
  constexpr std::uint64_t n = 600000;
  for (std::uint64_t i = 0; i < n; i++) {
    s.push({values[i % 6], i});
  }
  const auto place = [](double x) { return std::isnan(x) ? 2 : x; };
  std::uint64_t got = 0;
  reading last{-2, 0};
  for (const reading &r : s) {
    const auto x = place(last.value), y = place(r.value);
    check(x < y || (x == y && last.n < r.n));
    last = r;
    got++;
  }
  check(got == n);
}

// Whenever a sort of an array is told to stop, the array is as it was before,
// or sorted; and so a file.
void stopped() {
  const std::size_t n = 400000;
  std::vector<std::uint64_t> made(n), sorted(n), v;
  std::uint64_t state = 1, ended = 0;
  for (std::uint64_t &x : made) {
    x = random_number(state);
  }
  sorted = made;
  std::sort(sorted.begin(), sorted.end());
  for (int i = 0; i < 40; i++) {
    std::atomic<bool> done = false;
    volatile int stop = i == 0;
    pems::sort_options o{.memory = 1 << 20, .threads = 1};
    o.stop = &stop;
    v = made;
    std::thread other([&] {
      for (int j = 0; j < i * 20 && !done; j++) {
        std::this_thread::sleep_for(std::chrono::microseconds(50));
      }
      stop = 1;
    });
    try {
      u64_sorter s(o);
      s.push(std::span<const std::uint64_t>(v));
      check(s.pull(std::span<std::uint64_t>(v)) == n);
    } catch (const pems::error &e) {
      check(e.code().value() == ECANCELED && v == made);
      ended++;
    }
    done = true;
    other.join();
    check(v == made || v == sorted);
  }
  check(ended > 0);
  // By its progress, which is called first of all in time.
  volatile int stop = 0;
  pems::sort_options o{.memory = 1 << 20, .threads = 1};
  o.stop = &stop;
  o.progress = [&](std::uint64_t, std::uint64_t) { stop = 1; };
  check_throws(ECANCELED, "told to stop", [&] {
    u64_sorter s(o);
    s.push(std::span<const std::uint64_t>(made));
    s.finish();
  });
}

void members() {
  check_order<edge>(
      "word", [](const edge &a, const edge &b) { return a.weight < b.weight; },
      &edge::weight);
  check_order<mixed>(
      "pointer",
      [](const mixed &a, const mixed &b) {
        return std::memcmp(a.text, b.text, sizeof(a.text)) > 0;
      },
      pems::key<&mixed::text>(), std::greater<>());
}

// Beside each other, in any order: one number, or bytes; else compared.
void several_members() {
  check_order<edge>(
      "word",
      [](const edge &a, const edge &b) {
        return std::tie(a.to, a.from) > std::tie(b.to, b.from);
      },
      std::tuple(&edge::to, &edge::from), std::greater<>());
  check_order<mixed>(
      "pointer",
      [](const mixed &a, const mixed &b) {
        const int c = std::memcmp(a.text, b.text, sizeof(a.text));
        return c != 0 ? c < 0 : std::tie(a.c, a.flag) < std::tie(b.c, b.flag);
      },
      pems::key<&mixed::text, &mixed::c, &mixed::flag>());
  check_order<std::pair<std::int64_t, std::uint64_t>>("word", std::less<>());
  check_order<edge>(
      "compiled",
      [](const edge &a, const edge &b) {
        return std::tie(a.to, a.weight) < std::tie(b.to, b.weight);
      },
      pems::key<&edge::to, &edge::weight>());
}

void comparisons() {
  std::uint32_t modulus = 17; // a state
  const auto by_rest = [modulus](const edge &e) { return e.from % modulus; };
  check_order<edge>(
      "compiled",
      [&](const edge &a, const edge &b) { return by_rest(a) < by_rest(b); },
      by_rest);
  // Too large to be moved: their numbers are sorted.
  const auto by_key = [](const large &a, const large &b) {
    return a.key < b.key;
  };
  check_order<large>("compiled", by_key, std::identity(), by_key);
}

// Without stability, of inputs that quicksorts dislike.
void patterns() {
  constexpr std::size_t n = 40000;
  struct number {
    std::uint64_t x;
  };
  const auto less = [](const number &a, const number &b) { return a.x < b.x; };
  std::uint64_t state = 7;
  for (int pattern = 0; pattern < 8; pattern++) {
    std::vector<number> v(n);
    for (std::size_t i = 0; i < n; i++) {
      const std::uint64_t r = random_number(state);
      const std::uint64_t of[] = {i,
                                  n - i,
                                  5,
                                  r % 3,
                                  i % 7,
                                  r,
                                  i < n / 2 ? i : n - i,
                                  i % 100 == 0 ? r : i};
      v[i].x = of[pattern];
    }
    std::vector<number> want = v;
    std::ranges::sort(want, less);
    pems::sort(std::span(v), less);
    check(std::ranges::equal(v, want, {}, &number::x, &number::x));
  }
  for (std::size_t size = 0; size < 70; size++) {
    std::vector<edge> v;
    for (std::uint32_t i = 0; i < size; i++) {
      v.push_back(make<edge>(state, i));
      v.back().from %= 8;
    }
    auto want = v;
    std::ranges::stable_sort(want, {}, &edge::from);
    const auto opaque = [](const edge &a, const edge &b) {
      return a.from < b.from;
    };
    pems::sort(std::span(v), opaque, {}, true);
    check(std::ranges::equal(v, want, same<edge>));
    std::ranges::sort(v, {}, &edge::number);
    pems::sort(std::span(v), opaque);
    check(std::ranges::is_sorted(v, opaque));
    pems::sort(std::span(v), std::less<>(),
               pems::key<&edge::from, &edge::to>());
    check(std::ranges::is_sorted(v, [](const edge &a, const edge &b) {
      return std::tie(a.from, a.to) < std::tie(b.from, b.to);
    }));
  }
}

// Numbers one by one: clang 14 compiles no views of libstdc++.
std::list<std::uint64_t> from_to(std::uint64_t first, std::uint64_t end) {
  std::list<std::uint64_t> n(end - first);
  std::iota(n.begin(), n.end(), first);
  return n;
}

void ranges_and_moves() {
  u64_sorter s({.memory = small_memory});
  s.push_range(from_to(0, 1000));
  s.push_range(std::vector<std::uint64_t>{5000, 4000});
  std::ranges::copy(from_to(2000, 2010), std::back_inserter(s));
  u64_sorter moved = std::move(s);
  s = std::move(moved);
  std::uint64_t sum = 0;
  std::size_t n = 0;
  const auto add = [&](std::uint64_t x) {
    sum += x % 2 == 0 ? x : 0;
    n += x % 2 == 0;
  };
#if defined(__clang__) && __clang_major__ < 16
  std::ranges::for_each(s, add);
#else
  for (const std::uint64_t x :
       s | std::views::filter([](std::uint64_t) { return true; })) {
    add(x);
  }
#endif
  check(n == 507 && sum == 249500 + 10020 + 9000);
  check(s.counts().records == 1012);
  u64_sorter bulk({.memory = small_memory});
  bulk.push_range(from_to(0, 100000));
  std::vector<std::uint64_t> out(70000);
  check(bulk.pull(std::span(out)) == 70000 && out[69999] == 69999);
  check(bulk.pull(std::span(out)) == 30000 && out[29999] == 99999);
  check(bulk.pull(std::span(out)) == 0);
}

void files() {
  const std::string from = "cxx_from", to = "cxx_to";
  std::vector<edge> v;
  std::uint64_t state = 3;
  for (std::uint32_t i = 0; i < 10000; i++) {
    v.push_back(make<edge>(state, i));
  }
  std::ofstream(from, std::ios::binary)
      .write(reinterpret_cast<const char *>(v.data()),
             static_cast<std::streamsize>(v.size() * sizeof(edge)));
  const auto counts =
      pems::sort_file<edge>(from, to, {.memory = small_memory, .stable = true},
                            std::less<>(), pems::key<&edge::from, &edge::to>());
  check(counts.records == v.size());
  std::vector<edge> got(v.size());
  std::ifstream(to, std::ios::binary)
      .read(reinterpret_cast<char *>(got.data()),
            static_cast<std::streamsize>(got.size() * sizeof(edge)));
  std::stable_sort(v.begin(), v.end(), [](const edge &a, const edge &b) {
    return std::tie(a.from, a.to) < std::tie(b.from, b.to);
  });
  check(std::ranges::equal(v, got, same<edge>));
  std::filesystem::remove(from);
  std::filesystem::remove(to);
  check_throws(ENOENT, from, [&] {
    pems::sort_file<edge>(from, to, {}, std::less<>(), &edge::to);
  });
}

void errors() {
  check_throws(ENOMEM, "give", [] { u64_sorter s({.memory = 1 << 12}); });
  check_throws(EINVAL, "bogo", [] { u64_sorter s({.kernel = "bogo"}); });
  check_throws(ENOENT, "/nowhere", [] {
    u64_sorter s({.scratch = {.path = {"/nowhere/at/all"}}});
  });
  check_throws(EINVAL, "ended already", [] {
    u64_sorter s({.memory = small_memory});
    s.push(1);
    s.finish();
    s.push(2);
  });
  try {
    u64_sorter s({.memory = 1 << 12});
  } catch (const std::system_error &e) {
    check(e.code() == std::errc::not_enough_memory);
  }
}

void shared_disks() {
  pems::disks disks(pems::scratch{.io = "mem"});
  check(disks.count() == 1 && disks.driver() == "mem");
  pems::sort_options o{.memory = small_memory};
  o.disks = &disks;
  std::uint64_t calls = 0;
  o.progress = [&](std::uint64_t, std::uint64_t) { calls++; };
  u64_sorter s(o);
  for (std::uint64_t i = 0; i < 819200; i++) {
    s.push(i ^ 0x555);
  }
  std::uint64_t want = 0;
  for (const std::uint64_t x : s) {
    check(x == want++);
  }
  check(want == 819200 && disks.counts().bytes_written > 0 && calls > 0);
}

} // namespace

int main() {
  numbers();
  stable_reals();
  stopped();
  members();
  several_members();
  comparisons();
  patterns();
  ranges_and_moves();
  files();
  errors();
  shared_disks();
  std::puts("right");
}
