#!/bin/sh
# Allocators that a program is linked with: of an archive its memory is the
# rank's, by mmap; instead of a shared one pems's is used. Blocks hold what they
# should, however contexts move. What is not installed is left out; without any,
# skipped.
# shellcheck source=tests/script.sh
. "$(dirname "$0")/../script.sh"

# use NAME WHOSE LINK-WORDS...: WHOSE allocator it is on pems, `own` or `pems`.
found=
use() {
  name=$1 whose=$2
  shift 2
  echo 'int main(void) { return 0; }' >none.c
  ${CC:-cc} -o none none.c "$@" 2>/dev/null || {
    echo "$name was not found: left out"
    return
  }
  found=yes
  ${MPICC:-mpicc} -O1 -I"$here" -o "$name.plain" \
    "$here/library/own_allocator.c" "$@" || fail "$name: not linked by mpicc"
  pemscc -O1 -I"$here" -o "$name" "$here/library/own_allocator.c" "$@" ||
    fail "$name: not linked by pemscc"
  # shellcheck disable=SC2046 # options
  limited ${MPIRUN:-mpirun} $(launcher_apart "$work/outputs" mpirun) -n 3 \
    $(launcher_before "$work/outputs") "./$name.plain" >out 2>err || fail "plain $name: $(head -n 5 err)"
  launcher_output "$work/outputs" >>out
  [ "$(grep -c 'the allocator has counted this' out)" -eq 3 ] ||
    fail "plain $name: $(cat out)"
  [ $whose = own ] || sed -i 's/has counted this/was another/' out
  sort out >wanted
  for options in --pems-procs=1 "--pems-procs=2 --pems-k=1" \
    "--pems-swapin=lazy --pems-k=1"; do
    case $options in
    *procs=2*) apart=$(launcher_apart "$work/outputs" pemsrun) ;;
    *) apart= ;;
    esac
    # shellcheck disable=SC2086 # options are words
    PEMS_TEST_EVICT_ALWAYS=1 limited pemsrun -n 3 --pems-context=300M $options \
      $apart "./$name" >out 2>err || fail "$name $options: $(head -n 5 err)"
    launcher_output "$work/outputs" >>out
    sort out | diff wanted - >differ || fail "$name $options: $(head -n 5 differ)"
  done
}

# The archive is searched for malloc when a function of its own is wanted.
use jemalloc own -Wl,-u,mallctl \
  "$(${CC:-cc} -print-file-name=libjemalloc_pic.a)" -lstdc++ -lm -ldl -pthread
use shared_jemalloc pems -Wl,--no-as-needed -ljemalloc
use shared_tcmalloc pems -Wl,--no-as-needed -ltcmalloc_minimal
[ -n "$found" ] || skip "neither libjemalloc-dev nor libgoogle-perftools-dev"
conclude
