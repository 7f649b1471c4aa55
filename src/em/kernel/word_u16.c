/* Words of this size, for the kernel "word". */
#include <string.h>

#include "em/kernel/parts.h"
#include "em/kernel/radix.h"
#include "em/kernel/word.h"

#define WORD uint16_t
#define NAME(x) x##_u16
#include "em/kernel/word_form.h"

#include "em/kernel/word_count.h"
