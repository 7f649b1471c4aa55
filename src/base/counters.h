/* Counters of one process; every byte moved is counted here. */
#ifndef PEMS_BASE_COUNTERS_H
#define PEMS_BASE_COUNTERS_H

#include <stdatomic.h>
#include <stdint.h>

/* X(name, unit, what it counts) */
#define COUNTERS(X)                                                            \
  X(swap_in, "bytes", "contexts read from disk")                               \
  X(swap_out, "bytes", "contexts written to disk")                             \
  X(deliver_memory, "bytes", "messages copied in memory")                      \
  X(deliver_written, "bytes", "messages written to contexts on disk")          \
  X(deliver_read, "bytes", "messages read from contexts on disk")              \
  X(boundary, "bytes", "boundary blocks read or written by themselves")        \
  X(net_sent, "bytes", "payload sent to other processes")                      \
  X(net_messages, "messages", "messages sent to other processes")              \
  X(net_read, "bytes", "read from the memory of processes of this host")       \
  X(net_rounds, "buffers", "of large messages sent to other processes")        \
  X(reads, "requests", "read requests to the disks")                           \
  X(writes, "requests", "write requests to the disks")                         \
  X(bytes_read, "bytes", "read from the disks")                                \
  X(bytes_written, "bytes", "written to the disks")                            \
  X(granted, "bytes", "allocated on the disks")                                \
  X(mapped_outside, "bytes",                                                   \
    "of private file mappings too large for contexts")                         \
  X(oversize, "bytes",                                                         \
    "of allocations that did not fit in memory: what is touched counts")       \
  X(beside, "bytes", "of copies of libraries that are not in contexts")        \
  X(compress_in, "bytes", "of contexts, before compressing them")              \
  X(compress_out, "bytes", "the same, compressed, as written")                 \
  X(compress_ns, "ns", "CPU time for compressing and decompressing contexts")  \
  X(io_wait, "ns", "time threads waited for the disks")                        \
  X(swaps_in, "contexts", "swaps in")                                          \
  X(swaps_out, "contexts", "swaps out")                                        \
  X(waits, "calls", "times that ranks have waited in MPI")                     \
  X(swaps_vain, "contexts", "swaps in after which a rank asked or waited on")  \
  X(swaps_brief, "contexts", "swaps in for less than 50 us of a rank's time")  \
  X(starved, "times", "a context had no room beside those of ranks that ran")  \
  X(supersteps, "calls", "collective calls completed")

struct counters {
#define COUNTER_FIELD(name, unit, help) _Atomic uint64_t name;
  COUNTERS(COUNTER_FIELD)
#undef COUNTER_FIELD
};
extern struct counters counters;
/* Those of libpems-em, which has its own copy of this file, where the process
   uses it; else NULL. Set before threads start. */
extern const struct counters *counters_joined;

/* Relaxed: counts are read only at the end or for display. */
#define counter_add(name, n)                                                   \
  atomic_fetch_add_explicit(&counters.name, (uint64_t)(n), memory_order_relaxed)
#define counter_get(name)                                                      \
  (atomic_load_explicit(&counters.name, memory_order_relaxed) +                \
   (counters_joined                                                            \
        ? atomic_load_explicit(&counters_joined->name, memory_order_relaxed)   \
        : 0))

#endif
