libpemsbase_la_SOURCES += \
  src/config/cost.c \
  src/config/cost.h \
  src/config/machine.c \
  src/config/machine.h \
  src/config/measured.c \
  src/config/measured.h \
  src/config/memory_plan.c \
  src/config/memory_plan.h \
  src/config/memory_used.c \
  src/config/memory_used.h \
  src/config/options.c \
  src/config/options.h \
  src/config/plan.c \
  src/config/plan.h \
  src/config/size.c \
  src/config/size.h \
  src/config/slurm.c \
  src/config/slurm.h \
  src/config/split.c \
  src/config/split.h

UNIT_TESTS += \
  tests/unit/config/test_cost \
  tests/unit/config/test_machine \
  tests/unit/config/test_measured \
  tests/unit/config/test_memory_plan \
  tests/unit/config/test_memory_used \
  tests/unit/config/test_options \
  tests/unit/config/test_options_shortage \
  tests/unit/config/test_plan \
  tests/unit/config/test_slurm \
  tests/unit/config/test_split
EXTRA_DIST += src/config/README.md
