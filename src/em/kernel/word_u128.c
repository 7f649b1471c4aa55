/* Words of this size, for the kernel "word". */
#include <stdatomic.h>
#include <string.h>

#include "em/kernel/word.h"

#define WORD word_wide
#define NAME(x) x##_u128
#include "em/kernel/word_form.h"

#include "em/kernel/word_sort.h"

#include "em/kernel/word_tree.h"

#include "em/kernel/word_merge.h"
