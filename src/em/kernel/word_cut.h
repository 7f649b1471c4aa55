/* A template: include it with WORD, a type of word, and NAME(x), the name of
   x for it. */

typedef WORD NAME(word) __attribute__((aligned(1), may_alias));

/* Without branches that depend on the words. */
static size_t NAME(cut_simply)(NAME(word) * a, size_t n, WORD pivot) {
  size_t low = 0;
  for (size_t i = 0; i < n; i++) {
    const WORD x = a[i];
    a[i] = a[low];
    a[low] = x;
    low += x <= pivot;
  }
  return low;
}
