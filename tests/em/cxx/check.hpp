// For the C++ tests: what must be true, and numbers that look random.
#ifndef PEMS_TESTS_EM_CXX_CHECK_HPP
#define PEMS_TESTS_EM_CXX_CHECK_HPP

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <source_location>
#include <string>
#include <string_view>

#include <pems/error.hpp>

inline void
check(bool right,
      const std::source_location &at = std::source_location::current()) {
  if (!right) {
    std::fprintf(stderr, "%s:%u: %s: failed\n", at.file_name(),
                 static_cast<unsigned>(at.line()), at.function_name());
    std::exit(1);
  }
}

inline std::uint64_t random_number(std::uint64_t &state) {
  std::uint64_t x = state += UINT64_C(0x9e3779b97f4a7c15);
  x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
  return x ^ x >> 31;
}

// f throws a pems::error of this code, whose message has the text in it.
template <class F>
void check_throws(
    int code, std::string_view text, F &&f,
    const std::source_location &at = std::source_location::current()) {
  try {
    f();
  } catch (const pems::error &e) {
    if (e.code().value() != code ||
        std::string_view(e.what()).find(text) == std::string_view::npos) {
      std::fprintf(stderr, "%s:%u: threw %d: %s\n", at.file_name(),
                   static_cast<unsigned>(at.line()), e.code().value(),
                   e.what());
      std::exit(1);
    }
    return;
  }
  check(false, at);
}

#endif
