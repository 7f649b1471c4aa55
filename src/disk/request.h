/* One request: how it ends, who waits for it, and what is counted of it. */
#ifndef PEMS_DISK_REQUEST_H
#define PEMS_DISK_REQUEST_H

#include <stdbool.h>
#include <stdint.h>

#include <pems/disk.h>

/* The counts of pems_disk_counts, for those who move and those who wait. */
struct disk_tally {
  _Atomic uint64_t reads, writes, merged;
  _Atomic uint64_t bytes_read, bytes_written;
  _Atomic uint64_t read_wait_ns, write_wait_ns;
};

/* What they are now. Thread-safe. */
void disk_tally_get(const struct disk_tally *tally,
                    struct pems_disk_counts *counts);
/* One more that is done, or has failed. NULL counts nothing. Thread-safe. */
void disk_tally_add(struct disk_tally *tally, int write, uint64_t bytes,
                    int error);

/* Makes it one that is under way, for `owner`. */
void disk_request_begin(struct pems_request *request, void *owner);
/* Says how it ended: calls `done` or wakes who waits. The request may be gone
   after this. */
void disk_request_end(struct pems_request *request, int error);
/* The same for one that was taken back: ECANCELED, and `done` is not called. */
void disk_request_withdraw(struct pems_request *request);
/* Waits for one without `done`: 0 or an errno value. */
int disk_request_wait(struct pems_request *request, struct disk_tally *tally);
bool disk_request_test(const struct pems_request *request);

#endif
