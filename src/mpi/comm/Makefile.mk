libpemscore_la_SOURCES += \
  src/mpi/comm/cart.c \
  src/mpi/comm/comm_create.c \
  src/mpi/comm/comm_directory.c \
  src/mpi/comm/comm_directory.h \
  src/mpi/comm/comm_dup.c \
  src/mpi/comm/comm_end.c \
  src/mpi/comm/comm_from_group.c \
  src/mpi/comm/comm_from_group.h \
  src/mpi/comm/comm_make.c \
  src/mpi/comm/comm_make.h \
  src/mpi/comm/comm_split.c \
  src/mpi/comm/dims.c \
  src/mpi/comm/dist_graph.c \
  src/mpi/comm/graph.c \
  src/mpi/comm/group_message.c \
  src/mpi/comm/group_message.h \
  src/mpi/comm/intercomm.c \
  src/mpi/comm/intercomm.h \
  src/mpi/comm/join.c \
  src/mpi/comm/port.c \
  src/mpi/comm/service.c \
  src/mpi/comm/service.h \
  src/mpi/comm/spawn.c \
  src/mpi/comm/spawn_child.c \
  src/mpi/comm/spawn_child.h \
  src/mpi/comm/spawn_interpreter.c \
  src/mpi/comm/spawn_program.c \
  src/mpi/comm/spawn_program.h \
  src/mpi/comm/universe.c \
  src/mpi/comm/universe.h
UNIT_TESTS += \
  tests/unit/mpi/comm/test_comm_directory \
  tests/unit/mpi/comm/test_comm_from_group \
  tests/unit/mpi/comm/test_comm_shortage \
  tests/unit/mpi/comm/test_group_message \
  tests/unit/mpi/comm/test_port \
  tests/unit/mpi/comm/test_service \
  tests/unit/mpi/comm/test_spawn_program
EXTRA_DIST += src/mpi/comm/README.md
