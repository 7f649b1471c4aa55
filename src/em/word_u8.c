/* Words of this size, for the kernel "word". */
#include <string.h>

#include "em/parts.h"
#include "em/radix.h"
#include "em/word.h"

#define WORD uint8_t
#define NAME(x) x##_u8
#include "em/word_form.h"

#include "em/word_count.h"
