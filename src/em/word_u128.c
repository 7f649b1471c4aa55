/* Words of this size, for the kernel "word". */
#include <stdatomic.h>
#include <string.h>

#include "em/word.h"

#define WORD word_wide
#define NAME(x) x##_u128
#include "em/word_form.h"

#include "em/word_sort.h"

#include "em/word_merge.h"
