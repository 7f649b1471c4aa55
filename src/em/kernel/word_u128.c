/* Words of this size, for the kernel "word". */
#include <stdatomic.h>
#include <string.h>

#include "em/kernel/word.h"

#define WORD word_wide
#define NAME(x) x##_u128
#include "em/kernel/word_form.h"

#include "em/kernel/word_sort.h"

/* Vectors hold few of these words: with AVX-512, pairs in 16 pieces are merged
   at 1,190 MB/s a core and sorted at 700, in 128 pieces at 590 and 730. */
#define TREE_MOST 48
#include "em/kernel/word_tree.h"

#include "em/kernel/word_merge.h"
