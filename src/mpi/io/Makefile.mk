libpemscore_la_SOURCES += \
  src/mpi/io/file.c \
  src/mpi/io/file.h \
  src/mpi/io/file_access.c \
  src/mpi/io/file_access.h \
  src/mpi/io/file_kept.c \
  src/mpi/io/file_kept.h \
  src/mpi/io/file_manage.c \
  src/mpi/io/file_open.c \
  src/mpi/io/file_open.h \
  src/mpi/io/file_owner.c \
  src/mpi/io/file_owner.h \
  src/mpi/io/file_shared.c \
  src/mpi/io/file_shared.h \
  src/mpi/io/file_split.c
UNIT_TESTS += \
  tests/unit/mpi/io/test_file_access \
  tests/unit/mpi/io/test_file_kept
EXTRA_DIST += src/mpi/io/README.md
