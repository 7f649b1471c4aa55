// Sorting arrays in memory, in one thread: pems_sort_array beside qsort,
// std::sort and std::stable_sort, for several types of records, random, in
// order and in the reverse of it. Prints RESULT lines; seconds are CPU time,
// mrecords millions a second, the best of some rounds; work_mib is what is
// needed beside the array.
// Usage: sort_array [MiB of records, 64 if not given [type of record]]
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <algorithm>
#include <vector>

#include "pems/sort.h"

namespace {

enum { ROUNDS = 3 };

double now() {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

template <class Key, size_t PAYLOAD> struct Record {
  Key key;
  char payload[PAYLOAD];
};

template <class Key> struct Record<Key, 0> { Key key; };

template <class R> bool before(const R &a, const R &b) {
  return a.key < b.key;
}

template <class R> int compare(const void *a, const void *b) {
  const R *const x = (const R *)a, *const y = (const R *)b;
  return (x->key > y->key) - (x->key < y->key);
}

template <class R> int compare_context(const void *a, const void *b, void *) {
  return compare<R>(a, b);
}

template <class R> class Bench {
public:
  Bench(const char *type, size_t bytes, pems_record record)
      : type_(type), record_(record), made_(bytes / sizeof(R)) {
    uint64_t x = 1, *const word = (uint64_t *)made_.data();
    record_.size = sizeof(R);
    memset((void *)made_.data(), 0, made_.size() * sizeof(R));
    for (size_t i = 0; i < made_.size() * sizeof(R) / 8; i++) {
      x ^= x << 13;
      x ^= x >> 7;
      x ^= x << 17;
      word[i] = x * 0x9e3779b97f4a7c15u;
    }
  }

  void all() {
    input("random");
    std::stable_sort(made_.begin(), made_.end(), before<R>);
    input("sorted");
    std::reverse(made_.begin(), made_.end());
    input("reversed");
  }

private:
  const char *type_;
  pems_record record_;
  std::vector<R> made_, a_;

  template <class F>
  void time(const char *order, const char *how, size_t work, F f) {
    double best = 1e9;
    for (int i = 0; i < ROUNDS; i++) {
      a_ = made_;
      const double begin = now();
      f();
      best = std::min(best, now() - begin);
      if (!std::is_sorted(a_.begin(), a_.end(), before<R>)) {
        fprintf(stderr, "bench sort_array: %s: %s: not in order\n", type_, how);
        exit(1);
      }
    }
    printf("RESULT bench=sort_array type=%s bytes=%zu order=%s how=%s "
           "n=%zu seconds=%.4f mrecords=%.1f work_mib=%.1f\n",
           type_, sizeof(R), order, how, a_.size(), best,
           (double)a_.size() / best / 1e6, (double)work / (1 << 20));
    fflush(stdout);
  }

  void pems(const char *order, const char *how, const pems_record *r) {
    const size_t work = pems_sort_array_work(made_.size(), r);
    time(order, how, work, [&] {
      void *const room = work ? malloc(work) : NULL;
      pems_sort_array(a_.data(), a_.size(), r, room, NULL);
      free(room);
    });
  }

  void input(const char *order) {
    pems_record stable = record_, function = record_;
    stable.stable = 1;
    function.compare = compare_context<R>;
    pems(order, "pems", &record_);
    pems(order, "pems-stable", &stable);
    pems(order, "pems-compare", &function);
    time(order, "qsort", a_.size() * sizeof(R),
         [&] { qsort(a_.data(), a_.size(), sizeof(R), compare<R>); });
    time(order, "std::sort", 0,
         [&] { std::sort(a_.begin(), a_.end(), before<R>); });
    time(order, "std::stable_sort", a_.size() * sizeof(R) / 2,
         [&] { std::stable_sort(a_.begin(), a_.end(), before<R>); });
  }
};

template <class R>
void bench(const char *type, size_t bytes, enum pems_key key,
           const char *only) {
  pems_record r = {};
  r.key = key;
  if (!only || strcmp(only, type) == 0)
    Bench<R>(type, bytes, r).all();
}

} // namespace

int main(int argc, char **argv) {
  const size_t mib = argc > 1 ? strtoull(argv[1], NULL, 10) : 64;
  const size_t bytes = (mib ? mib : 1) << 20;
  const char *const only = argc > 2 ? argv[2] : NULL;
  bench<Record<uint16_t, 0>>("u16", bytes, PEMS_KEY_U16, only);
  bench<Record<uint32_t, 0>>("u32", bytes, PEMS_KEY_U32, only);
  bench<Record<uint64_t, 0>>("u64", bytes, PEMS_KEY_U64, only);
  bench<Record<uint64_t, 8>>("u64+8", bytes, PEMS_KEY_U64, only);
  bench<Record<uint32_t, 8>>("u32+8", bytes, PEMS_KEY_U32, only);
  bench<Record<uint64_t, 16>>("u64+16", bytes, PEMS_KEY_U64, only);
  bench<Record<uint64_t, 32>>("u64+32", bytes, PEMS_KEY_U64, only);
  bench<Record<uint64_t, 92>>("u64+92", bytes, PEMS_KEY_U64, only);
  bench<Record<uint64_t, 992>>("u64+992", bytes, PEMS_KEY_U64, only);
  return 0;
}
