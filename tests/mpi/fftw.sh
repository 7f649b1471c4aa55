#!/bin/sh
# FFTW's MPI library as the system has it: transforms that fit into memory, and
# one whose contexts are several times what there is.
# shellcheck source=tests/script.sh
. "$(dirname "$0")/../script.sh"

printf '#include <fftw3-mpi.h>\nint main(void) { fftw_mpi_init(); return 0; }' \
  >probe.c
pemscc -o probe probe.c -lfftw3_mpi -lfftw3 >/dev/null 2>&1 || {
  echo "fftw: skipped: FFTW's MPI library is not installed" \
    "(libfftw3-dev, libfftw3-mpi-dev)"
  exit 77
}
pemscc -O1 -o shared "$here/library/fftw.c" -lfftw3_mpi -lfftw3 -lm || exit 1
pemscc -O1 -o static "$here/library/fftw.c" -Wl,-Bstatic -lfftw3_mpi -lfftw3 \
  -Wl,-Bdynamic -lm || exit 1
ldd static | grep fftw && fail "static: linked with the shared library"
mkdir disk

# run PROGRAM SIZE RANKS OPTIONS...
run() {
  program=$1 size=$2 ranks=$3
  shift 3
  limited pemsrun -n "$ranks" --pems-disk=disk "$@" "./$program" "$size" \
    >out 2>err || fail "$program $size: $*: $(head -n 3 err)"
  [ "$(grep -c right out)" -eq "$ranks" ] ||
    fail "$program $size: $*: $(grep -v right out | head -n 3)"
}

run shared 64 16 --pems-context=24M --pems-k=16
run static 64 16 --pems-context=24M --pems-k=16
for procs in 1 2 3; do
  PEMS_TEST_EVICT_ALWAYS=1
  export PEMS_TEST_EVICT_ALWAYS
  run shared 60 6 --pems-procs=$procs --pems-k=1 --pems-context=24M
  run static 60 6 --pems-procs=$procs --pems-k=1 --pems-context=24M
  unset PEMS_TEST_EVICT_ALWAYS
done

# 64 MiB of data, and what the transposition needs, in less than half of that;
# Open MPI 5 itself takes 3 MiB more than 4.
run shared 2048 16 --pems-procs=1 --pems-k=1 --pems-memory=60M \
  --pems-sigma=4M --pems-context=24M --pems-stats
resident=$(sed -n 's/.* resident=\([0-9]*\).*/\1/p' err)
swapped=$(sed -n 's/.* swap_out=\([0-9]*\).*/\1/p' err)
[ "${resident:-99999999}" -lt 40000000 ] && [ "${swapped:-0}" -gt 64000000 ] ||
  fail "not out of core: $(grep RESULT err)"

# FFTW goes on with NULL where malloc fails.
pemsrun -n 8 --pems-disk=disk --pems-k=1 --pems-context=8M ./shared 2048 \
  >out 2>err && fail "contexts of 8 MiB: enough for 32 MiB of data"
grep -q 'Segmentation fault.*malloc has failed before.*--pems-context' err ||
  fail "contexts of 8 MiB: $(head -n 3 err)"

conclude
