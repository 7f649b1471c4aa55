// SPDX-License-Identifier: BSD-3-Clause
// Errors of the library as exceptions.
#ifndef PEMS_ERROR_HPP
#define PEMS_ERROR_HPP

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <exception>
#include <mutex>
#include <new>
#include <stdexcept>
#include <system_error>
#include <utility>

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

// No error: its text, which is long, is not set to 0 for each call.
struct no_error : pems_error {
  no_error() noexcept {
    code = 0;
    text[0] = '\0';
  }
};

// A call with a pems_error as its last argument: throws if it fails.
template <class F> void call(F &&f) {
  no_error e;
  if (const int code = f(&e); code != 0) {
    e.code = e.code ? e.code : code;
    throw error(e);
  }
}

// The exception that callbacks of the library threw, the first of them: it ends
// the run, and is thrown again by the call that ran them. Threads may share
// one.
class caught {
public:
  // Calls f, of which nothing may be thrown into C. Returns 0 or an errno
  // value.
  template <class F> int guard(pems_error *e, F &&f) noexcept {
    try {
      f();
      return 0;
    } catch (const error &x) {
      return keep(e, x.code().value() ? x.code().value() : EIO, x.what());
    } catch (const std::bad_alloc &x) {
      return keep(e, ENOMEM, x.what());
    } catch (const std::exception &x) {
      return keep(e, ECANCELED, x.what());
    } catch (...) {
      return keep(e, ECANCELED, "an exception");
    }
  }
  // f is a call of the library that may have called guard.
  template <class F> void call(F &&f) {
    no_error e;
    const int code = f(&e);
    if (const std::exception_ptr first = take()) {
      std::rethrow_exception(first);
    }
    if (code != 0) {
      e.code = e.code ? e.code : code;
      throw error(e);
    }
  }
  bool any() noexcept {
    const std::lock_guard<std::mutex> hold(mutex_);
    return first_ != nullptr;
  }

private:
  int keep(pems_error *e, int code, const char *text) noexcept {
    const std::lock_guard<std::mutex> hold(mutex_);
    if (!first_) {
      first_ = std::current_exception();
    }
    if (e) {
      e->code = code;
      std::snprintf(e->text, sizeof(e->text), "%s", text);
    }
    return code;
  }
  std::exception_ptr take() noexcept {
    const std::lock_guard<std::mutex> hold(mutex_);
    return std::exchange(first_, nullptr);
  }

  std::mutex mutex_;
  std::exception_ptr first_;
};

} // namespace detail
} // namespace pems

#endif
