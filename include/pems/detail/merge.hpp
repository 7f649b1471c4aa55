// SPDX-License-Identifier: BSD-3-Clause
// Merges sorted sequences of records with a comparison that the compiler
// inlines: pairs of them, through short buffers that stay in the cache, and
// where there are more than 16 sequences, groups of those by trees of losers
// (Knuth 3, section 5.4.1) before. A pair costs half of what a level of a tree
// costs: no branch depends on the records, and few loads wait for another.
//
// All take `before`, a strict weak order of const T &, which must not throw. Of
// equal records those of earlier sequences come first where that matters.
#ifndef PEMS_DETAIL_MERGE_HPP
#define PEMS_DETAIL_MERGE_HPP

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include <pems/detail/place.hpp>
#include <pems/kernel.h>

namespace pems::detail {

// --- a tree of losers ---

// A head of a sequence; `empty`, behind all others, when there is none.
struct player {
  const void *at;
  std::uint32_t piece;
  std::uint32_t empty;
};

static_assert(2 * sizeof(player) <= PEMS_KERNEL_MERGE_WORK);

template <class T, bool Stable, bool Indexed, class Before> class tree_merger {
  const pems_kernel_piece *piece_ = nullptr;
  std::uint32_t pieces_ = 0;
  std::uint32_t width_ = 0;
  player *loser_ = nullptr; // of [1, width_)
  player winner_{};
  Before *before_ = nullptr;

  const T &of(const player &p) const noexcept {
    if constexpr (Indexed) {
      return static_cast<const T *>(
          piece_[p.piece].base)[*static_cast<const std::uint32_t *>(p.at)];
    } else {
      return *static_cast<const T *>(p.at);
    }
  }

  static const void *plus(const void *at, std::size_t n) noexcept {
    return static_cast<const char *>(at) +
           n * (Indexed ? sizeof(std::uint32_t) : sizeof(T));
  }

  player enter(std::uint32_t i, const void *at) const noexcept {
    const bool empty = i >= pieces_ || at == plus(piece_[i].at, piece_[i].n);
    return {at, i, empty};
  }

  // Whether a is to come out before b.
  bool wins(const player &a, const player &b) const noexcept {
    if (a.empty | b.empty) [[unlikely]] {
      return a.empty < b.empty;
    }
    Before &before = *before_;
    if constexpr (Stable) {
      const bool ab = before(of(a), of(b)), ba = before(of(b), of(a));
      return ab | (!ba & (a.piece < b.piece));
    } else {
      return before(of(a), of(b));
    }
  }

  // The winner so far against the loser of a node: one stays, one goes on.
  void play(player *node, player &winner) const noexcept {
    const player other = *node;
    const std::size_t turn = number_of(wins(other, winner));
    node->at = turn ? winner.at : other.at;
    node->piece = turn ? winner.piece : other.piece;
    node->empty = turn ? winner.empty : other.empty;
    winner.at = turn ? other.at : winner.at;
    winner.piece = turn ? other.piece : winner.piece;
    winner.empty = turn ? other.empty : winner.empty;
  }

  player fill() const noexcept {
    for (std::uint32_t i = 0;; i++) {
      player winner = enter(i, i < pieces_ ? piece_[i].at : nullptr);
      std::uint32_t node = width_ + i;
      for (; node > 1 && node % 2 == 1; node /= 2) {
        play(&loser_[node / 2], winner);
      }
      if (node == 1) {
        return winner;
      }
      loser_[node / 2] = winner;
    }
  }

public:
  tree_merger() = default;
  // `room` for twice as many players as pieces.
  tree_merger(const pems_kernel_piece *piece, int pieces, player *room,
              Before &before) noexcept
      : piece_(piece), pieces_(static_cast<std::uint32_t>(pieces)),
        width_(std::bit_ceil(pieces_)), loser_(room), before_(&before) {
    winner_ = fill();
  }

  // The next `count` records; there are as many.
  void take(std::size_t count, T *out) noexcept {
    player winner = winner_;
    for (; count > 0; count--) {
      copy(out++, &of(winner));
      const std::uint32_t i = winner.piece;
      winner = enter(i, plus(winner.at, 1));
      if constexpr (!Indexed) {
        __builtin_prefetch(static_cast<const char *>(winner.at) + 256);
      }
      for (std::uint32_t node = (width_ + i) / 2; node > 0; node /= 2) {
        play(&loser_[node], winner);
      }
    }
    winner_ = winner;
  }
};

// --- pairs ---

inline std::size_t least_of(std::size_t a, std::size_t b) noexcept {
  return a < b ? a : b;
}

// The first n records of two sequences, each of which has n.
template <class T, class Before>
inline void merge_pair(const T *&x, const T *&y, std::size_t n, T *out,
                       Before &before) noexcept {
  const T *a = x, *b = y;
  for (T *const end = out + n; out < end; out++) {
    const std::size_t second = number_of(before(*b, *a));
    copy(out, choose(second, a, b));
    a += 1 - second;
    b += second;
  }
  x = a;
  y = b;
}

template <class T, bool Stable, class Before> class pair_merger {
  static constexpr std::uint32_t most = 16; // leaves: of a piece, or a tree
  static constexpr std::size_t bytes = 1024;
  static constexpr std::size_t room = bytes / sizeof(T) > 16 ? bytes / sizeof(T)
                                                             : 16;

  // What a node, whose children are 2 i and 2 i + 1, has got.
  struct sequence {
    const T *at, *end;
    std::size_t left() const noexcept {
      return static_cast<std::size_t>(end - at);
    }
  };

  std::uint32_t width_; // the number of the first leaf
  Before &before_;
  sequence has_[2 * most];
  place<T, room> buffer_[2 * most]; // of inner nodes and trees
  tree_merger<T, Stable, false, Before> tree_[most];
  std::size_t left_[most]; // in trees

  // There is nothing left in what the node has.
  void fill(std::uint32_t node) noexcept {
    T *const to = buffer_[node].get();
    if (node < width_) {
      has_[node] = {to, to + merge(node, room, to)};
      return;
    }
    const std::size_t n = least_of(left_[node - width_], room);
    if (n > 0) {
      tree_[node - width_].take(n, to);
      left_[node - width_] -= n;
      has_[node] = {to, to + n};
    }
  }

  static std::size_t move(sequence &from, std::size_t n, T *to) noexcept {
    n = least_of(n, from.left());
    if (n > 0) {
      std::memcpy(static_cast<void *>(to), from.at, n * sizeof(T));
      from.at += n;
    }
    return n;
  }

  // Up to n records of the children of a node; returns how many, fewer only if
  // there are no more.
  std::size_t merge(std::uint32_t node, std::size_t n, T *to) noexcept {
    sequence &a = has_[2 * node], &b = has_[2 * node + 1];
    std::size_t done = 0, some = 1;
    for (; done < n && some > 0; done += some) {
      if (a.left() == 0) {
        fill(2 * node);
      }
      if (b.left() == 0) {
        fill(2 * node + 1);
      }
      some = least_of(least_of(a.left(), b.left()), n - done);
      if (some > 0) {
        merge_pair(a.at, b.at, some, to + done, before_);
      } else {
        some = move(a.left() > 0 ? a : b, n - done, to + done);
      }
    }
    return done;
  }

public:
  // `work` for twice as many players as pieces.
  pair_merger(const pems_kernel_piece *piece, int pieces, player *work,
              Before &before) noexcept
      : width_(most), before_(before), left_{} {
    const std::uint32_t n = static_cast<std::uint32_t>(pieces);
    width_ = n < most ? std::bit_ceil(n) : most;
    for (std::uint32_t i = 0; i < 2 * width_; i++) {
      has_[i] = {nullptr, nullptr};
    }
    for (std::uint32_t i = 0, at = 0, next; i < width_; i++, at = next) {
      next = at + n / width_ + (i < n % width_);
      if (next == at + 1) {
        const T *const first = static_cast<const T *>(piece[at].at);
        has_[width_ + i] = {first, first + piece[at].n};
      } else if (next > at) {
        tree_[i] = {piece + at, static_cast<int>(next - at), work + 2 * at,
                    before};
        for (std::uint32_t p = at; p < next; p++) {
          left_[i] += piece[p].n;
        }
      }
    }
  }

  // The first `count` records; there are as many.
  void take(std::size_t count, T *out) noexcept {
    merge(1, count, out);
  }
};

// Two sequences of which there are `count` records.
template <class T, class Before>
void merge_two(const pems_kernel_piece *piece, std::size_t count, T *out,
               Before &before) noexcept {
  const T *a = static_cast<const T *>(piece[0].at);
  const T *b = static_cast<const T *>(piece[1].at);
  const T *const a_end = a + piece[0].n, *const b_end = b + piece[1].n;
  for (std::size_t n; count > 0 && a < a_end && b < b_end; count -= n) {
    n = least_of(static_cast<std::size_t>(a_end - a),
                 static_cast<std::size_t>(b_end - b));
    n = least_of(n, count);
    merge_pair(a, b, n, out, before);
    out += n;
  }
  std::memcpy(static_cast<void *>(out), a < a_end ? a : b, count * sizeof(T));
}

} // namespace pems::detail

#endif
