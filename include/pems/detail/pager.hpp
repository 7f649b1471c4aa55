// SPDX-License-Identifier: BSD-3-Clause
// Pages of scratch disks of which some are in memory: what the containers are
// made of (<pems/vector.hpp>, <pems/deque.hpp>, <pems/map.hpp>).
//
// A page that is needed takes the place of one that was not used for long (the
// clock algorithm). Changed ones are written behind, a few at a time, and read
// ahead when the container is scanned. As soon as there are more pages than fit
// in memory, each has its space on a disk from the moment when it is made: a
// full disk is noticed then, and never when another page is to be read.
#ifndef PEMS_DETAIL_PAGER_HPP
#define PEMS_DETAIL_PAGER_HPP

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <pems/disk.hpp>
#include <pems/error.hpp>

namespace pems {

// What is 0 or empty has a default.
struct container_options {
  std::uint64_t memory = 0;     // bytes of pages in memory; 0: 64 MiB
  class disks *disks = nullptr; // must outlive the container; else `scratch`
  pems::scratch scratch{};
  std::size_t block = 0;  // bytes of a page, a multiple of PEMS_DISK_UNIT; 0: a
                          // 16th of the memory, at most 1 MiB (map: 16 KiB)
  std::uint64_t seed = 0; // of the randomised dealing
};

// Counts of a container.
struct container_counts {
  std::uint64_t read, written; // pages
  std::uint64_t ahead;         // of those read, before they were needed
  std::uint64_t memory;        // bytes of the pages in memory
};

namespace detail {

class pager {
public:
  using page = std::uint32_t;
  static constexpr page none = UINT32_MAX;
  static constexpr std::size_t least_frames = 4;

  pager(const container_options &o, std::size_t most, std::size_t frames) {
    const std::uint64_t memory = o.memory ? o.memory : std::uint64_t{64} << 20;
    bytes_ = o.block ? o.block
                     : std::clamp<std::uint64_t>(memory / 16 / PEMS_DISK_UNIT *
                                                     PEMS_DISK_UNIT,
                                                 PEMS_DISK_UNIT, most);
    if (bytes_ % PEMS_DISK_UNIT != 0) {
      fail(EINVAL, "container: block: not a multiple of 4096 bytes: round it");
    }
    if (memory / bytes_ < frames) {
      const std::string text =
          "container: memory: " + std::to_string(memory) + " bytes: give " +
          std::to_string(frames * bytes_) + " or more, or a smaller block";
      fail(ENOMEM, text.c_str());
    }
    if (!o.disks) {
      own_.emplace(o.scratch);
    }
    disks_ = o.disks ? o.disks->get() : own_->get();
    pems_dealer_begin(&dealer_, PEMS_DEAL_CYCLIC, o.seed);
    most_frames_ = static_cast<std::size_t>(memory / bytes_);
    frames_.reserve(std::min<std::size_t>(most_frames_, 1024));
  }
  pager(const pager &) = delete;
  pager &operator=(const pager &) = delete;
  ~pager() {
    for (const auto &f : frames_) {
      settle(*f);
    }
    for (const entry &e : table_) {
      if (e.has_block) {
        pems_block_free(disks_, e.block, bytes_);
      }
    }
  }

  std::size_t bytes() const noexcept {
    return bytes_;
  }
  container_counts counts() const noexcept {
    container_counts c = counts_;
    c.memory = frames_.size() * bytes_;
    return c;
  }

  // A new page, whose contents are undefined. ENOSPC if there are more than fit
  // in memory, and no space for it on the disks.
  page make() {
    if (free_.empty()) {
      add_entry();
    }
    entry &e = table_[free_.back()];
    if (table_.size() - free_.size() >= most_frames_) {
      place_all();
      place(e);
    }
    const page p = free_.back();
    free_.pop_back();
    e.is_used = true;
    homeless_ += !e.has_block;
    return p;
  }
  void drop(page p) noexcept {
    entry &e = table_[p];
    if (e.at) {
      settle(*e.at);
    }
    if (e.at) {
      vacate(*e.at);
    }
    if (e.has_block) {
      pems_block_free(disks_, e.block, bytes_);
    }
    homeless_ -= !e.has_block;
    e = entry();
    free_.push_back(p);
  }

  // The page in memory, where it stays until `release` has been called as
  // often. If this throws, nothing has changed, and it may be tried again.
  std::byte *hold(page p, bool change) {
    frame &f = bring(p);
    if (f.is_busy && (f.is_read || change)) {
      wait(f);
    }
    f.is_recent = true;
    f.is_dirty |= change;
    f.holds++;
    return f.buffer.get();
  }
  void release(page p) noexcept {
    table_[p].at->holds--;
  }
  void set_changed(page p) {
    frame &f = *table_[p].at;
    if (f.is_busy) {
      wait(f);
    }
    f.is_dirty = true;
  }

  // Begins to read a page that will be needed. Whatever fails is tried again
  // when it is.
  void ahead(page p) noexcept {
    if (table_[p].at || !table_[p].is_written || reads_ >= most_ahead()) {
      return;
    }
    try {
      begin_read(take(), p);
      counts_.ahead++;
    } catch (...) {
      return;
    }
  }
  std::size_t most_ahead() const noexcept {
    return std::min<std::size_t>(most_frames_ / 4, 16);
  }

private:
  struct release_memory {
    void operator()(std::byte *p) const noexcept {
      std::free(p);
    }
  };
  struct frame {
    std::unique_ptr<std::byte, release_memory> buffer;
    pems_request request{};
    page of = none;
    std::uint32_t holds = 0;
    bool is_dirty = false, is_recent = false;
    bool is_busy = false, is_read = false; // by `request`
  };
  struct entry {
    pems_block block{};
    frame *at = nullptr;
    bool is_used = false; // else in free_
    bool has_block = false, is_written = false;
  };

  [[noreturn]] void fail_io(bool is_read, int code) const {
    const std::string text =
        std::string("container: ") + (is_read ? "reading" : "writing") +
        " a page: " + std::strerror(code) + ": see the scratch disks";
    fail(code, text.c_str());
  }

  // Ends a request; returns its errno value.
  int settle(frame &f) noexcept {
    if (!f.is_busy) {
      return 0;
    }
    const int code = pems_request_wait(disks_, &f.request);
    f.is_busy = false;
    (f.is_read ? reads_ : writes_)--;
    if (code && f.is_read) {
      vacate(f);
    } else if (code) {
      f.is_dirty = true;
    }
    return code;
  }
  void wait(frame &f) {
    const bool is_read = f.is_read;
    if (const int code = settle(f)) {
      fail_io(is_read, code);
    }
  }

  // The same of a page that nobody waits for: it is read again if need be.
  void reap(frame &f) {
    const bool is_read = f.is_read;
    const int code = settle(f);
    if (code && !is_read) {
      fail_io(false, code);
    }
  }

  void begin(frame &f, page p, bool write) noexcept {
    f.request = pems_request{};
    f.request.block = table_[p].block;
    f.request.buf = f.buffer.get();
    f.request.n = bytes_;
    f.request.write = write;
    f.is_busy = true;
    f.is_read = !write;
    (write ? writes_ : reads_)++;
    (write ? counts_.written : counts_.read)++;
    pems_request *const r = &f.request;
    pems_disks_start(disks_, &r, 1);
  }
  void begin_read(frame &f, page p) noexcept {
    f.of = p;
    f.is_recent = true;
    table_[p].at = &f;
    begin(f, p, false);
  }
  void begin_write(frame &f) noexcept {
    table_[f.of].is_written = true;
    f.is_dirty = false;
    begin(f, f.of, true);
  }

  void add_entry() {
    if (table_.size() == none) {
      fail(EFBIG, "container: too many pages: give a larger block");
    }
    free_.reserve(table_.size() + 1); // so that drop cannot fail
    table_.emplace_back();
    free_.push_back(static_cast<page>(table_.size() - 1));
  }
  void place(entry &e) {
    call([&](pems_error *error) {
      return pems_block_reserve(disks_, &dealer_, bytes_, &e.block, error);
    });
    e.has_block = true;
  }
  // Pages that were made when all fit in memory: they may have to leave it now.
  void place_all() {
    for (std::size_t i = 0; homeless_ > 0; i++) {
      if (table_[i].is_used && !table_[i].has_block) {
        place(table_[i]);
        homeless_--;
      }
    }
  }

  frame &bring(page p) {
    if (table_[p].at) {
      return *table_[p].at;
    }
    frame &f = take();
    if (table_[p].is_written) {
      begin_read(f, p);
    } else {
      f.of = p;
      table_[p].at = &f;
    }
    return f;
  }

  // Takes the page of a frame, which is not busy, away.
  void vacate(frame &f) noexcept {
    table_[f.of].at = nullptr;
    f.of = none;
    f.is_dirty = f.is_recent = false;
    vacant_.push_back(&f);
  }

  // A frame that holds no page. One is empty if all pages fit in memory: so
  // those that have no block yet stay there.
  frame &take() {
    for (;;) {
      if (!vacant_.empty()) {
        frame &f = *vacant_.back();
        vacant_.pop_back();
        return f;
      }
      if (frames_.size() < most_frames_) {
        return add_frame();
      }
      if (sweep()) {
        continue;
      }
      frame *const busy = first_busy();
      if (!busy) {
        fail(ENOMEM, "container: memory: all pages are in use: give more");
      }
      reap(*busy);
    }
  }
  frame &add_frame() {
    auto f = std::make_unique<frame>();
    f->buffer.reset(
        static_cast<std::byte *>(std::aligned_alloc(PEMS_DISK_UNIT, bytes_)));
    if (!f->buffer) {
      throw std::bad_alloc();
    }
    std::memset(f->buffer.get(), 0, bytes_); // what is written is defined
    vacant_.reserve(frames_.size() + 1);     // so that vacate cannot fail
    frames_.push_back(std::move(f));
    return *frames_.back();
  }

  // Twice around the clock: what was used gets a second chance, what was
  // changed is written. Whether a frame has become vacant.
  bool sweep() {
    for (std::size_t i = 0; i < 2 * frames_.size() && vacant_.empty(); i++) {
      frame &f = *frames_[hand_];
      hand_ = hand_ + 1 < frames_.size() ? hand_ + 1 : 0;
      if (f.is_busy && !f.holds && pems_request_test(&f.request)) {
        reap(f);
      }
      if (f.holds || f.is_busy || f.of == none) {
        continue;
      }
      if (std::exchange(f.is_recent, false)) {
        continue;
      }
      if (!f.is_dirty) {
        vacate(f);
      } else if (writes_ < std::max<std::size_t>(1, most_frames_ / 4)) {
        begin_write(f);
      }
    }
    return !vacant_.empty();
  }
  frame *first_busy() noexcept {
    for (std::size_t i = 0; i < frames_.size(); i++) {
      frame &f = *frames_[(hand_ + i) % frames_.size()];
      if (f.is_busy && !f.holds) {
        return &f;
      }
    }
    return nullptr;
  }

  std::optional<disks> own_;
  pems_disks *disks_ = nullptr;
  pems_dealer dealer_{};
  std::size_t bytes_ = 0, most_frames_ = 0, hand_ = 0;
  std::size_t reads_ = 0, writes_ = 0; // under way
  std::vector<std::unique_ptr<frame>> frames_;
  std::vector<entry> table_;
  std::vector<page> free_;
  std::size_t homeless_ = 0;    // pages in use without a block
  std::vector<frame *> vacant_; // frames that hold no page
  container_counts counts_{};
};

} // namespace detail
} // namespace pems

#endif
