/* Pages of contexts that are mapped from scratch files, and that the system
   could not read when they were touched: that comes as SIGBUS. */
#ifndef PEMS_CONTEXT_STORE_FAILED_PAGE_H
#define PEMS_CONTEXT_STORE_FAILED_PAGE_H

#include <stdbool.h>

/* May that happen, so that SIGBUS must never be blocked? */
bool failed_page_possible(void);
/* Called by a handler of SIGBUS: false if `address` is in no such mapping. Else
   the page is read as drivers read, which tells what is wrong: an error ends
   the job with one line. True if the page can be read now, so that the access
   is worth another try. Takes no lock and uses no heap. */
bool failed_page_retry(const void *address);

#endif
