/* Suffix arrays by difference cover: DC3. */
#ifndef APPS_SUFFIX_DC3_H
#define APPS_SUFFIX_DC3_H

#include "suffix_job.h"

/* Sorts the suffixes at positions that are 1 or 2 modulo 3 by sorting those of
   a string of two thirds of the length, whose symbols are names of three
   symbols; then all others by their first symbol and what follows it, and
   merges. Kärkkäinen and Sanders, Simple Linear Work Suffix Array Construction
   (ICALP 2003), in external memory as in Dementiev, Kärkkäinen, Mehnert and
   Sanders, Better External Memory Suffix Array Construction (ALENEX 2005),
   section 5. Strings of up to job->base symbols are sorted in memory. 0 or an
   errno value.
 */
int suffix_dc3(struct suffix_job *job, struct pems_error *error);

#endif
