// SPDX-License-Identifier: BSD-3-Clause
// A B+ tree in pages: what <pems/map.hpp> is made of.
//
// All records are in leaves, which are chained in order. Nodes are split where
// they are full, and merged with a neighbour below the same parent where both
// fit into one: so a leaf that is the only one below its parent may be empty.
// What is changed is first brought into memory, all of it: after that nothing
// can fail.
#ifndef PEMS_DETAIL_TREE_HPP
#define PEMS_DETAIL_TREE_HPP

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <pems/detail/pager.hpp>
#include <pems/kernel.hpp>

namespace pems::detail {

// A page that is held.
class held_page {
public:
  held_page() = default;
  held_page(pager &of, pager::page p, bool change)
      : of_(&of), page_(p), bytes_(of.hold(p, change)) {
  }
  held_page(held_page &&o) noexcept
      : of_(std::exchange(o.of_, nullptr)), page_(o.page_), bytes_(o.bytes_) {
  }
  held_page &operator=(held_page &&o) noexcept {
    std::swap(of_, o.of_);
    std::swap(page_, o.page_);
    std::swap(bytes_, o.bytes_);
    return *this;
  }
  ~held_page() {
    release();
  }
  void release() noexcept {
    if (of_) {
      std::exchange(of_, nullptr)->release(page_);
    }
  }
  // From now on what is written to it will be on disk.
  void change() {
    of_->set_changed(page_);
  }
  pager::page page() const noexcept {
    return page_;
  }
  std::byte *bytes() const noexcept {
    return bytes_;
  }

private:
  pager *of_ = nullptr;
  pager::page page_ = pager::none;
  std::byte *bytes_ = nullptr;
};

// How a page is laid out: its head, room for keys, room for what is with them
// (values of a leaf, pages of an inner node).
struct tree_layout {
  std::size_t most = 0; // entries: records of a leaf, children of a node
  std::size_t keys = 0, with = 0; // where they begin

  static constexpr std::size_t up(std::size_t n, std::size_t unit) {
    return (n + unit - 1) / unit * unit;
  }
  tree_layout(std::size_t bytes, std::size_t head, std::size_t key,
              std::size_t key_align, std::size_t other,
              std::size_t other_align) {
    keys = up(head, key_align);
    most = (bytes - keys) / (key + other);
    for (; most > 0; most--) {
      with = up(keys + most * key, other_align);
      if (with + most * other <= bytes) {
        return;
      }
    }
  }
};

template <class Key, class T, class Less> class tree {
  using page = pager::page;
  struct head {
    std::uint32_t count; // records of a leaf, children of an inner node
    page next;           // of a leaf: the one behind it
  };

public:
  // Of a record; the default one is behind the last.
  struct position {
    page leaf = pager::none;
    std::uint32_t index = 0;
    bool operator==(const position &) const = default;
  };
  class builder;

  tree(const container_options &o, Less less)
      : pager_(std::make_unique<pager>(o, std::size_t{16} << 10, frames)),
        less_(std::move(less)),
        leaf_(pager_->bytes(), sizeof(head), sizeof(Key), alignof(Key),
              sizeof(T), alignof(T)),
        inner_(pager_->bytes(), sizeof(head), sizeof(Key), alignof(Key),
               sizeof(page), alignof(page)) {
    if (leaf_.most < 2 || inner_.most < 4) {
      fail(EINVAL, "container: block: too small for the records: give a "
                   "larger one");
    }
  }
  tree(tree &&o) noexcept
      : pager_(std::move(o.pager_)), less_(o.less_), leaf_(o.leaf_),
        inner_(o.inner_), root_(std::exchange(o.root_, pager::none)),
        height_(std::exchange(o.height_, 0)), size_(std::exchange(o.size_, 0)) {
  }
  tree &operator=(tree &&o) noexcept {
    pager_ = std::move(o.pager_);
    less_ = o.less_;
    leaf_ = o.leaf_;
    inner_ = o.inner_;
    root_ = std::exchange(o.root_, pager::none);
    height_ = std::exchange(o.height_, 0);
    size_ = std::exchange(o.size_, 0);
    return *this;
  }

  std::uint64_t size() const noexcept {
    return size_;
  }
  container_counts counts() const noexcept {
    return pager_->counts();
  }

  // --- looking ---

  std::optional<T> get(const Key &k) const {
    if (root_ == pager::none) {
      return std::nullopt;
    }
    const held_page leaf = leaf_of(k);
    const std::uint32_t i = lower(leaf, k);
    if (!is_at(leaf, i, k)) {
      return std::nullopt;
    }
    T v;
    copy(&v, &values(leaf)[i]);
    return v;
  }
  std::pair<Key, T> record_at(position at) const {
    const held_page leaf = hold(at.leaf);
    std::pair<Key, T> r;
    copy(&r.first, &keys(leaf)[at.index]);
    copy(&r.second, &values(leaf)[at.index]);
    return r;
  }
  position find(const Key &k) const {
    if (root_ == pager::none) {
      return {};
    }
    const held_page leaf = leaf_of(k);
    const std::uint32_t i = lower(leaf, k);
    return is_at(leaf, i, k) ? position{leaf.page(), i} : position{};
  }
  // The first that is not less than k; is_above: that is greater.
  position bound(const Key &k, bool is_above) const {
    if (root_ == pager::none) {
      return {};
    }
    const held_page leaf = leaf_of(k);
    std::uint32_t i = lower(leaf, k);
    i += is_above && is_at(leaf, i, k);
    return settle(leaf, i);
  }
  position first() const {
    if (root_ == pager::none) {
      return {};
    }
    page p = root_;
    for (std::uint32_t level = height_; level > 0; level--) {
      p = children(hold(p))[0];
    }
    return settle(hold(p), 0);
  }
  position after(position at) const {
    const held_page leaf = hold(at.leaf);
    if (at.index + 1 < count(leaf)) {
      return {at.leaf, at.index + 1};
    }
    const position next = settle(leaf, at.index + 1);
    if (next.leaf != pager::none) {
      read_ahead(next.leaf);
    }
    return next;
  }
  // Of the default position: the last one.
  position before(position at) const {
    if (at.leaf != pager::none && at.index > 0) {
      return {at.leaf, at.index - 1};
    }
    if (root_ == pager::none) {
      return {};
    }
    std::vector<step> path;
    if (at.leaf == pager::none) {
      const position last = descend_last(path, root_);
      return last.leaf != pager::none ? last : left_of(path);
    }
    const Key k = first_key(at.leaf);
    trace(path, k);
    return left_of(path);
  }

  // --- changing ---

  bool insert(const Key &k, const T &v, bool assign) {
    if (root_ == pager::none) {
      make_root();
    }
    std::vector<step> path;
    held_page leaf = hold(trace(path, k));
    const std::uint32_t i = lower(leaf, k);
    if (is_at(leaf, i, k)) {
      if (assign) {
        leaf.change();
        copy(&values(leaf)[i], &v);
      }
      return false;
    }
    if (count(leaf) < leaf_.most) {
      leaf.change();
      put_record(leaf, i, k, v);
    } else {
      split(path, std::move(leaf), i, k, v);
    }
    size_++;
    return true;
  }

  std::uint64_t erase(const Key &k) {
    if (root_ == pager::none) {
      return 0;
    }
    std::vector<step> path;
    held_page leaf = hold(trace(path, k));
    const std::uint32_t i = lower(leaf, k);
    if (!is_at(leaf, i, k)) {
      return 0;
    }
    take(path, std::move(leaf), i);
    size_--;
    return 1;
  }

private:
  // Paths and what is split or merged beside them, of 6 levels.
  static constexpr std::size_t frames = 16;

  // An inner node on the way down, and which of its children was next.
  struct step {
    page node;
    std::uint32_t child;
  };

  // --- nodes ---

  static head &head_of(const held_page &n) noexcept {
    return *reinterpret_cast<head *>(n.bytes());
  }
  static std::uint32_t &count(const held_page &n) noexcept {
    return head_of(n).count;
  }
  Key *keys(const held_page &n) const noexcept {
    return reinterpret_cast<Key *>(n.bytes() + leaf_.keys);
  }
  T *values(const held_page &leaf) const noexcept {
    return reinterpret_cast<T *>(leaf.bytes() + leaf_.with);
  }
  page *children(const held_page &node) const noexcept {
    return reinterpret_cast<page *>(node.bytes() + inner_.with);
  }
  template <class U>
  static void move(U *to, const U *from, std::size_t n) noexcept {
    std::memmove(static_cast<void *>(to), static_cast<const void *>(from),
                 n * sizeof(U));
  }
  held_page hold(page p) const {
    return {*pager_, p, false};
  }
  Key first_key(page leaf) const {
    const held_page h = hold(leaf);
    Key k;
    copy(&k, &keys(h)[0]);
    return k;
  }

  // The first record of a leaf whose key is not less than k.
  std::uint32_t lower(const held_page &leaf, const Key &k) const {
    const Key *const begin = keys(leaf);
    return static_cast<std::uint32_t>(
        std::lower_bound(begin, begin + count(leaf), k, less_) - begin);
  }
  bool is_at(const held_page &leaf, std::uint32_t i, const Key &k) const {
    return i < count(leaf) && !less_(k, keys(leaf)[i]);
  }
  // Key i of an inner node is not greater than those below child i + 1, and
  // greater than those below child i.
  std::uint32_t child_of(const held_page &node, const Key &k) const {
    const Key *const begin = keys(node);
    return static_cast<std::uint32_t>(
        std::upper_bound(begin, begin + (count(node) - 1), k, less_) - begin);
  }

  // --- ways ---

  held_page leaf_of(const Key &k) const {
    page p = root_;
    for (std::uint32_t level = height_; level > 0; level--) {
      const held_page node = hold(p);
      p = children(node)[child_of(node, k)];
    }
    return hold(p);
  }
  page trace(std::vector<step> &path, const Key &k) const {
    page p = root_;
    path.reserve(height_);
    for (std::uint32_t level = height_; level > 0; level--) {
      const held_page node = hold(p);
      const std::uint32_t i = child_of(node, k);
      path.push_back({p, i});
      p = children(node)[i];
    }
    return p;
  }
  // Record i of a leaf, or the next one behind it.
  position settle(const held_page &leaf, std::uint32_t i) const {
    if (i < count(leaf)) {
      return {leaf.page(), i};
    }
    for (page p = head_of(leaf).next; p != pager::none;) {
      const held_page next = hold(p);
      if (count(next) > 0) {
        return {p, 0};
      }
      p = head_of(next).next;
    }
    return {};
  }
  // The last record below a node, at the level where the path has come to; the
  // way there is added to the path. None where that leaf is empty.
  position descend_last(std::vector<step> &path, page p) const {
    while (path.size() < height_) {
      const held_page node = hold(p);
      path.push_back({p, count(node) - 1});
      p = children(node)[count(node) - 1];
    }
    const held_page leaf = hold(p);
    return count(leaf) > 0 ? position{p, count(leaf) - 1} : position{};
  }
  // The last record to the left of a path.
  position left_of(std::vector<step> &path) const {
    while (!path.empty()) {
      step &s = path.back();
      if (s.child == 0) {
        path.pop_back();
        continue;
      }
      const page p = children(hold(s.node))[--s.child];
      const position last = descend_last(path, p);
      if (last.leaf != pager::none) {
        return last;
      }
    }
    return {};
  }
  // Reads the leaves behind this one, those below the same parent.
  void read_ahead(page leaf) const {
    if (height_ == 0) {
      return;
    }
    const Key k = first_key(leaf);
    page p = root_;
    for (std::uint32_t level = height_;; level--) {
      const held_page node = hold(p);
      const std::uint32_t i = child_of(node, k);
      if (level > 1) {
        p = children(node)[i];
        continue;
      }
      const std::size_t end =
          std::min<std::size_t>(count(node), i + 1 + pager_->most_ahead());
      for (std::size_t next = i + 1; next < end; next++) {
        pager_->ahead(children(node)[next]);
      }
      return;
    }
  }

  // --- pages that are new: dropped again unless they are kept ---

  class fresh {
  public:
    explicit fresh(pager &of) : of_(of) {
    }
    fresh(const fresh &) = delete;
    fresh &operator=(const fresh &) = delete;
    ~fresh() {
      for (held_page &h : pages_) {
        const page p = h.page();
        h.release();
        if (!is_kept_) {
          of_.drop(p);
        }
      }
    }
    held_page &add() {
      pages_.reserve(pages_.size() + 1);
      const page p = of_.make();
      try {
        pages_.emplace_back(of_, p, true);
      } catch (...) {
        of_.drop(p);
        throw;
      }
      head_of(pages_.back()) = {0, pager::none};
      return pages_.back();
    }
    held_page &operator[](std::size_t i) noexcept {
      return pages_[i];
    }
    void keep() noexcept {
      is_kept_ = true;
    }

  private:
    pager &of_;
    std::vector<held_page> pages_;
    bool is_kept_ = false;
  };

  void make_root() {
    fresh made(*pager_);
    root_ = made.add().page();
    height_ = 0;
    made.keep();
  }

  // --- splitting ---

  void put_record(const held_page &leaf, std::uint32_t i, const Key &k,
                  const T &v) noexcept {
    const std::uint32_t n = count(leaf) - i;
    move(keys(leaf) + i + 1, keys(leaf) + i, n);
    move(values(leaf) + i + 1, values(leaf) + i, n);
    copy(&keys(leaf)[i], &k);
    copy(&values(leaf)[i], &v);
    count(leaf)++;
  }
  // Behind child i, which key k separates it from.
  void put_child(const held_page &node, std::uint32_t i, const Key &k,
                 page child) noexcept {
    const std::uint32_t n = count(node) - i - 1;
    move(keys(node) + i + 1, keys(node) + i, n);
    move(children(node) + i + 2, children(node) + i + 1, n);
    copy(&keys(node)[i], &k);
    children(node)[i + 1] = child;
    count(node)++;
  }

  // Of a full leaf and a record more. Behind the last one it stays full, so
  // that ascending keys fill all leaves. Returns the key between them.
  Key split_leaf(const held_page &left, const held_page &right, std::uint32_t i,
                 const Key &k, const T &v) noexcept {
    const std::uint32_t n = count(left);
    const bool is_last = i == n && head_of(left).next == pager::none;
    const std::uint32_t middle = is_last ? n : n / 2;
    move(keys(right), keys(left) + middle, n - middle);
    move(values(right), values(left) + middle, n - middle);
    count(right) = n - middle;
    count(left) = middle;
    head_of(right).next = head_of(left).next;
    head_of(left).next = right.page();
    if (i < middle) {
      put_record(left, i, k, v);
    } else {
      put_record(right, i - middle, k, v);
    }
    Key between;
    copy(&between, &keys(right)[0]);
    return between;
  }
  // Of a full inner node and a child more, behind child i. The same.
  Key split_inner(const held_page &left, const held_page &right,
                  std::uint32_t i, const Key &k, page child) noexcept {
    const std::uint32_t n = count(left);
    if (i + 1 == n) {
      children(right)[0] = child;
      count(right) = 1;
      return k;
    }
    const std::uint32_t middle = n / 2;
    Key between;
    copy(&between, &keys(left)[middle - 1]);
    move(keys(right), keys(left) + middle, n - middle - 1);
    move(children(right), children(left) + middle, n - middle);
    count(right) = n - middle;
    count(left) = middle;
    if (i < middle) {
      put_child(left, i, k, child);
    } else {
      put_child(right, i - middle, k, child);
    }
    return between;
  }

  // How many inner nodes at the path's end are full.
  std::size_t full_nodes(const std::vector<step> &path) const {
    std::size_t n = 0;
    while (n < path.size() &&
           count(hold(path[path.size() - 1 - n].node)) == inner_.most) {
      n++;
    }
    return n;
  }

  void split(const std::vector<step> &path, held_page leaf, std::uint32_t i,
             const Key &k, const T &v) {
    const std::size_t full = full_nodes(path), levels = path.size();
    const std::size_t changed = std::min(full + 1, levels);
    std::vector<held_page> nodes;
    nodes.reserve(changed);
    leaf.change();
    for (std::size_t n = 0; n < changed; n++) {
      nodes.emplace_back(*pager_, path[levels - 1 - n].node, true);
    }
    fresh made(*pager_);
    for (std::size_t n = 0; n < full + 1 + (full == levels); n++) {
      made.add();
    }
    // Nothing fails from here on.
    made.keep();
    Key between = split_leaf(leaf, made[0], i, k, v);
    for (std::size_t n = 0; n < full; n++) {
      between = split_inner(nodes[n], made[n + 1], path[levels - 1 - n].child,
                            between, made[n].page());
    }
    if (full < levels) {
      put_child(nodes[full], path[levels - 1 - full].child, between,
                made[full].page());
    } else {
      grow(made[full + 1], between, made[full].page());
    }
  }
  void grow(const held_page &root, const Key &between, page right) noexcept {
    children(root)[0] = root_;
    count(root) = 1;
    put_child(root, 0, between, right);
    root_ = root.page();
    height_++;
  }

  // --- merging ---

  // Two neighbours: child `left` of a node and the one behind it.
  struct pair_of {
    held_page left, right, parent;
    std::uint32_t index = 0; // of the left one
  };

  void take_record(const held_page &leaf, std::uint32_t i) noexcept {
    const std::uint32_t n = count(leaf) - i - 1;
    move(keys(leaf) + i, keys(leaf) + i + 1, n);
    move(values(leaf) + i, values(leaf) + i + 1, n);
    count(leaf)--;
  }
  // Child i + 1, and the key before it.
  void take_child(const held_page &node, std::uint32_t i) noexcept {
    const std::uint32_t n = count(node) - i - 2;
    move(keys(node) + i, keys(node) + i + 1, n);
    move(children(node) + i + 1, children(node) + i + 2, n);
    count(node)--;
  }
  void join_leaves(const pair_of &p) noexcept {
    const std::uint32_t n = count(p.left), m = count(p.right);
    move(keys(p.left) + n, keys(p.right), m);
    move(values(p.left) + n, values(p.right), m);
    count(p.left) = n + m;
    head_of(p.left).next = head_of(p.right).next;
  }
  void join_inner(const pair_of &p) noexcept {
    const std::uint32_t n = count(p.left), m = count(p.right);
    copy(&keys(p.left)[n - 1], &keys(p.parent)[p.index]);
    move(keys(p.left) + n, keys(p.right), m - 1);
    move(children(p.left) + n, children(p.right), m);
    count(p.left) = n + m;
  }

  // The node below `s` that will have so many entries, and its neighbour, if
  // that is less than half of the most, and both fit in one.
  std::optional<pair_of> neighbours(const step &s, std::uint32_t entries,
                                    std::size_t most) const {
    pair_of p;
    p.parent = hold(s.node);
    if (entries >= most / 2 || count(p.parent) < 2) {
      return std::nullopt;
    }
    p.index = s.child + 1 < count(p.parent) ? s.child : s.child - 1;
    p.left = hold(children(p.parent)[p.index]);
    p.right = hold(children(p.parent)[p.index + 1]);
    const held_page &other = p.index == s.child ? p.right : p.left;
    if (entries + count(other) > most) {
      return std::nullopt;
    }
    p.parent.change();
    p.left.change();
    return p;
  }

  // Takes a record away, and merges what may be merged then, from the leaf up.
  void take(const std::vector<step> &path, held_page leaf, std::uint32_t i) {
    std::vector<pair_of> merged;
    merged.reserve(path.size());
    leaf.change();
    std::uint32_t entries = count(leaf) - 1;
    std::size_t most = leaf_.most;
    for (std::size_t n = 0; n < path.size(); n++) {
      auto p = neighbours(path[path.size() - 1 - n], entries, most);
      if (!p) {
        break;
      }
      entries = count(p->parent) - 1;
      most = inner_.most;
      merged.push_back(std::move(*p));
    }
    // Nothing fails from here on.
    take_record(leaf, i);
    leaf.release();
    for (std::size_t n = 0; n < merged.size(); n++) {
      pair_of &p = merged[n];
      if (n == 0) {
        join_leaves(p);
      } else {
        join_inner(p);
      }
      take_child(p.parent, p.index);
    }
    drop_right(merged);
    shrink();
  }
  void drop_right(std::vector<pair_of> &merged) noexcept {
    std::vector<pair_of> ended;
    ended.swap(merged);
    for (pair_of &p : ended) {
      p.left.release();
      p.parent.release();
    }
    for (pair_of &p : ended) {
      const page gone = p.right.page();
      p.right.release();
      pager_->drop(gone);
    }
  }
  // A root of one child is none. If it cannot be read, it stays as it is.
  void shrink() noexcept {
    try {
      while (height_ > 0) {
        const page old = root_;
        {
          const held_page root = hold(old);
          if (count(root) > 1) {
            return;
          }
          root_ = children(root)[0];
        }
        height_--;
        pager_->drop(old);
      }
    } catch (...) {
      return;
    }
  }

  std::unique_ptr<pager> pager_;
  Less less_;
  tree_layout leaf_, inner_;
  page root_ = pager::none;
  std::uint32_t height_ = 0; // levels above the leaves
  std::uint64_t size_ = 0;
};

// Makes a tree of records in order: each level has one node that grows. The
// tree gets them by `finish`; else they are dropped.
template <class Key, class T, class Less> class tree<Key, T, Less>::builder {
public:
  explicit builder(tree &of) : of_(of) {
    if (of.size_ > 0) {
      fail(EINVAL, "map: build: there are records in it: begin with an empty "
                   "one");
    }
    if (of_.root_ != pager::none) {
      collect(of_.root_, of_.height_);
    }
  }
  builder(const builder &) = delete;
  builder &operator=(const builder &) = delete;
  ~builder() {
    levels_.clear();
    drop(made_);
  }

  void add(const Key &k, const T &v) {
    if (size_ > 0 && !of_.less_(last_, k)) {
      fail(EINVAL, "map: build: keys are not in ascending order, each once: "
                   "sort them, and leave one of each");
    }
    if (levels_.empty()) {
      add_level();
    } else if (count(levels_[0].node) == of_.leaf_.most) {
      add_leaf(k);
    }
    of_.put_record(levels_[0].node, count(levels_[0].node), k, v);
    copy(&last_, &k);
    size_++;
  }

  void finish() {
    if (levels_.empty()) {
      return;
    }
    const page root = levels_.back().node.page();
    const auto height = static_cast<std::uint32_t>(levels_.size() - 1);
    levels_.clear();
    made_.clear();
    drop(old_);
    of_.root_ = root;
    of_.height_ = height;
    of_.size_ = size_;
  }

private:
  struct level {
    held_page node; // the last one
    page first;
  };

  held_page make() {
    made_.push_back(pager::none);
    made_.back() = of_.pager_->make();
    held_page h(*of_.pager_, made_.back(), true);
    head_of(h) = {0, pager::none};
    return h;
  }
  void add_level() {
    held_page h = make();
    const page p = h.page();
    levels_.push_back({std::move(h), p});
  }
  void add_leaf(const Key &k) {
    held_page h = make();
    head_of(levels_[0].node).next = h.page();
    const page p = h.page();
    levels_[0].node = std::move(h);
    add_child(1, k, p);
  }
  void add_child(std::size_t at, const Key &k, page child) {
    if (at == levels_.size()) {
      add_level();
      of_.children(levels_[at].node)[0] = levels_[at - 1].first;
      count(levels_[at].node) = 1;
    }
    if (count(levels_[at].node) < of_.inner_.most) {
      of_.put_child(levels_[at].node, count(levels_[at].node) - 1, k, child);
      return;
    }
    held_page h = make();
    of_.children(h)[0] = child;
    count(h) = 1;
    const page p = h.page();
    levels_[at].node = std::move(h);
    add_child(at + 1, k, p);
  }
  void drop(std::vector<page> &pages) noexcept {
    for (const page p : pages) {
      if (p != pager::none) {
        of_.pager_->drop(p);
      }
    }
    pages.clear();
  }
  // What is left of a tree whose records were all erased.
  void collect(page p, std::uint32_t level) {
    old_.push_back(p);
    if (level > 0) {
      const held_page node = of_.hold(p);
      for (std::uint32_t i = 0; i < count(node); i++) {
        collect(of_.children(node)[i], level - 1);
      }
    }
  }

  tree &of_;
  std::vector<level> levels_;
  std::vector<page> made_, old_;
  Key last_{};
  std::uint64_t size_ = 0;
};

} // namespace pems::detail

#endif
