#!/bin/sh
# Python programs with numpy and mpi4py whose ranks have several times the memory
# that the kernel grants: a sample sort, a Fourier transform, Jacobi's iteration.
# What they print is what they print under plain mpirun without a limit. With
# PEMS_TEST_LONG=1 their arrays alone are four times the limit, and 256 ranks share
# 1 GiB.
set -u
# shellcheck source=tests/fault/outofcore_lib.sh
. "$(dirname "$0")/outofcore_lib.sh"
# shellcheck source=tests/launcher.sh
. "$top/tests/launcher.sh"
# shellcheck source=tests/wrappers/python/find.sh
. "$top/tests/wrappers/python/find.sh"
unset PYTHONUNBUFFERED

if mpi4py_lacks numpy; then
  echo "$lack: skipped"
  exit 77
fi

now() {
  date +%s
}

# field NAME: of pems's RESULT line.
field() {
  sed -n "s/^RESULT pems .* $1=\([0-9.]*\).*/\1/p" "$work/err"
}

# same LIMIT RANKS SCRIPT ARGUMENTS...
same() {
  most=$1 ranks=$2
  shift 2
  since=$(now)
  limited "${MPIRUN:-mpirun}" -n "$ranks" "$python" "$@" \
    >"$work/plain" 2>"$work/err" || {
    echo "FAIL plain $*: $(head -n 5 "$work/err")"
    status=1
    return
  }
  took=$(($(now) - since))
  sort "$work/plain" >"$work/wanted"
  within "$most" 'rank ' -n "$ranks" "$python" "$@" >"$work/verdict"
  head -n 1 "$work/verdict" | cut -c1-200
  grep -q '^PASS' "$work/verdict" || cat "$work/err"
  sort "$work/out" | diff "$work/wanted" - >"$work/differ" || {
    echo "FAIL $*: not what plain mpirun prints: $(head -n 5 "$work/differ")"
    status=1
  }
  echo "plain $took s without a limit; pems $(field seconds) s," \
    "$(field bytes_read) bytes read, $(field bytes_written) written"
}

sample_sort=$top/tests/wrappers/python/sample_sort.py
if [ -n "${PEMS_TEST_LONG:-}" ]; then
  same 256M 32 "$sample_sort" 4194304
  same 256M 32 "$top/apps/fft.py" 8192
  same 256M 32 "$top/apps/jacobi.py" 8192 4
  within 1024M change -n 256 "$python" "$top/apps/jacobi.py" 512 2 \
    >"$work/verdict"
  head -n 1 "$work/verdict" | cut -c1-200
  echo "256 ranks: pems $(field seconds) s, $(field bytes_written) written"
else
  same 96M 8 "$sample_sort" 1048576
  same 96M 8 "$top/apps/fft.py" 1536
  same 96M 8 "$top/apps/jacobi.py" 2048 2
fi
exit $status
