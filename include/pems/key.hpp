// SPDX-License-Identifier: BSD-3-Clause
// How a C++ order becomes a key that the library's fastest kernels know, or, if
// it is none, a comparison with loops of its own.
//
// A record's order is Less applied to Key: std::less<> or std::greater<> of
//   - the record itself (std::identity), a number, or a pair of numbers;
//   - a member, &record::key or pems::key<&record::key>: a number or an array
//   of
//     bytes (char, unsigned char, std::byte), which are ordered as by memcmp;
//   - several members, pems::key<&record::a, &record::b> or a std::tuple of
//     pointers to members, the first the most important: if they lie beside
//     each other they are sorted as one number or as bytes;
// with any other Less or Key it is compared, inlined.
#ifndef PEMS_KEY_HPP
#define PEMS_KEY_HPP

#include <array>
#include <bit>
#include <compare>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>

#include <pems/error.hpp>
#include <pems/kernel.hpp>
#include <pems/record.h>

namespace pems {

// Members of a record as its key, the first the most important.
template <auto... Member> struct key {
  static_assert(sizeof...(Member) > 0);
  static_assert((std::is_member_object_pointer_v<decltype(Member)> && ...),
                "pems::key takes pointers to members, as &record::key");
};

namespace detail {

// --- which kinds of keys there are ---

// A type of the library's, and how its value becomes an unsigned number.
template <class F> constexpr pems_key number_key() {
  using T = std::remove_cv_t<F>;
  if constexpr (std::is_enum_v<T>) {
    return number_key<std::underlying_type_t<T>>();
  } else if constexpr (std::is_same_v<T, unsigned __int128>) {
    return PEMS_KEY_U128;
  } else if constexpr (std::is_same_v<T, float>) {
    return PEMS_KEY_REAL32;
  } else if constexpr (std::is_same_v<T, double>) {
    return PEMS_KEY_REAL64;
  } else if constexpr (std::is_integral_v<T> && sizeof(T) <= 8) {
    constexpr pems_key of[] = {PEMS_KEY_U8,  PEMS_KEY_U16, PEMS_KEY_U32,
                               PEMS_KEY_U64, PEMS_KEY_I8,  PEMS_KEY_I16,
                               PEMS_KEY_I32, PEMS_KEY_I64};
    return of[std::bit_width(sizeof(T)) - 1 + (std::is_signed_v<T> ? 4 : 0)];
  } else {
    return PEMS_KEY_NONE;
  }
}

template <class T>
inline constexpr bool is_byte =
    std::is_same_v<T, char> || std::is_same_v<T, unsigned char> ||
    std::is_same_v<T, std::byte> || std::is_same_v<T, char8_t>;
template <class F> inline constexpr bool is_bytes = false;
template <class B, std::size_t N>
inline constexpr bool is_bytes<B[N]> = is_byte<B>;
template <class B, std::size_t N>
inline constexpr bool is_bytes<std::array<B, N>> =
    is_byte<B> && !std::is_same_v<B, char>;

// Parts of several that are sorted as one: integers and bytes.
template <class F>
inline constexpr bool is_part =
    is_bytes<F> ||
    (number_key<F>() != PEMS_KEY_NONE && !std::is_floating_point_v<F>);

template <class Less> inline constexpr int direction = 0; // neither
template <class X> inline constexpr int direction<std::less<X>> = 1;
template <class X> inline constexpr int direction<std::greater<X>> = -1;
template <> inline constexpr int direction<std::ranges::less> = 1;
template <> inline constexpr int direction<std::ranges::greater> = -1;

// --- the members of a key ---

// `count` members of T, of types `part<i>`, and pointers to them at run time;
// 0: it is another kind of key.
template <class T, class Key> struct members {
  static constexpr std::size_t count = 0;
};

template <class M, std::size_t I>
using member_type =
    std::remove_cvref_t<decltype(std::declval<typename M::record &>().*
                                 std::get<I>(
                                     std::declval<typename M::pointers>()))>;

template <class T, class F> struct members<T, F T::*> {
  using record = T;
  using pointers = std::tuple<F T::*>;
  static constexpr std::size_t count = 1;
  static pointers of(F T::*member) {
    return {member};
  }
};
template <class T, class... F> struct members<T, std::tuple<F T::*...>> {
  using record = T;
  using pointers = std::tuple<F T::*...>;
  static constexpr std::size_t count = sizeof...(F);
  static pointers of(const pointers &p) {
    return p;
  }
};
template <class T, auto... Member> struct members<T, key<Member...>> {
  using record = T;
  using pointers = std::tuple<decltype(Member)...>;
  static constexpr std::size_t count = sizeof...(Member);
  static constexpr pointers of(key<Member...>) {
    return {Member...};
  }
};
template <class A, class B>
struct members<std::pair<A, B>, std::identity>
    : members<std::pair<A, B>,
              key<&std::pair<A, B>::first, &std::pair<A, B>::second>> {
  using base = members<std::pair<A, B>,
                       key<&std::pair<A, B>::first, &std::pair<A, B>::second>>;
  static constexpr typename base::pointers of(std::identity) {
    return base::of({});
  }
};

template <class T, class F> std::size_t offset_of(F T::*member) {
  // No object is needed for an address; a union makes none.
  union nothing {
    char none;
    T record;
    nothing() : none(0) {
    }
    ~nothing() {
    }
  } it;
  return static_cast<std::size_t>(
      reinterpret_cast<const char *>(std::addressof(it.record.*member)) -
      reinterpret_cast<const char *>(std::addressof(it.record)));
}

// Pointers to members must be given: there is no useful default.
template <class Key>
inline constexpr bool has_default_key =
    std::default_initializable<Key> && !std::is_member_pointer_v<Key>;
template <class... M>
inline constexpr bool has_default_key<std::tuple<M...>> = false;

// --- several integers as one ---

__extension__ typedef unsigned __int128 wide;

template <std::size_t Bytes>
using word = std::conditional_t<
    Bytes == 1, std::uint8_t,
    std::conditional_t<
        Bytes == 2, std::uint16_t,
        std::conditional_t<
            Bytes == 4, std::uint32_t,
            std::conditional_t<Bytes == 8, std::uint64_t, wide>>>>;

// Integers and arrays of bytes that lie beside each other, in any order:
// records are sorted in another form, in which these bytes are one number, or
// bytes in the order of importance.
template <class... F> struct packing {
  static constexpr std::size_t count = sizeof...(F);
  static constexpr std::size_t bytes = (sizeof(F) + ...);
  static constexpr bool number = std::has_single_bit(bytes) && bytes <= 16;
  std::array<std::size_t, count> offset{};
  std::size_t first = 0; // byte of them all

  bool dense() {
    constexpr std::size_t size[] = {sizeof(F)...};
    std::size_t end = 0;
    first = offset[0];
    for (std::size_t i = 0; i < count; i++) {
      first = offset[i] < first ? offset[i] : first;
      end = offset[i] + size[i] > end ? offset[i] + size[i] : end;
    }
    return end - first == bytes;
  }

  void encode(char *record) const noexcept {
    std::size_t i = 0;
    if constexpr (number) {
      word<bytes> x = 0;
      ((x = put<F>(x, record + offset[i++])), ...);
      std::memcpy(record + first, &x, bytes);
    } else {
      char in_order[bytes];
      std::size_t at = 0;
      ((turn<F, true>(record + offset[i++], in_order + at), at += sizeof(F)),
       ...);
      std::memcpy(record + first, in_order, bytes);
    }
  }

  void decode(char *record) const noexcept {
    if constexpr (number) {
      word<bytes> x;
      std::memcpy(&x, record + first, bytes);
      take_all(x, record, std::index_sequence_for<F...>());
    } else {
      char in_order[bytes];
      std::size_t i = 0, at = 0;
      std::memcpy(in_order, record + first, bytes);
      ((turn<F, false>(in_order + at, record + offset[i++]), at += sizeof(F)),
       ...);
    }
  }

private:
  template <class G>
  static constexpr bool is_signed_part = [] {
    if constexpr (is_bytes<G>) {
      return false;
    } else if constexpr (std::is_enum_v<G>) {
      return std::is_signed_v<std::underlying_type_t<G>>;
    } else {
      return std::is_signed_v<G>;
    }
  }();

  template <class G> static word<bytes> put(word<bytes> x, const char *from) {
    if constexpr (is_bytes<G>) {
      for (std::size_t j = 0; j < sizeof(G); j++) {
        x = static_cast<word<bytes>>(x << 8 |
                                     static_cast<unsigned char>(from[j]));
      }
      return x;
    } else {
      using part = word<sizeof(G)>;
      part v;
      std::memcpy(&v, from, sizeof(v));
      if constexpr (is_signed_part<G>) {
        v ^= static_cast<part>(part{1} << (8 * sizeof(v) - 1));
      }
      return static_cast<word<bytes>>(x << (8 * sizeof(v)) | v);
    }
  }

  template <class G> static void take(word<bytes> &x, char *to) {
    if constexpr (is_bytes<G>) {
      for (std::size_t j = sizeof(G); j-- > 0;) {
        to[j] = static_cast<char>(x);
        x = static_cast<word<bytes>>(x >> 8);
      }
    } else {
      using part = word<sizeof(G)>;
      part v = static_cast<part>(x);
      x = static_cast<word<bytes>>(x >> (8 * sizeof(v)));
      if constexpr (is_signed_part<G>) {
        v ^= static_cast<part>(part{1} << (8 * sizeof(v) - 1));
      }
      std::memcpy(to, &v, sizeof(v));
    }
  }

  // The last one has the lowest bits.
  template <std::size_t... I>
  void take_all(word<bytes> x, char *record,
                std::index_sequence<I...>) const noexcept {
    using all = std::tuple<F...>;
    (take<std::tuple_element_t<count - 1 - I, all>>(
         x, record + offset[count - 1 - I]),
     ...);
  }

  // Between an integer and its bytes, the highest first, with its sign
  // inverted.
  template <class G, bool Encode> static void turn(const char *at, char *to) {
    if constexpr (is_bytes<G>) {
      std::memcpy(to, at, sizeof(G));
    } else {
      for (std::size_t j = 0; j < sizeof(G); j++) {
        to[j] = at[sizeof(G) - 1 - j];
      }
      if constexpr (is_signed_part<G>) {
        char &high = to[Encode ? 0 : sizeof(G) - 1];
        high = static_cast<char>(high ^ 0x80);
      }
    }
  }
};

template <class Pointers> struct packing_of;
template <class T, class... F> struct packing_of<std::tuple<F T::*...>> {
  using type = packing<F...>;
  static constexpr bool possible =
      sizeof...(F) > 1 && (is_part<F> && ...) &&
      (sizeof(F) + ...) <= 64 && std::endian::native == std::endian::little;
};
template <> struct packing_of<void> {
  struct type {};
  static constexpr bool possible = false;
};

// --- the order ---

// Three-way, of members: bytes as memcmp orders them.
template <class F> int compare_member(const F &a, const F &b) {
  if constexpr (is_bytes<F>) {
    return std::memcmp(&a, &b, sizeof(F));
  } else {
    return (b < a) - (a < b);
  }
}

// Less applied to Key, both of which must not throw. Its address is a record's
// context, so it must not move while in use.
template <class T, class Less, class Key> class ordering {
  using M = members<T, Key>;
  static constexpr bool has_members = M::count > 0;

  template <class N, bool = (N::count > 0)> struct pointers_of {
    using type = typename N::pointers;
  };
  template <class N> struct pointers_of<N, false> {
    using type = void;
  };
  using pointers = typename pointers_of<M>::type;
  using pack = packing_of<pointers>;

  template <class N> static constexpr int direction_of() {
    if constexpr (N::count == 1) {
      return direction_for<Less, member_type<N, 0>>();
    } else if constexpr (N::count > 1) {
      return direction<Less> != 0 && is_void_less<Less>
                 ? direction<Less>
                 : direction_for<Less, T>();
    } else if constexpr (std::is_same_v<Key, std::identity>) {
      return direction_for<Less, T>();
    } else {
      return 0;
    }
  }
  template <class L>
  static constexpr bool is_void_less =
      std::is_same_v<L, std::less<>> || std::is_same_v<L, std::greater<>> ||
      std::is_same_v<L, std::ranges::less> ||
      std::is_same_v<L, std::ranges::greater>;
  template <class L, class K> static constexpr int direction_for() {
    return is_void_less<L> || std::is_same_v<L, std::less<K>> ||
                   std::is_same_v<L, std::greater<K>>
               ? direction<L>
               : 0;
  }
  static constexpr int way = direction_of<M>();

  template <class F>
  static constexpr bool is_key =
      is_bytes<F> || number_key<F>() != PEMS_KEY_NONE;

  static constexpr bool known() {
    if constexpr (M::count == 1) {
      return way != 0 && is_key<member_type<M, 0>>;
    } else if constexpr (M::count == 0 && std::is_same_v<Key, std::identity>) {
      return way != 0 && is_key<T>;
    } else {
      return false;
    }
  }

public:
  // One key of the library's; perhaps one after packing.
  static constexpr bool by_key = known() && sizeof(T) <= PEMS_RECORD_MOST;
  static constexpr bool may_pack =
      way != 0 && pack::possible && sizeof(T) <= PEMS_RECORD_MOST;

  ordering(Less less, Key key) : less_(std::move(less)), key_(std::move(key)) {
    if constexpr (may_pack) {
      std::apply(
          [this](auto... member) { pack_.offset = {offset_of(member)...}; },
          M::of(key_));
      packed_ = pack_.dense();
    }
  }
  ordering(const ordering &) = delete;
  ordering &operator=(const ordering &) = delete;

  // True if the library holds records in another form: see encode and decode.
  bool packed() const noexcept {
    return may_pack && packed_;
  }
  void encode(T *record) const noexcept {
    if constexpr (may_pack) {
      pack_.encode(reinterpret_cast<char *>(record));
    }
  }
  void decode(T *record) const noexcept {
    if constexpr (may_pack) {
      pack_.decode(reinterpret_cast<char *>(record));
    }
  }

  bool operator()(const T &a, const T &b) const noexcept {
    if constexpr (M::count == 1) {
      const auto member = std::get<0>(M::of(key_));
      using F = member_type<M, 0>;
      if constexpr (way != 0 && is_bytes<F>) {
        return way * compare_member(a.*member, b.*member) < 0;
      } else {
        return std::invoke(less_, a.*member, b.*member);
      }
    } else if constexpr (M::count > 1 && way != 0) {
      return way * compare_all(a, b) < 0;
    } else if constexpr (M::count > 1) {
      return std::apply(
          [&](auto... member) {
            return std::invoke(less_, std::tie(a.*member...),
                               std::tie(b.*member...));
          },
          M::of(key_));
    } else {
      return std::invoke(less_, std::invoke(key_, a), std::invoke(key_, b));
    }
  }

  // What the library is to know. Valid as long as this.
  pems_record describe(bool stable) const {
    pems_record r{};
    r.size = sizeof(T);
    r.stable = stable;
    r.descending = way < 0;
    if constexpr (by_key && M::count == 1) {
      set_key<member_type<M, 0>>(r, offset_of(std::get<0>(M::of(key_))));
    } else if constexpr (by_key) {
      set_key<T>(r, 0);
    } else if (packed()) {
      set_packed(r);
    } else {
      r.descending = 0;
      r.compare = &kernel<T, ordering>::compare;
      r.kernel = &kernel<T, ordering>::table;
      r.context = const_cast<ordering *>(this);
    }
    return r;
  }

private:
  template <class F> static void set_key(pems_record &r, std::size_t offset) {
    r.key_offset = offset;
    r.key = is_bytes<F> ? PEMS_KEY_BYTES : number_key<F>();
    r.key_size = is_bytes<F> ? sizeof(F) : 0;
  }

  void set_packed(pems_record &r) const {
    if constexpr (may_pack) {
      constexpr pems_key of[] = {PEMS_KEY_U8, PEMS_KEY_U16, PEMS_KEY_U32,
                                 PEMS_KEY_U64, PEMS_KEY_U128};
      constexpr std::size_t bytes = pack::type::bytes;
      r.key_offset = pack_.first;
      if constexpr (pack::type::number) {
        r.key = of[std::bit_width(bytes) - 1];
      } else {
        r.key = PEMS_KEY_BYTES;
        r.key_size = bytes;
      }
    }
  }

  int compare_all(const T &a, const T &b) const {
    return std::apply(
        [&](auto... member) {
          int c = 0;
          (void)((c = compare_member(a.*member, b.*member), c != 0) || ...);
          return c;
        },
        M::of(key_));
  }

  [[no_unique_address]] Less less_;
  [[no_unique_address]] Key key_;
  [[no_unique_address]] typename pack::type pack_;
  bool packed_ = false;
};

} // namespace detail
} // namespace pems

#endif
