libpemscore_la_SOURCES += \
  src/mpi/datatype/array_part.c \
  src/mpi/datatype/array_part.h \
  src/mpi/datatype/contents.c \
  src/mpi/datatype/contents.h \
  src/mpi/datatype/contents_make.c \
  src/mpi/datatype/layout.c \
  src/mpi/datatype/layout.h \
  src/mpi/datatype/layout_kept.c \
  src/mpi/datatype/layout_kept.h \
  src/mpi/datatype/named.c \
  src/mpi/datatype/named.h \
  src/mpi/datatype/pack.c \
  src/mpi/datatype/segments.c \
  src/mpi/datatype/segments.h \
  src/mpi/datatype/span.c \
  src/mpi/datatype/types_kept.c \
  src/mpi/datatype/types_kept.h

UNIT_TESTS += \
  tests/unit/mpi/datatype/test_array_part \
  tests/unit/mpi/datatype/test_contents \
  tests/unit/mpi/datatype/test_layout \
  tests/unit/mpi/datatype/test_layout_kept \
  tests/unit/mpi/datatype/test_layout_shortage \
  tests/unit/mpi/datatype/test_segments \
  tests/unit/mpi/datatype/test_types_kept
EXTRA_DIST += src/mpi/datatype/README.md
