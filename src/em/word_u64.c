/* Words of this size, for the kernel "word". */
#include <stdatomic.h>
#include <string.h>

#include "em/word.h"

#define WORD uint64_t
#define NAME(x) x##_u64
#include "em/word_form.h"

#include "em/word_sort.h"

#include "em/word_merge.h"
