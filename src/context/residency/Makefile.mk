libpemscore_la_SOURCES += \
  src/context/residency/awaited.c \
  src/context/residency/awaited.h \
  src/context/residency/changes.c \
  src/context/residency/changes.h \
  src/context/residency/density.c \
  src/context/residency/density.h \
  src/context/residency/footprint.c \
  src/context/residency/footprint.h \
  src/context/residency/frames.c \
  src/context/residency/frames.h \
  src/context/residency/guards.c \
  src/context/residency/guards.h \
  src/context/residency/lazy.c \
  src/context/residency/lazy.h \
  src/context/residency/ledger.c \
  src/context/residency/ledger.h \
  src/context/residency/lending.c \
  src/context/residency/lending.h \
  src/context/residency/lesson.c \
  src/context/residency/lesson.h \
  src/context/residency/mover.c \
  src/context/residency/mover.h \
  src/context/residency/moves.c \
  src/context/residency/moves.h \
  src/context/residency/prediction.c \
  src/context/residency/prediction.h \
  src/context/residency/rate.c \
  src/context/residency/rate.h \
  src/context/residency/residency.c \
  src/context/residency/residency.h \
  src/context/residency/room.c \
  src/context/residency/room.h \
  src/context/residency/segment.c \
  src/context/residency/segment.h \
  src/context/residency/stay.c \
  src/context/residency/stay.h \
  src/context/residency/swap.c \
  src/context/residency/swap.h \
  src/context/residency/track.c \
  src/context/residency/track.h \
  src/context/residency/victim.c \
  src/context/residency/victim.h \
  src/context/residency/way.c \
  src/context/residency/way.h

UNIT_TESTS += \
  tests/unit/context/residency/test_awaited \
  tests/unit/context/residency/test_changes \
  tests/unit/context/residency/test_density \
  tests/unit/context/residency/test_footprint \
  tests/unit/context/residency/test_frames \
  tests/unit/context/residency/test_frames_shortage \
  tests/unit/context/residency/test_guards \
  tests/unit/context/residency/test_lazy \
  tests/unit/context/residency/test_ledger \
  tests/unit/context/residency/test_lending \
  tests/unit/context/residency/test_lesson \
  tests/unit/context/residency/test_moves \
  tests/unit/context/residency/test_prediction \
  tests/unit/context/residency/test_rate \
  tests/unit/context/residency/test_room \
  tests/unit/context/residency/test_segment \
  tests/unit/context/residency/test_stay \
  tests/unit/context/residency/test_swap \
  tests/unit/context/residency/test_victim \
  tests/unit/context/residency/test_way
EXTRA_DIST += src/context/residency/README.md
