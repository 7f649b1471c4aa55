// SPDX-License-Identifier: BSD-3-Clause
// Scratch disks, and the options that sorters, queues and containers share.
#ifndef PEMS_DISK_HPP
#define PEMS_DISK_HPP

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <pems/disk.h>
#include <pems/error.hpp>

namespace pems {

// Where scratch data go: see struct pems_disks_options. Empty: one disk in
// $TMPDIR or /var/tmp.
struct scratch {
  std::vector<std::string> path{};
  std::string io{}; // driver; empty: unix
  int depth = 0;
  bool strict = false;
};

namespace detail {

// The C struct of a scratch, which must outlive it.
class scratch_options {
public:
  explicit scratch_options(const scratch &s) {
    for (const std::string &p : s.path) {
      path_.push_back(p.c_str());
    }
    options_.path = path_.empty() ? nullptr : path_.data();
    options_.count = static_cast<int>(path_.size());
    options_.io = s.io.empty() ? nullptr : s.io.c_str();
    options_.depth = s.depth;
    options_.strict = s.strict;
  }
  scratch_options(const scratch_options &) = delete;
  scratch_options &operator=(const scratch_options &) = delete;

  const pems_disks_options &get() const {
    return options_;
  }

private:
  std::vector<const char *> path_;
  pems_disks_options options_{};
};

} // namespace detail

// Open disks, closed when this is destroyed: after all that use them. Threads
// may share one.
class disks {
public:
  disks() : disks(scratch{}) {
  }
  explicit disks(const scratch &where) {
    const detail::scratch_options o(where);
    pems_disks *opened = nullptr;
    detail::call(
        [&](pems_error *e) { return pems_disks_open(&opened, &o.get(), e); });
    disks_.reset(opened);
  }

  int count() const noexcept {
    return pems_disks_count(disks_.get());
  }
  std::string path(int disk) const {
    return pems_disks_path(disks_.get(), disk);
  }
  std::string driver() const {
    return pems_disks_driver(disks_.get());
  }
  pems_disk_counts counts() const noexcept {
    pems_disk_counts c;
    pems_disks_counts(disks_.get(), &c);
    return c;
  }
  pems_disks *get() const noexcept {
    return disks_.get();
  }

private:
  struct close {
    void operator()(pems_disks *d) const noexcept {
      pems_disks_close(d);
    }
  };
  std::unique_ptr<pems_disks, close> disks_;
};

namespace detail {

// The text as C has it: NULL if it is empty. It must outlive that.
inline const char *c_text(const std::string &s) {
  return s.empty() ? nullptr : s.c_str();
}

// Copies to a C struct of options, which becomes complete by this, what most
// have in common. It points to `o` and `scratch`, which is of o.
template <class C, class O>
void c_options(C &c, const O &o, const scratch_options &scratch) {
  c.size = sizeof(c);
  c.memory = o.memory;
  c.disks = o.disks ? o.disks->get() : nullptr;
  c.scratch = scratch.get();
  if constexpr (requires { c.threads = o.threads; }) {
    c.threads = o.threads;
  }
  if constexpr (requires { c.block = o.block; }) {
    c.block = o.block;
  }
  if constexpr (requires { c.seed = o.seed; }) {
    c.seed = o.seed;
  }
  if constexpr (requires { c.kernel = c_text(o.kernel); }) {
    c.kernel = c_text(o.kernel);
  }
}

} // namespace detail

} // namespace pems

#endif
