libpemscore_la_SOURCES += \
  src/context/boundary.c \
  src/context/boundary.h \
  src/context/context.c \
  src/context/context.h \
  src/context/granule.c \
  src/context/granule.h \
  src/context/internal.h \
  src/context/late_frees.c \
  src/context/late_frees.h \
  src/context/protections.c \
  src/context/protections.h

UNIT_TESTS += \
  tests/unit/context/test_boundary \
  tests/unit/context/test_context \
  tests/unit/context/test_protections
EXTRA_DIST += src/context/README.md
