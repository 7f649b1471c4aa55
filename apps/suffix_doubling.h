/* Suffix arrays by doubling and quadrupling. */
#ifndef APPS_SUFFIX_DOUBLING_H
#define APPS_SUFFIX_DOUBLING_H

#include "suffix_job.h"

/* Each round names the prefixes of length h of all suffixes by their rank, and
   sorts the suffixes by `names` (2 or 4) such names at distances of h, which
   makes h that many times as long. It ends when no two names are equal.
   Suffixes whose names no others have are not sorted again. Dementiev,
   Kärkkäinen, Mehnert and Sanders, Better External Memory Suffix Array
   Construction (ALENEX 2005), sections 3 and 4, but that the first prefix has 8
   characters rather than 2 or 4. 0 or an errno value: EFBIG for a text of 4 GiB
   or more and 4 names. */
int suffix_doubling(struct suffix_job *job, int names,
                    struct pems_error *error);

#endif
