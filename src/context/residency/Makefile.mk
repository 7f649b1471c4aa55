libpemscore_la_SOURCES += \
  src/context/residency/density.c \
  src/context/residency/density.h \
  src/context/residency/frames.c \
  src/context/residency/frames.h \
  src/context/residency/lazy.c \
  src/context/residency/lazy.h \
  src/context/residency/mover.c \
  src/context/residency/mover.h \
  src/context/residency/residency.c \
  src/context/residency/residency.h \
  src/context/residency/swap.c \
  src/context/residency/swap.h \
  src/context/residency/track.c \
  src/context/residency/track.h

UNIT_TESTS += \
  tests/unit/context/residency/test_density \
  tests/unit/context/residency/test_frames
EXTRA_DIST += src/context/residency/README.md
