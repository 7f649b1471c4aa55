object_PROGRAMS += wrappers/pems_begin
wrappers_pems_begin_SOURCES = wrappers/begin/pems_begin.c
wrappers_pems_begin_LDADD = $(PARTS) $(HWLOC_LIBS)
EXTRA_DIST += wrappers/begin/README.md
