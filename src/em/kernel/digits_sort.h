/* A template: include it with WORD, a type of record with a number in front,
   NAME(x), the name of x for it, and what word_sort.h wants. */

typedef WORD NAME(word);

static void NAME(encode)(const struct word_form *form, void *records,
                         size_t n) {
  encode(form, records, n, sizeof(WORD));
}

static void NAME(decode)(const struct word_form *form, void *records,
                         size_t n) {
  decode(form, records, n, sizeof(WORD));
}

static void NAME(word_sort)(WORD *records, size_t n) {
  NAME(radix)(records, n);
}

/* Without branches that depend on the keys. */
static size_t NAME(word_cut)(WORD *a, size_t n, uint64_t pivot) {
  size_t low = 0;
  for (size_t i = 0; i < n; i++) {
    const WORD x = a[i];
    a[i] = a[low];
    a[low] = x;
    low += x.key <= pivot;
  }
  return low;
}

#include "em/kernel/word_sort.h"

static void NAME(decode_share)(void *arg, int i, int member) {
  const NAME(sorting) *const s = arg;
  const size_t begin = NAME(cut_even)(0, s->n, i, s->shares);
  const size_t end = NAME(cut_even)(0, s->n, i + 1, s->shares);
  (void)member;
  NAME(decode)(s->form, s->words + begin, end - begin);
}

static void NAME(sort_records)(const struct word_form *form, struct team *team,
                               void *records, size_t n, void *work) {
  NAME(sorting) s = {.form = form, .words = records, .n = n};
  NAME(sort)(form, team, records, n, work);
  s.shares = team_size(team);
  if (!word_form_is_plain(form)) {
    team_run(team, s.shares, NAME(decode_share), &s);
  }
}

#undef WORD
#undef NAME
