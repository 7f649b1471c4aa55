/* A template, like word_form.h, and to be included after it: merging by
   sorting in the cache.

   Sorting small words that fit in the cache is faster than a tree of losers, so
   the pieces are cut into chunks at splitters taken from samples, the parts of
   a chunk are gathered in `out` beside each other, and sorted there; or merged
   by such a tree where it is faster: up to TREE_MOST pieces, if defined. A
   splitter that is often in the sample gets a chunk of its own for the words
   equal to it, which only need to be copied. Chunks that are too large yet are
   cut again. */

/* At most so many chunks are cut at once, with so many samples of each piece
   for each chunk on average. */
enum {
  NAME(CHUNKS) = 32,
  NAME(LEVELS) = 16,
  NAME(SAMPLES_EACH) = 2,
};

#ifdef TREE_MOST
_Static_assert(NAME(CHUNKS) * NAME(SAMPLES_EACH) * sizeof(WORD) >= 96 + 32 / 8,
               "a tree takes the place of samples");
#endif

typedef const NAME(word) * NAME(place);

/* One level of cutting. */
typedef struct {
  NAME(place) * begin, *end; /* of the pieces' parts that are the next chunk */
  WORD splitter[NAME(CHUNKS)];
  char often[NAME(CHUNKS)]; /* whether words equal to it get their own chunk */
  int splitters;
  size_t stride; /* of the samples in the pieces */
} NAME(level);

typedef struct {
  const struct word_form *form; /* or NULL */
  NAME(word) * out;
  int pieces;
  size_t chunk; /* words of one, as well as possible */
  WORD *sample;
  NAME(place) * begin, *end; /* of the pieces */
  NAME(level) * level;
#ifdef TREE_MOST
  NAME(tree) tree;
#endif
} NAME(merging);

static size_t NAME(most_samples)(int pieces) {
  const size_t each = (size_t)NAME(CHUNKS) * NAME(SAMPLES_EACH);
  return each * (size_t)(pieces < 8 ? 8 : pieces) + NAME(CHUNKS);
}

static size_t NAME(merge_work)(int pieces) {
  return NAME(most_samples)(pieces) * sizeof(WORD) +
         NAME(LEVELS) * sizeof(NAME(level)) +
         (2 * NAME(LEVELS) + 2) * (size_t)pieces * sizeof(NAME(place));
}

static void NAME(merging_init)(NAME(merging) * m, int pieces, void *work) {
  m->pieces = pieces;
  m->chunk = word_chunk(sizeof(WORD), pieces);
  m->sample = work; /* first those that may want to be aligned most */
#ifdef TREE_MOST
  /* No sample is needed while a chunk is merged, and a tree is smaller. */
  NAME(tree_init)(&m->tree, pieces, work);
#endif
  m->level = (NAME(level) *)(m->sample + NAME(most_samples)(pieces));
  m->begin = (NAME(place) *)(m->level + NAME(LEVELS));
  m->end = m->begin + pieces;
  for (int i = 0; i < NAME(LEVELS); i++) {
    m->level[i].begin = m->end + (2 * i + 1) * pieces;
    m->level[i].end = m->level[i].begin + pieces;
  }
}

/* --- chunks in the cache --- */

static void NAME(decode_last)(NAME(merging) * m, size_t n) {
  if (m->form) {
    NAME(decode)(m->form, m->out, n);
  }
  m->out += n;
}

static size_t NAME(gather)(const NAME(merging) * m, const NAME(place) * begin,
                           const NAME(place) * end) {
  size_t n = 0;
  for (int i = 0; i < m->pieces; i++) {
    const size_t some = (size_t)(end[i] - begin[i]);
    memcpy(m->out + n, begin[i], some * sizeof(WORD));
    n += some;
  }
  return n;
}

/* Two pieces, without branches that depend on the words. */
static void NAME(merge_two)(NAME(place) a, NAME(place) a_end, NAME(place) b,
                            NAME(place) b_end, NAME(word) * out) {
  while (a < a_end && b < b_end) {
    /* As many as either has can be taken without looking for its end. */
    const ptrdiff_t some = a_end - a < b_end - b ? a_end - a : b_end - b;
    for (ptrdiff_t i = 0; i < some; i++) {
      const WORD x = *a, y = *b;
      const int second = y < x;
      *out++ = second ? y : x;
      a += !second;
      b += second;
    }
  }
  memcpy(out, a, (size_t)(a_end - a) * sizeof(*a));
  memcpy(out + (a_end - a), b, (size_t)(b_end - b) * sizeof(*b));
}

/* Three pieces or more; true if it pays. */
static bool NAME(merge_tree)(NAME(merging) * m, const NAME(place) * begin,
                             const NAME(place) * end, size_t total) {
#ifdef TREE_MOST
  if (m->pieces <= TREE_MOST) {
    m->tree.leaves = 0;
    for (int i = 0; i < m->pieces; i++) {
      NAME(tree_add)(&m->tree, begin[i], end[i]);
    }
    NAME(tree_merge)(&m->tree, total, m->out);
    return true;
  }
#endif
  (void)m, (void)begin, (void)end, (void)total;
  return false;
}

/* The pieces that are not empty, as [0] and [1] if there are one or two; how
   many there are, at most 3. */
static int NAME(find_two)(const NAME(merging) * m, const NAME(place) * begin,
                          const NAME(place) * end, int *at) {
  int n = 0;
  for (int i = 0; i < m->pieces && n < 3; i++) {
    if (begin[i] < end[i]) {
      if (n < 2) {
        at[n] = i;
      }
      n++;
    }
  }
  return n;
}

/* --- cutting --- */

/* The first word of [a, end) that is not below x; in steps that grow, as it is
   near. */
static NAME(place)
    NAME(cut)(NAME(place) a, NAME(place) end, size_t step, WORD x) {
  while ((size_t)(end - a) > step) {
    if (a[step - 1] >= x) {
      end = a + step;
      break;
    }
    a += step;
    step += step / 2;
  }
  return a + NAME(below)(a, (size_t)(end - a), x);
}

static size_t NAME(take_samples)(NAME(merging) * m, const NAME(place) * begin,
                                 const NAME(place) * end, size_t stride) {
  size_t n = 0;
  for (int i = 0; i < m->pieces; i++) {
    const NAME(place) a = begin[i];
    const size_t some = (size_t)(end[i] - a) / stride;
    for (size_t j = 0; j < some; j++) {
      m->sample[n++] = a[j * stride + stride - 1];
    }
  }
  NAME(word_sort)(m->sample, n);
  return n;
}

/* Splitters for `total` words. Between two samples of a piece lie less than
   `stride` words, so that no chunk has more than two times what it should have
   and `stride` of each piece. */
static void NAME(choose_splitters)(NAME(merging) * m, NAME(level) * l,
                                   const NAME(place) * begin,
                                   const NAME(place) * end, size_t total) {
  size_t chunk = total / NAME(CHUNKS) + 1;
  chunk = chunk < m->chunk ? m->chunk : chunk;
  const size_t pieces = m->pieces < 8 ? 8 : (size_t)m->pieces;
  l->stride = chunk / (NAME(SAMPLES_EACH) * pieces) + 1;
  const size_t samples = NAME(take_samples)(m, begin, end, l->stride);
  const size_t each = chunk / l->stride;
  l->splitters = 0;
  for (size_t i = each; i < samples; i += each) {
    const WORD x = m->sample[i];
    if (l->splitters > 0 && l->splitter[l->splitters - 1] == x) {
      l->often[l->splitters - 1] = 1;
    } else if (l->splitters < NAME(CHUNKS)) {
      l->often[l->splitters] = 0;
      l->splitter[l->splitters++] = x;
    }
  }
}

/* Cuts all pieces before x, to l->end, or behind it. How many words that
   are. */
static size_t NAME(cut_all)(const NAME(merging) * m, const NAME(level) * l,
                            const NAME(place) * end, WORD x, int behind) {
  size_t n = 0;
  const int all = behind && x == (WORD)-1;
  for (int i = 0; i < m->pieces; i++) {
    l->end[i] = all ? end[i]
                    : NAME(cut)(l->begin[i], end[i], l->stride,
                                (WORD)(x + (WORD)behind));
    n += (size_t)(l->end[i] - l->begin[i]);
  }
  return n;
}

static void NAME(next_chunk)(NAME(level) * l) {
  NAME(place) *const begin = l->begin;
  l->begin = l->end;
  l->end = begin;
}

/* --- all --- */

static void NAME(merge_range)(NAME(merging) * m, NAME(level) * l,
                              const NAME(place) * begin,
                              const NAME(place) * end, size_t total);

static void NAME(merge_chunks)(NAME(merging) * m, NAME(level) * l,
                               const NAME(place) * begin,
                               const NAME(place) * end, size_t total) {
  NAME(choose_splitters)(m, l, begin, end, total);
  memcpy(l->begin, begin, (size_t)m->pieces * sizeof(*begin));
  for (int i = 0; i < l->splitters; i++) {
    size_t n = NAME(cut_all)(m, l, end, l->splitter[i], 0);
    NAME(merge_range)(m, l + 1, l->begin, l->end, n);
    total -= n;
    NAME(next_chunk)(l);
    if (l->often[i]) {
      n = NAME(cut_all)(m, l, end, l->splitter[i], 1);
      NAME(gather)(m, l->begin, l->end);
      NAME(decode_last)(m, n);
      total -= n;
      NAME(next_chunk)(l);
    }
  }
  NAME(merge_range)(m, l + 1, l->begin, end, total);
}

static void NAME(merge_range)(NAME(merging) * m, NAME(level) * l,
                              const NAME(place) * begin,
                              const NAME(place) * end, size_t total) {
  int two[2];
  const int some = NAME(find_two)(m, begin, end, two);
  if (some > 2 && total > m->chunk * 5 / 2 && l < m->level + NAME(LEVELS)) {
    NAME(merge_chunks)(m, l, begin, end, total);
    return;
  }
  if (some == 2) {
    NAME(merge_two)
    (begin[two[0]], end[two[0]], begin[two[1]], end[two[1]], m->out);
  } else if (some > 0 &&
             !(some > 1 && NAME(merge_tree)(m, begin, end, total))) {
    NAME(gather)(m, begin, end);
    if (some > 1) {
      NAME(word_sort)(m->out, total);
    }
  }
  NAME(decode_last)(m, total);
}

static void NAME(merge)(const struct word_form *form,
                        const struct kernel_piece *piece, int pieces, void *out,
                        void *work) {
  NAME(merging) m = {.form = form, .out = out};
  size_t total = 0;
  NAME(merging_init)(&m, pieces, work);
  for (int i = 0; i < pieces; i++) {
    m.begin[i] = (NAME(place))piece[i].at;
    m.end[i] = m.begin[i] + piece[i].n;
    total += piece[i].n;
  }
  NAME(merge_range)(&m, m.level, m.begin, m.end, total);
}

const struct word_type NAME(word_type) = {
    NAME(sort_work), NAME(sort),   NAME(array_work), NAME(array),
    NAME(compare),   NAME(rank),   NAME(merge_work), NAME(merge),
    NAME(encode),    NAME(decode),
};
