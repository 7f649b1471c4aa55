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
  src/context/protections.h \
  src/context/stack_part.c \
  src/context/stack_part.h

UNIT_TESTS += \
  tests/unit/context/test_boundary \
  tests/unit/context/test_context \
  tests/unit/context/test_context_shortage \
  tests/unit/context/test_protections \
  tests/unit/context/test_stack_part
EXTRA_DIST += src/context/README.md
