OPENMPI_ENTRIES = \
  src/mpi_abi/entry/openmpi_cxx.c \
  src/mpi_abi/entry/fortran_alltoallw.c \
  src/mpi_abi/entry/fortran_attributes.c \
  src/mpi_abi/entry/fortran_errors.c \
  src/mpi_abi/entry/fortran_groups.c \
  src/mpi_abi/entry/fortran_ops.c \
  src/mpi_abi/entry/fortran_requests.c
if ABI_OPENMPI
libpems_la_SOURCES += $(OPENMPI_ENTRIES)
endif
MPICH_ENTRIES = src/mpi_abi/entry/mpich_fortran.c \
  src/mpi_abi/entry/mpich_states.c
if ABI_MPICH
libpems_la_SOURCES += $(MPICH_ENTRIES)
endif
EXTRA_DIST += $(OPENMPI_ENTRIES) $(MPICH_ENTRIES)

# The names MPI_X of all PMPI_X that libpems defines, see src/mpi_abi/entry/names.S. The
# program is linked with it after everything else but MPI.
lib_LTLIBRARIES += libpems-mpi.la
libpems_mpi_la_SOURCES = src/mpi_abi/entry/names.S
libpems_mpi_la_LIBADD = libpems.la
libpems_mpi_la_LDFLAGS = -shared -version-info 0:0:0 \
  -Wl,--version-script=$(srcdir)/src/mpi_abi/entry/libpems-mpi.map
libpems_mpi_la_DEPENDENCIES = libpems.la $(srcdir)/src/mpi_abi/entry/libpems-mpi.map
EXTRA_DIST += src/mpi_abi/entry/libpems-mpi.map
src/mpi_abi/entry/names.lo: src/mpi_abi/entry/names.list
src/mpi_abi/entry/names.list: libpems.la
	$(AM_V_GEN)$(NM) -D .libs/libpems.so | \
	$(SED) -n -e 's/.* [TW] P\(MPI.*\)/NAME(\1, P\1)/p' \
	  -e 's/.* [TW] p\(mpi_.*\)/NAME(\1, p\1)/p' >$@.tmp && mv -f $@.tmp $@
CLEANFILES += src/mpi_abi/entry/names.list

nodist_libpems_la_SOURCES = src/mpi_abi/entry/wrappers.c
EXTRA_DIST += src/mpi_abi/entry/README.md
