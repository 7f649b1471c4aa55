/* What the system knows about pages of this process: which exist, and which
   were written since they were protected; and moving pages. */
#ifndef PEMS_OS_PAGES_H
#define PEMS_OS_PAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes of a page, and of a huge page. */
#define PAGE ((size_t)4096)
#define HUGE_PAGE ((size_t)2 << 20)

enum {
  SURVEY_WRITTEN = 1,  /* not write-protected (any more) */
  SURVEY_FILE = 2,     /* a page of a mapped file, not a private copy of it */
  SURVEY_ZERO = 4,     /* the shared page of zeros: read, never written */
  SURVEY_HUGE = 8,     /* mapped as a huge page */
  SURVEY_WATCHED = 16, /* in memory whose writes are noticed */
};

/* Opens what the surveys ask; once per process, also again after a fork.
   Returns 0 or an errno value: then surveys say that every page exists and was
   written. */
int pages_survey_start(void);
void pages_survey_end(void);
/* True if the kernel can tell SURVEY_WRITTEN, ZERO and HUGE (PAGEMAP_SCAN,
   Linux 6.7). */
bool pages_survey_full(void);

/* Called for each run of pages [start, end) that exist and are alike. */
typedef void survey_visit(void *arg, uintptr_t start, uintptr_t end, int flags);
/* Visits the pages of [start, end), whole pages, that exist (in memory or in
   swap space), in order. Thread-safe. */
void pages_survey(uintptr_t start, uintptr_t end, survey_visit *f, void *arg);

/* New pages of this process alone, zero. NULL as `at`: anywhere; else in place
   of what is there. n is rounded up. NULL: errno says why. Both may be called
   in a forked child of a process with threads. */
void *pages_new(void *at, size_t n);
void pages_drop(void *p, size_t n);

/* Makes n bytes of whole pages zero; those that are stay without memory. */
void pages_clear(char *p, size_t n);

/* Where the system can (Linux 6.13), pages are made inaccessible, and
   accessible again, without a change of the mappings that they are in, and many
   at once: pages_guard gives the memory of all `n` ranges back, and a touch of
   what is in the `n_guarded` ones is a fault until pages_unguard, after which
   it is zero. The ranges are whole pages. False: the system cannot, and what
   was done is not known. Neither in a forked child. */
struct iovec;
bool pages_can_guard(void);
bool pages_guard(const struct iovec *ranges, size_t n,
                 const struct iovec *guarded, size_t n_guarded);
bool pages_unguard(const struct iovec *ranges, size_t n);

/* Moves the pages [from, from + n) to `to`, in place of what is mapped there;
   with `keep` the source stays a mapping without pages. n is a multiple of
   PAGE. 0 or an errno value. */
int pages_move(void *from, void *to, size_t n, bool keep);

#endif
