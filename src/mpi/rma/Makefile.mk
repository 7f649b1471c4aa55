libpemscore_la_SOURCES += \
  src/mpi/rma/win.c \
  src/mpi/rma/win.h \
  src/mpi/rma/win_access.c \
  src/mpi/rma/win_apply.c \
  src/mpi/rma/win_create.c \
  src/mpi/rma/win_kept.c \
  src/mpi/rma/win_kept.h \
  src/mpi/rma/win_lock.c \
  src/mpi/rma/win_message.c \
  src/mpi/rma/win_message.h \
  src/mpi/rma/win_remote.c \
  src/mpi/rma/win_sync.c \
  src/mpi/rma/win_target.c \
  src/mpi/rma/win_target.h \
  src/mpi/rma/win_type.c \
  src/mpi/rma/win_watch.c

UNIT_TESTS += \
  tests/unit/mpi/rma/test_win_kept \
  tests/unit/mpi/rma/test_win_lock \
  tests/unit/mpi/rma/test_win_message \
  tests/unit/mpi/rma/test_win_shortage \
  tests/unit/mpi/rma/test_win_target
EXTRA_DIST += src/mpi/rma/README.md
