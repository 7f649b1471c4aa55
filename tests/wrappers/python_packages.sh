#!/bin/sh
# Packages that are made of many extension modules, on ranks: the same as under
# plain mpirun. PEMS_TEST_PYTHON may be the interpreter of a virtual environment
# that has them. Skipped without mpi4py and numpy; a package that is not there is
# left out.
# shellcheck source=tests/script.sh
. "$(dirname "$0")/../script.sh"
# shellcheck source=tests/wrappers/python/find.sh
. "$here/python/find.sh"
! mpi4py_lacks numpy || skip "$lack"
export NUMBA_CACHE_DIR="$work/numba"
# Debian's h5py for MPI asks the environment of mpirun whether there are ranks.
export H5PY_ALWAYS_USE_MPI=1

# use PACKAGE WORD...: by three ranks.
use() {
  limited ${MPIRUN:-mpirun} -n 3 "$python" "$here/python/packages.py" "$@" \
    >out 2>err || fail "plain $*: $(tail -n 5 err)"
  sort out >wanted
  [ -s wanted ] || fail "plain $*: it printed nothing"
  for options in --pems-procs=1 "EVICT --pems-k=1" "EVICT --pems-procs=2"; do
    case $options in
    EVICT*) PEMS_TEST_EVICT_ALWAYS=1 && export PEMS_TEST_EVICT_ALWAYS ;;
    *) unset PEMS_TEST_EVICT_ALWAYS ;;
    esac
    # shellcheck disable=SC2086 # options are words
    limited pemsrun -n 3 ${options#EVICT } \
      --pems-context=512M "$python" "$here/python/packages.py" "$@" \
      >out 2>err || fail "$* $options: $(tail -n 5 err)"
    sort out | diff wanted - >differ || fail "$* $options: $(head -n 5 differ)"
  done
  echo "$*: $(wc -l <wanted) lines are the same"
}

found=
for package in scipy pandas h5py numba; do
  if "$python" -c "import $package" 2>/dev/null; then
    found=yes
    case $package in
    numba) use numba parallel ;;
    *) use $package ;;
    esac
  else
    echo "$package was not found for $python: left out"
  fi
done
[ -n "$found" ] || skip "none of the packages was found for $python"
conclude
