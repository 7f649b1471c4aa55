pemsrun_SOURCES += \
  wrappers/interpreter/interpreter.c \
  wrappers/interpreter/interpreter.h \
  wrappers/interpreter/python.c \
  wrappers/interpreter/python.h \
  wrappers/interpreter/rscript.c \
  wrappers/interpreter/rscript.h

LAUNCHER_NEEDS = wrappers/pemscc wrappers/exports.map libpems.la libpems-em.la libpems-mpi.la \
  libpems-cgm.a libpems_start.a libpems_private.a pems_repic$(EXEEXT)
LAUNCHER_FLAGS = -O2 -g -rdynamic -o $@
MAKE_INSTALLED = $(MKDIR_P) wrappers/installed && \
  sed 's|-Wl,-rpath,$$libdir|-Wl,-rpath,$(libdir)|' wrappers/pemscc >$@.sh && \
  $(SHELL) $@.sh $(LAUNCHER_FLAGS)
wrappers/pems-python: wrappers/interpreter/pems_python.c $(LAUNCHER_NEEDS)
	$(AM_V_GEN)$(SHELL) wrappers/pemscc $(LAUNCHER_FLAGS) $(srcdir)/wrappers/interpreter/pems_python.c
wrappers/pems-r: wrappers/interpreter/pems_r.c $(LAUNCHER_NEEDS)
	$(AM_V_GEN)$(SHELL) wrappers/pemscc $(LAUNCHER_FLAGS) $(srcdir)/wrappers/interpreter/pems_r.c
wrappers/installed/pems-python: wrappers/interpreter/pems_python.c $(LAUNCHER_NEEDS)
	$(AM_V_GEN)$(MAKE_INSTALLED) $(srcdir)/wrappers/interpreter/pems_python.c && rm -f $@.sh
wrappers/installed/pems-r: wrappers/interpreter/pems_r.c $(LAUNCHER_NEEDS)
	$(AM_V_GEN)$(MAKE_INSTALLED) $(srcdir)/wrappers/interpreter/pems_r.c && rm -f $@.sh
EXTRA_DIST += wrappers/interpreter/README.md wrappers/interpreter/pems_python.c \
  wrappers/interpreter/pems_r.c
