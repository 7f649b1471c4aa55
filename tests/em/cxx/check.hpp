// For the C++ tests: what must be true, and numbers that look random.
#ifndef PEMS_TESTS_EM_CXX_CHECK_HPP
#define PEMS_TESTS_EM_CXX_CHECK_HPP

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include <pems/error.hpp>

// Where a check is: clang 14 does not know std::source_location.
struct place {
  const char *file, *function;
  int line;
  static constexpr place here(const char *file = __builtin_FILE(),
                              const char *function = __builtin_FUNCTION(),
                              int line = __builtin_LINE()) {
    return {file, function, line};
  }
};

inline void check(bool right, const place &at = place::here()) {
  if (!right) {
    std::fprintf(stderr, "%s:%d: %s: failed\n", at.file, at.line, at.function);
    std::exit(1);
  }
}

inline std::uint64_t random_number(std::uint64_t &state) {
  std::uint64_t x = state += UINT64_C(0x9e3779b97f4a7c15);
  x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
  return x ^ x >> 31;
}

// How often, of n times with PEMS_TEST_LONG.
inline std::uint64_t few(std::uint64_t n) {
  return std::getenv("PEMS_TEST_LONG") ? n : n / 3;
}

// f throws a pems::error of this code, whose message has the text in it.
template <class F>
void check_throws(int code, std::string_view text, F &&f,
                  const place &at = place::here()) {
  try {
    f();
  } catch (const pems::error &e) {
    if (e.code().value() != code ||
        std::string_view(e.what()).find(text) == std::string_view::npos) {
      std::fprintf(stderr, "%s:%d: threw %d: %s\n", at.file, at.line,
                   e.code().value(), e.what());
      std::exit(1);
    }
    return;
  }
  check(false, at);
}

#endif
