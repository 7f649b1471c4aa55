/* The order in which locks are taken: whoever holds one takes only such as come
   behind it here. What each guards, and what may be done under it, is in
   doc/locking.md, whose table has the same rows. */
#ifndef PEMS_OS_LOCK_RANK_H
#define PEMS_OS_LOCK_RANK_H

#define LOCK_RANKS(X)                                                          \
  X(TICKER)                                                                    \
  X(WATCH)                                                                     \
  X(FILES)                                                                     \
  X(LOADER)                                                                    \
  X(WINDOW_CHANGING)                                                           \
  X(COLL_WINDOW)                                                               \
  X(TASK_BAGS)                                                                 \
  X(TASK_PMOD)                                                                 \
  X(TASK_OVERFLOW)                                                             \
  X(LINE_FORM)                                                                 \
  X(FLUSH)                                                                     \
  X(SEGMENT)                                                                   \
  X(CONTEXT_IO)                                                                \
  X(CONTEXT_UNITS)                                                             \
  X(CONTEXT_HEAP)                                                              \
  X(CONTEXT_GRANT)                                                             \
  X(SPACE)                                                                     \
  X(RECORD_LOCKS)                                                              \
  X(RUN_QUEUE)                                                                 \
  X(DEADLOCK)                                                                  \
  X(STANDSTILL)                                                                \
  X(MAILBOXES)                                                                 \
  X(JOBS)                                                                      \
  X(OUTBOX)                                                                    \
  X(ALARM)                                                                     \
  X(RESIDENCY)                                                                 \
  X(HELPERS)                                                                   \
  X(HANDLERS)                                                                  \
  X(KEYS)                                                                      \
  X(STREAMS)                                                                   \
  X(FILE_MAPPINGS)                                                             \
  X(ERRHANDLERS)                                                               \
  X(OPS)                                                                       \
  X(FORTRAN)                                                                   \
  X(TOOLS)                                                                     \
  X(NAMED_TYPES)                                                               \
  X(LAYOUT_SETTING)                                                            \
  X(LAYOUTS)                                                                   \
  X(CARRIED)                                                                   \
  X(HANDLES)                                                                   \
  X(NAMING)                                                                    \
  X(LEAKS)                                                                     \
  X(REFUSE)                                                                    \
  X(WAY)                                                                       \
  X(LAZY_SITES)                                                                \
  X(LESSONS)                                                                   \
  X(BOUNCE)                                                                    \
  X(WORKSPACES)                                                                \
  X(GAIN)                                                                      \
  X(FRAMES)                                                                    \
  X(TFP)                                                                       \
  X(GRAPH)                                                                     \
  X(PQUEUE)                                                                    \
  X(RUN_BUILDER)                                                               \
  X(LINE_RUNS)                                                                 \
  X(LINE_PART)                                                                 \
  X(TASK_POOL)                                                                 \
  X(TASK_FAILURE)                                                              \
  X(EM_MEMORY)                                                                 \
  X(BLOCKS)                                                                    \
  X(PAGED)                                                                     \
  X(SPILL)                                                                     \
  X(ANNEX)                                                                     \
  X(DISK_BATCH)                                                                \
  X(DISK_QUEUE)                                                                \
  X(FAULT_FILES)                                                               \
  X(FAULT_QUEUE)                                                               \
  X(AIO)                                                                       \
  X(URING)                                                                     \
  X(TRACE)

enum lock_rank {
  LOCK_UNRANKED, /* an error */
#define LOCK_RANK(name) LOCK_##name,
  LOCK_RANKS(LOCK_RANK)
#undef LOCK_RANK
      LOCK_COUNT,
  /* While locks up to this one are held, threads may do I/O and wait. */
  LOCK_LAST_LONG = LOCK_CONTEXT_GRANT
};

#endif
