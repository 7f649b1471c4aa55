#!/bin/sh
# HDF5 and ScaLAPACK as Debian has them for this MPI, unmodified: programs linked
# with them, each rank with a copy of its own and its context on disk whenever it
# waits.
# shellcheck source=tests/script.sh
. "$(dirname "$0")/../script.sh"

case ${MPICC:-mpicc} in
*.openmpi) mpi=openmpi ;;
*.mpich) mpi=mpich ;;
*)
  echo "prebuilt: skipped: not with an MPI of Debian, for which there are libraries"
  exit 77
  ;;
esac
mkdir disk
ran=

# built PROGRAM LIBRARY OPTIONS...: whether it is there; not, if there is no such
# library.
built() {
  program=$1
  library=$2
  shift 2
  case $(${REAL_CC:-cc} -print-file-name="lib$library.so") in
  /*) ;;
  *)
    echo "$program: left out: no lib$library.so (Debian: lib$program-$mpi-dev)"
    return 1
    ;;
  esac
  pemscc -O1 -o "$program" "$here/library/$program.c" "$@" "-l$library" -lm || {
    fail "$program: pemscc could not build it"
    return 1
  }
}

# run PROGRAM ARGUMENT
run() {
  ran=yes
  PEMS_TEST_EVICT_ALWAYS=1
  export PEMS_TEST_EVICT_ALWAYS
  for procs in 1 2; do
    limited pemsrun -n 6 --pems-procs=$procs --pems-k=1 --pems-context=48M \
      --pems-disk=disk "./$1" "$2" >out 2>err ||
      fail "$1, $procs processes: status $?: $(head -n 3 err)"
    [ "$(grep -c 'of 6: right$' out)" -eq 6 ] ||
      fail "$1, $procs processes: $(grep -v right out err | head -n 5)"
  done
}

if built hdf5 hdf5_$mpi -I/usr/include/hdf5/$mpi; then
  run hdf5 "$work/matrix.h5"
fi
if built scalapack scalapack-$mpi; then
  run scalapack 200
fi
[ -n "$ran" ] || [ $failures -gt 0 ] || exit 77
conclude
