/* Words of this size, for the kernel "word". */
#include <stdatomic.h>
#include <string.h>

#include "em/kernel/word.h"

#define WORD uint64_t
#define NAME(x) x##_u64
#include "em/kernel/word_form.h"

#include "em/kernel/word_sort.h"

#include "em/kernel/word_merge.h"
