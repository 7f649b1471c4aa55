# The commands, and what installs beside them.

object_PROGRAMS = pems_repic
pems_repic_SOURCES = wrappers/repic.c
pems_repic_LDADD =
dist_object_DATA = wrappers/program.map wrappers/exports.map \
  wrappers/fortran.list \
  wrappers/program.specs

bin_PROGRAMS = pemsinfo pemsrun pemstop pems-sort
pemsrun_SOURCES = wrappers/pemsrun.c wrappers/args.c wrappers/args.h \
  wrappers/hosts.c wrappers/hosts.h wrappers/launch.c wrappers/launch.h \
  wrappers/monitor.c wrappers/monitor.h wrappers/pemsrun_check.c \
  wrappers/pemsrun_check.h wrappers/pemsrun_command.c \
  wrappers/pemsrun_command.h wrappers/pemsrun_job.c wrappers/pemsrun_job.h \
  wrappers/pemsrun_options.c wrappers/pemsrun_options.h wrappers/plain.c \
  wrappers/plain.h wrappers/site.c wrappers/site.h wrappers/starter.c \
  wrappers/starter.h wrappers/typed.c wrappers/typed.h
pemsrun_CPPFLAGS = $(AM_CPPFLAGS) -DPKGLIBDIR='"$(pkglibdir)"' -DBINDIR='"$(bindir)"'
pemsrun_LDADD = $(PARTS) $(HWLOC_LIBS)
pemstop_SOURCES = wrappers/pemstop.c wrappers/pemstop_ask.c \
  wrappers/pemstop_ask.h wrappers/pemstop_view.c wrappers/pemstop_view.h
pemstop_LDADD = libpemsbase.la $(HWLOC_LIBS)
pemsinfo_SOURCES = wrappers/pemsinfo.c wrappers/site.c wrappers/site.h \
  wrappers/measure.h wrappers/measure_cores.c wrappers/measure_disks.c \
  wrappers/measure_network.c wrappers/plan_ask.c wrappers/plan_ask.h \
  wrappers/plan_print.c wrappers/plan_print.h wrappers/plan_program.c \
  wrappers/plan_program.h \
  wrappers/predict.c wrappers/predict.h wrappers/args.c wrappers/args.h
pemsinfo_LDADD = $(PARTS) $(MPI_LIBS) $(HWLOC_LIBS) -lm

# The compiler wrappers exist twice: to be installed (wrappers/installed), and
# to be used from this build tree (wrappers), each with its own paths.
WRAPPERS = pemscc
if HAVE_CXX
WRAPPERS += pemscxx
endif
if HAVE_FC
WRAPPERS += pemsfort
endif
bin_SCRIPTS = $(WRAPPERS:%=wrappers/installed/%)
noinst_SCRIPTS = $(WRAPPERS:%=wrappers/%) wrappers/pems-python wrappers/pems-r
# Programs that pemscc makes, for Python and R; they are installed with other paths, too.
object_SCRIPTS = wrappers/installed/pems-python wrappers/installed/pems-r
cmakedir = $(libdir)/cmake/pems
cmake_DATA = wrappers/installed/pemsConfig.cmake \
  wrappers/installed/pemsConfigVersion.cmake
pkgconfigdir = $(libdir)/pkgconfig
pkgconfig_DATA = wrappers/pems.pc wrappers/pems-cgm.pc wrappers/pems-em.pc
noinst_DATA = wrappers/pems-uninstalled.pc wrappers/pems-cgm-uninstalled.pc \
  wrappers/pems-em-uninstalled.pc wrappers/pemsConfig.cmake \
  wrappers/pemsConfigVersion.cmake
CLEANFILES += $(object_SCRIPTS) $(bin_SCRIPTS) $(noinst_SCRIPTS) $(pkgconfig_DATA) $(noinst_DATA) \
  $(cmake_DATA)
EXTRA_DIST += wrappers/pemsConfig.cmake.in wrappers/pemsConfigVersion.cmake.in
EXTRA_DIST += wrappers/pemscc.in wrappers/pems.pc.in wrappers/pems-cgm.pc.in \
  wrappers/pems-em.pc.in

# Where libraries are found anyway, no path to them is put into programs.
RPATH = `case '$(libdir)' in \
  /lib|/lib64|/usr/lib|/usr/lib64|/usr/lib/*-linux-gnu) ;; \
  *) echo '-Wl,-rpath,$${libdir}' ;; esac`
# pkg-config files are relative to their prefix, so that a tree can be moved.
SUBST_PC = -e 's|@PREFIX[@]|$(prefix)|g' \
  -e 's|@EXEC_PREFIX[@]|$(exec_prefix)|g' -e 's|@RPATH[@]|'"$(RPATH)"'|g' \
  -e 's|^\([a-z]*\)=$(exec_prefix)/|\1=$${exec_prefix}/|' \
  -e 's|^\([a-z]*\)=$(prefix)/|\1=$${prefix}/|' \
  -e 's|^exec_prefix=$(prefix)$$|exec_prefix=$${prefix}|'
# Not installed: where the libraries are now.
SUBST_PC_BUILT = -e 's|@PREFIX[@]|$(abs_top_builddir)|g' \
  -e 's|@EXEC_PREFIX[@]|$(abs_top_builddir)|g' \
  -e 's|@RPATH[@]|-Wl,-rpath,$${libdir}|g'
SUBST = $(SED) \
  -e 's|@VERSION[@]|$(PACKAGE_VERSION)|g' \
  -e 's|@UNIQUE_CFLAGS[@]|$(UNIQUE_CFLAGS)|g' \
  -e 's|@MPI_CFLAGS[@]|$(MPI_CFLAGS)|g' \
  -e 's|@MPI_LIBS[@]|$(MPI_LIBS)|g' \
  -e "s|@MPI_FILE[@]|`basename '$(LIBMPI)'`|g" \
  -e 's|@EM_LIBS[@]|$(AIO_LIBS) $(URING_LIBS) $(HWLOC_LIBS)|g' \
  -e 's|@MPI_CXX_LIBS[@]|$(MPI_CXX_LIBS)|g' \
  -e 's|@MPI_FC_CFLAGS[@]|$(MPI_FC_CFLAGS)|g' \
  -e 's|@MPI_FC_LIBS[@]|$(MPI_FC_LIBS)|g'
SUBST_CC = -e 's|@NAME[@]|pemscc|g' -e 's|@VARIABLE[@]|CC|g' \
  -e 's|@COMPILER[@]|$(WRAPPED_CC)|g' -e 's|@X[@]|c|g' \
  -e 's|@LANG_CFLAGS[@]|$(MPI_CFLAGS)|g' -e 's|@LANG_LIBS[@]|$(MPI_LIBS)|g'
SUBST_CXX = -e 's|@NAME[@]|pemscxx|g' -e 's|@VARIABLE[@]|CXX|g' \
  -e 's|@COMPILER[@]|$(WRAPPED_CXX)|g' -e 's|@X[@]|c++|g' \
  -e 's|@LANG_CFLAGS[@]|$(MPI_CXX_CFLAGS)|g' \
  -e 's|@LANG_LIBS[@]|$(MPI_CXX_LIBS)|g'
SUBST_FC = -e 's|@NAME[@]|pemsfort|g' -e 's|@VARIABLE[@]|FC|g' \
  -e 's|@COMPILER[@]|$(WRAPPED_FC)|g' -e 's|@X[@]|f95|g' \
  -e 's|@LANG_CFLAGS[@]|$(MPI_FC_CFLAGS)|g' \
  -e 's|@LANG_LIBS[@]|$(MPI_FC_LIBS)|g'
SUBST_INSTALLED = -e 's|@BINDIR[@]|$(bindir)|g' -e 's|@LIBDIR[@]|$(libdir)|g' \
  -e 's|@OBJDIR[@]|$(pkglibdir)|g' -e 's|@MAPDIR[@]|$(pkglibdir)|g' \
  -e 's|@CGMDIR[@]|$(libdir)|g' -e 's|@INCLUDEDIR[@]|$(includedir)|g'
SUBST_BUILT = -e 's|@BINDIR[@]|$(abs_top_builddir)|g' -e 's|@LIBDIR[@]|$(abs_top_builddir)/.libs|g' \
  -e 's|@OBJDIR[@]|$(abs_top_builddir)|g' \
  -e 's|@MAPDIR[@]|$(abs_top_srcdir)/wrappers|g' \
  -e 's|@CGMDIR[@]|$(abs_top_builddir)|g' \
  -e 's|@INCLUDEDIR[@]|$(abs_top_srcdir)/include|g'
# $(call …) is GNU make's only, so each rule says it all.
WRAP = $(MKDIR_P) wrappers/installed && rm -f $@ $@.tmp && $(SUBST)
WRAPPED = $(srcdir)/wrappers/pemscc.in >$@.tmp && chmod +x $@.tmp && \
  mv -f $@.tmp $@

wrappers/installed/pemscc: wrappers/pemscc.in Makefile
	$(AM_V_GEN)$(WRAP) $(SUBST_CC) $(SUBST_INSTALLED) $(WRAPPED)
wrappers/installed/pemscxx: wrappers/pemscc.in Makefile
	$(AM_V_GEN)$(WRAP) $(SUBST_CXX) $(SUBST_INSTALLED) $(WRAPPED)
wrappers/installed/pemsfort: wrappers/pemscc.in Makefile
	$(AM_V_GEN)$(WRAP) $(SUBST_FC) $(SUBST_INSTALLED) $(WRAPPED)
wrappers/pemscc: wrappers/pemscc.in Makefile
	$(AM_V_GEN)$(WRAP) $(SUBST_CC) $(SUBST_BUILT) $(WRAPPED)
wrappers/pemscxx: wrappers/pemscc.in Makefile
	$(AM_V_GEN)$(WRAP) $(SUBST_CXX) $(SUBST_BUILT) $(WRAPPED)
wrappers/pemsfort: wrappers/pemscc.in Makefile
	$(AM_V_GEN)$(WRAP) $(SUBST_FC) $(SUBST_BUILT) $(WRAPPED)
wrappers/installed/pemsConfig.cmake: wrappers/pemsConfig.cmake.in Makefile
	$(AM_V_GEN)$(WRAP) $(SUBST_INSTALLED) $(srcdir)/wrappers/pemsConfig.cmake.in >$@
wrappers/pemsConfig.cmake: wrappers/pemsConfig.cmake.in Makefile
	$(AM_V_GEN)$(WRAP) $(SUBST_BUILT) $(srcdir)/wrappers/pemsConfig.cmake.in >$@
wrappers/installed/pemsConfigVersion.cmake: wrappers/pemsConfigVersion.cmake.in \
  Makefile
	$(AM_V_GEN)$(WRAP) $(srcdir)/wrappers/pemsConfigVersion.cmake.in >$@
wrappers/pemsConfigVersion.cmake: wrappers/pemsConfigVersion.cmake.in Makefile
	$(AM_V_GEN)$(WRAP) $(srcdir)/wrappers/pemsConfigVersion.cmake.in >$@
wrappers/pems.pc: wrappers/pems.pc.in Makefile
	$(AM_V_GEN)$(WRAP) $(SUBST_INSTALLED) $(SUBST_PC) \
	  $(srcdir)/wrappers/pems.pc.in >$@
wrappers/pems-uninstalled.pc: wrappers/pems.pc.in Makefile
	$(AM_V_GEN)$(WRAP) $(SUBST_BUILT) $(SUBST_PC_BUILT) \
	  $(srcdir)/wrappers/pems.pc.in >$@
wrappers/pems-cgm.pc: wrappers/pems-cgm.pc.in Makefile
	$(AM_V_GEN)$(WRAP) $(SUBST_INSTALLED) $(SUBST_PC) \
	  $(srcdir)/wrappers/pems-cgm.pc.in >$@
wrappers/pems-cgm-uninstalled.pc: wrappers/pems-cgm.pc.in Makefile
	$(AM_V_GEN)$(WRAP) $(SUBST_BUILT) $(SUBST_PC_BUILT) \
	  $(srcdir)/wrappers/pems-cgm.pc.in >$@
wrappers/pems-em.pc: wrappers/pems-em.pc.in Makefile
	$(AM_V_GEN)$(WRAP) $(SUBST_INSTALLED) $(SUBST_PC) \
	  $(srcdir)/wrappers/pems-em.pc.in >$@
wrappers/pems-em-uninstalled.pc: wrappers/pems-em.pc.in Makefile
	$(AM_V_GEN)$(WRAP) $(SUBST_BUILT) $(SUBST_PC_BUILT) \
	  $(srcdir)/wrappers/pems-em.pc.in >$@
UNIT_TESTS += \
  tests/unit/wrappers/test_pemsrun_command \
  tests/unit/wrappers/test_pemsrun_job \
  tests/unit/wrappers/test_pemsrun_options \
  tests/unit/wrappers/test_monitor \
  tests/unit/wrappers/test_pemstop_ask \
  tests/unit/wrappers/test_pemstop_view
tests_unit_wrappers_test_monitor_SOURCES = \
  tests/unit/wrappers/test_monitor.c wrappers/monitor.c
tests_unit_wrappers_test_pemstop_ask_SOURCES = \
  tests/unit/wrappers/test_pemstop_ask.c wrappers/pemstop_ask.c \
  wrappers/pemstop_view.c
tests_unit_wrappers_test_pemsrun_command_SOURCES = \
  tests/unit/wrappers/test_pemsrun_command.c wrappers/args.c wrappers/hosts.c \
  wrappers/pemsrun_command.c wrappers/pemsrun_job.c
tests_unit_wrappers_test_pemsrun_job_SOURCES = \
  tests/unit/wrappers/test_pemsrun_job.c wrappers/hosts.c wrappers/pemsrun_job.c
tests_unit_wrappers_test_pemsrun_options_SOURCES = \
  tests/unit/wrappers/test_pemsrun_options.c wrappers/args.c wrappers/hosts.c \
  wrappers/pemsrun_options.c wrappers/starter.c
tests_unit_wrappers_test_pemstop_view_SOURCES = \
  tests/unit/wrappers/test_pemstop_view.c wrappers/pemstop_view.c
EXTRA_DIST += wrappers/README.md
