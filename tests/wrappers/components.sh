#!/bin/sh
# Libraries that open plug-ins themselves, of which each rank has its own: HDF5
# with a filter, PETSc with a preconditioner. The same as under plain mpirun.
# Skipped where neither is installed.
# shellcheck source=tests/script.sh
. "$(dirname "$0")/../script.sh"
mpicc=${MPICC:-mpicc}
found=

# compare NAME ARGUMENTS...: lines may come in another order.
compare() {
  name=$1
  shift
  limited ${MPIRUN:-mpirun} -n 4 "./$name.plain" "$@" >out 2>err ||
    fail "plain $name: $(head -n 5 err)"
  sort out >wanted
  [ -s wanted ] || fail "plain $name: it printed nothing"
  for options in "--pems-procs=1" "--pems-procs=2"; do
    # shellcheck disable=SC2086
    PEMS_TEST_EVICT_ALWAYS=1 limited pemsrun -n 4 $options "./$name.pems" "$@" \
      >out 2>err || fail "$name $options: $(head -n 5 err)"
    sort out | diff wanted - >differ || fail "$name $options: $(head -n 5 differ)"
  done
}

# build NAME PACKAGE: with its flags.
build() {
  # shellcheck disable=SC2046
  $mpicc -o "$1.plain" "$here/components/$1.c" \
    $(pkg-config --cflags --libs "$2") || exit 1
  # shellcheck disable=SC2046
  pemscc -o "$1.pems" "$here/components/$1.c" \
    $(pkg-config --cflags --libs "$2") || exit 1
}

# plugin NAME PACKAGE: as anybody's compiler makes it.
plugin() {
  # shellcheck disable=SC2046
  $mpicc -fPIC -shared -o "lib$1.so" "$here/components/$1.c" \
    $(pkg-config --cflags --libs "$2") || exit 1
}

# has NAME PACKAGE: for this MPI. Debian has packages for others, too, and PETSc
# refuses, when a program is compiled, another release than it was built with.
has() {
  pkg-config --exists "$2" 2>/dev/null || return 1
  echo 'int main(void) { return 0; }' >t.c
  # shellcheck disable=SC2046
  $mpicc -o t t.c -Wl,--no-as-needed $(pkg-config --cflags --libs "$2") 2>/dev/null &&
    [ "$(ldd ./t | grep -cE '^[[:space:]]*libmpi(ch|_abi)?\.so')" -eq 1 ] &&
    limited ${MPIRUN:-mpirun} -n 1 ./t 2>/dev/null || return 1
  # shellcheck disable=SC2046
  $mpicc -c -o t.o "$here/components/$1.c" $(pkg-config --cflags "$2") 2>err
  ! grep '#error' err
}

case $($mpicc -show 2>/dev/null) in
*openmpi*) hdf5=hdf5-openmpi petsc=petsc ;;
*) hdf5=hdf5-mpich petsc=petsc-none ;;
esac

if has hdf5 $hdf5; then
  found=yes
  build hdf5 $hdf5
  plugin filter $hdf5
  HDF5_PLUGIN_PATH=$work
  export HDF5_PLUGIN_PATH
  compare hdf5
  grep -q ' 30 calls of the filter' wanted || fail "HDF5: $(cat wanted)"
fi
if has petsc $petsc; then
  found=yes
  build petsc $petsc
  plugin component $petsc
  compare petsc -dll_append "$work/libcomponent.so" -pc_type counting
  grep -q '^counting: ' wanted || fail "PETSc does not know the component"
fi
if [ -z "$found" ]; then
  echo "neither HDF5 nor PETSc for this MPI: skipped"
  exit 77
fi
conclude
