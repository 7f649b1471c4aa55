/* A template, like word_form.h, and to be included after it: sorting in
   parallel and in place. Where words are ordered by a part of them, with KEY
   and KEY_OF as in radix_words.h, and SORT_KEYS(keys, n).

   All members of the team split parts in two around pivots taken from samples,
   first all of them one part together, then each its own, until there are a few
   parts for each; then each part is sorted by one of them, the largest first.
   Words equal to the pivot go to the left. Where the parts are sorted by
   quicksort, the splits are those that it would have done itself. */

#ifndef KEY
#define KEY WORD
#define KEY_OF(x) (x)
#define SORT_KEYS(keys, n) NAME(word_sort)(keys, n)
#endif

enum { NAME(SAMPLE) = 512 };

/* A part of the words, between others that are lower and higher. */
typedef struct {
  size_t begin, end;
  KEY pivot;
  int whole;         /* not to be split any more */
  int share, shares; /* the first, and how many there are */
} NAME(part);

/* What of a part one member splits. */
typedef struct {
  size_t begin, end;
  size_t cut; /* the first that is above the pivot */
  int part;
} NAME(share);

typedef struct {
  const struct word_form *form;
  NAME(word) * words;
  size_t n;
  int team;  /* members */
  int parts; /* now; at most `most` */
  int most;
  int shares;
  NAME(part) * part, *next; /* most of each */
  NAME(share) * share;
  _Atomic int disorder, not_reverse; /* what was found within shares */
} NAME(sorting);

static int NAME(most_parts)(int threads) {
  const int wanted = threads * word_parts_each(sizeof(WORD));
  int most = 1;
  while (threads > 1 && most < wanted) {
    most *= 2;
  }
  return most;
}

static int NAME(most_shares)(int threads) {
  return 2 * threads + NAME(most_parts)(threads);
}

static size_t NAME(sort_work)(size_t n, int threads) {
  (void)n;
  return sizeof(NAME(sorting)) +
         2 * (size_t)NAME(most_parts)(threads) * sizeof(NAME(part)) +
         (size_t)NAME(most_shares)(threads) * sizeof(NAME(share));
}

static NAME(sorting) * NAME(sorting_new)(void *work, int threads) {
  const int most = NAME(most_parts)(threads);
  NAME(part) *const part = work; /* first: it may want to be aligned most */
  NAME(share) *const share = (NAME(share) *)(part + 2 * most);
  NAME(sorting) *const s =
      (NAME(sorting) *)(share + NAME(most_shares)(threads));
  *s = (NAME(sorting)){.team = threads,
                       .most = most,
                       .part = part,
                       .next = part + most,
                       .share = share};
  return s;
}

/* --- encoding --- */

/* Where the members' shares of [begin, end) begin. */
static size_t NAME(cut_even)(size_t begin, size_t end, int i, int shares) {
  return begin +
         (size_t)((word_wide)(end - begin) * (unsigned)i / (unsigned)shares);
}

/* Encodes a share, and notes if it is out of order, either way. */
static void NAME(encode_share)(void *arg, int i, int member) {
  NAME(sorting) *const s = arg;
  NAME(word) *const a = s->words;
  const size_t begin = NAME(cut_even)(0, s->n, i, s->shares);
  const size_t end = NAME(cut_even)(0, s->n, i + 1, s->shares);
  (void)member;
  NAME(encode)(s->form, a + begin, end - begin);
  size_t up = begin + 1, down = begin + 1;
  while (up < end && KEY_OF(a[up - 1]) <= KEY_OF(a[up])) {
    up++;
  }
  while (down < end && KEY_OF(a[down - 1]) >= KEY_OF(a[down])) {
    down++;
  }
  if (up < end) {
    atomic_store_explicit(&s->disorder, 1, memory_order_relaxed);
  }
  if (down < end) {
    atomic_store_explicit(&s->not_reverse, 1, memory_order_relaxed);
  }
}

/* True if the words come in ascending order; or else, for `reverse`, in
   descending order. */
static int NAME(in_order)(const NAME(sorting) * s, int reverse) {
  if (reverse ? s->not_reverse : s->disorder) {
    return 0;
  }
  for (int i = 1; i < s->shares; i++) {
    const size_t at = NAME(cut_even)(0, s->n, i, s->shares);
    const KEY a = KEY_OF(s->words[at - 1]), b = KEY_OF(s->words[at]);
    if (reverse ? a < b : a > b) {
      return 0;
    }
  }
  return 1;
}

/* Exchanges a share of the first half with its mirror image. */
static void NAME(reverse_share)(void *arg, int i, int member) {
  const NAME(sorting) *const s = arg;
  NAME(word) *const a = s->words;
  const size_t begin = NAME(cut_even)(0, s->n / 2, i, s->shares);
  const size_t end = NAME(cut_even)(0, s->n / 2, i + 1, s->shares);
  (void)member;
  for (size_t j = begin; j < end; j++) {
    const WORD x = a[j];
    a[j] = a[s->n - 1 - j];
    a[s->n - 1 - j] = x;
  }
}

/* --- splitting --- */

/* A word of the sample near its median that another is above, so that neither
   side will be empty; 0 if they are all equal. */
static int NAME(choose_pivot)(const NAME(word) * a, NAME(part) * p) {
  KEY sample[NAME(SAMPLE)];
  const size_t n = p->end - p->begin;
  uint64_t random = n * 0x9e3779b97f4a7c15u + 1;
  for (int i = 0; i < NAME(SAMPLE); i++) {
    random ^= random << 13;
    random ^= random >> 7;
    random ^= random << 17;
    sample[i] = KEY_OF(a[p->begin + (size_t)((word_wide)random * n >> 64)]);
  }
  SORT_KEYS(sample, NAME(SAMPLE));
  const int middle = NAME(SAMPLE) / 2 - 1;
  for (int d = 0; d <= middle; d++) {
    for (int side = 0; side < 2; side++) {
      const int i = side ? middle + d : middle - d;
      if (sample[i] < sample[i + 1]) {
        p->pivot = sample[i];
        return 1;
      }
    }
  }
  return 0;
}

/* Pivots, and who splits what. */
static void NAME(plan_shares)(NAME(sorting) * s) {
  const int each = (2 * s->team + s->parts - 1) / s->parts;
  s->shares = 0;
  for (int i = 0; i < s->parts; i++) {
    NAME(part) *const p = &s->part[i];
    p->whole |= p->end - p->begin < NAME(SAMPLE) * 16 ||
                !NAME(choose_pivot)(s->words, p);
    p->share = s->shares;
    p->shares = p->whole ? 0 : each;
    for (int j = 0; j < p->shares; j++) {
      s->share[s->shares++] = (NAME(share)){
          .begin = NAME(cut_even)(p->begin, p->end, j, each),
          .end = NAME(cut_even)(p->begin, p->end, j + 1, each),
          .part = i,
      };
    }
  }
}

static void NAME(split_share)(void *arg, int i, int member) {
  NAME(sorting) *const s = arg;
  NAME(share) *const h = &s->share[i];
  (void)member;
  h->cut = h->begin + NAME(word_cut)(s->words + h->begin, h->end - h->begin,
                                     s->part[h->part].pivot);
}

/* How many of a part are not above its pivot, all shares together. */
static size_t NAME(split_at)(const NAME(sorting) * s, const NAME(part) * p) {
  size_t at = p->begin;
  for (int i = p->share; i < p->share + p->shares; i++) {
    at += s->share[i].cut - s->share[i].begin;
  }
  return at;
}

/* The words of a share that are on the wrong side of `at`: low ones behind it
   or high ones before it. */
static size_t NAME(misplaced)(const NAME(share) * h, size_t at, int low,
                              size_t *begin) {
  const size_t end = low ? h->cut : (h->end < at ? h->end : at);
  *begin = low ? (h->begin > at ? h->begin : at) : h->cut;
  return end > *begin ? end - *begin : 0;
}

/* Goes through the misplaced words of a part. */
typedef struct {
  const NAME(share) * share, *last;
  size_t at; /* the split */
  int low;
  size_t begin, n; /* the run of words it has come to */
} NAME(walk);

static void NAME(walk_on)(NAME(walk) * w, size_t some) {
  w->begin += some;
  w->n -= some;
  while (w->n == 0 && w->share < w->last) {
    w->n = NAME(misplaced)(w->share++, w->at, w->low, &w->begin);
  }
}

static NAME(walk) NAME(walk_to)(const NAME(sorting) * s, const NAME(part) * p,
                                size_t at, int low, size_t skip) {
  NAME(walk)
  w = {.share = s->share + p->share,
       .last = s->share + p->share + p->shares,
       .at = at,
       .low = low};
  NAME(walk_on)(&w, 0);
  while (skip > 0) {
    const size_t some = skip < w.n ? skip : w.n;
    NAME(walk_on)(&w, some);
    skip -= some;
  }
  return w;
}

/* Exchanges this share's part of the misplaced words. */
static void NAME(exchange_share)(void *arg, int i, int member) {
  const NAME(sorting) *const s = arg;
  const NAME(part) *const p = &s->part[s->share[i].part];
  const size_t at = NAME(split_at)(s, p);
  size_t all = 0, begin;
  (void)member;
  for (int j = p->share; j < p->share + p->shares; j++) {
    all += NAME(misplaced)(&s->share[j], at, 1, &begin);
  }
  const size_t first = NAME(cut_even)(0, all, i - p->share, p->shares);
  size_t n = NAME(cut_even)(0, all, i - p->share + 1, p->shares) - first;
  NAME(walk) low = NAME(walk_to)(s, p, at, 1, first);
  NAME(walk) high = NAME(walk_to)(s, p, at, 0, first);
  while (n > 0) {
    size_t some = low.n < high.n ? low.n : high.n;
    some = some < n ? some : n;
    NAME(word) *const a = s->words + low.begin, *const b =
                                                    s->words + high.begin;
    for (size_t j = 0; j < some; j++) {
      const WORD x = a[j];
      a[j] = b[j];
      b[j] = x;
    }
    NAME(walk_on)(&low, some);
    NAME(walk_on)(&high, some);
    n -= some;
  }
}

/* Each split part becomes two. */
static void NAME(divide)(NAME(sorting) * s) {
  NAME(part) *const now = s->part;
  int n = 0;
  for (int i = 0; i < s->parts; i++) {
    const size_t at = NAME(split_at)(s, &now[i]);
    s->next[n] = now[i];
    if (now[i].shares > 0) {
      s->next[n++].end = at;
      s->next[n] = now[i];
      s->next[n].begin = at;
    }
    n++;
  }
  s->part = s->next;
  s->next = now;
  s->parts = n;
}

static void NAME(split)(NAME(sorting) * s, struct team *team) {
  s->part[0] = (NAME(part)){.end = s->n};
  s->parts = 1;
  for (int most = 1; most < s->most; most *= 2) {
    NAME(plan_shares)(s);
    if (s->shares == 0) {
      break;
    }
    const int together = s->parts < 2 * s->team;
    team_run(team, s->shares, NAME(split_share), s);
    if (together) {
      team_run(team, s->shares, NAME(exchange_share), s);
    }
    NAME(divide)(s);
  }
}

/* --- sorting --- */

/* By insertion: they are few. */
static void NAME(largest_first)(NAME(part) * part, int n) {
  for (int i = 1; i < n; i++) {
    const NAME(part) p = part[i];
    int j = i;
    for (; j > 0 && part[j - 1].end - part[j - 1].begin < p.end - p.begin;
         j--) {
      part[j] = part[j - 1];
    }
    part[j] = p;
  }
}

static void NAME(sort_part)(void *arg, int i, int member) {
  const NAME(sorting) *const s = arg;
  const NAME(part) *const p = &s->part[i];
  (void)member;
  NAME(word_sort)(s->words + p->begin, p->end - p->begin);
}

static void NAME(sort)(const struct word_form *form, struct team *team,
                       void *words, size_t n, void *work) {
  NAME(sorting) *const s = NAME(sorting_new)(work, team_size(team));
  s->form = form;
  s->words = words;
  s->n = n;
  s->shares = n < NAME(SAMPLE) * 16 || s->team == 1 ? 1 : 2 * s->team;
  team_run(team, s->shares, NAME(encode_share), s);
  if (NAME(in_order)(s, 0)) {
    return;
  }
  if (NAME(in_order)(s, 1)) {
    team_run(team, s->shares, NAME(reverse_share), s);
    return;
  }
  NAME(split)(s, team);
  NAME(largest_first)(s->part, s->parts);
  team_run(team, s->parts, NAME(sort_part), s);
}

static size_t NAME(array_work)(size_t n) {
  (void)n;
  return 0;
}

/* All words are one share. */
static void NAME(array)(const struct word_form *form, void *words, size_t n,
                        void *work) {
  NAME(sorting)
  s = {.form = form, .words = words, .n = n, .team = 1, .shares = 1};
  (void)work;
  NAME(encode_share)(&s, 0, 0);
  if (NAME(in_order)(&s, 1)) {
    NAME(reverse_share)(&s, 0, 0);
  } else if (!NAME(in_order)(&s, 0)) {
    NAME(word_sort)(words, n);
  }
  NAME(decode)(form, words, n);
}
