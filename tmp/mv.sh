set -e
mv1() { # old new (paths below repo root)
  mkdir -p $(dirname $2); git mv $1 $2
  o=${1#src/}; n=${2#src/}
  case $1 in *.h)
    og=PEMS_$(echo $o | tr 'a-z/.' 'A-Z__'); ng=PEMS_$(echo $n | tr 'a-z/.' 'A-Z__')
    sed -i "s/\b$og\b/$ng/" $2
    grep -rlF "\"$o\"" src drivers wrappers tests apps include | xargs -r sed -i "s#\"$o\"#\"$n\"#";;
  esac
}
both() { mv1 $1.c $2.c; mv1 $1.h $2.h; }
both src/vp/self src/base/self
both src/net/lifeline src/base/lifeline
mv1 tests/unit/net/test_lifeline.c tests/unit/base/test_lifeline.c
both src/net/watch src/mpi_below/watch
both src/context/delivery/boundary src/context/boundary
mv1 tests/unit/context/delivery/test_boundary.c tests/unit/context/test_boundary.c
for f in allocate discard fork; do both src/context/$f src/context/calls/$f; done
mv1 src/em/core/parts.h src/em/kernel/parts.h
both src/em/core/progress src/em/sort/progress
mv1 src/interpose/program/abi.h src/context/image/program_abi.h
both src/report/progress src/mpi/job/progress
both src/mpi/object/handle src/mpi_abi/handle
both src/mpi/verify/naming src/mpi/object/naming
for f in cxx fortran_attributes fortran_errors fortran_groups fortran_requests; do mv1 src/mpi_abi/$f.c src/mpi_abi/entry/$f.c; done
mv1 src/mpi_abi/names.S src/mpi_abi/entry/names.S
