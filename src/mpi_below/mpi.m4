dnl Which MPI carries pems: its compiler wrappers, its command that starts jobs,
dnl the way programs see it, and the file of its library.

dnl PEMS_MPI_COMMAND(VARIABLE, NAMES, KIND): the path of the command that the user
dnl names in VARIABLE, or of the first of NAMES that lies beside MPICC where the
dnl user named that, or else anywhere. VARIABLE_given tells which it is.
AC_DEFUN([PEMS_MPI_COMMAND], [
  $1_given=$$1
  AS_IF([test -n "$$1"],
    [AC_MSG_CHECKING([for $$1])
     $1=`command -v "$$1" 2>/dev/null`
     AC_MSG_RESULT([${$1:-no}])
     AS_IF([test -z "$$1"], [AC_MSG_ERROR([$1=$$1_given: not found: dnl
give the path of the MPI's $3, or leave $1 out])])],
    [test -n "$MPICC_given"],
    [AC_PATH_PROGS([$1], [$2], [], [$pems_mpi_bin])],
    [AC_PATH_PROGS([$1], [$2])])
])

dnl PEMS_MPI_FLAGS(PREFIX, WRAPPER, PKG-CONFIG MODULES): PREFIX_CFLAGS and
dnl PREFIX_LIBS as the wrapper gives them, else as pkg-config does. Open MPI's
dnl wrapper gives them apart; MPICH's and its children's show the whole command.
dnl Where there is a wrapper for C, pkg-config might speak of another MPI.
AC_DEFUN([PEMS_MPI_FLAGS], [
  AC_MSG_CHECKING([the MPI's flags from ${$2:-pkg-config}])
  $1_CFLAGS= $1_LIBS=
  AS_IF([test -n "$$2" && "$$2" -showme:version >/dev/null 2>&1],
    [$1_CFLAGS=`"$$2" -showme:compile`
     $1_LIBS=`"$$2" -showme:link`],
    [test -n "$$2" && pems_shown=`"$$2" -show 2>/dev/null`],
    [pems_next=
     eval "set -- $pems_shown"
     shift
     for pems_word; do
       AS_CASE([$pems_next$pems_word],
         [-Xlinker],
           [pems_next=-Wl,; continue],
         [-Wl,*],
           [$1_LIBS="$$1_LIBS $pems_next$pems_word"],
         [-I* | -D* | -fallow-*],
           [$1_CFLAGS="$$1_CFLAGS $pems_word"],
         [-pthread],
           [$1_CFLAGS="$$1_CFLAGS $pems_word" $1_LIBS="$$1_LIBS $pems_word"],
         [-L* | -l* | /*.a | /*.so | /*.so.*],
           [$1_LIBS="$$1_LIBS $pems_word"])
       pems_next=
     done
     # Handles are numbers: a program may name no symbol of the library.
     AS_IF([test -n "$$1_LIBS"],
       [$1_LIBS="-Wl,--push-state,--no-as-needed$$1_LIBS -Wl,--pop-state"])],
    [test -z "$MPICC"],
    [for pems_module in $3; do
       AS_IF([test -z "$$1_LIBS" && $PKG_CONFIG --exists $pems_module 2>/dev/null],
         [$1_CFLAGS=`$PKG_CONFIG --cflags $pems_module`
          $1_LIBS=`$PKG_CONFIG --libs $pems_module`])
     done])
  AC_MSG_RESULT([${$1_LIBS:-none}])
  AC_SUBST([$1_CFLAGS])
  AC_SUBST([$1_LIBS])
])

dnl PEMS_MPI_ABI_IF(NAME, CONDITION of the preprocessor with mpi.h)
AC_DEFUN([PEMS_MPI_ABI_IF], [
  AS_IF([test $pems_mpi_abi = none], [AC_PREPROC_IFELSE([AC_LANG_SOURCE([[
#include <mpi.h>
#if !($2)
#error another
#endif
]])], [pems_mpi_abi=$1])])
])

dnl Sets pems_mpi_abi by what mpi.h says of itself.
AC_DEFUN([PEMS_MPI_ABI], [
  AC_MSG_CHECKING([how programs see this MPI])
  pems_mpi_abi=none
  pems_save_CPPFLAGS=$CPPFLAGS
  CPPFLAGS="$CPPFLAGS $MPI_CFLAGS"
  PEMS_MPI_ABI_IF([openmpi], [defined OPEN_MPI])
  PEMS_MPI_ABI_IF([mpich], [defined MPICH_VERSION || defined I_MPI_VERSION])
  PEMS_MPI_ABI_IF([standard], [defined MPI_ABI_VERSION])
  CPPFLAGS=$pems_save_CPPFLAGS
  AS_CASE([$pems_mpi_abi],
    [openmpi], [AC_MSG_RESULT([Open MPI's ABI])],
    [mpich], [AC_MSG_RESULT([MPICH's ABI])],
    [standard], [AC_MSG_RESULT([the ABI of MPI 5.0])],
    [AC_MSG_RESULT([unknown])
     AC_MSG_ERROR([mpi.h was not found with $MPI_CFLAGS, or is of an MPI that dnl
pems does not know: set MPICC to the mpicc of Open MPI 4 or 5 or of MPICH 3.4 or dnl
later (Debian: libopenmpi-dev, libmpich-dev)])])
])

dnl Sets pems_launcher by what the command says of itself.
AC_DEFUN([PEMS_MPI_LAUNCHER], [
  AC_MSG_CHECKING([whose $MPIRUN is])
  pems_mpirun=`"$MPIRUN" --version 2>&1 </dev/null | $SED 3q`
  AS_CASE([$pems_mpirun],
    [*"Open MPI"* | *OpenRTE*], [pems_launcher=openmpi],
    [*HYDRA* | *"Intel(R) MPI"*], [pems_launcher=hydra],
    [pems_launcher=none])
  # Of Hydra's, MPICH's has it, Intel's not; a header for all does not tell which.
  AS_IF([test $pems_launcher = hydra &&
    "$MPIRUN" -help 2>&1 </dev/null | $GREP -e ' -pmi-port ' >/dev/null],
    [AC_DEFINE([PEMS_MPIRUN_PORT], ["-pmi-port"],
      [The option of PEMS_MPIRUN by which processes find it by a port.])])
  pems_mpirun_line=`AS_ECHO(["$pems_mpirun"]) | $SED 1q`
  AC_MSG_RESULT([$pems_mpirun_line])
  AS_CASE([$pems_launcher:$pems_mpi_abi],
    [openmpi:openmpi | openmpi:standard | hydra:mpich | hydra:standard], [],
    [none:*], [AC_MSG_ERROR([$MPIRUN is neither Open MPI's nor MPICH's: set dnl
MPIRUN to the mpirun of the MPI of $MPICC])],
    [AC_MSG_ERROR([$MPIRUN does not belong to the MPI of $MPICC: set MPIRUN dnl
to the command that starts that one's programs])])
])

dnl PEMS_MPI_FILE(VARIABLE, LIBS): the file that defines MPI's functions, without
dnl links. -lmpi may be a linker script.
AC_DEFUN([PEMS_MPI_FILE], [
  AS_ECHO(["int PMPI_Init(void *, void *); int main(void) { return dnl
PMPI_Init(0, 0); }"]) >conftest.c
  $1=`$CC conftest.c -o conftest$EXEEXT -Wl,-y,PMPI_Init $2 2>&1 | dnl
$SED -n 's/.*ld[[^ ]]*: \(.*\): definition of PMPI_Init$/\1/p' | $SED 1q`
  AS_IF([test -f "$$1"], [$1=`readlink -f "$$1"`])
  rm -f conftest.c conftest$EXEEXT
])

dnl Sets LIBMPI. What it exports and mpi.h does not declare counts too.
AC_DEFUN([PEMS_MPI_LIBRARY], [
  AC_MSG_CHECKING([for the file of the MPI library])
  PEMS_MPI_FILE([LIBMPI], [$MPI_LIBS])
  AC_MSG_RESULT([${LIBMPI:-none}])
  AS_CASE([$LIBMPI],
    [""], [AC_MSG_ERROR([no MPI library was found with $MPI_LIBS])],
    [*.a* | *\(*], [AC_MSG_ERROR([$LIBMPI is a static library: pems stands dnl
between the program and a shared one: install that, or set MPICC to an MPI that dnl
has one])])
  AC_SUBST([LIBMPI])
])

dnl PEMS_MPI_SAME(PREFIX, WRAPPER): the wrapper must be of the same MPI as MPICC.
AC_DEFUN([PEMS_MPI_SAME], [
  AS_IF([test -n "$$1_LIBS"],
    [PEMS_MPI_FILE([pems_file], [$$1_LIBS])
     AS_IF([test "x$pems_file" != "x$LIBMPI"],
       [AC_MSG_ERROR([$2=$$2 is not of the MPI of $MPICC (its library is dnl
${pems_file:-none}): leave $2 out, or name the wrapper of that MPI])])],
    [test -n "$$2_given"],
    [AC_MSG_ERROR([$2=$$2_given is no MPI's compiler wrapper: it knows dnl
neither -showme nor -show: leave $2 out])])
])

AC_DEFUN([PEMS_MPI], [
  AC_ARG_VAR([MPICC], [the MPI's C compiler wrapper])
  AC_ARG_VAR([MPICXX], [the MPI's C++ compiler wrapper])
  AC_ARG_VAR([MPIFORT], [the MPI's Fortran compiler wrapper])
  AC_ARG_VAR([MPIRUN], [the command that starts the MPI's programs])
  AC_ARG_WITH([mpi-abi],
    [AS_HELP_STRING([--with-mpi-abi],
      [programs see the ABI of MPI 5.0, by the wrapper mpicc_abi])],
    [], [with_mpi_abi=no])
  pems_abi= pems_tail= pems_mpi_bin=$PATH
  AS_IF([test "x$with_mpi_abi" != xno], [pems_abi=_abi])
  AS_IF([test -n "$MPICC"],
    [pems_mpi_bin=`command -v "$MPICC" 2>/dev/null`
     # As Debian does: mpicc.mpich, mpirun.mpich.
     AS_CASE([$pems_mpi_bin], [*/mpicc.*], [pems_tail=.`expr "$pems_mpi_bin" : '.*\.\(.*\)'`])
     AS_CASE([$pems_mpi_bin], [*/mpicc_abi*], [pems_abi=_abi])
     pems_mpi_bin=${pems_mpi_bin%/*}
     AS_IF([test -n "$pems_abi" && test -x "$pems_mpi_bin/mpicc_abi"],
       [MPICC=$pems_mpi_bin/mpicc_abi])
     PEMS_MPI_COMMAND([MPICC], [mpicc], [C compiler wrapper])],
    [PEMS_MPI_COMMAND([MPICC],
      [mpicc$pems_abi.openmpi mpicc$pems_abi mpicc$pems_abi.mpich],
      [C compiler wrapper])
     AS_CASE([$MPICC], [*/mpicc.*], [pems_tail=.`expr "$MPICC" : '.*\.\(.*\)'`])])
  PEMS_MPI_COMMAND([MPICXX],
    [mpicxx$pems_abi$pems_tail mpic++$pems_abi$pems_tail], [C++ compiler wrapper])
  PEMS_MPI_COMMAND([MPIFORT],
    [mpifort$pems_abi$pems_tail], [Fortran compiler wrapper])
  PEMS_MPI_COMMAND([MPIRUN],
    [mpirun$pems_tail mpiexec$pems_tail mpirun mpiexec], [mpirun or mpiexec])
  PEMS_MPI_FLAGS([MPI], [MPICC], [ompi-c mpich])
  PEMS_MPI_FLAGS([MPI_CXX], [MPICXX], [ompi-cxx])
  PEMS_MPI_FLAGS([MPI_FC], [MPIFORT], [ompi-fort])
  AS_IF([test -z "$MPI_LIBS" && test -n "$MPICC"], [AC_MSG_ERROR([$MPICC is no dnl
MPI's compiler wrapper: it knows neither -showme nor -show: set MPICC to the dnl
mpicc of Open MPI or MPICH (Debian: libopenmpi-dev, libmpich-dev)])])
  AS_IF([test -z "$MPI_LIBS"], [AC_MSG_ERROR([no MPI was found: install dnl
Open MPI or MPICH (Debian: libopenmpi-dev, libmpich-dev) or set MPICC])])
  AS_IF([test -z "$MPIRUN"], [AC_MSG_ERROR([mpirun was not found beside dnl
$MPICC: install it (Debian: openmpi-bin, mpich) or set MPIRUN])])
  PEMS_MPI_ABI
  PEMS_MPI_LAUNCHER
  PEMS_MPI_VERSION
  PEMS_MPI_LIBRARY
  # For programs that look for its functions at run time only.
  AC_SUBST([MPI_NEEDED], [-Wl,--no-as-needed])
  PEMS_MPI_SAME([MPI_CXX], [MPICXX])
  PEMS_MPI_SAME([MPI_FC], [MPIFORT])
  AC_SUBST([MPI_ABI], [$pems_mpi_abi])
  AM_CONDITIONAL([LAUNCHER_OPENMPI], [test $pems_launcher = openmpi])
  AM_CONDITIONAL([LAUNCHER_ORTE], [test "x$MPIRUN_QUIET" != x])
  AM_CONDITIONAL([LAUNCHER_PRRTE],
    [test $pems_launcher = openmpi && test "x$MPIRUN_QUIET" = x])
  AM_CONDITIONAL([LAUNCHER_HYDRA], [test $pems_launcher = hydra])
  AM_CONDITIONAL([ABI_OPENMPI], [test $pems_mpi_abi = openmpi])
  AM_CONDITIONAL([ABI_MPICH], [test $pems_mpi_abi = mpich])
])

dnl An MPI that is old enough to lack what pems calls is refused here.
AC_DEFUN([PEMS_MPI_VERSION], [
  AC_MSG_CHECKING([whether this MPI is recent enough])
  pems_save_CPPFLAGS=$CPPFLAGS pems_save_LIBS=$LIBS
  CPPFLAGS="$CPPFLAGS $MPI_CFLAGS" LIBS="$MPI_LIBS $LIBS"
  AC_LINK_IFELSE([AC_LANG_PROGRAM([[
#include <mpi.h>
#if MPI_VERSION < 3 || (MPI_VERSION == 3 && MPI_SUBVERSION < 1)
#error MPI 3.1 is needed
#endif
#if defined OPEN_MPI && OMPI_MAJOR_VERSION < 4
#error Open MPI 4 is needed
#endif
]], [[return PMPI_Init(0, 0);]])],
    [AC_MSG_RESULT([yes])],
    [AC_MSG_RESULT([no])
     AC_MSG_ERROR([$MPICC is of an MPI before 3.1 (or Open MPI before 4), or dnl
does not work: set MPICC and MPIRUN])])
  # "-q" keeps mpirun's pages of advice off; Open MPI 5 has no such option.
  MPIRUN_QUIET= OMPI_DAEMON=prted
  AS_IF([test $pems_launcher = openmpi],
    [AC_COMPUTE_INT([ompi_major], [OMPI_MAJOR_VERSION], [#include <mpi.h>],
                    [ompi_major=5])
     AS_IF([test "$ompi_major" -lt 5], [MPIRUN_QUIET=-q OMPI_DAEMON=orted])])
  CPPFLAGS=$pems_save_CPPFLAGS LIBS=$pems_save_LIBS
])
