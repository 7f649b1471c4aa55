libpemscore_la_SOURCES += \
  src/mpi/datatype/layout.c \
  src/mpi/datatype/layout.h \
  src/mpi/datatype/named.c \
  src/mpi/datatype/named.h \
  src/mpi/datatype/pack.c \
  src/mpi/datatype/span.c

UNIT_TESTS += \
  tests/unit/mpi/datatype/test_layout \
  tests/unit/mpi/datatype/test_layout_shortage
EXTRA_DIST += src/mpi/datatype/README.md
