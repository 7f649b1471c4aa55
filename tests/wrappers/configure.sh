#!/bin/sh
# configure and bootstrap: which MPI they take, what they say of what they do not
# take, and who gets -Werror. All with commands that only pretend.
# shellcheck source=tests/wrappers/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/launcher.sh
. "$here/tests/launcher.sh"
unset CI CC CXX FC PEMS_CC PEMS_CXX PEMS_FC
[ -x "$here/configure" ] || skip "there is no configure: it was built elsewhere"

mkdir bin hwy
# MPICH's wrapper knows -show, but not -showme. There is no mpi.h here.
cat >bin/mpicc.mpich <<'END'
#!/bin/sh
case $1 in
  -showme*) echo "gcc: error: unrecognized option $1" >&2; exit 1 ;;
  *) echo gcc -I/usr/include/mpich -lmpich ;;
esac
END
# One of a library that nobody has.
cat >bin/mpicc.other <<END
#!/bin/sh
case \$1 in
  -showme*) exit 1 ;;
  *) echo gcc -I$work/other -L$work/other -lmpi_other ;;
esac
END
mkdir other
echo 'int PMPI_Init(void) { return 0; }' >other/other.c
${REAL_CC:-cc} -shared -fPIC -o other/libmpi_other.so other/other.c || exit 1
cat >bin/mpirun.mpich <<'END'
#!/bin/sh
echo 'HYDRA build details:'
END
cat >bin/mpirun5 <<'END'
#!/bin/sh
echo 'mpirun (Open MPI) 5.0.7'
END
# An MPI as its folder has it: headers and a library.
cat >bin/mpicc.own <<'END'
#!/bin/sh
case $1 in
  -showme:version) echo 'Open MPI, as it were' ;;
  -showme:compile) echo "-I$OWN_MPI" ;;
  -showme:link) echo "-L$OWN_MPI -lmpi" ;;
  *) exec ${REAL_CC:-cc} "-I$OWN_MPI" "$@" "-L$OWN_MPI" -lmpi ;;
esac
END
chmod +x bin/*
echo '#error "a version to come"' >hwy/base.h
: >hwy/highway.h
PATH="$work/bin:$PATH"

# stops TITLE PATTERN ARGUMENTS...: configure ends with an error that matches, in
# one line.
stops() {
  what=$1
  pattern=$2
  shift 2
  expect "$what" 1 '' "^configure: error: $pattern" -- \
    "$here/configure" -q -C "$@"
  [ "$(grep -c 'error:' err)" -eq 1 ] || fail "$what: not one error"
}
headers='mpi.h was not found with .*mpich'
stops "a wrapper without headers" "$headers" MPICC=mpicc.mpich
stops "the same by path" "$headers" MPICC="$work/bin/mpicc.mpich"
other='is not of the MPI of .*: leave .* out, or name'
stops "another MPI's C++" "MPICXX=.*mpicc.other $other" MPICXX=mpicc.other
stops "another MPI's Fortran" "MPIFORT=.*mpicc.other $other" MPIFORT=mpicc.other
stops "a compiler that is no wrapper" ".*gcc is no MPI's compiler wrapper" MPICC=gcc
stops "nor one of C++" "MPICXX=gcc is no MPI's compiler wrapper" MPICXX=gcc
stops "no such command" 'MPICC=mpicc.none: not found' MPICC=mpicc.none
case $launcher in
hydra) same_mpirun=mpirun.mpich other_mpirun=mpirun5 ;;
*) same_mpirun=mpirun5 other_mpirun=mpirun.mpich ;;
esac
# What the ABI of MPI 5.0 is below is not known before it runs.
case ${MPICC:-mpicc} in
*mpicc_abi*) ;;
*) stops "another MPI's mpirun" ".*$other_mpirun does not belong to the MPI of" \
  MPIRUN=$other_mpirun ;;
esac
stops "a command that is no mpirun" ".*true is neither Open MPI's nor MPICH's" \
  MPIRUN=true

# own_mpi MAJOR MINOR FILE: one with headers of MPI MAJOR.MINOR, and this library.
own_mpi() {
  OWN_MPI=$work/own.$1.$2
  export OWN_MPI
  mkdir "$OWN_MPI" || exit 1
  printf '#define %s\n' 'OPEN_MPI 1' 'OMPI_MAJOR_VERSION 4' \
    "MPI_VERSION $1" "MPI_SUBVERSION $2" >"$OWN_MPI/mpi.h"
  echo 'int PMPI_Init(void *, void *);' >>"$OWN_MPI/mpi.h"
  echo 'int PMPI_Init(void *a, void *b) { return a == b; }' >own.c
  case $3 in
  *.a) ${REAL_CC:-cc} -c -o own.o own.c && ar rc "$OWN_MPI/$3" own.o ;;
  *) ${REAL_CC:-cc} -fPIC -shared -o "$OWN_MPI/$3" own.c ;;
  esac || exit 1
}
rm -f config.cache
own_mpi 3 0 libmpi.so
stops "an MPI that is too old" \
  '.*mpicc.own is of an MPI before 3.1 .*: set MPICC and MPIRUN' \
  MPICC=mpicc.own MPIRUN=mpirun5
rm -f config.cache
own_mpi 3 1 libmpi.a
stops "a static library" '.*libmpi.a.* is a static library: pems stands between' \
  MPICC=mpicc.own MPIRUN=mpirun5
unset OWN_MPI
rm -f config.cache

# Another mpirun of the same MPI, and headers of Highway that do not do.
expect "configure" 0 '' 'Highway is not used: this version .*radix' -- \
  "$here/configure" -q -C MPIRUN=$same_mpirun CPPFLAGS="-I$work"
try grep '^#define PEMS_MPIRUN' config.h
grep -q "PEMS_MPIRUN \"$work/bin/$same_mpirun\"" out || fail "not the mpirun asked for"
case $launcher in
orte) quiet=-q ;;
*) quiet= ;;
esac
grep -q "PEMS_MPIRUN_QUIET \"$quiet\"" out ||
  fail "not the option that this MPI's library says its mpirun has"

# bootstrap: a copy of it, and of all that it calls.
mkdir tree tree/tests tree/tests/bench
cp "$here/bootstrap" tree/
cp "$here/tests/rerun.sh" tree/tests/
cat >tree/configure <<'END'
#!/bin/sh
echo "$*" >arguments
echo >config.status
printf 'all install list-tests check check-clang check-mpich:\n' >Makefile
END
cat >tree/tests/bench/demo.sh <<'END'
#!/bin/sh
echo demo
END
cat >bin/dpkg-query <<'END'
#!/bin/sh
echo installed
END
# No PyPI: what is there without is tested.
cat >bin/python3 <<'END'
#!/bin/sh
echo 'no venv' >&2
exit 1
END
chmod +x bin/python3 bin/dpkg-query tree/configure tree/tests/bench/demo.sh
touch tree/configure.ac tree/Makefile.am tree/Makefile.in tree/tests/tests.mk
touch tree/configure

# configured TITLE PATTERN COMMAND...: what bootstrap gives to configure.
configured() {
  what=$1
  pattern=$2
  shift 2
  rm -rf tree/build
  expect "$what" 0 -- "$@"
  try cat tree/build/arguments
  grep -Eq -e "$pattern" out || fail "$what: configure did not get $pattern"
}
configured "the demo is no test of compilers" '^-q --prefix=[^ ]*$' \
  tree/bootstrap demo
configured "nor is a user's check" '--enable-werror=no$' tree/bootstrap check
configured "CI's is" '--enable-werror=yes$' env CI=true tree/bootstrap check
expect "without PyPI" 0 '' 'not tested: mpich5: pip cannot install it' -- \
  tree/bootstrap check
expect "of MPICH 5, without PyPI" 2 '' 'no venv' -- tree/bootstrap check mpich5
rm bin/python3
# Highway's sorts are compiled for each set of instructions, though flags that are given
# know better ones.
made=${top_builddir:-$here/build}/Makefile
flags_of() {
  sed -n "s/^$1 = //p" "$made"
}
if ! grep -q 'define HAVE_HWY 1' "${made%/*}/config.h"; then
  echo "the headers of Highway are not there: its sorts were not compiled"
else
  # The tree itself was made for the first.
  machines=sapphirerapids
  [ -z "${PEMS_TEST_LONG:-}" ] || machines='x86-64 x86-64-v4 sapphirerapids'
  for machine in $machines; do
    for set in avx2:HWY_AVX2:AVX2_CXXFLAGS avx512:HWY_AVX3:AVX512_CXXFLAGS; do
      target=${set#*:}
      # shellcheck disable=SC2046 # lists
      try $(flags_of CXX) -march=$machine $(flags_of HWY_CXXFLAGS) \
        $(flags_of "${set##*:}") -fsyntax-only -I"$here/src" -I"${made%/*}" \
        -DVQSORT_VARIANT="${set%%:*}" -DVQSORT_TARGET="${target%:*}" \
        "$here/src/em/kernel/vqsort.cc"
      [ $status -eq 0 ] || fail "-march=$machine: the sorts for ${set%%:*}"
    done
  done
fi
conclude
