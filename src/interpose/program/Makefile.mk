libpems_private_a_SOURCES += \
  src/interpose/program/calendar.c \
  src/interpose/program/drand48.c \
  src/interpose/program/environment.c \
  src/interpose/program/execute.c \
  src/interpose/program/getopt.c \
  src/interpose/program/hsearch.c \
  src/interpose/program/private.h \
  src/interpose/program/quick_exit.c \
  src/interpose/program/random.c \
  src/interpose/program/setvbuf.c \
  src/interpose/program/stdout.c \
  src/interpose/program/strtok.c

libpems_private_a_AR = $(SHELL) $(srcdir)/src/interpose/program/weaken.sh \
  "$(NM)" "$(OBJCOPY)" "$(AR)" $(ARFLAGS)
EXTRA_DIST += src/interpose/program/weaken.sh

libpems_start_a_SOURCES += \
  src/interpose/program/start.c
EXTRA_DIST += src/interpose/program/README.md
