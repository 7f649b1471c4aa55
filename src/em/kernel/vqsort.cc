// Compiled once for every set of instructions, with the compiler's options for
// it, as VQSORT_VARIANT (see Makefile.am); vqsort.c chooses one at run time.
//
// Neither libhwy nor libstdc++ is needed to run this: only headers are used,
// what they want to link is below, and each variant has a namespace of its own
// in place of `hwy`, so that the linker cannot mix up their inline functions:
// that of a newer machine might replace that of an older.
#include "em/kernel/vqsort.h"

#include <stdlib.h>
#include <string.h>

#include <atomic>
#include <limits>
#include <memory>
#include <type_traits>
#include <utility>

#ifdef __AVX512F__
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#include <immintrin.h>
#pragma GCC diagnostic pop

// Zen 4 takes more than 100 cycles to compress to memory, which all
// partitioning does. These compress in a register and store as many lanes: the
// same result, and u32 are sorted ten times as fast there.
static inline void compress_u32(void *to, __mmask16 mask, __m512i v) {
  const auto lanes = (1u << __builtin_popcount(mask)) - 1;
  _mm512_mask_storeu_epi32(to, static_cast<__mmask16>(lanes),
                           _mm512_maskz_compress_epi32(mask, v));
}

static inline void compress_u64(void *to, __mmask8 mask, __m512i v) {
  const auto lanes = (1u << __builtin_popcount(mask)) - 1;
  _mm512_mask_storeu_epi64(to, static_cast<__mmask8>(lanes),
                           _mm512_maskz_compress_epi64(mask, v));
}

#define _mm512_mask_compressstoreu_epi32 compress_u32
#define _mm512_mask_compressstoreu_epi64 compress_u64
#endif

#define PASTE(a, b) a##b
#define NAME(prefix, variant) PASTE(prefix, variant)

#define hwy NAME(hwy_, VQSORT_VARIANT)
#define HWY_COMPILE_ONLY_STATIC
// With -march=native the compiler may know better instructions than those that
// this variant is for: their bits are the lower ones.
#define HWY_DISABLED_TARGETS (VQSORT_TARGET - 1)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wall"
#pragma GCC diagnostic ignored "-Wextra"
#include "hwy/contrib/sort/traits-inl.h"
#include "hwy/contrib/sort/traits128-inl.h"
#include "hwy/contrib/sort/vqsort-inl.h"
#pragma GCC diagnostic pop

namespace hwy {

// Only for assertions that cannot fail.
HWY_NORETURN void Abort(const char *, int, const char *, ...) {
  abort();
}

// Where the samples for pivots are taken from: the same for equal calls, so
// that runs can be repeated. Heapsort bounds the worst case.
void Sorter::Fill24Bytes(const void *, size_t n, void *bytes) {
  const uint64_t seed[3] = {n * 0x9e3779b97f4a7c15u, 0x6a09e667f3bcc909u,
                            0xbb67ae8584caa73bu};
  memcpy(bytes, seed, sizeof(seed));
}

// The same for Highway 1.2, once for each thread.
bool Fill16BytesSecure(void *bytes);
bool Fill16BytesSecure(void *bytes) {
  const uint64_t seed[2] = {0x6a09e667f3bcc909u, 0xbb67ae8584caa73bu};
  memcpy(bytes, seed, sizeof(seed));
  return true;
}

} // namespace hwy

namespace {

namespace here = hwy::HWY_NAMESPACE;

static_assert(HWY_TARGET == VQSORT_TARGET, "the compiler's options are wrong");

// Keys in the buffer that sorting needs: Highway 1.2 wants to know how
// many lanes make a key.
template <class Key, size_t lanes, class Constants>
constexpr auto buffer_keys(int)
    -> decltype(Constants::template BufNum<Key>(1)) {
  return Constants::template BufNum<Key>(HWY_LANES(Key));
}

template <class Key, size_t lanes, class Constants>
constexpr size_t buffer_keys(long) {
  return Constants::template BufNum<Key, lanes>(HWY_LANES(Key));
}

template <template <class> class Traits, class Order, class Key>
void sort_lanes(Key *keys, size_t n) {
  const here::SortTag<Key> tag;
  const here::detail::SharedTraits<Traits<Order>> traits;
  constexpr size_t n_buffer =
      buffer_keys<Key, traits.LanesPerKey(), hwy::SortConstants>(0);
  HWY_ALIGN Key buffer[n_buffer];
  if (n > 1) {
    here::Sort(tag, traits, keys, n, buffer);
  }
}

// Splits keys as the sort itself does.
template <template <class> class Traits, class Order, class Key>
size_t cut_lanes(Key *keys, size_t n, const Key *pivot) {
  const here::SortTag<Key> tag;
  const here::detail::SharedTraits<Traits<Order>> traits;
  constexpr size_t n_buffer =
      buffer_keys<Key, traits.LanesPerKey(), hwy::SortConstants>(0);
  HWY_ALIGN Key buffer[n_buffer];
  return here::detail::Partition(tag, traits, keys, n,
                                 traits.SetKey(tag, pivot), buffer);
}

template <class Order> using Lane = here::detail::TraitsLane<Order>;
template <class Order> using Two = here::detail::Traits128<Order>;

void sort_u32(uint32_t *keys, size_t n) {
  sort_lanes<Lane, here::detail::OrderAscending<uint32_t>>(keys, n);
}

void sort_u64(uint64_t *keys, size_t n) {
  sort_lanes<Lane, here::detail::OrderAscending<uint64_t>>(keys, n);
}

size_t cut_u32(uint32_t *keys, size_t n, uint32_t pivot) {
  return cut_lanes<Lane, here::detail::OrderAscending<uint32_t>>(keys, n,
                                                                 &pivot);
}

size_t cut_u64(uint64_t *keys, size_t n, uint64_t pivot) {
  return cut_lanes<Lane, here::detail::OrderAscending<uint64_t>>(keys, n,
                                                                 &pivot);
}

size_t cut_u128(uint64_t *keys, size_t n, const uint64_t *pivot) {
  return cut_lanes<Two, here::detail::OrderAscending128>(keys, 2 * n, pivot) /
         2;
}

} // namespace

#define STRING2(text) #text
#define STRING(text) STRING2(text)

extern "C" {
extern const struct vqsort NAME(vqsort_, VQSORT_VARIANT);
const struct vqsort NAME(vqsort_, VQSORT_VARIANT) = {
    STRING(VQSORT_VARIANT),
    HWY_MAX_BYTES,
    sort_u32,
    sort_u64,
    cut_u32,
    cut_u64,
    cut_u128,
};
}
