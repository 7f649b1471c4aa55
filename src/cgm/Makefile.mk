libpems_cgm_a_SOURCES += \
  src/cgm/balance.c \
  src/cgm/broadcast.c \
  src/cgm/exchange.c \
  src/cgm/exchange.h \
  src/cgm/fault.c \
  src/cgm/fault.h \
  src/cgm/histogram.c \
  src/cgm/kernel.c \
  src/cgm/kernel.h \
  src/cgm/machine.c \
  src/cgm/machine.h \
  src/cgm/memory.c \
  src/cgm/memory.h \
  src/cgm/names.h \
  src/cgm/pack.c \
  src/cgm/partition.c \
  src/cgm/prefix.c \
  src/cgm/relation.c \
  src/cgm/relation.h \
  src/cgm/route.c \
  src/cgm/sort.c \
  src/cgm/splitters.c \
  src/cgm/splitters.h \
  src/cgm/transpose.c
EXTRA_DIST += src/cgm/README.md
