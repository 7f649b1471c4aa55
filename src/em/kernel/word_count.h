/* A template, like word_form.h, and to be included after it: words of so few
   values that sorting and merging them is counting them. */

enum {
  NAME(VALUES) = 1 << (8 * sizeof(WORD)),
  NAME(FEW) = 1 << (4 * sizeof(WORD)), /* its square are the values */
};

typedef struct {
  const struct word_form *form;
  NAME(word) * words;
  size_t n;
  int shares;
  uint64_t *count; /* of each value, for each share */
} NAME(job);

static void NAME(count)(const NAME(word) * a, size_t n, uint64_t *count) {
  for (size_t i = 0; i < n; i++) {
    count[a[i]]++;
  }
}

/* Writes the words from number `skip` on, n of them, decoded if there is a
   form. */
static void NAME(fill)(const struct word_form *form, const uint64_t *count,
                       size_t skip, NAME(word) * out, size_t n) {
  for (size_t i = 0; n > 0; i++) {
    const size_t before = skip < count[i] ? skip : count[i];
    size_t some = count[i] - before;
    skip -= before;
    some = some < n ? some : n;
    const WORD x = form ? NAME(decoded)(form, (WORD)i) : (WORD)i;
    for (size_t j = 0; j < some; j++) {
      out[j] = x;
    }
    out += some;
    n -= some;
  }
}

static void NAME(count_share)(void *arg, int share, int member) {
  const NAME(job) *const j = arg;
  uint64_t *const count = j->count + (size_t)share * NAME(VALUES);
  const size_t begin = part_begin(j->n, j->shares, share);
  (void)member;
  memset(count, 0, NAME(VALUES) * sizeof(*count));
  NAME(count)
  (j->words + begin, part_begin(j->n, j->shares, share + 1) - begin, count);
}

static void NAME(fill_share)(void *arg, int share, int member) {
  const NAME(job) *const j = arg;
  const size_t begin = part_begin(j->n, j->shares, share);
  (void)member;
  NAME(fill)
  (NULL, j->count, begin, j->words + begin,
   part_begin(j->n, j->shares, share + 1) - begin);
}

/* Counts of words as they came become those of encoded ones, of all shares. */
static void NAME(sum_up)(const NAME(job) * j) {
  uint64_t *const sum = j->count + (size_t)j->shares * NAME(VALUES);
  for (size_t i = 0; i < NAME(VALUES); i++) {
    uint64_t *const at = &sum[NAME(encoded)(j->form, (WORD)i)];
    *at = 0;
    for (int s = 0; s < j->shares; s++) {
      *at += j->count[(size_t)s * NAME(VALUES) + i];
    }
  }
}

static size_t NAME(sort_work)(size_t n, int threads) {
  (void)n;
  return (size_t)(threads + 1) * NAME(VALUES) * sizeof(uint64_t);
}

/* For so few that looking at all counters would take longer. */
static void NAME(sort_few)(const struct word_form *form, NAME(word) * a,
                           size_t n) {
  NAME(encode)(form, a, n);
  NAME(radix)(a, n);
}

static void NAME(sort)(const struct word_form *form, struct team *team,
                       void *words, size_t n, void *work) {
  NAME(job) j = {form, words, n, team_size(team), work};
  if (n < NAME(FEW)) {
    NAME(sort_few)(form, words, n);
    return;
  }
  if (n < NAME(VALUES)) {
    j.shares = 1;
  }
  team_run(team, j.shares, NAME(count_share), &j);
  NAME(sum_up)(&j);
  j.count += (size_t)j.shares * NAME(VALUES);
  team_run(team, j.shares, NAME(fill_share), &j);
}

/* Counters take no more room than what is sorted. */
static size_t NAME(array_work)(size_t n) {
  const size_t bytes = NAME(sort_work)(n, 1);
  return n < bytes / sizeof(WORD) ? 0 : bytes;
}

static void NAME(array)(const struct word_form *form, void *words, size_t n,
                        void *work) {
  NAME(job) j = {form, words, n, 1, work};
  if (NAME(array_work)(n) == 0) {
    NAME(sort_few)(form, words, n);
    NAME(decode)(form, words, n);
    return;
  }
  NAME(count_share)(&j, 0, 0);
  NAME(sum_up)(&j);
  NAME(fill)(form, j.count + NAME(VALUES), 0, words, n);
}

static size_t NAME(merge_work)(int pieces) {
  (void)pieces;
  return NAME(VALUES) * sizeof(uint64_t);
}

static void NAME(merge)(const struct word_form *form,
                        const struct kernel_piece *piece, int pieces, void *out,
                        void *work) {
  size_t n = 0;
  memset(work, 0, NAME(merge_work)(pieces));
  for (int i = 0; i < pieces; i++) {
    NAME(count)((const NAME(word) *)piece[i].at, piece[i].n, work);
    n += piece[i].n;
  }
  NAME(fill)(form, work, 0, out, n);
}

const struct word_type NAME(word_type) = {
    NAME(sort_work), NAME(sort),   NAME(array_work), NAME(array),
    NAME(compare),   NAME(rank),   NAME(merge_work), NAME(merge),
    NAME(encode),    NAME(decode),
};
