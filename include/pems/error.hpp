// Errors of the library as exceptions.
#ifndef PEMS_ERROR_HPP
#define PEMS_ERROR_HPP

#include <cerrno>
#include <cstddef>
#include <stdexcept>
#include <system_error>

#include <pems/status.h>

namespace pems {

// What a function of the library returns when it fails: code() is the errno
// value (of std::generic_category), what() the library's line, "what failed:
// the value: what to do".
class error : public std::system_error {
public:
  explicit error(const pems_error &e)
      : std::system_error(e.code, std::generic_category()), text_(e.text) {
  }
  error(int code, const char *text)
      : std::system_error(code, std::generic_category()), text_(text) {
  }

  const char *what() const noexcept override {
    return text_.what();
  }

private:
  std::runtime_error text_; // its copies cannot fail
};

namespace detail {

[[noreturn]] inline void fail(int code, const char *text) {
  throw error(code, text);
}

// A call with a pems_error as its last argument: throws if it fails.
template <class F> void call(F &&f) {
  pems_error e{};
  if (const int code = f(&e); code != 0) {
    e.code = e.code ? e.code : code;
    throw error(e);
  }
}

} // namespace detail
} // namespace pems

#endif
