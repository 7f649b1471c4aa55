libpemscore_la_SOURCES += \
  src/mpi_below/flavour.c \
  src/mpi_below/flavour.h \
  src/mpi_below/goodbye.c \
  src/mpi_below/goodbye.h \
  src/mpi_below/hooks.c \
  src/mpi_below/hooks.h \
  src/mpi_below/keeper.c \
  src/mpi_below/keeper.h \
  src/mpi_below/launcher.c \
  src/mpi_below/launcher.h \
  src/mpi_below/launcher_variables.c \
  src/mpi_below/launcher_variables.h \
  src/mpi_below/libraries.c \
  src/mpi_below/libraries.h \
  src/mpi_below/link.c \
  src/mpi_below/link.h \
  src/mpi_below/mark.c \
  src/mpi_below/mark.h \
  src/mpi_below/net.c \
  src/mpi_below/net.h \
  src/mpi_below/session.c \
  src/mpi_below/session.h \
  src/mpi_below/shared_memory.c \
  src/mpi_below/shared_memory.h \
  src/mpi_below/thread_level.c \
  src/mpi_below/thread_level.h \
  src/mpi_below/watch.c \
  src/mpi_below/watch.h
if LAUNCHER_OPENMPI
libpemscore_la_SOURCES += src/mpi_below/launcher_openmpi.c
endif
if LAUNCHER_ORTE
libpemscore_la_SOURCES += src/mpi_below/launcher_orte.c
endif
if LAUNCHER_PRRTE
libpemscore_la_SOURCES += src/mpi_below/launcher_prrte.c \
  src/mpi_below/pmix_abort.c
endif
if LAUNCHER_HYDRA
libpemscore_la_SOURCES += src/mpi_below/launcher_hydra.c
endif
EXTRA_DIST += src/mpi_below/mpi.m4 src/mpi_below/launcher_openmpi.c \
  src/mpi_below/launcher_orte.c src/mpi_below/launcher_prrte.c \
  src/mpi_below/launcher_hydra.c src/mpi_below/pmix_abort.c

UNIT_TESTS += \
  tests/unit/mpi_below/test_flavour \
  tests/unit/mpi_below/test_goodbye \
  tests/unit/mpi_below/test_hooks \
  tests/unit/mpi_below/test_keeper \
  tests/unit/mpi_below/test_launcher \
  tests/unit/mpi_below/test_launcher_variables \
  tests/unit/mpi_below/test_libraries \
  tests/unit/mpi_below/test_mark \
  tests/unit/mpi_below/test_session \
  tests/unit/mpi_below/test_shared_memory \
  tests/unit/mpi_below/test_thread_level \
  tests/unit/mpi_below/test_watch
EXTRA_DIST += src/mpi_below/README.md
