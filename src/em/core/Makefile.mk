libpemsem_la_SOURCES += \
  src/em/core/arena.c \
  src/em/core/arena.h \
  src/em/core/bisect.h \
  src/em/core/defaults.c \
  src/em/core/defaults.h \
  src/em/core/host.c \
  src/em/core/host.h \
  src/em/core/memory.c \
  src/em/core/memory.h \
  src/em/core/request_list.h \
  src/em/core/team.c \
  src/em/core/team.h \
  src/em/core/version.c

UNIT_TESTS += \
  tests/unit/em/core/test_arena \
  tests/unit/em/core/test_bisect \
  tests/unit/em/core/test_defaults \
  tests/unit/em/core/test_memory \
  tests/unit/em/core/test_host \
  tests/unit/em/core/test_team \
  tests/unit/em/core/test_version
EXTRA_DIST += src/em/core/README.md
