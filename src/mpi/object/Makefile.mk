libpemscore_la_SOURCES += \
  src/mpi/object/attribute.c \
  src/mpi/object/attribute.h \
  src/mpi/object/attribute_calls.c \
  src/mpi/object/attribute_world.c \
  src/mpi/object/attribute_world.h \
  src/mpi/object/check.c \
  src/mpi/object/check.h \
  src/mpi/object/comm.c \
  src/mpi/object/comm.h \
  src/mpi/object/comm_error.c \
  src/mpi/object/comm_error.h \
  src/mpi/object/comm_ask.c \
  src/mpi/object/comm_info.c \
  src/mpi/object/comm_info.h \
  src/mpi/object/comm_kept.c \
  src/mpi/object/comm_kept.h \
  src/mpi/object/derivations.c \
  src/mpi/object/derivations.h \
  src/mpi/object/envelope.c \
  src/mpi/object/envelope.h \
  src/mpi/object/environment.c \
  src/mpi/object/environment.h \
  src/mpi/object/errhandler.c \
  src/mpi/object/errhandler.h \
  src/mpi/object/group.c \
  src/mpi/object/group.h \
  src/mpi/object/group_ask.c \
  src/mpi/object/group_make.c \
  src/mpi/object/info.c \
  src/mpi/object/info.h \
  src/mpi/object/naming.c \
  src/mpi/object/naming.h \
  src/mpi/object/op.c \
  src/mpi/object/op.h \
  src/mpi/object/rank.c \
  src/mpi/object/rank.h \
  src/mpi/object/team.c \
  src/mpi/object/team.h \
  src/mpi/object/topology.c \
  src/mpi/object/topology.h \
  src/mpi/object/type_attribute.c \
  src/mpi/object/type_attribute.h \
  src/mpi/object/type_hold.c \
  src/mpi/object/type_hold.h

UNIT_TESTS += \
  tests/unit/mpi/object/test_attribute \
  tests/unit/mpi/object/test_comm_kept \
  tests/unit/mpi/object/test_envelope \
  tests/unit/mpi/object/test_group \
  tests/unit/mpi/object/test_op \
  tests/unit/mpi/object/test_shortage \
  tests/unit/mpi/object/test_type_attribute \
  tests/unit/mpi/object/test_type_hold
EXTRA_DIST += src/mpi/object/README.md
