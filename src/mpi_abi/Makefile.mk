libpemscore_la_SOURCES += \
  src/mpi_abi/abi.h \
  src/mpi_abi/carried.c \
  src/mpi_abi/carried.h \
  src/mpi_abi/counts.h \
  src/mpi_abi/foreign.c \
  src/mpi_abi/foreign.h \
  src/mpi_abi/fortran.h \
  src/mpi_abi/fortran_files.c \
  src/mpi_abi/handle.c \
  src/mpi_abi/handle.h \
  src/mpi_abi/mpich.h \
  src/mpi_abi/openmpi.h \
  src/mpi_abi/refuse.c \
  src/mpi_abi/refuse.h \
  src/mpi_abi/standard.h
if !ABI_MPICH
libpemscore_la_SOURCES += src/mpi_abi/fortran_handles.c
endif

UNIT_TESTS += \
  tests/unit/mpi_abi/test_abi \
  tests/unit/mpi_abi/test_carried \
  tests/unit/mpi_abi/test_counts \
  tests/unit/mpi_abi/test_foreign \
  tests/unit/mpi_abi/test_handle

# Generated from mpi.h, so that no function of it can be forgotten.
MPI_GENERATED = \
  src/mpi_below/real.c \
  src/mpi_below/real.h \
  src/mpi_abi/functions.h \
  src/mpi_abi/refused.h \
  src/mpi_abi/entry/wrappers.c
nodist_libpemscore_la_SOURCES = \
  src/mpi_abi/functions.h \
  src/mpi_below/real.c \
  src/mpi_below/real.h
BUILT_SOURCES += $(MPI_GENERATED)
CLEANFILES += $(MPI_GENERATED) src/mpi_abi/mpi.i \
  src/mpi_abi/mpi.symbols
EXTRA_DIST += src/mpi_abi/gen-mpi.pl src/mpi_abi/functions.txt \
  src/mpi_abi/counts.txt \
  src/mpi_abi/functions-mpich.txt src/mpi_abi/functions-standard.txt \
  src/mpi_abi/fortran_handles.c

GEN_MPI = $(AM_V_GEN)$(PERL) $(srcdir)/src/mpi_abi/gen-mpi.pl \
  --abi=$(MPI_ABI) --symbols=src/mpi_abi/mpi.symbols
MPI_INPUTS = src/mpi_abi/gen-mpi.pl src/mpi_abi/functions.txt \
  src/mpi_abi/counts.txt \
  src/mpi_abi/functions-mpich.txt src/mpi_abi/functions-standard.txt \
  src/mpi_abi/mpi.i \
  src/mpi_abi/mpi.symbols

src/mpi_abi/mpi.i: config.status
	$(AM_V_GEN)$(MKDIR_P) src/mpi_abi && echo '#include <mpi.h>' | \
	$(CC) -E $(MPI_CFLAGS) -DOMPI_OMIT_MPI1_COMPAT_DECLS=0 -x c - >$@.tmp && mv -f $@.tmp $@
src/mpi_abi/mpi.symbols: config.status
	$(AM_V_GEN)$(MKDIR_P) src/mpi_abi && $(NM) -D $(LIBMPI) >$@.tmp && mv -f $@.tmp $@
src/mpi_abi/functions.h: $(MPI_INPUTS)
	$(GEN_MPI) functions.h <src/mpi_abi/mpi.i >$@.tmp && mv -f $@.tmp $@
src/mpi_below/real.c: $(MPI_INPUTS)
	$(AM_V_at)$(MKDIR_P) src/mpi_below
	$(GEN_MPI) real.c <src/mpi_abi/mpi.i >$@.tmp && mv -f $@.tmp $@
src/mpi_below/real.h: $(MPI_INPUTS)
	$(AM_V_at)$(MKDIR_P) src/mpi_below
	$(GEN_MPI) real.h <src/mpi_abi/mpi.i >$@.tmp && mv -f $@.tmp $@
src/mpi_abi/refused.h: $(MPI_INPUTS)
	$(GEN_MPI) refused.h <src/mpi_abi/mpi.i >$@.tmp && mv -f $@.tmp $@
src/mpi_abi/entry/wrappers.c: $(MPI_INPUTS)
	$(AM_V_at)$(MKDIR_P) src/mpi_abi/entry
	$(GEN_MPI) wrappers.c <src/mpi_abi/mpi.i >$@.tmp && mv -f $@.tmp $@

# Not for every build: the document is part of the sources. It has a column for each
# MPI: a build of each writes its own.
COVERAGE = $(srcdir)/doc/mpi-coverage.md
GEN_COVERAGE = $(PERL) $(srcdir)/src/mpi_abi/gen-coverage.pl
src/mpi_abi/mpi.macros: config.status
	$(AM_V_GEN)$(MKDIR_P) src/mpi_abi && echo '#include <mpi.h>' | \
	$(CC) -E -dM $(MPI_CFLAGS) -x c - >$@.tmp && mv -f $@.tmp $@
src/mpi_abi/fates: $(MPI_INPUTS)
	$(GEN_MPI) fates <src/mpi_abi/mpi.i >$@.tmp && mv -f $@.tmp $@
coverage: src/mpi_abi/fates src/mpi_abi/mpi.macros
	$(AM_V_GEN)$(GEN_COVERAGE) --macros=src/mpi_abi/mpi.macros \
	  --tests=$(srcdir)/tests/mpi $(COVERAGE) <src/mpi_abi/fates \
	  >$(COVERAGE).tmp && mv -f $(COVERAGE).tmp $(COVERAGE)
EXTRA_DIST += src/mpi_abi/gen-coverage.pl
CLEANFILES += src/mpi_abi/fates src/mpi_abi/mpi.macros
EXTRA_DIST += src/mpi_abi/README.md
